"""The leaves of calls, described before and after: cheap enough for each call of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod, sqrt
from typing import Any, Final, NamedTuple
from weakref import ref

from gradstep.capturing.names import Names
from gradstep.contract.module_paths import named_modules
from gradstep.contract.parameters import own_parameters
from gradstep.contract.protocol import Engine, Numbers, Running
from gradstep.graph.statistics import Statistics
from gradstep.guest.fence import attribute_of
from gradstep.recording.facts import UNNAMED, Leaf, LeafFacts, ParameterGroup, Training
from gradstep.recording.run import Sink
from gradstep.records import BackwardCall

COPIED: Final = 1 << 30
"""Bytes of leaves that are copied, to tell what changes them from one call to the next."""
_ALIKE: Final = 8
"""Parameters that have one name at the same time, as ``self.weight`` in methods of several modules;
of more, the last ones are taken for one."""


class _Known(NamedTuple):
    """A leaf of the program, with the dtype that it had: what is told of it, the elements that are
    here, its optimizer, and the module that owns it."""

    tensor: ref[Any]
    dtype: Any
    leaf: Leaf
    size: int | None
    optimizer: str | None
    module: Callable[[], Any] | None


class Before(NamedTuple):
    """The leaves of a call that is about to run."""

    tensors: Sequence[Any]
    known: Sequence[_Known]
    grads: Sequence[Any]
    described: Sequence[Statistics | None]
    checksums: Sequence[int | None]
    lengths: Sequence[float | None]
    moved: Sequence[float | None]


class LeafWatch:
    """Describes the leaves of calls, and tells ``sink`` of new ones.

    Of the program's tensors it keeps weak references, and copies of ``room`` bytes at most.
    """

    def __init__(self, sink: Sink, room: int = COPIED) -> None:
        self._sink = sink
        self._room = room
        self._known: dict[int, _Known] = {}
        self._leaves: dict[tuple[Any, ...], tuple[Leaf, ref[Any]]] = {}
        self._copies: dict[int, tuple[ref[Any], Any]] = {}
        self._copied = 0
        self._training = Training()
        self._optimizers: dict[str, ref[Any]] = {}
        self._latest: tuple[ParameterGroup, ...] = ()  # with the options of the last call
        self._active: set[int] = set()  # leaves whose modules have run

    def before(self, engine: Engine, call: BackwardCall, names: Callable[[], Names]) -> Before:
        """Describe the leaves to which ``call``, which is about to run, adds; ``names`` finds those
        of the program, which takes a while."""
        running = _running(engine)
        leaves = {id(leaf): leaf for leaf in running.accumulated(call)}
        tensors = list(leaves.values())
        if any(self._of(tensor) is None for tensor in tensors):
            self.learn(engine, tensors, names())
        known = [one for tensor in tensors if (one := self._of(tensor)) is not None]
        grads = [tensor.grad for tensor in tensors]
        kept: list[Statistics | None] = [None] * len(grads)
        checksums: Sequence[int | None] = [None] * len(grads)
        if any(grad is not None for grad in grads):
            kept = list(_numbers(engine).all_statistics(grads))
            checksums = running.checksums(grads)
        lengths = running.lengths(tensors)
        return Before(tensors, known, grads, kept, checksums, lengths, self._moved(engine, tensors))

    def after(self, engine: Engine, before: Before) -> list[LeafFacts]:
        """Describe the same leaves now that the call has ended."""
        grads = [tensor.grad for tensor in before.tensors]
        described, checksums = (
            _numbers(engine).all_statistics(grads),
            _running(engine).checksums(grads),
        )
        facts = [
            LeafFacts(
                known.leaf.number,
                old,
                new,
                old_checksum,
                checksum,
                _rms(length, known.size),
                _rms(moved, known.size),
                known.optimizer,
                None if known.module is None else _is_training(known.module()),
                checksum != old_checksum if grad is given else grad is not None,
            )
            for known, old, new, old_checksum, checksum, length, moved, given, grad in zip(
                before.known, before.described, described, before.checksums, checksums,
                before.lengths, before.moved, before.grads, grads, strict=True,
            )
        ]  # fmt: skip
        return sorted(facts, key=lambda leaf: leaf.leaf)

    def learn(self, engine: Engine, tensors: Sequence[Any], names: Names) -> None:
        """Take note of what the program calls some leaves, and of who changes them; also of those
        that no call came to and that an optimizer has."""
        owners = _owners(names)
        trained = list(names.trained())
        unique = {id(tensor): tensor for tensor in tensors}
        for _, group, by_ops in trained:
            for parameter in group.get("params", ()):
                if (
                    id(parameter) in by_ops
                    and engine.reading.owns(parameter)
                    and parameter.requires_grad
                ):
                    unique[id(parameter)] = parameter
        used: Counter[str] = Counter()
        places = {id(tensor): place for place, tensor in enumerate(names.tensors())}
        for tensor in sorted(
            unique.values(), key=lambda parameter: places.get(id(parameter), len(places))
        ):
            name = names.of(tensor) or UNNAMED
            used[name] += 1
            if used[name] > 1:
                name = f"{name} ({used[name]})"
            holders = [optimizer for optimizer, _, by_ops in trained if id(tensor) in by_ops]
            optimizer = None if not trained else holders[0] if holders else ""
            owner = owners.get(id(tensor))
            # gathered for the ops; the ``.grad`` that a call leaves is that of the part
            is_gathered = any(
                by_ops.get(id(tensor), tensor) is not tensor for _, _, by_ops in trained
            )
            leaf = self._leaf(
                engine, tensor, name, "" if owner is None else type(owner).__name__, is_gathered
            )
            module = None if owner is None else ref(owner)
            shape = leaf.shape if (part := _numbers(engine).part(tensor)) is None else part
            size = None if shape is None else prod(shape)
            self._known[id(tensor)] = _Known(
                ref(tensor), tensor.dtype, leaf, size, optimizer, module
            )
        groups = tuple([self._group(names, *pair) for pair in trained])
        self._latest = groups
        self._optimizers = {name: ref(optimizer) for name, optimizer in names.optimizers.items()}
        self._trains(
            Training(groups, tuple(names.scalers), self._idle(engine, tensors, names, groups))
        )

    def number(self, identity: int) -> int | None:
        """Return the number of a leaf, None of one that is unknown."""
        known = self._known.get(identity)
        return None if known is None else known.leaf.number

    def end(self) -> None:
        """Take note of what optimizers did last."""
        self.look_at_rates()  # of those that are still there
        self._trains(self._training._replace(groups=self._latest))

    def look_at_rates(self) -> None:
        """See what optimizers do in a call: a schedule may have changed their rates."""
        now = {
            name: iter(attribute_of(optimizer(), "param_groups") or ())
            for name, optimizer in self._optimizers.items()
        }
        none: Iterator[Any] = iter(())
        self._latest = tuple(
            group._replace(options=_options(next(now.get(group.optimizer, none), group.options)))
            for group in self._latest
        )

    def _trains(self, training: Training) -> None:
        if training != self._training:
            self._training = training
            self._sink.add_training(training)

    def _idle(
        self,
        engine: Engine,
        tensors: Sequence[Any],
        names: Names,
        groups: Sequence[ParameterGroup],
    ) -> tuple[int, ...] | None:
        """Return the leaves of optimizers whose modules have not run so far; None where it is not
        known which did. A call comes to ``tensors``."""
        held = {number for group in groups for number in group.leaves}
        self._active |= {self._known[id(tensor)].leaf.number for tensor in tensors}
        if held <= self._active:
            return ()
        idle = None if engine.tracing is None else names.idle(engine.tracing.has_run)
        if idle is None:
            return self._training.idle
        resting = {known.leaf.number for id, known in self._known.items() if id in idle}
        self._active |= held - resting
        return tuple(sorted(held - self._active))

    def _group(
        self, names: Names, optimizer: str, group: Mapping[str, Any], used: Mapping[int, Any]
    ) -> ParameterGroup:
        leaves = sorted(self._known[id_of].leaf.number for id_of in used if id_of in self._known)
        kind = type(names.optimizers[optimizer]).__name__
        return ParameterGroup(optimizer, kind, _options(group), tuple(leaves))

    def _of(self, tensor: Any) -> _Known | None:
        known = self._known.get(id(tensor))
        if known is None or known.tensor() is not tensor or tensor is None:
            return None
        return known if known.dtype == tensor.dtype else None  # as after model.to(bfloat16)

    def _leaf(self, engine: Engine, tensor: Any, name: str, module: str, is_gathered: bool) -> Leaf:
        known = self._of(tensor)
        if known is not None and not known.leaf.name.startswith(UNNAMED):
            return known.leaf  # another function may call it something else
        (seen,) = engine.reading.tensors([tensor])
        shape, dtype = seen._shape, seen.dtype.name
        is_part = is_gathered or _numbers(engine).part(tensor) is not None
        for number in range(1, _ALIKE + 1):
            named = name if number == 1 else f"{name} ({number})"
            key = (named, shape, dtype, module, is_part)
            if key not in self._leaves:
                leaf = Leaf(
                    len(self._leaves), named, shape, dtype, seen.is_parameter, module, is_part
                )
                self._sink.add_leaf(leaf)
                break
            leaf, holder = self._leaves[key]
            if not module or holder() is None or holder() is tensor:
                break
        self._leaves[key] = leaf, ref(tensor)
        return leaf

    def _moved(self, engine: Engine, tensors: Sequence[Any]) -> list[float | None]:
        """Return how far each leaf has moved since it was asked for last, None where that is not
        known."""
        moved: list[float | None] = [None] * len(tensors)
        copied = [
            (at, kept) for at, tensor in enumerate(tensors) if (kept := self._copy_of(tensor))
        ]
        ones = [tensors[at] for at, _ in copied]
        told = _running(engine).moved(ones, [copy for _, (_, copy) in copied])
        for (at, _), distance in zip(copied, told, strict=True):
            moved[at] = distance
        for at, tensor in enumerate(tensors):
            if moved[at] is not None or not self._has_room(engine, tensor):
                continue
            if (copy := _numbers(engine).copy(tensor)) is not None:
                self._copies[id(tensor)] = ref(tensor), copy
            else:  # without memory, as a parameter that FSDP has freed
                self._copies.pop(id(tensor), None)
        return moved

    def _copy_of(self, tensor: Any) -> tuple[ref[Any], Any] | None:
        copy = self._copies.get(id(tensor))
        return copy if copy is not None and copy[0]() is tensor else None

    def _has_room(self, engine: Engine, tensor: Any) -> bool:
        if self._copy_of(tensor) is not None:
            return True
        if self._copied > self._room:  # of leaves that are gone, some may be
            self._copies = {at: kept for at, kept in self._copies.items() if kept[0]() is not None}
            self._copied = sum(_nbytes(engine, copy) for _, copy in self._copies.values())
        self._copied += _nbytes(engine, tensor)
        return self._copied <= self._room


def _numbers(engine: Engine) -> Numbers:
    return engine.numbers or engine.cannot("describe leaves")


def _running(engine: Engine) -> Running:
    return engine.running or engine.cannot("follow leaves")


def _nbytes(engine: Engine, tensor: Any) -> int:
    extent = None if tensor is None else engine.reading.extent(tensor)
    return 0 if extent is None else extent.nbytes


def _rms(length: float | None, size: int | None) -> float | None:
    return None if length is None or size is None else length / sqrt(size or 1)


def _owners(names: Names) -> dict[int, Any]:
    """Return the module that owns each parameter, by the identity of that."""
    return {
        id(parameter): part
        for module in names.modules.values()
        for _, part in named_modules(module)
        for _, parameter in own_parameters(part)
    }


def _options(group: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a parameter group, as its learning rate."""
    return {
        str(name): float(number)
        for name, number in group.items()
        if isinstance(number, int | float)
    }


def _is_training(module: Any) -> bool | None:
    training = attribute_of(module, "training")
    return training if isinstance(training, bool) else None

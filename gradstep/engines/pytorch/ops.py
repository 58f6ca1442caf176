"""Records of every op that runs, for a complete forward half: constants, random ops, values.

A dispatch mode sees each op below autograd, with the tensors of the program itself.  The node of an
op is made just before, so it has the number that was given out last.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, NamedTuple
from weakref import ref

import torch

from gradstep.capturing.frames import user_source
from gradstep.contract.budget import Budget
from gradstep.contract.op_records import (
    FOR_EACH_GRADIENT,
    MOST_WITHOUT_GRADIENT,
    WITHOUT_GRAPH,
    Cut,
    LeafRecord,
    OpRecord,
    reachable,
)
from gradstep.engines.pytorch.changes import version_of
from gradstep.engines.pytorch.departures import Departures
from gradstep.engines.pytorch.inputs import LIBRARIES, Inputs
from gradstep.engines.pytorch.names import stem
from gradstep.engines.pytorch.origins import Origins
from gradstep.engines.pytorch.private import (
    AS_IT_IS,
    DISPATCH_MODES,
    DispatchMode,
    base_of,
    dispatch_mode,
    functions,
    functions_disabled,
    kept_beside,
    schema_of,
    sequence_nr,
    sequence_nr_of,
    set_version,
    takes_numbers,
    torch_c,
    unobserved,
    version_counter,
)
from gradstep.engines.pytorch.schema import (
    is_begun,
    is_captured,
    is_collective,
    is_mutable,
    is_question,
    tensors_in,
    written,
)
from gradstep.engines.pytorch.tensor_table import TensorTable
from gradstep.engines.pytorch.tensors import (
    SeenTensor,
    copy_of,
    describe,
    dtype_of,
    is_single,
    shape_of,
)
from gradstep.engines.pytorch.unwritten import MAKES, Unwritten
from gradstep.graph.model import Source
from gradstep.guest.collector import slow_by_ops
from gradstep.guest.fence import fenced

_LIFT: Final = torch.ops.aten.lift_fresh.default
_CHOOSING: Final = ("index", "index_select")
_MOST_CHOSEN: Final = 1 << 16
_DETACH: Final = torch.ops.aten.detach.default  # which makes no node


_LIFE: Final = "gradstep: record"  # beside a node, as long as that lives


class _Life:
    """Lives beside a node, and takes the record of its op along when it goes."""

    __slots__ = ("_number", "_records")

    def __init__(self, records: dict[int, Any], number: int) -> None:
        self._records, self._number = records, number

    def __del__(self) -> None:
        self._records.pop(self._number, None)


_OPS: Final = "an op of the forward pass"


class Ops(DispatchMode):
    """Records ops, on the tensors that they make and under the numbers of their nodes."""

    def __init__(self, origins: Origins, budget: Budget) -> None:
        super().__init__()
        self._origins = origins
        self.inputs = Inputs(budget)
        self.departures = Departures()
        self._unwritten = Unwritten()
        self._made = TensorTable()
        self._leaves = TensorTable()
        self._last = _newest()
        self._latest = range(0)  # the nodes that were made last
        self._through_view: OpRecord | None = None
        self.acts = False
        self.dozes = False  # it acts again when an op has a gradient
        self._left = MOST_WITHOUT_GRADIENT  # ops without one that are still recorded
        self._around: Any = None  # the mode around this one, while it does not act
        self._outside: list[Any] | None = None  # those outside of it, while it has stepped aside
        self._versions: list[
            tuple[ref[torch.Tensor], int | None]
        ] = []  # of what was recorded by then
        self._stepping: list[tuple[torch.Tensor, int]] = []  # what an optimizer may change

    def __enter__(self) -> Ops:
        super().__enter__()
        self._put_back = slow_by_ops()
        return self

    def __exit__(self, *error: object) -> None:
        self._put_back()
        super().__exit__(*error)

    @contextmanager
    def acting(self) -> Iterator[None]:
        """Within it, this mode acts, unless it is set aside."""
        self.__enter__()
        self.acts = True
        try:
            yield
        finally:
            if self.acts:
                DISPATCH_MODES.leave(self)

    def suspend(self, optimizer: Any = None) -> bool:
        """Have this mode act no more while ``optimizer`` steps, if that can be; whether it was
        so."""
        self.wake()
        if not self.acts or dispatch_mode() is not self:
            return False
        given = [tensor for group in optimizer.param_groups for tensor in group["params"]]
        self._stepping = [(tensor, version_counter(tensor)) for tensor in given]
        self.__exit__(None, None, None)
        self.acts = False
        return True

    def resume(self) -> None:
        """Have this mode act again."""
        self._unwritten.forget()
        self.__enter__()
        self.acts = True
        self._last = _newest()
        line = user_source(sys._getframe(2))
        for tensor, version in self._stepping:
            if version_counter(tensor) != version:
                self._origins.changes.note(tensor, version, line)
        self._stepping.clear()

    def switch(self, *, on: bool) -> bool:
        """Have this mode act, or no more, unless other modes are in the way; whether it acts."""
        if on and not self.acts and self._begins():
            self._left = MOST_WITHOUT_GRADIENT
        elif not on and (self.dozes or self._ends()):
            self.dozes = False
            self.inputs = Inputs(self.inputs.budget)
        return self.acts

    @property
    def is_tired(self) -> bool:
        """Whether so many ops without a gradient were recorded that they would slow the program:
        as where data is filled in a loop."""
        return self._left < 0 and self.acts

    def doze(self) -> None:
        """Have this mode act no more until an op has a gradient, unless other modes are in the
        way; tensors that are made meanwhile are constants of which nothing is known."""
        self.dozes = self._ends()

    def wake(self) -> None:
        """Have this mode act again, if it dozes."""
        if self.dozes and not self._origins.is_aside and self._begins():
            # all that is known was looked through, twice
            self._left = max(self._left, len(self._made) // 8)

    def _begins(self) -> bool:
        """Act again, unless other modes are in the way; whether that is so."""
        if dispatch_mode() is not self._around:
            return False
        self.dozes = False
        self.__enter__()
        self._go_on()
        return True

    def _ends(self) -> bool:
        """Act no more, unless other modes are in the way; whether that is so."""
        if not self.acts or dispatch_mode() is not self:
            return False
        self.__exit__(None, None, None)
        self._around = dispatch_mode()
        self._stop()
        return True

    def step_aside(self, given: Any) -> bool:
        """Have this mode act no more, whatever modes are inside of it, while what is ``given``,
        or, of None, any tensor, may be changed; whether it did."""
        if dispatch_mode() is self:  # PyTorch is to know of no mode, if this is the only one
            self._outside = None
            super().__exit__(None, None, None)
        else:
            self._outside = DISPATCH_MODES.take(self)
            if self._outside is None:
                return False
        self._around = dispatch_mode()
        self._stop(None if given is None else tensors_in(given))
        return True

    def come_back(self) -> None:
        """Have this mode act again, unless the program has left other modes in the way."""
        if dispatch_mode() is not self._around:
            return
        if self._outside is None:
            super().__enter__()
        elif not DISPATCH_MODES.put(self, self._outside):
            return
        self._go_on()

    def _stop(self, tensors: Iterable[torch.Tensor] | None = None) -> None:
        """Act no more; note the versions of ``tensors``, by default all that are known."""
        self.acts = False
        known = self._made if tensors is None else [each for each in tensors if each in self._made]
        self._versions = [(ref(tensor), version_of((tensor,))) for tensor in known]

    def _go_on(self) -> None:
        """Act again; forget what made tensors that were changed since, by whom is unknown."""
        for reference, version in self._versions:
            tensor = reference()
            if tensor is not None and (version is None or version != version_of((tensor,))):
                self._made.pop(tensor)
        self._versions.clear()
        self._unwritten.forget()
        self._last, self._latest, self._through_view = _newest(), range(0), None
        self.acts = True

    def __torch_dispatch__(
        self, op: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        named = kwargs or {}
        with functions_disabled():
            for at in _tensor_places(op):
                if at < len(args) and type(args[at]) in _NUMBERS:  # of a graph of torch.jit
                    args = (*args[:at], _tensor_of(args[at]), *args[at + 1 :])
            noted = None if self._passes_over(op, args) else self._begin(op, args, named)
        # where PyTorch runs an op, it asks no function mode or subclass; the program may, inside
        with functions_disabled() if op.namespace == "aten" else AS_IT_IS:
            result = op(*args, **named)
        if noted is not None:
            with functions_disabled():
                self._end(op, args, named, result, *noted)
        return result

    @fenced(_OPS, False)
    def _passes_over(self, op: Any, args: tuple[Any, ...]) -> bool:
        """Return whether to look at nothing while ``op`` runs."""
        if is_captured():
            self._last = _newest()
            return True
        if is_begun(op):  # other processes may write what their ops are given
            self._write(tensors_in(args))
        return is_question(op)

    @fenced(_OPS)
    def _begin(self, op: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[Any, ...]:
        """Note what an op is given; returns what is to be known when it has run."""
        newest = _newest()
        if self._through_view is not None and newest > self._last:
            # made when the last op was done: the place in the graph of the base that it changed
            self._origins.records[self._last + 1] = self._through_view
        given = list(tensors_in(args))
        needs = any(tensor.requires_grad for tensor in given)
        # an op of a library runs inside of the Function that makes its node
        grad_mode = torch_c.is_grad_enabled() or (needs and op.namespace not in LIBRARIES)
        origins = [self.origin(tensor) for tensor in given]
        record = _record(op, origins, args, kwargs)
        own = None
        if newest > self._last and op is not _DETACH:
            own = newest if grad_mode else None
            self._latest, self._last = range(self._last + 1, newest + 1), newest
        elif grad_mode and self._is_part(given, origins):
            own = newest
        if needs and grad_mode and op is not _DETACH and not is_collective(op):
            self.inputs.op(self._latest, op, args, kwargs, given)
            self._keep_copies(given, origins)
        elif record.name in _CHOOSING:
            _keep_indices(given[1:], origins[1:])
        written_to = list(written(op, args, kwargs)) if is_mutable(op) else []
        changed = set(map(id, written_to))
        record.unwritten = bool(record.inputs) and any(
            (maker.unwritten if type(maker) is OpRecord else False) or self._unwritten.holds(tensor)
            for tensor, (maker, _) in zip(given, origins, strict=True)
            if id(tensor) not in changed
        )
        self._write(written_to)
        return record, own, grad_mode, [(tensor, version_counter(tensor)) for tensor in written_to]

    @fenced(_OPS)
    def _end(
        self,
        op: Any,
        args: tuple[Any, ...],
        kwargs: Any,
        result: Any,
        record: OpRecord,
        own: int | None,
        grad_mode: bool,
        changed: list[tuple[torch.Tensor, int]],
    ) -> None:
        """Note what an op made."""
        if changed and schema_of(op).name.startswith("aten::_foreach_"):
            # what they run inside counts changes, but not below autograd, where this is
            uncounted = [
                output for output, version in changed if version_counter(output) == version
            ]
            for output in uncounted:  # some may be views of one
                set_version(output, version_counter(output) + 1)
        self._finish(op, record, args, result, own, grad_mode)
        for tensor, version in changed:
            self._origins.changes.note(tensor, version, record.source)

    def _is_part(self, given: list[torch.Tensor], origins: list[Any]) -> bool:
        """Return whether an op works on what the op before made for the same node: below autograd,
        where it does not require a gradient.  So does one that needs the values of a view that is
        conjugate or negative."""
        last = self._origins.records.get(self._last)
        return last is not None and any(
            record is last and not tensor.requires_grad
            for tensor, (record, _) in zip(given, origins, strict=True)
        )

    def function(self, function: Any, arguments: tuple[Any, ...]) -> Callable[[Any], None]:
        """Record a custom Function, as one op; returns what is to be told of its result."""
        given = list(tensors_in(arguments))
        if (
            sequence_nr is None
            or not torch_c.is_grad_enabled()
            or not any(tensor.requires_grad for tensor in given)
        ):
            return lambda result: None
        self.wake()
        if not self.acts:
            return lambda result: None
        number = sequence_nr()
        own = function.__module__.partition(".")[0] == "torch"  # of which little is known
        if not own:
            with self.paused():
                self.inputs.function(number, function, arguments)
        name = stem(f"{function.__name__}Backward")
        origins = [self.origin(tensor) for tensor in given]
        record = OpRecord(name, tuple(origins), {})
        if not own:
            self._keep_copies(given, origins)

        def done(result: Any) -> None:
            outputs = list(tensors_in(result))
            self._describe(record, outputs)
            record.requires_grad = True
            self._origins.records[number] = record
            for nr, output in enumerate(outputs):
                self._made[output] = record, nr

        return done

    def taken_out(self, function: Any, tensor: torch.Tensor, source: Source | None) -> None:
        """Record that ``function`` made an array or a number of ``tensor``."""
        self.departures.note(function, source, self.origin(tensor)[0])

    def handed_out(self, tensor: torch.Tensor) -> None:
        """Take note that code of the program's has the memory of ``tensor``, and may write it."""
        self._write([tensor])

    def _write(self, tensors: Iterable[torch.Tensor]) -> None:
        """Take note of tensors that are about to be written, or may be from now on."""
        for tensor in tensors:
            self._unwritten.write(tensor)
            self.inputs.write(tensor)

    def reads_unwritten(self, tensor: torch.Tensor) -> bool:
        """Return whether ``tensor`` depends on memory that nobody has written."""
        known = self.known(tensor)
        return known is not None and type(known[0]) is OpRecord and known[0].unwritten

    def without_graph(self, results: Any, root: Any, source: Source | None) -> None:
        """Record that ``results``, gradients of what leads to ``root``, have no graph."""
        if not isinstance(root, torch.Tensor):
            return
        behind = reachable([self.origin(root)[0]])
        leaves: Any = tuple(
            maker.tensor
            for maker in behind
            if isinstance(maker, LeafRecord) and maker.requires_grad
        )
        for result in results:
            if result is not None:
                record = _leaf(result)
                record.cut = Cut(WITHOUT_GRAPH, source, leaves)
                self._made[result] = record, 0

    def keep_while_alive(self, result: Any, start: int, stop: int) -> None:
        """Keep the records of the nodes that made ``result``, from number ``start`` to before
        ``stop``, no longer than these."""
        made: dict[Any, int] = {}
        with unobserved():
            waiting = [tensor.grad_fn for tensor in tensors_in(result)]
            is_one = stop == start + 1 and len(waiting) == 1 and waiting[0] is not None
            if is_one and sequence_nr_of(waiting[0]) == start:
                made[waiting.pop()] = start  # as nearly always: none of them lies behind it
            while waiting:
                node = waiting.pop()
                if node is None or node in made or hasattr(node, "variable"):
                    continue
                number = sequence_nr_of(node)
                if number >= start:
                    made[node] = number
                    waiting += [target for target, _ in node.next_functions]
            for beside, number in zip(kept_beside(made), made.values(), strict=True):
                if _LIFE not in beside:
                    beside[_LIFE] = _Life(self._origins.records, number)

    def _keep_copies(self, given: list[torch.Tensor], origins: list[Any]) -> None:
        for tensor, (record, nr) in zip(given, origins, strict=True):
            copy = self.inputs.copy_of(tensor)
            if copy is not None:
                record.copies[nr] = ref(copy)

    def _finish(
        self, op: Any, record: OpRecord, args: Any, result: Any, own: int | None, grad_mode: bool
    ) -> None:
        outputs = list(tensors_in(result))
        if record.name.endswith(MAKES):
            self._unwritten.note(outputs)
        # of a view, whose memory may be written later, that is asked when it is used
        record.unwritten = record.unwritten and not any(map(self._unwritten.holds, outputs))
        self._describe(record, outputs, are_there=not is_begun(op))
        record.grad_mode = grad_mode
        record.requires_grad = own is not None
        if own is not None:
            self._origins.records[own] = record
            self._left = min(self._left + FOR_EACH_GRADIENT, MOST_WITHOUT_GRADIENT)
        else:
            self._left -= 1
        if own is None and (
            op is _LIFT  # of torch.tensor()
            # what changes a constant step after step is not part of its history
            or (is_mutable(op) and (not grad_mode or _again(record)))
        ):
            for output in outputs:
                self._made[output] = _leaf(output), 0
        else:
            for nr, output in enumerate(outputs):
                self._made[output] = record, nr
        self._through_view = None
        changed = args[0] if args and is_mutable(op) else None
        base = base_of(changed) if isinstance(changed, torch.Tensor) else None
        if base is not None:
            self._through_view = self._made_through(record, base)

    def _describe(
        self, record: OpRecord, outputs: list[torch.Tensor], *, are_there: bool = True
    ) -> None:
        record.scope = self._origins.scope
        record.source, record.round = user_source(sys._getframe(3)), self._origins.round
        record.shapes = tuple(shape_of(output) or () for output in outputs)
        record.dtype = dtype_of(outputs[0].dtype).name if outputs else ""
        if outputs and are_there and not record.name.endswith(MAKES):
            record.statistics = describe(outputs[0])

    def _made_through(self, part: OpRecord, base: torch.Tensor) -> OpRecord:
        """Record that an op changed ``base`` through a view: from now on it comes out of it."""
        attributes = {"in place through a view": True, **part.attributes, "in place": False}
        record = OpRecord(part.name, (self.origin(base), *part.inputs[1:]), attributes)
        record.scope, record.source, record.round = part.scope, part.source, part.round
        record.shapes, record.dtype = (shape_of(base) or (),), dtype_of(base.dtype).name
        record.requires_grad = part.requires_grad or any(
            maker.requires_grad for maker, _ in filter(_is_traced, record.inputs)
        )
        self._made[base] = record, 0
        return record

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within it, ops are not recorded, and PyTorch does not know of this mode.

        Some rules of its backward pass go another way while there is one, and round otherwise.
        """
        if dispatch_mode() is not self:  # another one was entered inside, and this one is needed
            yield
            return
        # the collector is left alone: a session, in another thread, sets its thresholds meanwhile
        super().__exit__(None, None, None)
        try:
            yield
        finally:
            super().__enter__()

    def origin(self, tensor: torch.Tensor) -> tuple[Any, int]:
        """Return the record of ``tensor``, and which output of its op it is."""
        if tensor.is_leaf and tensor.requires_grad:
            base = base_of(tensor)  # of a view that was made under no_grad, unseen, as in linear()
            return self.leaf(tensor if base is None or not base.is_leaf else base), 0
        origin: tuple[Any, int] | None = self._made.get(tensor)
        if origin is None:
            origin = self._made[tensor] = _leaf(tensor), 0
        return origin

    def known(self, tensor: torch.Tensor) -> tuple[Any, int] | None:
        """Return the same of a tensor that an op was given or made, None of another one."""
        made: tuple[Any, int] | None = self._made.get(tensor)
        return made

    def known_leaf(self, tensor: torch.Tensor) -> LeafRecord | None:
        """Return the record of a leaf, None of one that no op was given."""
        return self.leaf(tensor) if tensor in self._leaves else None

    def leaf(self, tensor: torch.Tensor) -> LeafRecord:
        """Return the record of a leaf; whatever changed its values, the graph begins with it."""
        record: LeafRecord | None = self._leaves.get(tensor)
        if record is None:
            record = self._leaves[tensor] = _leaf(tensor)
            if is_single(tensor):
                record.cut = self._made_without_graph(tensor)
        elif is_single(tensor):
            record.statistics = describe(tensor)  # training changes it from pass to pass
        return record

    def _made_without_graph(self, tensor: torch.Tensor) -> Cut | None:
        """Return where the graph ended that leads to a loss which requires_grad_() made a leaf."""
        origin = self._made.get(tensor, (None, 0))[0]
        for op in reachable([origin]) if isinstance(origin, OpRecord) else []:
            if isinstance(op, OpRecord) and (not op.requires_grad or "int" in op.dtype):
                leaves: Any = tuple(
                    maker.tensor
                    for maker in reachable([op])
                    if isinstance(maker, LeafRecord) and maker.requires_grad
                )
                if leaves:
                    # the second result of an op, as of sort(), has another dtype than the first
                    makers = [maker for maker, nr in filter(_is_result, op.inputs) if nr > 0]
                    at = makers[0] if makers else op
                    return Cut(f"{at.name}()", at.source, leaves)
        return None


def _is_traced(given: Any) -> bool:
    return isinstance(given, tuple)  # and no number


def _is_result(given: Any) -> bool:
    return isinstance(given, tuple) and isinstance(given[0], OpRecord)


def _newest() -> int:
    """Return the number of the node that was made last in this thread."""
    return -1 if sequence_nr is None else sequence_nr() - 1


def _again(record: OpRecord) -> bool:
    """Return whether an op in place changes what the same line has changed before."""
    given: Any = record.inputs[0] if record.inputs else None  # a number, of some
    if not _is_result(given):
        return False
    before, _ = given
    return (before.name, before.source) == (record.name, record.source)


_PLAIN = (bool, int, float, str, list, tuple)

_NUMBERS: Final = {
    bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128
}  # fmt: skip


def _tensor_of(number: complex) -> torch.Tensor:
    return functions.scalar_tensor(number, dtype=_NUMBERS[type(number)], device="cpu")


@lru_cache(maxsize=4096)
def _tensor_places(op: Any) -> tuple[int, ...]:
    """Return which arguments of ``op`` have to be tensors: dispatch modes are given numbers in
    their places that PyTorch has as tensors."""
    schema = schema_of(op)
    if takes_numbers(schema.name.partition("::")[2]):
        return ()
    return tuple(at for at, one in enumerate(schema.arguments) if str(one.type) == "Tensor")


class _Argument(NamedTuple):
    name: str
    default: Any
    is_operand: bool  # it takes a tensor or a number


class _Schema(NamedTuple):
    """What the schema of an op tells, read once: to ask PyTorch takes as long as a small op."""

    stem: str
    arguments: tuple[_Argument, ...]
    attributes: Mapping[str, Any]
    takes_no_value: bool  # but shape and dtype of its input
    is_pointwise: bool


@lru_cache(maxsize=4096)
def _schema_of(op: Any) -> _Schema:
    name = schema_of(op).name.partition("::")[2]
    camel = "".join(part.title() for part in name.strip("_").split("_"))
    arguments = tuple(
        _Argument(one.name, one.default_value, str(one.type) in ("Tensor", "number"))
        for one in schema_of(op).arguments
    )
    return _Schema(
        stem(f"{camel}Backward0") or name,
        arguments,
        {"in place": True} if schema_of(op).is_mutable else {},
        name.startswith("new_") or name.endswith("_like"),
        torch.Tag.pointwise in op.tags,
    )


def _record(op: Any, origins: list[Any], args: tuple[Any, ...], named: Any) -> OpRecord:
    schema = _schema_of(op)
    attributes: dict[str, Any] = dict(schema.attributes)
    inputs: list[Any] = list(origins)
    for at, argument in enumerate(schema.arguments):
        value = args[at] if at < len(args) else named.get(argument.name, argument.default)
        if not isinstance(value, _PLAIN) or any(True for _ in tensors_in(value)):
            continue
        if value == argument.default:
            continue
        if argument.is_operand and isinstance(value, int | float):
            inputs.append(value)
        else:
            attributes[argument.name] = value
    if schema.takes_no_value:
        inputs = []
    record = OpRecord(schema.stem, tuple(inputs), attributes)
    record.pointwise = schema.is_pointwise
    return record


def _keep_indices(given: list[torch.Tensor], origins: list[Any]) -> None:
    """Keep which items of data are chosen, which the numbers of the result do not tell."""
    for tensor, (record, nr) in zip(given, origins, strict=True):
        small = tensor.device.type == "cpu" and tensor.numel() <= _MOST_CHOSEN
        if small and not tensor.is_floating_point() and (copy := copy_of(tensor)) is not None:
            with unobserved():
                kept = copy.numpy(), [0], 0
            record.kept = kept if isinstance(record, LeafRecord) else (*[None] * nr, kept)


def _leaf(tensor: torch.Tensor) -> LeafRecord:
    weak = ref(tensor)

    def seen() -> SeenTensor | None:
        tensor = weak()
        with unobserved():
            return None if tensor is None else SeenTensor(tensor, tensor, None, None)

    with functions_disabled():
        one = describe(tensor) if is_single(tensor) else None
        facts = shape_of(tensor) or (), dtype_of(tensor.dtype).name, tensor.requires_grad, one
    return LeafRecord(seen, *facts)

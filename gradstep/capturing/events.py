"""Notes what the objects of a program do, where a library's methods are called."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import wraps
from types import GeneratorType
from typing import Any, Final, NamedTuple
from weakref import ref

from gradstep.capturing.frames import user_source
from gradstep.contract.events import (
    Called,
    Cleared,
    Clipped,
    Entry,
    Events,
    Extent,
    Leaves,
    Loaded,
    Restored,
    Scheduled,
    StateTaken,
    Stepped,
    noted,
)
from gradstep.contract.lookup import engine_of, is_tensor, numbers_of
from gradstep.contract.parameters import named_buffers, named_parameters
from gradstep.guest.fence import attribute_of, variables_in, within_fence
from gradstep.guest.replaced import replaced

_WHAT: Final = "what optimizers, schedulers and modules do"
Method = Callable[..., Any]


class Library(NamedTuple):
    """Where a library has what is noted.

    Attributes:
        optimizer, module: classes.
        schedules: classes of schedulers.
        clips: modules of Python that have functions which clip gradients.
        unseen: within it, what is read is not noted.
        is_compiling: whether code is being read that is to be compiled.
        skip: has what compiles not look at frames of a function.
        memory: the identity of the memory of a tensor, None where it has none.
    """

    optimizer: Any
    module: Any
    schedules: tuple[Any, ...]
    clips: tuple[Any, ...]
    unseen: Callable[[], AbstractContextManager[object]]
    is_compiling: Callable[[], bool]
    skip: Callable[[Any], None]
    memory: Callable[[Any], int | None]


@contextmanager
def noting(library: Library, events: Events) -> Iterator[None]:
    """Within it, what this thread's program does with the objects of a library is put into
    ``events``, as long as nobody else begins to note that."""
    with ExitStack() as stack:
        for owner, name, ours in _Notes(library, events).replacements():
            library.skip(ours)
            stack.enter_context(replaced(owner, name, ours))
        yield


def note_step(library: Library, events: Events, optimizer: Any) -> None:
    """Note that an optimizer has stepped."""
    if noted.get() is not events or library.is_compiling() or events.is_full(Stepped):
        return
    with within_fence(_WHAT), library.unseen():
        groups = attribute_of(optimizer, "param_groups") or ()
        events.add(
            Stepped, thing=ref(optimizer), kind=type(optimizer).__name__,
            source=user_source(sys._getframe(1)), leaves=events.same(_with_gradient(groups)),
            rates=_rates(groups),
        )  # fmt: skip


def note_call(
    events: Events, module: Any, given: Any, unseen: Callable[[], AbstractContextManager[object]],
    *, has_gradients: bool, frame: Any,
) -> None:  # fmt: skip
    """Note that a module, which is in no other, is called with its first argument, where it is one
    of the few calls that are noted."""
    is_training = attribute_of(module, "training") is True
    if not events.is_one_of_few((id(module), is_training, has_gradients)):
        return
    with unseen():
        events.add(
            Called, **_about(module, frame), is_training=is_training, has_gradients=has_gradients,
            given=_extent(given),
        )  # fmt: skip


def _extent(given: Any) -> Extent | None:
    if not is_tensor(given):
        return None
    (seen,) = engine_of((given,)).reading.tensors([given])
    if seen._shape is None or "float" not in seen.dtype.name:
        return None  # a nested one has no shape
    known = numbers_of(given).statistics(given)
    if known is None or known.trouble or known.size == 0:
        return None
    return Extent(tuple(seen._shape), known.minimum, known.maximum, known.rms)


def _rates(groups: Iterable[Mapping[str, Any]]) -> tuple[float, ...]:
    return tuple(
        [float(rate) for group in groups if isinstance(rate := group.get("lr"), int | float)]
    )


def _with_gradient(groups: Iterable[Mapping[str, Any]]) -> Leaves:
    return frozenset(
        [id(leaf) for group in groups for leaf in group["params"] if leaf.grad is not None]
    )


def _leaves(groups: Iterable[Mapping[str, Any]]) -> Leaves:
    return frozenset([id(leaf) for group in groups for leaf in group["params"]])


class _Notes:
    """Methods that note what those of a library do."""

    def __init__(self, library: Library, events: Events) -> None:
        self._library, self._events = library, events
        self._stepping: list[Any] = []  # schedulers, which may let others step

    def replacements(self) -> Iterator[tuple[Any, str, Method]]:
        library = self._library
        for kind, name, note in (
            (library.optimizer, "zero_grad", self._cleared),
            (library.module, "zero_grad", self._cleared),
            (library.module, "load_state_dict", self._loaded),
            (library.module, "state_dict", self._state_taken),
        ):
            if (method := variables_in(kind).get(name)) is not None:
                yield kind, name, self._after(method, note)
        if (method := variables_in(library.optimizer).get("load_state_dict")) is not None:
            yield library.optimizer, "load_state_dict", self._restoring(method)
        for kind in library.schedules:
            if (method := variables_in(kind).get("step")) is not None:
                yield kind, "step", self._nested(method, self._scheduled)
        for home in library.clips:
            for name in ("clip_grad_norm_", "clip_grad_value_"):
                if (function := variables_in(home).get(name)) is not None:
                    yield home, name, self._clipping(function)

    def _after(self, method: Method, note: Method) -> Method:
        """Return ``method``, after which its call is noted."""

        @wraps(method)
        def noting(itself: Any, *args: Any, **named: Any) -> Any:
            result = method(itself, *args, **named)
            self._note(note, itself, args, named, result, sys._getframe(1))
            return result

        return noting

    def _nested(self, method: Method, note: Method) -> Method:
        """Return the same of one that calls itself on parts."""

        @wraps(method)
        def noting(itself: Any, *args: Any, **named: Any) -> Any:
            stepping = self._stepping
            is_of_itself = any(each is itself for each in stepping)  # as by super().step()
            stepping.append(itself)
            try:
                result = method(itself, *args, **named)
            finally:
                stepping.pop()
            if not is_of_itself:
                self._note(note, itself, args, named, result, sys._getframe(1))
            return result

        return noting

    def _note(
        self, note: Method, itself: Any, args: Any, named: Any, result: Any, frame: Any
    ) -> None:
        if noted.get() is not self._events or self._library.is_compiling():
            return
        with within_fence(_WHAT), self._library.unseen():
            note(self._events, itself, args, named, result, frame)

    def _cleared(
        self, events: Events, itself: Any, args: Any, named: Any, result: Any, frame: Any
    ) -> None:
        if events.is_full(Cleared):
            return
        groups = attribute_of(itself, "param_groups")
        own = (leaf for _, leaf in named_parameters(itself)) if groups is None else ()
        leaves = events.same(_leaves([{"params": own}] if groups is None else groups))
        events.add(Cleared, **_about(itself, frame), leaves=leaves)

    def _scheduled(
        self, events: Events, itself: Any, args: Any, named: Any, result: Any, frame: Any
    ) -> None:
        optimizer = attribute_of(itself, "optimizer")
        given = next(iter([*args, *named.values()]), None)
        own, place = variables_in(itself), attribute_of(itself, "last_epoch")
        lengths = (own.get(name) for name in ("total_steps", "T_max", "total_iters"))
        groups = attribute_of(optimizer, "param_groups") or ()
        peaks = [*(group.get("max_lr") for group in groups), *(own.get("base_lrs") or ())]
        events.add(
            Scheduled, **_about(itself, frame), place=place if _is_count(place) else 0,
            optimizer=None if optimizer is None else ref(optimizer),
            given=float(given) if isinstance(given, int | float) else None,
            rates=_rates(groups), length=next(filter(_is_count, lengths), None),
            highest=max(map(float, filter(_is_number, peaks)), default=0.0),
            is_inner=bool(self._stepping),
        )  # fmt: skip

    def _state_taken(
        self, events: Events, itself: Any, args: Any, named: Any, result: Any, frame: Any
    ) -> None:
        if not args and named.get("destination") is None:
            events.add(StateTaken, **_about(itself, frame), state=id(result))

    def _loaded(
        self, events: Events, itself: Any, args: Any, named: Any, result: Any, frame: Any
    ) -> None:
        state = args[0] if args else named.get("state_dict")
        if not isinstance(state, Mapping):
            return
        missing = attribute_of(result, "missing_keys") or ()
        unexpected = attribute_of(result, "unexpected_keys") or ()
        own = {**dict(named_parameters(itself)), **dict(named_buffers(itself))}
        memory = self._library.memory
        # fmt: off
        shared = [
            name for name, tensor in own.items()
            if is_tensor(state.get(name)) and (at := memory(tensor)) is not None
            and memory(state[name]) == at
        ]
        events.add(
            Loaded, **_about(itself, frame), missing=_shapes(missing, own),
            unexpected=_shapes(unexpected, state), loaded=max(0, len(state) - len(unexpected)),
            own=len(shared), state=id(state),
        )
        # fmt: on

    def _restoring(self, method: Method) -> Method:
        """Return what loads the state of an optimizer, and notes its rates."""

        @wraps(method)
        def noting(itself: Any, *args: Any, **named: Any) -> Any:
            before: tuple[float, ...] = ()
            with within_fence(_WHAT), self._library.unseen():
                before = _rates(attribute_of(itself, "param_groups") or ())
            result = method(itself, *args, **named)
            if noted.get() is self._events and not self._library.is_compiling():
                with within_fence(_WHAT), self._library.unseen():
                    now = _rates(attribute_of(itself, "param_groups") or ())
                    about = _about(itself, sys._getframe(1))
                    self._events.add(Restored, **about, before=before, rates=now)
            return result

        return noting

    def _clipping(self, function: Method) -> Method:
        """Return a function that clips, and notes which gradients there were."""

        @wraps(function)
        def clipping(parameters: Any, *args: Any, **named: Any) -> Any:
            events = self._events
            if noted.get() is not events or self._library.is_compiling() or events.is_full(Clipped):
                return function(parameters, *args, **named)
            was_iterator = isinstance(parameters, Iterator)
            kept = parameters
            with self._library.unseen():
                is_single = is_tensor(parameters)
            if is_single:
                kept = [parameters]
            elif type(parameters) not in (list, tuple) and isinstance(parameters, Iterable):
                kept = list(parameters)  # the program's may be asked once
                is_generator = isinstance(parameters, GeneratorType)
                parameters = (each for each in kept) if is_generator else kept
            with within_fence(_WHAT), self._library.unseen():
                leaves = frozenset([id(leaf) for leaf in kept if leaf.grad is not None])
                events.add(
                    Clipped, kind=function.__name__, source=user_source(sys._getframe(1)),
                    count=len(kept), leaves=events.same(leaves), was_iterator=was_iterator,
                )  # fmt: skip
            return function(parameters, *args, **named)

        return clipping


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _about(itself: Any, frame: Any) -> dict[str, Any]:
    return {"thing": ref(itself), "kind": type(itself).__name__, "source": user_source(frame)}


def _shapes(names: Iterable[str], state: Mapping[str, Any]) -> tuple[Entry, ...]:
    return tuple(
        [Entry(str(name), tuple(attribute_of(state.get(name), "shape") or ())) for name in names]
    )

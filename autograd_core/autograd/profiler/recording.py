"""Recording: ``profile`` is told of every op and every node while it is on."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from time import perf_counter_ns
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from autograd_core.autograd.engine import GraphTask
from autograd_core.autograd.grad_mode import USUAL, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import Node, Notes, notes_of
from autograd_core.autograd.profiler.events import EventList, FunctionEvent, FunctionEventAvg

_OP, _NODE, _BLOCK = 0, 1, 7  # PyTorch's numbers for the scopes of events


class Spent(NamedTuple):
    """What something cost: seconds, bytes of its results, and how often it ran."""

    seconds: float = 0.0
    bytes: int = 0
    calls: int = 0


class _Thread(threading.local):
    """Where a thread stands: the events it is in, and when its current op began."""

    def __init__(self) -> None:
        self.open: list[FunctionEvent] = []
        self.began = 0.0


class profile:
    """Record time and memory of the ops and backward nodes that run inside.

    >>> import autograd_core as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with profile() as found:
    ...     (x * x).sum().backward()
    >>> [event.name for event in found.function_events][:3]
    ['aten::mul', 'aten::sum', 'autograd::engine::evaluate_function: SumBackward0']

    Args:
        enabled: False records nothing.
        record_shapes: keep the shapes of the inputs too.
        profile_memory: show memory in tables (it is recorded in any case).

    Attributes:
        forward, backward: what each node that is still alive cost, as an op when it was made,
            and in backward passes.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cpu: bool = True,
        record_shapes: bool = False,
        profile_memory: bool = False,
    ) -> None:
        self.enabled = enabled and use_cpu
        self.record_shapes = record_shapes
        self.profile_memory = profile_memory
        self.forward: WeakKeyDictionary[Notes, Spent] = WeakKeyDictionary()
        self.backward: WeakKeyDictionary[Notes, Spent] = WeakKeyDictionary()
        self._events: list[FunctionEvent] = []
        self._threads: dict[int, int] = {}
        self._here = _Thread()
        self._origin = 0
        self._token: Any = None
        self.entered = False

    def __enter__(self) -> Any:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.entered = True
        self._origin = perf_counter_ns()
        self._token = enter_mode(replace(current_mode() or USUAL, profiler=self))
        return self

    def __exit__(self, *error: object) -> None:
        if self._token is not None:
            leave_mode(self._token)
            self._token = None

    # what it is told

    def begin(self) -> None:
        """Note that an op begins; ops do not contain each other."""
        self._here.began = self._now()

    def op(
        self, name: str, values: Sequence[Any], outputs: Sequence[Any], node: Node | None
    ) -> None:
        """Note that the op that began last has ended."""
        end = self._now()
        event = self._new_event(f"aten::{name}", self._here.began, _OP, values)
        event.time_range = event.time_range._replace(end=end)
        self.made(event, outputs, node)

    def made(self, event: FunctionEvent, outputs: Sequence[Any], node: Node | None) -> None:
        """Note that ``event`` resulted in ``outputs`` and, perhaps, ``node``."""
        event.cpu_memory_usage = sum(t.nbytes for t in outputs if t.view_of is None)
        if node is not None:
            event.sequence_nr = node.sequence_nr
            _count(self.forward, node, event.cpu_time_total / 1e6, event.cpu_memory_usage)

    @contextmanager
    def function(self, name: str, values: Sequence[Any]) -> Iterator[FunctionEvent]:
        """Record what runs inside as the forward of a custom Function."""
        with self._within(name, _OP, values) as event:
            yield event

    @contextmanager
    def block(self, name: str) -> Iterator[None]:
        """Record what runs inside as a block of the program."""
        with self._within(name, _BLOCK) as event:
            yield
        event.cpu_memory_usage = sum(child.cpu_memory_usage for child in event.cpu_children)

    def run(self, task: GraphTask) -> None:
        """Run ``task`` under observation."""
        steps = task.observe(copy_grads=False)
        for node in task.order:
            name = node.name()
            with (
                self._within(f"autograd::engine::evaluate_function: {name}", _OP) as around,
                self._within(name, _NODE) as event,
            ):
                step = next(steps)
            sent = [d.after for d in step.deliveries if d.after is not None]
            for known in (around, event):
                known.sequence_nr = node.sequence_nr if node.edges else -1
                known.cpu_memory_usage = sum(g.nbytes for g in sent)
            self.ran(node, event.cpu_time_total / 1e6, event.cpu_memory_usage)

    def ran(self, node: Node, seconds: float, nbytes: int) -> None:
        """Take note that ``node`` ran in a backward pass, also where someone else did that."""
        _count(self.backward, node, seconds, nbytes)

    @contextmanager
    def _within(self, name: str, scope: int, values: Sequence[Any] = ()) -> Iterator[FunctionEvent]:
        event = self._new_event(name, self._now(), scope, values)
        opened = self._here.open
        opened.append(event)
        try:
            yield event
        finally:
            opened.pop()
            event.time_range = event.time_range._replace(end=self._now())

    def _new_event(
        self, name: str, start: float, scope: int, values: Sequence[Any] = ()
    ) -> FunctionEvent:
        opened = self._here.open
        parent = opened[-1] if opened else None
        thread = self._threads.setdefault(threading.get_ident(), len(self._threads) + 1)
        event = FunctionEvent(len(self._events) + 1, name, thread, start, scope, parent)
        if self.record_shapes:
            event.input_shapes = [list(getattr(v, "shape", ())) for v in values]
        self._events.append(event)
        return event

    def _now(self) -> float:
        return (perf_counter_ns() - self._origin) / 1000

    # what it tells

    @property
    def function_events(self) -> EventList:
        """The events, in the order in which they began."""
        return EventList(self._events, profile_memory=self.profile_memory)

    @property
    def self_cpu_time_total(self) -> float:
        return self.function_events.self_cpu_time_total

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        return self.function_events.key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        return self.function_events.total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        return self.function_events.table(sort_by, row_limit, **options)

    def export_chrome_trace(self, path: str) -> None:
        self.function_events.export_chrome_trace(path)

    def __str__(self) -> str:
        return self.table()

    __repr__ = __str__


def running_profile() -> profile | None:
    """Return the profile that is being made around the caller."""
    mode = current_mode()
    running = None if mode is None else mode.profiler
    return running if isinstance(running, profile) else None


def _count(spent: Any, node: Node, seconds: float, nbytes: int) -> None:
    known: Mapping[Notes, Spent] = spent
    notes = notes_of(node)
    before = known.get(notes, Spent())
    spent[notes] = Spent(before.seconds + seconds, before.bytes + nbytes, before.calls + 1)


class record_function:
    """Give what runs inside a name of its own in the profile; a context manager, and a decorator.

    >>> with profile() as found, record_function("nothing much"):
    ...     pass
    >>> found.function_events[0].name
    'nothing much'
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._open: list[Any] = []

    def __enter__(self) -> record_function:
        mode = current_mode()
        block = None
        if mode is not None and mode.profiler is not None:
            block = mode.profiler.block(self.name)
            block.__enter__()
        self._open.append(block)
        return self

    def __exit__(self, *error: Any) -> None:
        block = self._open.pop()
        if block is not None:
            block.__exit__(*error)

    def __call__(self, function: Any) -> Any:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return wrapper

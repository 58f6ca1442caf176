"""One backward pass, run for a film: the graph before it, the graph after it, and what waited
in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradstep.capturing.gradients import describe
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.roots import backward_call
from gradstep.debugger.history.observed_pass import ObservedPass, graph_of_call
from gradstep.graph.model import Graph, View
from gradstep.graph.statistics import Statistics
from gradstep.records import BackwardCall, Gradient, Gradients, Node, Step, resolve
from gradstep_viz.picture.subject import drawable, graph_of_session, is_session


class Arrival(NamedTuple):
    """A gradient reached a node that gathers several: the sum there after plan node ``order`` ran,
    and how many of the ``expected`` contributions are in."""

    order: int
    arrived: int
    expected: int
    total: Statistics | None


class Recording(NamedTuple):
    """The material of a film.

    ``before`` and ``after`` are the same graph, without and with the gradients of the pass;
    ``waiting`` holds the arrivals at every plan node that several contributions lead to.
    """

    before: Graph
    after: Graph
    waiting: Mapping[int, Sequence[Arrival]]


def record(obj: Any, view: View) -> Recording:
    """Run the backward pass of ``obj``, a tensor, several, or an intercepted call; afterwards
    every ``.grad`` is as it was, and nothing has been freed.  Of a session nothing is run: it
    tells what has run up to where it stands."""
    if is_session(obj):
        before = graph_of_call(obj.backward_call, view, obj.names, (), obj.order, {})
        waiting = _waiting(obj.order, obj.steps)
        return Recording(before, graph_of_session(obj, view), waiting)
    names = caller_names()
    if isinstance(obj, BackwardCall):
        return record_call(obj, view, names)
    with drawable():
        call = backward_call(obj)
    return record_call(call, view, names)


def record_call(call: BackwardCall, view: View, names: Names) -> Recording:
    """Record a call, as :func:`record` does; its tensors have the names ``names``."""
    with ObservedPass(call, names) as observed:
        before = observed.graph(view)
        observed.run()
        after = observed.graph(view)
        return Recording(before, after, _waiting(observed.order, observed.steps))


def record_passing(call: BackwardCall, view: View, names: Names) -> tuple[Recording, Gradients]:
    """Record a call of the program's, and carry it out by that; with what ``grad`` returns."""
    observed = ObservedPass(call, names)
    before = observed.graph(view)
    observed.run()
    recording = Recording(before, observed.graph(view), _waiting(observed.order, observed.steps))
    observed.release()
    return recording, observed.gradients


def _waiting(order: Sequence[Node], steps: Sequence[Step]) -> dict[int, list[Arrival]]:
    index = {node: number for number, node in enumerate(order)}
    expected: dict[int, int] = {}
    for step in steps:
        for target, _ in _deliveries(step, index):
            expected[target] = expected.get(target, 0) + 1
    arrived: dict[int, int] = {}
    waiting: dict[int, list[Arrival]] = {}
    for step in steps:
        for target, total in _deliveries(step, index):
            count = arrived[target] = arrived.get(target, 0) + 1
            if expected[target] > 1:
                waiting.setdefault(target, []).append(
                    Arrival(step.index, count, expected[target], describe(total))
                )
    return waiting


def _deliveries(step: Step, index: Mapping[Node, int]) -> Iterator[tuple[int, Gradient]]:
    """Yield the plan nodes that ``step`` delivered to, and the sums that waited there
    afterwards."""
    for delivery in step.deliveries:
        place = resolve(delivery.edge)[0]
        if place is not None and place in index:
            yield index[place], delivery.after

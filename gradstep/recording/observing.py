"""A call that is carried out node by node, and all that flowed in it: the facts of a full call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from gradstep.capturing import capture
from gradstep.capturing.forward_values import ForwardValues
from gradstep.capturing.gradients import UNKNOWN, changes_of
from gradstep.capturing.names import Names
from gradstep.capturing.sources import with_portable_sources
from gradstep.contract.driver import Driver
from gradstep.contract.lookup import engine_of_call, stepping_of
from gradstep.contract.op_records import LeafRecord, OpRecord
from gradstep.contract.protocol import Engine
from gradstep.graph.model import Graph, Shape
from gradstep.graph.statistics import Statistics, statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.guest.collector import collector_paused, collector_slowed
from gradstep.recording.facts import (
    NONE,
    DeliveryFacts,
    Flow,
    HookFacts,
    StepFacts,
    Values,
)
from gradstep.recording.run import Structure, quick_key, structure_of
from gradstep.records import (
    BackwardCall,
    Gradients,
    HookCall,
    Step,
    new_delivery,
    new_step,
    resolve,
)

HELD: Final = 1 << 24
"""Bytes of gradients that wait to be described together."""
TENSORS: Final = 1 << 30
"""Bytes of the tensors of a call that are kept, where that was asked for; of others there is only
the description."""


class Observed(NamedTuple):
    """A call that has run: the key of its structure, the structure if it is new, what flowed, the
    names of the roots, what the call returns, and the files of the program that the graph names.

    ``left_out`` counts the tensors that were too many to keep.
    """

    key: str
    structure: Structure | None
    flow: Flow
    roots: tuple[str, ...]
    nodes: int
    gradients: Gradients
    sources: frozenset[str]
    left_out: int = 0


def observe(
    call: BackwardCall,
    names: Names,
    folder: Path,
    known: dict[int, str],
    *,
    tensors: bool = False,
    driver: Driver | None = None,
) -> Observed:
    """Carry out ``call``, or have a ``driver`` tell of it, which has run; note all that flows, and
    let go of what the call itself would have; files are named as seen from ``folder``.

    ``known`` are the keys of structures that were seen.

    Raises:
        Exception: whatever a node or a hook raised.
    """
    engine, stepping = engine_of_call(call), stepping_of(call)
    with collector_slowed():
        with collector_paused():
            driver = stepping.driver(call) if driver is None else driver
            order = driver.order
            numbering = _Numbering(engine, driver.leaves.numbers if tensors else None)
            results = _results(engine, order)
            numbers = {node: numbering.number(value) for node, value in results.items()}
            constants = {} if engine.forward is None else engine.forward.kept_constants(order)
            constants = {key: numbering.number(value) for key, value in constants.items()}
            numbering.settle()
            del results
        notes = _Notes(driver, numbering)
        driver.only_forward()
        driver.record(0, len(order), notes.keep)
        driver.run(len(order))  # what is raised behind the last node
        notes.settle()
        with collector_paused():
            changes = {index: changes_of(calls) for index, calls in notes.hook_calls.items()}
            values: dict[int, Any] = {}
            graph = capture(
                call.roots, "both", gradient=stepping.seeds(call), names=names,
                steps=notes.described, hooks=changes, order=order, lazy=True,
                plan=None if call.inputs else driver.plan, values=values,
            )  # fmt: skip
            forward = _Forward(engine, values, constants)
            flow = _flow(graph, numbering, notes, numbers, order, forward)
            sources = frozenset(source.file for _, source in graph.sources.items())
            quick, structure = quick_key(graph), None
            if quick not in known:
                structure = structure_of(with_portable_sources(graph, folder))
                known[quick] = structure.key
            roots = tuple(names.of(root) for root in call.roots)
            nodes = len(order)
            notes.described.clear()
            del graph
            driver.release(nodes)
    return Observed(
        known[quick], structure, flow, roots, nodes, driver.gradients() if call.is_grad else (),
        sources, numbering.left_out,
    )  # fmt: skip


def _results(engine: Engine, order: Sequence[Any]) -> dict[Any, Any]:
    """Return the values of the forward pass that are there before anything runs, by node."""
    results = {} if engine.forward is None else dict(engine.forward.saved_results(order))
    for node in order:
        if (leaf := engine.leaf(node)) is not None:
            results[node] = leaf
    return results


class _Numbering:
    """Numbers values, each once while it lives, and describes many together."""

    def __init__(self, engine: Engine, numbers: Callable[[Any], NDArray[Any]] | None) -> None:
        """``numbers`` reads the elements of those that are to be kept."""
        self._engine = engine
        self.numbers = numbers
        self._room = TENSORS
        self._held: dict[int, tuple[int, Any]] = {}
        self._tables: list[StatisticsTable] = []
        self._told: list[Statistics] = []
        self.shapes: list[Shape | None] = []
        self.dtypes: list[str] = []
        self.arrays: dict[int, NDArray[np.generic]] = {}
        self.left_out = 0
        self.known: dict[int, Any] = {}  # by number: its description, of values settled just now

    def number(self, value: Any) -> int:
        """Return the number of a value; NONE of None."""
        if value is None:
            return NONE
        held = self._held.get(id(value))
        if held is None:
            held = self._held[id(value)] = len(self.shapes), value
            if isinstance(value, np.ndarray | np.generic):  # what a hook was given, copied
                self.shapes.append(value.shape)
                self.dtypes.append(value.dtype.name)
            else:
                extent = self._engine.reading.extent(value)
                self.shapes.append(None if extent is None else extent.shape)
                self.dtypes.append("" if extent is None else extent.dtype)
        return held[0]

    def settle(self) -> None:
        """Describe what was numbered since the last time, and keep it no longer."""
        values = [value for _, value in self._held.values()]
        numbers = self._engine.numbers or self._engine.cannot("describe gradients")
        table = numbers.all_statistics(values)
        for at, value in enumerate(values):
            if isinstance(value, np.ndarray | np.generic) and table[at] is None:
                table[at] = statistics(value)
        self._tables.append(table)
        self.known = dict(zip([number for number, _ in self._held.values()], table, strict=True))
        for number, value in self._held.values() if self.numbers is not None else ():
            self._keep(number, value)
        self._held.clear()

    def _keep(self, number: int, value: Any) -> None:
        assert self.numbers is not None
        array = None
        with suppress(RuntimeError, NotImplementedError):  # memory that is freed, or none at all
            array = value if isinstance(value, np.ndarray) else self.numbers(value)
        if array is None or array.nbytes > self._room:
            self.left_out += 1
            return
        self._room -= array.nbytes
        self.arrays[number] = np.array(array)

    def add(
        self,
        part: Statistics,
        shape: Shape | None,
        dtype: str,
        array: NDArray[Any] | None = None,
    ) -> int:
        """Number a value that was described elsewhere, after all others; ``array`` has the elements
        that are to be kept."""
        self._told.append(part)
        self.shapes.append(shape)
        self.dtypes.append(dtype)
        number = len(self.shapes) - 1
        if array is not None:
            self._keep(number, array)
        return number

    def values(self) -> Values:
        """Return all values."""
        tables = [*self._tables, StatisticsTable.of(self._told)]
        table = StatisticsTable(0, np.concatenate([table.columns for table in tables], axis=1))
        return Values(table, self.shapes, self.dtypes, self.arrays.get)


# made in a third of the time that its names take
_made_facts: Final = cast("Callable[[Any], DeliveryFacts]", partial(tuple.__new__, DeliveryFacts))


class _Notes:
    """Takes the steps of a pass, and makes facts of them; ``described`` are the same steps with
    descriptions in the place of gradients."""

    def __init__(self, driver: Driver, numbering: _Numbering) -> None:
        self._driver, self._numbering = driver, numbering
        self._index = {node: index for index, node in enumerate(driver.order)}
        self._waiting: list[Step] = []
        self._room = HELD
        self.facts: list[StepFacts] = []
        self.described: list[Step] = []
        self.hook_calls: dict[int, tuple[HookCall, ...]] = {}

    def keep(self, step: Step, seconds: float) -> bool:
        self._waiting.append(step)
        self._room -= self._driver.step_bytes(step)
        if self._room < 0:
            self.settle()
        return True

    def settle(self) -> None:
        """Make facts of the steps that wait."""
        effects, number = self._driver.state.effects, self._numbering.number
        steps = [self._driver.undoing.step_when_run(step) for step in self._waiting]
        facts = []
        for step in steps:
            calls = effects[step.index].calls if step.index in effects else ()
            if calls:
                self.hook_calls[step.index] = calls
            facts.append(self._facts(step, calls, number))
        self._numbering.settle()
        known = self._numbering.known
        self.described += [
            _described(step, told, known) for step, told in zip(steps, facts, strict=True)
        ]
        self.facts += facts
        self._waiting, self._room = [], HELD

    def _facts(
        self, step: Step, calls: Sequence[HookCall], number: Callable[[Any], int]
    ) -> StepFacts:
        return StepFacts(
            step.index,
            tuple([number(g) for g in step.incoming]),
            tuple([number(g) for g in step.hooked]),
            tuple([
                _made_facts((
                    nr, *self._place(edge), number(gradient), number(before), number(after)
                ))
                for nr, edge, gradient, before, after in step.deliveries
            ]),
            number(step.before),
            number(step.after),
            tuple([number(gradient) for _, gradient in step.captured]),
            tuple([
                HookFacts(
                    call.kind, call.name, call.output_nr,
                    tuple([number(g) for g in call.before]),
                    tuple([number(g) for g in call.after]), call.changed,
                )
                for call in calls
            ]),
        )  # fmt: skip

    def _place(self, edge: Any) -> tuple[int, int]:
        node, nr = resolve(edge)
        return (NONE if node is None else self._index.get(node, NONE)), nr


class _Forward:
    """What leads to the values of a forward half beyond those that nodes have saved of it."""

    def __init__(
        self, engine: Engine, values: Mapping[int, Any], constants: Mapping[Any, int]
    ) -> None:
        """``values`` are those of :func:`capture`; ``constants`` the numbers of those that nodes
        keep."""
        self._values, self._constants = values, constants
        self._traced = ForwardValues(engine.reading, {})

    def constant(self, id: int) -> int:
        """Return the number of an input without a gradient that some node keeps, else NONE."""
        kept = self._values.get(id)
        return self._constants.get(kept, NONE) if isinstance(kept, tuple) else NONE

    def array(self, id: int) -> NDArray[Any] | None:
        """Return the numbers of a value that was traced, None where none are known."""
        record = self._values.get(id)
        return (
            self._traced.array((record, 0)) if isinstance(record, OpRecord | LeafRecord) else None
        )


def _described(step: Step, facts: StepFacts, known: dict[int, Any]) -> Step:
    """Return a step with what is ``known`` of its gradients in their place, by their numbers."""

    def of(number: int) -> Any:
        return None if number == NONE else known[number] or UNKNOWN

    deliveries = tuple(
        [
            new_delivery(
                (delivery[0], delivery[1], of(told.gradient), of(told.before), of(told.after))
            )
            for delivery, told in zip(step.deliveries, facts.deliveries, strict=True)
        ]
    )
    captured = tuple(
        [(place, of(told)) for (place, _), told in zip(step.captured, facts.captured, strict=True)]
    )
    return new_step((
        step.index, step.node, tuple(map(of, facts.incoming)), tuple(map(of, facts.hooked)),
        deliveries, of(facts.before), of(facts.after), captured,
    ))  # fmt: skip


def _flow(
    graph: Graph,
    numbering: _Numbering,
    notes: _Notes,
    numbers: dict[Any, int],
    order: Sequence[Any],
    forward: _Forward,
) -> Flow:
    """Return what flowed in a call, by the nodes and edges of its graph."""
    steps = {step.index: step for step in notes.facts}
    nodes: dict[int, int] = {}
    edges: dict[int, int] = {}
    for id, half in enumerate(graph.halves):
        number = NONE
        if half == "backward":
            number = _received(steps.get(graph.orders.get(id, NONE)))
        elif (pair := graph.pairs.get(id)) is not None and pair < len(order):
            number = numbers.get(order[pair], NONE)
        else:
            number = forward.constant(id)
        if number == NONE and (known := graph.statistics.get(id)) is not None:
            array = forward.array(id) if numbering.numbers is not None else None
            number = numbering.add(known, graph.shapes[id], graph.dtypes[id], array)
        if number != NONE:
            nodes[id] = number
    for id, number in _contributions(graph, steps):
        if number == NONE and (known := graph.edge_statistics.get(id)) is not None:
            number = numbering.add(known, graph.edge_shapes[id], graph.edge_dtypes[id])
        if number != NONE:
            edges[id] = number
    details = {
        id: graph.details[id]
        for id, half in enumerate(graph.halves)
        if half == "backward" and graph.details[id]
    }
    return Flow(
        numbering.values(), nodes, edges, graph.undefined, graph.edge_undefined, details,
        dict(graph.hooks), dict(graph.edge_hooks), tuple(notes.facts),
    )  # fmt: skip


def _received(step: StepFacts | None) -> int:
    """Return the number of the gradient that a node of the backward half shows."""
    if step is None:
        return NONE
    return step.after if step.after != NONE else step.hooked[0]


def _contributions(graph: Graph, steps: dict[int, StepFacts]) -> Iterator[tuple[int, int]]:
    for id, kind in enumerate(graph.edge_kinds):
        step = steps.get(graph.orders.get(graph.edge_sources[id], NONE))
        if kind != "gradient" or step is None:
            yield id, NONE
        else:
            nr = graph.edge_output_nrs[id]
            yield id, step.deliveries[nr].gradient if nr < len(step.deliveries) else NONE

"""The facts of a run: the protocol by which they are read, in memory or from a file, and the one by
which they are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradstep.contract.events import Events
from gradstep.graph.columns import SmallInts
from gradstep.graph.model import Graph
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.serialize import from_json, to_json
from gradstep.graph.statistics_columns import StatisticsColumns
from gradstep.recording.errors import NotRecorded
from gradstep.recording.event_rows import Noted
from gradstep.recording.facts import (
    NONE,
    CallFacts,
    Flow,
    Header,
    Leaf,
    LeafFacts,
    Training,
    Warned,
)
from gradstep.text import listed


class Run(Protocol):
    """The facts of a run. A call goes by its ``index``, the same in every method.

    Every method raises :class:`NotRecorded` for a call, a structure or a leaf that is not there.
    """

    @property
    def header(self) -> Header:
        """What is known of the run before its first call."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether the recording was ended in good order: no call can be missing at its end."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What the recording says of itself: what it left out, and why it ended."""
        ...

    @property
    def warnings(self) -> Sequence[Warned]:
        """The warnings that the run gave, each text once a line of the program."""
        ...

    @property
    def leaves(self) -> Sequence[Leaf]:
        """All leaves that some call came to, or that an optimizer has, by their numbers."""
        ...

    @property
    def training(self) -> Training:
        """What changes the leaves, as it was last seen."""
        ...

    @property
    def events(self) -> Events:
        """What the objects of the program did between its calls."""
        ...

    @property
    def incomplete(self) -> Sequence[int]:
        """The calls whose facts a bug in gradstep has lost in part; what all calls have in common
        is unknown then."""
        ...

    @property
    def indices(self) -> Sequence[int]:
        """The calls of which something was kept, in the order in which they were made."""
        ...

    @property
    def full(self) -> Sequence[int]:
        """The calls that have a :meth:`flow`."""
        ...

    @property
    def described(self) -> Sequence[tuple[int, bool]]:
        """The calls whose leaves were described, and whether something is wrong there."""
        ...

    def calls(self) -> Iterator[CallFacts]:
        """Yield the facts of all calls."""
        ...

    def call(self, index: int) -> CallFacts:
        """Return the facts of one call."""
        ...

    def of_leaves(self, index: int) -> Sequence[LeafFacts]:
        """Return the facts of each leaf that a call came to, by their numbers; nothing where the
        level was ``call``."""
        ...

    def over_calls(self, leaf: int) -> Iterator[tuple[int, LeafFacts]]:
        """Yield the facts of one leaf in each call that came to it."""
        ...

    def graph(self, structure: str) -> Graph:
        """Return the graph of a structure, without anything that flowed in it."""
        ...

    def flow(self, index: int, *, steps: bool = True) -> Flow | None:
        """Return what flowed in a call, None where that was not kept; without what each node did,
        which takes long to read, unless ``steps``."""
        ...

    @property
    def files(self) -> Sequence[str]:
        """The files whose :meth:`source` was kept."""
        ...

    def source(self, file: str) -> str | None:
        """Return the text of a file that graphs and calls name, None where that was not kept."""
        ...


class Sink(Protocol):
    """Receives the facts of a run, as it is watched."""

    def add_header(self, header: Header) -> None:
        """Take note of the run, in place of what was known of it."""
        ...

    def add_leaf(self, leaf: Leaf) -> None:
        """Take note of a leaf, before the first call that came to it ends."""
        ...

    def add_training(self, training: Training) -> None:
        """Take note of what changes the leaves, in place of what was known of it."""
        ...

    def add_events(self, noted: Noted) -> None:
        """Take the log of events, which grows while the program runs."""
        ...

    def add_incomplete(self, call: int) -> None:
        """Take note that a bug in gradstep has lost something of a call."""
        ...

    def add_structure(self, structure: Structure) -> None:
        """Take note of a structure, see :func:`structure_of`, once."""
        ...

    def add_source(self, file: str, text: str) -> None:
        """Take note of the text of a file of the program."""
        ...

    def add_warning(self, warned: Warned) -> None:
        """Take note of a warning."""
        ...

    def add_note(self, note: str) -> None:
        """Take note of something that the recording is to say of itself."""
        ...

    def add_begun(self, call: CallFacts) -> None:
        """Take note of a call that begins."""
        ...

    def add_ended(self, call: CallFacts, leaves: Sequence[LeafFacts], flow: Flow | None) -> None:
        """Take note of all that is known of a call that has ended."""
        ...

    def add_flow(self, call: CallFacts, flow: Flow) -> None:
        """Take note of what flowed in a call that has ended before; ``call`` has its facts of
        now."""
        ...

    def add_end(self) -> None:
        """Take note that the run is over."""
        ...


def graph_of(run: Run, index: int) -> Graph:
    """Return the graph of a call with all that flowed in it, as a look at the live call gives it.

    Raises:
        NotRecorded: the call was not recorded, or not in full.
    """
    flow = run.flow(index)
    if flow is None:
        raise not_in_full(run, run.call(index))
    return with_flow(run.graph(run.call(index).structure), flow)


def not_in_full(run: Run, call: CallFacts) -> NotRecorded:
    """Return the error that says of a call that its graph was not kept, and of which it was."""
    near = min(run.full, key=lambda index: abs(index - call.index), default=None)
    instead = "" if near is None else f"; {run.call(near).title} is the nearest one in full"
    return NotRecorded(
        f"of {call.title}, only {_KEPT[call.level]} recorded{instead}",
        remedy=f"record it with --call {call.number}",
    )


_KEPT: Mapping[str, str] = {"call": "the loss was", "leaves": "the loss and the leaves were"}


def with_flow(graph: Graph, flow: Flow) -> Graph:
    """Return the graph of a structure with what flowed in a call."""
    details = list(graph.details)
    for id, text in flow.details.items():
        details[id] = text
    table = flow.values.statistics
    return replace(
        graph,
        details=details,
        statistics=StatisticsColumns(table, _rows(flow.nodes, len(graph))),
        edge_statistics=StatisticsColumns(table, _rows(flow.edges, graph.edge_count)),
        undefined=flow.undefined,
        edge_undefined=flow.edge_undefined,
        hooks=flow.hooks,
        edge_hooks=flow.edge_hooks,
    )


def _rows(numbers: Mapping[int, int], length: int) -> SmallInts:
    rows = np.full(length, NONE, np.int32)
    rows[list(numbers)] = list(numbers.values())
    return rows


def without_flow(graph: Graph) -> Graph:
    """Return the structure of a graph: all that is the same in each call of a loop.

    >>> from gradstep.graph.builder import GraphBuilder
    >>> build = GraphBuilder()
    >>> _ = build.node("leaf", "backward", "AccumulateGrad", variable="a", detail="0 + 36")
    >>> without_flow(build.graph()).details
    ['']
    """
    details = [
        "" if half == "backward" else detail
        for half, detail in zip(graph.halves, graph.details, strict=True)
    ]
    return replace(
        graph, details=details, statistics={}, edge_statistics={}, undefined=frozenset(),
        edge_undefined=frozenset(), hooks={}, edge_hooks={}, costs={},
    )  # fmt: skip


class Structure(NamedTuple):
    """The structure of a graph: its key, a hash; its document; and of each node the id, the half,
    the kind, the name, the address, the scope, and the file and the line of its source."""

    key: str
    document: str
    nodes: Sequence[tuple[int, str, str, str, str, str, str | None, int | None]]


def structure_of(graph: Graph) -> Structure:
    """Return the structure of a graph: equal structures have equal documents, and equal keys."""
    document = to_json(without_flow(graph))
    columns = zip(graph.halves, graph.kinds, graph.names, graph.scopes, strict=True)
    nodes = [
        (id, half, kind, name, graph.address(id), scope, *(graph.sources.get(id) or (None, None)))
        for id, (half, kind, name, scope) in enumerate(columns)
    ]
    return Structure(sha256(document.encode()).hexdigest()[:32], document, nodes)


def quick_key(graph: Graph) -> int:
    """Return a number that is equal for graphs of equal structure, in this process only; it takes a
    tenth of the time of :func:`structure_of`."""
    structure, saved = without_flow(graph), SavedColumns.of(graph.saved)
    others = [getattr(structure, each.name) for each in fields(Graph) if each.name != "saved"]
    return hash(tuple(map(_hashable, [saved.nodes, *saved.columns, *others])))


def _hashable(column: Any) -> Any:
    if isinstance(column, Mapping):
        return tuple(column.items())
    return tuple(column) if isinstance(column, Sequence) and type(column) is not str else column


class MemoryRun:
    """A run that is watched, or was, in memory: a :class:`Sink`, and a :class:`Run`."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self.is_finished = False
        self.notes: list[str] = []
        self.warnings: list[Warned] = []
        self.leaves: list[Leaf] = []
        self.training = Training()
        self.events = Events()
        self.incomplete: list[int] = []
        self._calls: dict[int, CallFacts] = {}
        self._leaves: dict[int, dict[int, LeafFacts]] = {}  # of each call, by their numbers
        self._flows: dict[int, Flow] = {}
        self._documents: dict[str, str] = {}
        self._graphs: dict[str, Graph] = {}
        self._sources: dict[str, str] = {}

    def add_header(self, header: Header) -> None:
        self.header = header

    def add_leaf(self, leaf: Leaf) -> None:
        self.leaves.append(leaf)

    def add_training(self, training: Training) -> None:
        self.training = training

    def add_events(self, noted: Noted) -> None:
        self.events = noted.events

    def add_incomplete(self, call: int) -> None:
        if call not in self.incomplete:
            self.incomplete.append(call)

    def add_structure(self, structure: Structure) -> None:
        self._documents[structure.key] = structure.document

    def add_source(self, file: str, text: str) -> None:
        self._sources[file] = text

    def add_warning(self, warned: Warned) -> None:
        self.warnings.append(warned)

    def add_note(self, note: str) -> None:
        self.notes.append(note)

    def add_begun(self, call: CallFacts) -> None:
        self._calls[call.index] = call

    def add_ended(self, call: CallFacts, leaves: Sequence[LeafFacts], flow: Flow | None) -> None:
        self._calls[call.index] = call
        self._leaves[call.index] = {facts.leaf: facts for facts in leaves}
        if flow is not None:
            self._flows[call.index] = flow

    def add_flow(self, call: CallFacts, flow: Flow) -> None:
        self._calls[call.index] = call
        self._flows[call.index] = flow

    def add_end(self) -> None:
        self.is_finished = True

    @property
    def indices(self) -> Sequence[int]:
        return list(self._calls)

    @property
    def full(self) -> Sequence[int]:
        return list(self._flows)

    @property
    def described(self) -> Sequence[tuple[int, bool]]:
        return [(call.index, call.is_troubled) for call in self.calls() if call.level != "call"]

    def calls(self) -> Iterator[CallFacts]:
        yield from list(self._calls.values())

    def call(self, index: int) -> CallFacts:
        facts = self._calls.get(index)
        if facts is None:
            raise no_such_call(self, index)
        return facts

    def of_leaves(self, index: int) -> Sequence[LeafFacts]:
        self.call(index)
        return tuple(self._leaves.get(index, {}).values())

    def over_calls(self, leaf: int) -> Iterator[tuple[int, LeafFacts]]:
        for index, leaves in self._leaves.items():
            if leaf in leaves:
                yield index, leaves[leaf]

    def document(self, structure: str) -> str:
        """Return the graph of a structure as ``to_json`` writes it."""
        if structure not in self._documents:
            raise NotRecorded(f"there is no structure {structure!r}")
        return self._documents[structure]

    def graph(self, structure: str) -> Graph:
        if structure not in self._graphs:
            self._graphs[structure] = from_json(self.document(structure))
        return self._graphs[structure]

    def flow(self, index: int, *, steps: bool = True) -> Flow | None:
        self.call(index)
        return self._flows.get(index)

    @property
    def files(self) -> Sequence[str]:
        return list(self._sources)

    def source(self, file: str) -> str | None:
        return self._sources.get(file)


def no_such_call(run: Run, index: int) -> NotRecorded:
    """Return the error that says which calls there are."""
    known = run.indices
    is_row = len(known) > 1 and known[-1] - known[0] == len(known) - 1
    there = f"{known[0]} to {known[-1]}" if is_row else listed([*map(str, known)], 10, ", ")
    return NotRecorded(f"call {index} was not recorded; there are {there or 'none'}")

"""The neutral computation graph: what every picture and every debugger reads.

A :class:`Graph` is immutable and kept as columns, one list per property, so that
a million nodes stay cheap; :class:`Node` and :class:`Edge` are views that are made
when somebody asks for one.  Node ids are positions in those columns, in the order
of capture.  Nothing in here knows where a graph came from (this core, torch) or
what becomes of it (a picture, a step list).

Two halves share one graph.  In the *forward* half an edge runs from the producer of
a value to the op that consumes it.  In the *backward* half an edge runs the way the
gradient flows, from a ``grad_fn`` to its ``next_functions``.  A *saved* edge runs from
the forward node whose value was saved to the backward node that keeps it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograd_core.autograd.node import SavedState
from autograd_core.dag.lazy import InOrder, LazyColumn, LazyEntries
from autograd_core.dag.records import (
    RETURNED,
    Cost,
    Edge,
    EdgeKind,
    Group,
    GroupKind,
    Half,
    Node,
    NodeKind,
    SavedValue,
    Shape,
    Source,
    Totals,
)
from autograd_core.dag.statistics import Statistics

__all__ = [
    "RETURNED",
    "Cost",
    "Edge",
    "EdgeKind",
    "Graph",
    "GraphBuilder",
    "Group",
    "GroupKind",
    "Half",
    "Node",
    "NodeKind",
    "SavedState",
    "SavedValue",
    "Shape",
    "Source",
    "Totals",
    "short_name",
]


@dataclass(frozen=True, slots=True)
class Graph:
    """An immutable graph in columns; build one with :class:`GraphBuilder`.

    ``derived_forward`` says that the forward half was derived from the backward one,
    because nothing was traced: constants and detours without gradient are then missing.
    ``modules`` names the class of each scope that is a module.  A folded graph has ``groups``,
    ``edge_counts`` where an edge stands for several, and in ``unfolded`` what it was made from.
    """

    title: str
    derived_forward: bool
    kinds: Sequence[NodeKind]
    halves: Sequence[Half]
    names: Sequence[str]
    stems: Mapping[int, str]
    counts: Sequence[int]
    scopes: Sequence[str]
    shapes: Sequence[Shape | None]
    dtypes: Sequence[str]
    details: Sequence[str]
    formulas: Sequence[str]
    variables: Mapping[int, str]
    sources: Mapping[int, Source]
    orders: Mapping[int, int]
    pairs: Mapping[int, int]
    saved: Mapping[int, tuple[SavedValue, ...]]
    statistics: Mapping[int, Statistics]
    undefined: frozenset[int]
    modules: Mapping[str, str]
    groups: Mapping[int, Group]
    edge_kinds: Sequence[EdgeKind]
    edge_sources: Sequence[int]
    edge_targets: Sequence[int]
    edge_output_nrs: Sequence[int]
    edge_input_nrs: Sequence[int]
    edge_shapes: Sequence[Shape | None]
    edge_dtypes: Sequence[str]
    edge_labels: Mapping[int, str]
    edge_nbytes: Mapping[int, int]
    edge_statistics: Mapping[int, Statistics]
    edge_undefined: frozenset[int]
    edge_counts: Mapping[int, int]
    unfolded: Totals | None
    costs: Mapping[int, Cost] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def edge_count(self) -> int:
        return len(self.edge_kinds)

    def address(self, id: int) -> str:
        """What a person types to name this node: scope, op and count, ``encoder.0/addmm:2``.

        A node that stands for a tensor with a name has that name as its address, a group what
        it is called.
        """
        if self.kinds[id] == "group":
            return self.names[id]
        variable = self.variables.get(id)
        if variable and self.kinds[id] != "op":
            return variable
        place = f"{self.stem(id)}:{self.counts[id]}"
        return f"{self.scopes[id]}/{place}" if self.scopes[id] else place

    def stem(self, id: int) -> str:
        """The op as addresses spell it: ``addmm`` for AddmmBackward0."""
        return self.stems.get(id) or short_name(self.names[id])

    def node(self, id: int) -> Node:
        return Node(
            id=id,
            kind=self.kinds[id],
            half=self.halves[id],
            name=self.names[id],
            variable=self.variables.get(id, ""),
            address=self.address(id),
            scope=self.scopes[id],
            shape=self.shapes[id],
            dtype=self.dtypes[id],
            detail=self.details[id],
            formula=self.formulas[id],
            source=self.sources.get(id),
            order=self.orders.get(id),
            pair=self.pairs.get(id),
            saved=self.saved.get(id, ()),
            statistics=self.statistics.get(id),
            undefined=id in self.undefined,
            group=self.groups.get(id),
        )

    def edge(self, id: int) -> Edge:
        return Edge(
            id=id,
            kind=self.edge_kinds[id],
            source=self.edge_sources[id],
            target=self.edge_targets[id],
            output_nr=self.edge_output_nrs[id],
            input_nr=self.edge_input_nrs[id],
            shape=self.edge_shapes[id],
            dtype=self.edge_dtypes[id],
            label=self.edge_labels.get(id, ""),
            nbytes=self.edge_nbytes.get(id, 0),
            statistics=self.edge_statistics.get(id),
            undefined=id in self.edge_undefined,
            multiplicity=self.edge_counts.get(id, 1),
        )

    def nodes(self) -> Iterator[Node]:
        return map(self.node, range(len(self)))

    def edges(self) -> Iterator[Edge]:
        return map(self.edge, range(self.edge_count))


@functools.lru_cache(maxsize=4096)
def short_name(name: str) -> str:
    """The op behind a node name.

    >>> short_name("MulBackward0"), short_name("MaxPool2DWithIndicesBackward0"), short_name("mul")
    ('mul', 'maxpool2dwithindices', 'mul')
    >>> short_name("torch::autograd::CopySlices")
    'CopySlices'
    """
    stem, marker, _ = name.removeprefix("torch::autograd::").partition("Backward")
    return stem.lower() if marker else stem


@dataclass(slots=True)
class GraphBuilder:
    """Collects nodes and edges, then freezes them into a :class:`Graph`.

    >>> build = GraphBuilder("a * 2")
    >>> a = build.node("leaf", "forward", "a", variable="a", shape=(3,), dtype="float32")
    >>> y = build.node("op", "forward", "mul", shape=(3,), dtype="float32")
    >>> _ = build.edge("value", a, y, shape=(3,), dtype="float32")
    >>> [node.address for node in build.graph().nodes()]
    ['a', 'mul:1']
    """

    title: str = ""
    derived_forward: bool = False
    unfolded: Totals | None = None
    modules: dict[str, str] = field(default_factory=dict)
    kinds: list[NodeKind] = field(default_factory=list)
    halves: list[Half] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    stems: dict[int, str] | LazyEntries[str] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    shapes: list[Shape | None] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    formulas: list[str] | LazyColumn[str] = field(default_factory=list)
    variables: dict[int, str] = field(default_factory=dict)
    sources: dict[int, Source] | LazyEntries[Source] = field(default_factory=dict)
    orders: dict[int, int] | InOrder = field(default_factory=dict)
    pairs: dict[int, int] = field(default_factory=dict)
    saved: dict[int, tuple[SavedValue, ...]] | LazyEntries[tuple[SavedValue, ...]] = field(
        default_factory=dict
    )
    statistics: dict[int, Statistics] = field(default_factory=dict)
    undefined: set[int] = field(default_factory=set)
    groups: dict[int, Group] = field(default_factory=dict)
    edge_kinds: list[EdgeKind] = field(default_factory=list)
    edge_sources: list[int] = field(default_factory=list)
    edge_targets: list[int] = field(default_factory=list)
    edge_output_nrs: list[int] = field(default_factory=list)
    edge_input_nrs: list[int] = field(default_factory=list)
    edge_shapes: list[Shape | None] | LazyColumn[Shape | None] = field(default_factory=list)
    edge_dtypes: list[str] | LazyColumn[str] = field(default_factory=list)
    edge_labels: dict[int, str] = field(default_factory=dict)
    edge_nbytes: dict[int, int] = field(default_factory=dict)
    edge_statistics: dict[int, Statistics] = field(default_factory=dict)
    edge_undefined: set[int] = field(default_factory=set)
    edge_counts: dict[int, int] = field(default_factory=dict)
    costs: dict[int, Cost] = field(default_factory=dict)
    _seen: dict[tuple[Half, str, str], int] = field(default_factory=dict)

    def start(
        self,
        half: Half,
        *,
        kinds: list[NodeKind],
        names: list[str],
        counts: list[int],
        shapes: list[Shape | None],
        dtypes: list[str],
    ) -> None:
        """Begin with whole columns, in execution order; all that is not given is empty."""
        length = len(kinds)
        self.kinds, self.names, self.counts = kinds, names, counts
        self.shapes, self.dtypes = shapes, dtypes
        self.halves = [half] * length
        self.scopes, self.details, self.formulas = [""] * length, [""] * length, [""] * length
        self.orders = InOrder(length)

    def node(
        self,
        kind: NodeKind,
        half: Half,
        name: str,
        *,
        variable: str = "",
        stem: str = "",
        scope: str = "",
        count: int | None = None,
        shape: Shape | None = None,
        dtype: str = "",
        detail: str = "",
        formula: str = "",
        source: Source | None = None,
        order: int | None = None,
        saved: tuple[SavedValue, ...] = (),
        statistics: Statistics | None = None,
        undefined: bool = False,
        group: Group | None = None,
    ) -> int:
        """Add a node and return its id.

        ``stem`` is the op as addresses spell it, by default the name without "Backward0";
        ``count`` says which of the equally named nodes of its scope this one is, from 1
        on; by default they are counted as they are added.
        """
        id = len(self.kinds)
        if count is None:
            key = (half, scope, stem or short_name(name))
            count = self._seen[key] = self._seen.get(key, 0) + 1
        self.kinds.append(kind)
        self.halves.append(half)
        self.names.append(name)
        self.counts.append(count)
        self.scopes.append(scope)
        self.shapes.append(shape)
        self.dtypes.append(dtype)
        self.details.append(detail)
        self.formulas.append(formula)
        if stem:
            self.stems[id] = stem
        if variable:
            self.variables[id] = variable
        if source is not None:
            self.sources[id] = source
        if order is not None:
            self.orders[id] = order
        if saved:
            self.saved[id] = saved
        if statistics is not None:
            self.statistics[id] = statistics
        if undefined:
            self.undefined.add(id)
        if group is not None:
            self.groups[id] = group
        return id

    def edge(
        self,
        kind: EdgeKind,
        source: int,
        target: int,
        *,
        output_nr: int = 0,
        input_nr: int = 0,
        shape: Shape | None = None,
        dtype: str = "",
        label: str = "",
        nbytes: int = 0,
        statistics: Statistics | None = None,
        undefined: bool = False,
        multiplicity: int = 1,
    ) -> int:
        """Add an edge and return its id."""
        id = len(self.edge_kinds)
        self.edge_kinds.append(kind)
        self.edge_sources.append(source)
        self.edge_targets.append(target)
        self.edge_output_nrs.append(output_nr)
        self.edge_input_nrs.append(input_nr)
        self.edge_shapes.append(shape)
        self.edge_dtypes.append(dtype)
        if label:
            self.edge_labels[id] = label
        if nbytes:
            self.edge_nbytes[id] = nbytes
        if statistics is not None:
            self.edge_statistics[id] = statistics
        if undefined:
            self.edge_undefined.add(id)
        if multiplicity > 1:
            self.edge_counts[id] = multiplicity
        return id

    def pair(self, forward: int, backward: int) -> None:
        """Say that these two nodes are the two halves of one op, or of one leaf."""
        self.pairs[forward] = backward
        self.pairs[backward] = forward

    def graph(self) -> Graph:
        """Freeze what was collected; the builder is not to be used afterwards."""
        return Graph(
            title=self.title,
            derived_forward=self.derived_forward,
            kinds=self.kinds,
            halves=self.halves,
            names=self.names,
            stems=self.stems,
            counts=self.counts,
            scopes=self.scopes,
            shapes=self.shapes,
            dtypes=self.dtypes,
            details=self.details,
            formulas=self.formulas,
            variables=self.variables,
            sources=self.sources,
            orders=self.orders,
            pairs=self.pairs,
            saved=self.saved,
            statistics=self.statistics,
            undefined=frozenset(self.undefined),
            modules=self.modules,
            groups=self.groups,
            edge_kinds=self.edge_kinds,
            edge_sources=self.edge_sources,
            edge_targets=self.edge_targets,
            edge_output_nrs=self.edge_output_nrs,
            edge_input_nrs=self.edge_input_nrs,
            edge_shapes=self.edge_shapes,
            edge_dtypes=self.edge_dtypes,
            edge_labels=self.edge_labels,
            edge_nbytes=self.edge_nbytes,
            edge_statistics=self.edge_statistics,
            edge_undefined=frozenset(self.edge_undefined),
            edge_counts=self.edge_counts,
            unfolded=self.unfolded,
            costs=self.costs,
        )

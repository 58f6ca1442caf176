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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from autograd_core.autograd.node import SavedState as SavedState
from autograd_core.dag.statistics import Statistics

NodeKind = Literal["op", "leaf", "parameter", "constant", "output", "seed"]
EdgeKind = Literal["value", "gradient", "saved"]
Half = Literal["forward", "backward"]
Shape = tuple[int, ...]


class Source(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int


class SavedValue(NamedTuple):
    """What a backward node keeps from the forward pass.

    ``state`` is "kept", "freed" (a backward pass let go of it) or "changed" (an
    in-place op changed it after it was saved).
    """

    name: str
    shape: Shape
    dtype: str
    nbytes: int
    state: SavedState = "kept"


class Node(NamedTuple):
    """One box of the graph.

    ``name`` is the op ("mul"), the ``grad_fn`` ("MulBackward0", "AccumulateGrad"), or what
    the user calls the value ("weight").  ``variable`` is the user's name for the tensor
    that a leaf, an output or an AccumulateGrad stands for, "" when unknown.  ``order`` is
    the position in the backward plan (0 runs first).  ``pair`` is the node of the other
    half that belongs to this one.  ``statistics`` describes the value (forward half) or the
    gradient that arrived (backward half); it is None while that is unknown, and
    ``undefined`` says that a gradient was asked for and there was none.
    """

    id: int
    kind: NodeKind
    half: Half
    name: str
    variable: str
    address: str
    scope: str
    shape: Shape | None
    dtype: str
    detail: str
    formula: str
    source: Source | None
    order: int | None
    pair: int | None
    saved: tuple[SavedValue, ...]
    statistics: Statistics | None
    undefined: bool


class Edge(NamedTuple):
    """One arrow of the graph.

    ``output_nr`` counts the outputs of ``source``, ``input_nr`` the inputs of ``target``.
    ``label`` names the saved value on a saved edge and is "" elsewhere.
    """

    id: int
    kind: EdgeKind
    source: int
    target: int
    output_nr: int
    input_nr: int
    shape: Shape | None
    dtype: str
    label: str
    nbytes: int
    statistics: Statistics | None
    undefined: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """An immutable graph in columns; build one with :class:`GraphBuilder`.

    ``derived_forward`` says that the forward half was derived from the backward one,
    because nothing was traced: constants and detours without gradient are then missing.
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

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def edge_count(self) -> int:
        return len(self.edge_kinds)

    def address(self, id: int) -> str:
        """What a person types to name this node: scope, op and count, ``encoder.0/addmm:2``.

        A node that stands for a tensor with a name has that name as its address.
        """
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
        )

    def nodes(self) -> Iterator[Node]:
        return map(self.node, range(len(self)))

    def edges(self) -> Iterator[Edge]:
        return map(self.edge, range(self.edge_count))


def short_name(name: str) -> str:
    """The op behind a node name.

    >>> short_name("MulBackward0"), short_name("MaxPool2DWithIndicesBackward0"), short_name("mul")
    ('mul', 'maxpool2dwithindices', 'mul')
    """
    stem, marker, _ = name.partition("Backward")
    return stem.lower() if marker else name


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
    _kinds: list[NodeKind] = field(default_factory=list)
    _halves: list[Half] = field(default_factory=list)
    _names: list[str] = field(default_factory=list)
    _stems: dict[int, str] = field(default_factory=dict)
    _counts: list[int] = field(default_factory=list)
    _scopes: list[str] = field(default_factory=list)
    _shapes: list[Shape | None] = field(default_factory=list)
    _dtypes: list[str] = field(default_factory=list)
    _details: list[str] = field(default_factory=list)
    _formulas: list[str] = field(default_factory=list)
    _variables: dict[int, str] = field(default_factory=dict)
    _sources: dict[int, Source] = field(default_factory=dict)
    _orders: dict[int, int] = field(default_factory=dict)
    _pairs: dict[int, int] = field(default_factory=dict)
    _saved: dict[int, tuple[SavedValue, ...]] = field(default_factory=dict)
    _statistics: dict[int, Statistics] = field(default_factory=dict)
    _undefined: set[int] = field(default_factory=set)
    _edge_kinds: list[EdgeKind] = field(default_factory=list)
    _edge_sources: list[int] = field(default_factory=list)
    _edge_targets: list[int] = field(default_factory=list)
    _edge_output_nrs: list[int] = field(default_factory=list)
    _edge_input_nrs: list[int] = field(default_factory=list)
    _edge_shapes: list[Shape | None] = field(default_factory=list)
    _edge_dtypes: list[str] = field(default_factory=list)
    _edge_labels: dict[int, str] = field(default_factory=dict)
    _edge_nbytes: dict[int, int] = field(default_factory=dict)
    _edge_statistics: dict[int, Statistics] = field(default_factory=dict)
    _edge_undefined: set[int] = field(default_factory=set)
    _seen: dict[tuple[Half, str, str], int] = field(default_factory=dict)

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
    ) -> int:
        """Add a node and return its id.

        ``stem`` is the op as addresses spell it, by default the name without "Backward0";
        ``count`` says which of the equally named nodes of its scope this one is, from 1
        on; by default they are counted as they are added.
        """
        id = len(self._kinds)
        if count is None:
            key = (half, scope, stem or short_name(name))
            count = self._seen[key] = self._seen.get(key, 0) + 1
        self._kinds.append(kind)
        self._halves.append(half)
        self._names.append(name)
        self._counts.append(count)
        self._scopes.append(scope)
        self._shapes.append(shape)
        self._dtypes.append(dtype)
        self._details.append(detail)
        self._formulas.append(formula)
        if stem:
            self._stems[id] = stem
        if variable:
            self._variables[id] = variable
        if source is not None:
            self._sources[id] = source
        if order is not None:
            self._orders[id] = order
        if saved:
            self._saved[id] = saved
        if statistics is not None:
            self._statistics[id] = statistics
        if undefined:
            self._undefined.add(id)
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
    ) -> int:
        """Add an edge and return its id."""
        id = len(self._edge_kinds)
        self._edge_kinds.append(kind)
        self._edge_sources.append(source)
        self._edge_targets.append(target)
        self._edge_output_nrs.append(output_nr)
        self._edge_input_nrs.append(input_nr)
        self._edge_shapes.append(shape)
        self._edge_dtypes.append(dtype)
        if label:
            self._edge_labels[id] = label
        if nbytes:
            self._edge_nbytes[id] = nbytes
        if statistics is not None:
            self._edge_statistics[id] = statistics
        if undefined:
            self._edge_undefined.add(id)
        return id

    def pair(self, forward: int, backward: int) -> None:
        """Say that these two nodes are the two halves of one op, or of one leaf."""
        self._pairs[forward] = backward
        self._pairs[backward] = forward

    def graph(self) -> Graph:
        """Freeze what was collected; the builder is not to be used afterwards."""
        return Graph(
            title=self.title,
            derived_forward=self.derived_forward,
            kinds=self._kinds,
            halves=self._halves,
            names=self._names,
            stems=self._stems,
            counts=self._counts,
            scopes=self._scopes,
            shapes=self._shapes,
            dtypes=self._dtypes,
            details=self._details,
            formulas=self._formulas,
            variables=self._variables,
            sources=self._sources,
            orders=self._orders,
            pairs=self._pairs,
            saved=self._saved,
            statistics=self._statistics,
            undefined=frozenset(self._undefined),
            edge_kinds=self._edge_kinds,
            edge_sources=self._edge_sources,
            edge_targets=self._edge_targets,
            edge_output_nrs=self._edge_output_nrs,
            edge_input_nrs=self._edge_input_nrs,
            edge_shapes=self._edge_shapes,
            edge_dtypes=self._edge_dtypes,
            edge_labels=self._edge_labels,
            edge_nbytes=self._edge_nbytes,
            edge_statistics=self._edge_statistics,
            edge_undefined=frozenset(self._edge_undefined),
        )

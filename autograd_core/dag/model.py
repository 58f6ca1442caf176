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
    """An immutable graph in columns; build one with
    :class:`~autograd_core.dag.builder.GraphBuilder`.

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

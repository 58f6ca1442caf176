"""Collects a graph node by node, or in whole columns, and freezes it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from gradstep.graph.columns import BatchColumn
from gradstep.graph.entries import LazyEntries, Numbers, SharedEntries
from gradstep.graph.model import (
    Call,
    Cost,
    EdgeKind,
    Graph,
    Group,
    Half,
    HookChange,
    Mark,
    NodeKind,
    Part,
    Round,
    SavedValue,
    Shape,
    Source,
    Totals,
    short_name,
)
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_columns import StatisticsColumns


@dataclass(slots=True)
class GraphBuilder:
    """Collects nodes and edges, then freezes them into a :class:`Graph`.

    >>> from gradstep.graph import GraphBuilder
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
    part: Part | None = None
    modules: dict[str, str] = field(default_factory=dict)
    module_details: dict[str, str] = field(default_factory=dict)
    kinds: list[NodeKind] = field(default_factory=list)
    halves: list[Half] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    stems: dict[int, str] | LazyEntries[str] = field(default_factory=dict)
    counts: array[int] = field(default_factory=lambda: array("i"))
    scopes: list[str] = field(default_factory=list)
    shapes: list[Shape | None] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    formulas: list[str] | BatchColumn[str] = field(default_factory=list)
    variables: dict[int, str] = field(default_factory=dict)
    sources: SharedEntries[Source] | LazyEntries[Source] = field(default_factory=SharedEntries)
    rounds: SharedEntries[tuple[Round, ...]] = field(default_factory=SharedEntries)
    calls: list[Call] = field(default_factory=list)
    call_of: Numbers = field(default_factory=Numbers)
    orders: Numbers = field(default_factory=Numbers)
    pairs: Numbers = field(default_factory=Numbers)
    saved: SavedColumns | LazyEntries[tuple[SavedValue, ...]] = field(default_factory=SavedColumns)
    statistics: StatisticsColumns = field(default_factory=StatisticsColumns)
    undefined: set[int] = field(default_factory=set)
    groups: dict[int, Group] = field(default_factory=dict)
    edge_kinds: list[EdgeKind] = field(default_factory=list)
    edge_sources: array[int] = field(default_factory=lambda: array("i"))
    edge_targets: array[int] = field(default_factory=lambda: array("i"))
    edge_output_nrs: array[int] = field(default_factory=lambda: array("i"))
    edge_input_nrs: array[int] = field(default_factory=lambda: array("i"))
    edge_shapes: list[Shape | None] = field(default_factory=list)
    edge_dtypes: list[str] = field(default_factory=list)
    edge_labels: SharedEntries[str] = field(default_factory=SharedEntries)
    edge_nbytes: SharedEntries[int] = field(default_factory=SharedEntries)
    edge_statistics: StatisticsColumns = field(default_factory=StatisticsColumns)
    edge_undefined: set[int] = field(default_factory=set)
    edge_counts: dict[int, int] = field(default_factory=dict)
    costs: dict[int, Cost] = field(default_factory=dict)
    results: dict[int, str] = field(default_factory=dict)
    cuts: dict[int, str] = field(default_factory=dict)
    hooks: dict[int, tuple[HookChange, ...]] = field(default_factory=dict)
    edge_hooks: dict[int, HookChange] = field(default_factory=dict)
    marks: dict[int, Mark] = field(default_factory=dict)
    others: dict[int, Statistics] = field(default_factory=dict)
    edge_others: dict[int, Statistics] = field(default_factory=dict)
    _seen: dict[tuple[Half, str, str], int] = field(default_factory=dict)

    def start(
        self,
        half: Half,
        *,
        kinds: list[NodeKind],
        names: list[str],
        counts: array[int],
        shapes: list[Shape | None],
        dtypes: list[str],
    ) -> None:
        """Begin with whole columns, in execution order; all that is not given is empty."""
        length = len(kinds)
        self.kinds, self.names, self.counts = kinds, names, counts
        self.shapes, self.dtypes = shapes, dtypes
        self.halves = [half] * length
        self.scopes, self.details, self.formulas = [""] * length, [""] * length, [""] * length
        self.orders = Numbers(np.arange(length, dtype=np.int32))

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

    def copy(self, graph: Graph, id: int, **changed: Any) -> int:
        """Add what :meth:`node` takes of a node of ``graph``, but for what is ``changed``."""
        own = {
            "kind": graph.kinds[id], "half": graph.halves[id], "name": graph.names[id],
            "variable": graph.variables.get(id, ""), "stem": graph.stems.get(id, ""),
            "scope": graph.scopes[id], "count": graph.counts[id], "shape": graph.shapes[id],
            "dtype": graph.dtypes[id], "detail": graph.details[id], "formula": graph.formulas[id],
            "source": graph.sources.get(id), "order": graph.orders.get(id),
            "saved": graph.saved.get(id, ()), "statistics": graph.statistics.get(id),
            "undefined": id in graph.undefined, "group": graph.groups.get(id),
        }  # fmt: skip
        return self.node(**{**own, **changed})

    def ops(
        self,
        half: Half,
        *,
        names: Sequence[str],
        scopes: Sequence[str],
        shapes: Sequence[Shape | None],
        dtypes: Sequence[str],
        details: Sequence[str],
        sources: Sequence[Source | None],
        statistics: Sequence[Statistics | None] = (),
    ) -> range:
        """Add many ops in whole columns, as :meth:`node` adds one, and return their ids."""
        ids = range(len(self.kinds), len(self.kinds) + len(names))
        seen, counts = self._seen, self.counts
        for name, scope in zip(names, scopes, strict=True):
            key = (half, scope, short_name(name))
            count = seen[key] = seen.get(key, 0) + 1
            counts.append(count)
        self.kinds += ["op"] * len(ids)
        self.halves += [half] * len(ids)
        self.names += names
        self.scopes += scopes
        self.shapes += shapes
        self.dtypes += dtypes
        same: dict[str, str] = {}
        self.details += [same.setdefault(detail, detail) for detail in details]
        self.formulas.extend([""] * len(ids))
        self.sources.extend(ids.start, sources)
        for id, one in zip(ids, statistics, strict=False):
            if one is not None:
                self.statistics[id] = one
        return ids

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
        columns: dict[str, Any] = {name: getattr(self, name) for name in _COLUMNS}
        for name in ("undefined", "edge_undefined"):
            columns[name] = frozenset(columns[name])
        return Graph(**columns)


_COLUMNS = [each.name for each in fields(Graph) if each.name != "frames"]

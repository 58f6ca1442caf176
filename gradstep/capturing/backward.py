"""The backward half of a graph: one column after the other, from the nodes of a plan.

Node k is position k of the plan.  Whole columns are built at once, because a graph may have
a million nodes and a call for each costs more than all that is known about it.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from gradstep.capturing.gradients import DescribedGradients
from gradstep.capturing.names import Names
from gradstep.capturing.saved_values import SavedReader, saved_values
from gradstep.contract.op_records import sources_of
from gradstep.contract.protocol import Reading
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.columns import int_column, lazy_column
from gradstep.graph.entries import LazyEntries, SharedEntries
from gradstep.graph.model import Shape
from gradstep.records import GENERAL, LEAF, ONE_EDGE, PORT, TWO_EDGES, Extent
from gradstep.records import Node as GradFn

Ids = Mapping[GradFn, int]
Examples = Mapping[type[Any], GradFn]  # one node of each type


def add_backward(
    build: GraphBuilder,
    reader: SavedReader,
    order: Sequence[GradFn],
    whole: Sequence[GradFn],
    names: Names,
    gradients: DescribedGradients,
    *,
    live: bool,
    lazy: bool,
) -> dict[GradFn, int]:
    """Fill the empty ``build`` with the nodes of ``order`` and the edges between them.

    Args:
        order: the nodes in the order in which they run.
        whole: the plan of the whole graph, by which equally named nodes are counted.
        gradients: those of the pass, as far as it has run.
        live: work out formulas and saved values when they are read, and as they then are,
            which keeps the nodes alive.
        lazy: work out formulas when they are read.

    Returns:
        The id of each node.
    """
    reading = reader.reading
    types: list[Any] = list(map(type, order))
    examples = dict(zip(types, order, strict=True))
    name_of = {t: n.name().removeprefix("torch::autograd::") for t, n in examples.items()}
    records = reader.records(order)
    scopes = names.scopes_of(records)
    leaves = [number for number, kind in enumerate(types) if kind.kind == LEAF]
    build.start(
        kinds=["op"] * len(order),
        half="backward",
        names=list(map(name_of.__getitem__, types)),
        counts=_counts(reading, examples, types, scopes)
        if order is whole
        else _counts_within(reader, order, whole, names),
        shapes=_shapes(order, types, examples),
        dtypes=_dtypes(order),
    )
    stem_of = {t: stem for t, n in examples.items() if (stem := reading.stem(n))}
    build.stems = LazyEntries(len(order), lambda number: stem_of.get(types[number]))
    build.scopes = scopes
    if opaque := {t: why for t, n in examples.items() if (why := reading.opaque(n))}:
        for number, kind in enumerate(types):
            if kind in opaque:
                build.details[number] = opaque[kind]
    _add_sources(build, records, live)
    for number in leaves:
        _name_leaf(build, number, reading.leaf(order[number]), names)
    _add_rules(build, reader, order, names, live, lazy)
    ids = dict(zip(order, range(len(order)), strict=True))
    _add_edges(build, order, ids)
    gradients.enter(build)
    return ids


def _counts(
    reading: Reading, examples: Examples, types: Sequence[type[Any]], scopes: Sequence[str]
) -> array[int]:
    """Return which of the equally named nodes of its scope each one is, in the order of the forward
    pass, which is that of the plan backwards; leaves, which are made first, keep that of the plan.
    """
    length = len(types)
    stems: dict[str, int] = {}
    stem_of = {
        t: stems.setdefault(reading.stem(n) or n.name(), len(stems)) for t, n in examples.items()
    }
    groups = np.fromiter(map(stem_of.__getitem__, types), np.int64, length)
    scope_of = {scope: number for number, scope in enumerate(dict.fromkeys(scopes))}
    if len(scope_of) > 1:
        by_scope = np.fromiter(map(scope_of.__getitem__, scopes), np.int64, length)
        groups += by_scope * len(stems)
    leaves = np.array([kind.kind == LEAF for kind in types], bool)
    creation = np.where(leaves, np.arange(length), -np.arange(length))
    by_group = np.lexsort((creation, groups))
    starts = np.flatnonzero(np.diff(groups[by_group], prepend=-1))
    sizes = np.diff(starts, append=length)
    counts = np.empty(length, np.int64)
    counts[by_group] = np.arange(length) - np.repeat(starts, sizes) + 1
    return int_column(counts)


def _counts_within(
    reader: SavedReader, order: Sequence[GradFn], whole: Sequence[GradFn], names: Names
) -> array[int]:
    scopes = names.scopes_of(reader.records(whole))
    types = list(map(type, whole))
    examples = dict(zip(types, whole, strict=True))
    counts = dict(zip(whole, _counts(reader.reading, examples, types, scopes), strict=True))
    return int_column([counts[node] for node in order])


def _shapes(
    order: Sequence[GradFn], types: Sequence[type[Any]], examples: Examples
) -> list[Shape | None]:
    shapes: list[Shape | None] = [node.output_shape for node in order]
    several = {kind for kind, node in examples.items() if hasattr(node, "output_shapes")}
    if several:
        for number, kind in enumerate(types):
            if kind in several:
                shapes[number] = input_shape(order[number], 0)
    return shapes


def _dtypes(order: Sequence[GradFn]) -> list[str]:
    dtypes = [node.output_dtype for node in order]
    name_of = {kind: kind.name for kind in set(dtypes)}
    return list(map(name_of.__getitem__, dtypes))


def _add_sources(build: GraphBuilder, records: Sequence[Any], live: bool) -> None:
    if live:
        build.sources = LazyEntries(
            len(records), lambda number: None if records[number] is None else records[number].source
        )
        return
    build.sources = SharedEntries()
    build.sources.extend(0, sources_of(records))


def _name_leaf(build: GraphBuilder, number: int, tensor: Any, names: Names) -> None:
    build.kinds[number] = "parameter" if tensor is not None and tensor.is_parameter else "leaf"
    variable = names.of(tensor)
    if variable:
        build.variables[number] = variable


def _add_rules(
    build: GraphBuilder,
    reader: SavedReader,
    order: Sequence[GradFn],
    names: Names,
    live: bool,
    lazy: bool,
) -> None:
    reading = reader.reading
    if live:

        def without_storage(value: Any) -> Extent | None:  # memory is used again as nodes run
            known = reading.extent(value)
            return None if known is None else known._replace(storage=None, memory=None)

        build.formulas = lazy_column(
            len(order),
            lambda number: reading.formula(order[number], order[number].saved(), names),
        )
        build.saved = LazyEntries(
            len(order),
            lambda number: tuple(
                saved_values(order[number], order[number].saved(), without_storage, lambda _: None)
            ),
        )
        return
    build.saved = reader.read(order)
    build.formulas = formulas = lazy_column(
        len(order),
        lambda number: reading.formula(order[number], order[number].saved(), names),
    )
    if not lazy:
        build.formulas = list(formulas)


def _edges(order: Sequence[Any]) -> tuple[array[int], array[int], list[Any]]:
    """Of every edge the number of the node it leaves, which of its outputs it is, and where it
    leads."""
    sources, output_nrs = array("i"), array("i")
    edges: list[Any] = []
    for number, node in enumerate(order):
        kind = node.kind
        # The common kinds are spelled out: a loop over a tuple of edges takes 0.15 us a node.
        if kind == ONE_EDGE:
            sources.append(number)
            output_nrs.append(0)
            edges.append(node.i0)
        elif kind >= TWO_EDGES:
            if node.i0 is not None:
                sources.append(number)
                output_nrs.append(0)
                edges.append(node.i0)
            if node.i1 is not None:
                sources.append(number)
                output_nrs.append(1)
                edges.append(node.i1)
        elif kind == GENERAL:
            for output_nr, edge in enumerate(node.edges):
                if edge is not None:
                    sources.append(number)
                    output_nrs.append(output_nr)
                    edges.append(edge)
    return sources, output_nrs, edges


def _add_edges(build: GraphBuilder, order: Sequence[GradFn], ids: Ids) -> None:
    sources, output_nrs, edges = _edges(order)
    input_nrs = array("i", [0]) * len(edges)
    kinds: set[Any] = set(map(type, edges))
    ports = any(kind.kind == PORT for kind in kinds)
    for at, edge in enumerate(edges if ports else ()):
        if edge.kind == PORT:
            edges[at], input_nrs[at] = edge.node, edge.nr
    targets: list[Any] = list(map(ids.get, edges))
    if None in targets:  # edges that leave the part that runs
        kept = [target is not None for target in targets]
        sources, output_nrs, input_nrs = (
            array("i", compress(column, kept)) for column in (sources, output_nrs, input_nrs)
        )
        targets = list(compress(targets, kept))
    build.edge_sources, build.edge_targets = sources, int_column(targets)
    build.edge_output_nrs, build.edge_input_nrs = output_nrs, input_nrs
    build.edge_kinds = ["gradient"] * len(targets)
    shapes, dtypes = build.shapes, build.dtypes
    others = {
        id: input_shape(order[targets[id]], input_nr)
        for id, input_nr in enumerate(input_nrs if ports else ())
        if input_nr
    }
    build.edge_shapes = list(map(shapes.__getitem__, targets))
    for id, shape in others.items():
        build.edge_shapes[id] = shape
    build.edge_dtypes = list(map(dtypes.__getitem__, targets))


def input_shape(node: GradFn, nr: int) -> Shape | None:
    """Return the shape of the gradient that arrives at input ``nr`` of ``node``."""
    shapes: Sequence[Shape | None] | None = getattr(node, "output_shapes", None)
    return shapes[nr] if shapes is not None else node.output_shape

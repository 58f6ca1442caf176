"""The forward half of a Graph: from what was traced, or from the backward half."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradstep.capturing.details import detail, number_detail
from gradstep.capturing.names import Names
from gradstep.capturing.saved_values import SavedReader, add_saved, name_of_input
from gradstep.capturing.statement import statement_of
from gradstep.contract.op_records import (
    LeafRecord,
    OpRecord,
    Record,
    reachable,
    sources_of,
    statistics_of_records,
)
from gradstep.contract.protocol import OWN_RESULT, Engine, Reading
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import NodeKind, short_name
from gradstep.records import LEAF, Plan, Tensor, resolve
from gradstep.records import Node as GradFn

ForwardOf = Callable[[GradFn], int | None]
Recorded = tuple[Sequence[int], Sequence[Any]]
"""Nodes, and what tracing knows of each: a record, or None."""


def add_traced_forward(
    build: GraphBuilder,
    reader: SavedReader,
    tensors: tuple[Tensor, ...],
    labels: list[str],
    plan: Plan,
    running: Sequence[GradFn],
    both: bool,
    names: Names,
) -> tuple[ForwardOf, Recorded]:
    """Add every op, leaf and constant that the roots were computed from, in the order they ran;
    returns what tells of a grad_fn which of them it belongs to, and the records of all.

    ``plan`` is that of the whole backward pass, of which the nodes in ``running`` run; with
    ``both`` halves, these are in the graph.
    """
    engine = reader.engine
    origins = [engine.reading.origin(tensor) for tensor in tensors]
    records = reachable([origin[0] for origin in origins if isinstance(origin, tuple)])
    leaves = _Leaves.of(plan.order, running)
    ids = _add_records(build, records, leaves, names)
    _add_inputs(build, [record for record in records if isinstance(record, OpRecord)], ids)
    for tensor, label, origin in zip(tensors, labels, origins, strict=True):
        if isinstance(origin, tuple):
            _add_output(build, engine, tensor, label, ids[origin[0]], origin[1])

    def producer_of(value: Any) -> int | None:
        edge = edge_of(value)
        if edge is not None and edge.kind == LEAF:
            return forward_of(edge)
        return ids.get(value.record[0]) if isinstance(value.record, tuple) else None

    def forward_of(node: GradFn) -> int | None:
        return ids.get(node.record)

    if both:
        forwards = list(map(ids.get, [node.record for node in running]))  # of leaves, made just now
        add_saved(build, reader, running, forwards, producer_of, forward_of, names)
    return forward_of, ([*ids.values()], records)


def edge_of(value: Any, unknown: Any = None) -> Any:
    """Return the edge that a saved tensor comes over, None of one without a gradient; ``unknown``
    of one of several views of the core's whose base has been changed, which tells that no more."""
    try:
        return value.edge
    except RuntimeError:
        return unknown


_REQUIRES_GRAD: Final = "requires grad"
_NOT_IN_INPUTS: Final = "requires grad, not in inputs"


class _Leaves(NamedTuple):
    """The leaves that the gradients of a backward pass lead to, and those of them that the call
    asked for: to this pass, all others are constants."""

    reached: frozenset[Any]
    requested: frozenset[Any]

    @classmethod
    def of(cls, whole: Sequence[GradFn], running: Sequence[GradFn]) -> _Leaves:
        def records(order: Sequence[GradFn]) -> frozenset[Any]:
            return frozenset(node.record for node in order if node.kind == LEAF)

        reached = records(whole)
        return cls(reached, reached if running is whole else records(running))

    def kind(self, record: LeafRecord) -> NodeKind:
        return _leaf_kind(record.tensor(), record in self.requested)

    def detail(self, record: LeafRecord) -> str:
        if record in self.requested:
            return _REQUIRES_GRAD
        if record.requires_grad:
            reached = record in self.reached
            return _NOT_IN_INPUTS if reached else "requires grad, no gradient gets here"
        return "frozen parameter" if self.kind(record) == "frozen" else _where_cut(record)


def _leaf_kind(tensor: Tensor | None, has_gradient: bool) -> NodeKind:
    if tensor is not None and tensor.is_parameter:
        return "parameter" if has_gradient else "frozen"
    return "leaf" if has_gradient else "constant"


def _add_records(
    build: GraphBuilder, records: Sequence[Record], leaves: _Leaves, names: Names
) -> dict[Record, int]:
    """Add ops, leaves and constants, and return their ids."""
    leaf_names = {
        at: (leaves.kind(record), names.of(record.tensor()))
        for at, record in enumerate(records)
        if isinstance(record, LeafRecord)
    }
    ids = build.ops(
        "forward",
        names=[
            record.name if isinstance(record, OpRecord) else _called(record, *leaf_names[at])
            for at, record in enumerate(records)
        ],
        scopes=names.scopes_of(records),
        shapes=[
            record.shapes[0] if isinstance(record, OpRecord) else record.shape for record in records
        ],
        dtypes=[record.dtype for record in records],
        details=[
            record.called or detail(record, names)
            if isinstance(record, OpRecord)
            else leaves.detail(record)
            for record in records
        ],
        sources=sources_of(
            [record if isinstance(record, OpRecord) else None for record in records]
        ),
        statistics=statistics_of_records(records),
    )
    for at, (kind, name) in leaf_names.items():
        build.kinds[ids[at]] = kind
        if (cut := records[at].cut) is not None:
            build.cuts[ids[at]] = cut.how
        if name:
            build.variables[ids[at]] = name
    return dict(zip(records, ids, strict=True))


def _called(record: LeafRecord, kind: NodeKind, name: str) -> str:
    return name or record.called or (record.cut.how if record.cut else kind)


def _where_cut(record: LeafRecord) -> str:
    """By what a constant was taken out of a graph, and at which line."""
    if record.cut is None or record.cut.source is None:
        return ""
    file, line = record.cut.source
    return f"{record.cut.how} at {Path(file).name}:{line}"


def _add_inputs(
    build: GraphBuilder, records: Sequence[OpRecord], ids: Mapping[Record, int]
) -> None:
    first = id = len(build.edge_kinds)
    sources, targets, output_nrs, input_nrs = (array("i") for _ in range(4))
    shapes, dtypes = [], []
    for record in records:
        for number, origin in enumerate(record.inputs):
            if not isinstance(origin, tuple):
                continue
            source, output_nr = origin
            sources.append(ids[source])
            targets.append(ids[record])
            output_nrs.append(output_nr)
            input_nrs.append(number)
            shapes.append(source.shapes[output_nr] if type(source) is OpRecord else source.shape)
            dtypes.append(source.dtype)
            if output_nr == 0 and source.statistics is not None:
                build.edge_statistics[id] = source.statistics
            id += 1
    build.edge_kinds += ["value"] * (id - first)
    build.edge_sources.extend(sources)
    build.edge_targets.extend(targets)
    build.edge_output_nrs.extend(output_nrs)
    build.edge_input_nrs.extend(input_nrs)
    build.edge_shapes.extend(shapes)
    build.edge_dtypes.extend(dtypes)


def _add_output(
    build: GraphBuilder, engine: Engine, tensor: Tensor, label: str, source: int, nr: int
) -> None:
    stats = None if engine.numbers is None else engine.numbers.scalar_statistics(tensor)
    shape, dtype = tensor._shape, tensor.dtype.name
    output = build.node(
        "output", "forward", label, variable=label, shape=shape, dtype=dtype, statistics=stats,
        detail=statement_of(tensor, label),
    )  # fmt: skip
    build.edge("value", source, output, output_nr=nr, shape=shape, dtype=dtype, statistics=stats)


def add_derived_forward(
    build: GraphBuilder,
    reader: SavedReader,
    tensors: tuple[Tensor, ...],
    labels: list[str],
    plan: Plan,
    running: Sequence[GradFn],
    both: bool,
    names: Names,
) -> tuple[ForwardOf, Recorded]:
    """Turn the whole backward graph round: what it cannot know (constants that no node keeps,
    detours without gradient, values) is missing.  Takes and returns the same as
    :func:`add_traced_forward`."""
    build.derived_forward = True
    engine = reader.engine
    requested = set(running)
    by_order = sorted(plan.order, key=_forward_order)
    leaves = [node for node in by_order if node.kind == LEAF]
    ids = {
        node: _add_derived_leaf(build, engine, node, node in requested, names) for node in leaves
    }
    constants = _add_kept_constants(build, reader, running, names)
    ids.update(_add_derived_ops(build, reader, by_order[len(leaves) :], names))
    _add_derived_edges(build, plan.order, ids)
    _add_constant_edges(build, reader, running, ids, constants)
    for tensor, label in zip(tensors, labels, strict=True):
        maker, nr = resolve(tensor.edge)
        assert maker is not None
        _add_output(build, engine, tensor, label, ids[maker], nr)

    def producer_of(value: Any) -> int | None:
        source = resolve(edge_of(value))[0]
        return (
            constants.get(_identity(reader.reading, value)) if source is None else ids.get(source)
        )

    if both:
        forwards = [ids[node] for node in running]
        add_saved(build, reader, running, forwards, producer_of, ids.get, names)
    nodes = by_order[len(leaves) :]
    records = reader.records(nodes)
    return ids.get, ([ids[node] for node in nodes], records)


def _add_kept_constants(
    build: GraphBuilder, reader: SavedReader, running: Sequence[GradFn], names: Names
) -> dict[Any, int]:
    """Add the inputs without a gradient that nodes keep, each once, and return their ids."""
    reading, saved = reader.reading, reader.read(running)
    ids: dict[Any, int] = {}
    taken: set[str] = set()  # by a name alone goes the first one that a loop gives to a module
    for at, value in enumerate(reader.values):
        if not _is_kept_constant(reading, running[saved.nodes[at]], saved.names[at], value):
            continue
        key = _identity(reading, value)
        if key not in ids:
            name = name_of_input(value, names)
            called = name or names.placeholder(saved.names[at].rstrip("_"))
            ids[key] = build.node(
                "constant", "forward", called, variable="" if name in taken else name,
                shape=saved.shapes[at], dtype=saved.dtypes[at],
            )  # fmt: skip
            reader.constants[ids[key]] = running[saved.nodes[at]], saved.names[at]
            taken.add(name)
    return ids


def _is_kept_constant(reading: Reading, node: GradFn, name: str, value: Any) -> bool:
    """Return whether what a node keeps was given to its op, and has no gradient."""
    if value is None or not reading.is_input(value) or edge_of(value, ...) is not None:
        return False
    return reading.input_of(node, name) != OWN_RESULT


def _identity(reading: Reading, value: Any) -> Any:
    """Return what is the same for a constant that several nodes keep."""
    extent = reading.extent(value)
    if extent is None or extent.storage is None:
        return value.gradstep_identity
    return extent


def _add_constant_edges(
    build: GraphBuilder,
    reader: SavedReader,
    running: Sequence[GradFn],
    ids: Mapping[GradFn, int],
    constants: Mapping[Any, int],
) -> None:
    reading, saved = reader.reading, reader.read(running)
    for at, value in enumerate(reader.values):
        node, name = running[saved.nodes[at]], saved.names[at]
        if _is_kept_constant(reading, node, name, value):
            place = reading.input_of(node, name)
            build.edge(
                "value", constants[_identity(reading, value)], ids[node],
                input_nr=len(node.edges) if place is None else place,
                shape=saved.shapes[at], dtype=saved.dtypes[at],
            )  # fmt: skip


def _add_derived_edges(
    build: GraphBuilder, order: Sequence[GradFn], ids: Mapping[GradFn, int]
) -> None:
    sources, targets, output_nrs, input_nrs = (array("i") for _ in range(4))
    for node in order:
        for input_nr, edge in enumerate(node.edges):
            source, output_nr = resolve(edge)
            if source is not None:
                sources.append(ids[source])
                targets.append(ids[node])
                output_nrs.append(output_nr)
                input_nrs.append(input_nr)
    build.edge_kinds += ["value"] * len(sources)
    build.edge_sources.extend(sources)
    build.edge_targets.extend(targets)
    build.edge_output_nrs.extend(output_nrs)
    build.edge_input_nrs.extend(input_nrs)
    build.edge_shapes.extend(map(build.shapes.__getitem__, sources))
    build.edge_dtypes.extend(map(build.dtypes.__getitem__, sources))


def _forward_order(node: GradFn) -> tuple[bool, int]:
    return (node.kind != LEAF, node.sequence_nr)


def _add_derived_leaf(
    build: GraphBuilder, engine: Engine, node: GradFn, runs: bool, names: Names
) -> int:
    leaf, numbers = engine.reading.leaf(node), engine.numbers
    kind = _leaf_kind(leaf, runs)
    name = names.of(leaf)
    return build.node(
        kind, "forward", name or kind, variable=name, shape=node.output_shape,
        dtype=node.output_dtype.name, detail=_REQUIRES_GRAD if runs else _NOT_IN_INPUTS,
        statistics=numbers.scalar_statistics(leaf) if numbers and leaf is not None else None,
    )  # fmt: skip


def _add_derived_ops(
    build: GraphBuilder, reader: SavedReader, nodes: Sequence[GradFn], names: Names
) -> Iterable[tuple[GradFn, int]]:
    reading = reader.reading
    stems = [reading.stem(node) or short_name(node.name()) for node in nodes]
    records = reader.records(nodes)
    ids = build.ops(
        "forward",
        names=stems,
        scopes=names.scopes_of(records),
        shapes=[node.output_shape for node in nodes],
        dtypes=[node.output_dtype.name for node in nodes],
        details=[
            reading.opaque(node)
            or getattr(record, "called", "")
            or number_detail(stem, node.saved())
            for node, record, stem in zip(nodes, records, stems, strict=True)
        ],
        sources=sources_of(records),
    )
    return zip(nodes, ids, strict=True)

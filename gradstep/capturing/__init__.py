"""Capture the neutral Graph of a tensor: the backward half, the forward half, or both.

The backward half follows the edges of the graph; node k is position k of the backward plan. The
forward half follows the records of tracing. If nothing was traced, it is derived from the backward
half, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from gradstep.capturing.backward import add_backward
from gradstep.capturing.calls import calls_of
from gradstep.capturing.forward import Recorded, add_derived_forward, add_traced_forward
from gradstep.capturing.gradients import DescribedGradients, HookChanges, add_hooks, describe
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.results import add_results
from gradstep.capturing.roots import tensors_with_graph
from gradstep.capturing.rounds import rounds_of
from gradstep.capturing.saved_values import SavedReader
from gradstep.capturing.statement import statement_of
from gradstep.contract.lookup import is_tensor
from gradstep.contract.op_records import OpRecord
from gradstep.contract.protocol import Engine
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Cost, Graph, View
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.guest.collector import collector_paused
from gradstep.records import LEAF, Node, Plan, Profile, Step, Tensor, resolve
from gradstep.records import Node as GradFn

__all__ = ["Names", "View", "caller_names", "capture"]

Roots = Any
"""A tensor, or several, of either library."""


def capture(
    roots: Roots,
    view: View = "both",
    *,
    gradient: Any = None,
    names: Names | Mapping[str, Any] | None = None,
    steps: Iterable[Step] | DescribedGradients = (),
    hooks: HookChanges | None = None,
    plan: Plan | None = None,
    order: Sequence[GradFn] | None = None,
    live: bool = False,
    lazy: bool = False,
    profile: Profile | None = None,
    title: str = "",
    values: dict[int, Any] | None = None,
) -> Graph:
    """Return the graph of ``roots`` as data.

    Args:
        roots: the tensor or tensors that ``backward`` would start from.
        view: which halves to include.
        gradient: the seed gradient, if it is not 1.
        names: names of tensors, as a dictionary or :class:`Names`; by default the variables of the
            calling program.
        steps: the steps of a backward pass from these roots, whose gradients are included in the
            backward half; or these gradients, if they are described already.
        hooks: the changes that hooks made in these steps.
        plan: the plan of the whole backward pass, if already known.
        order: the nodes that run, if not all of them do.
        live: compute formulas and saved values when they are read, from their state at that time;
            this keeps the backward nodes alive.
        lazy: compute formulas when they are read, which must be while the nodes still exist.
        profile: the profile that gives the costs of nodes; by default the active one.
        title: the title of the graph; by default the names of the roots.
        values: is given what leads to the value of a node of the forward half: the record of an op
            or a leaf that was traced, or else the grad_fn that keeps a constant, and the name.

    Raises:
        NotInGraph: a root requires no gradient, or is no tensor.
    """
    if names is None:
        names = caller_names()
    known = names if isinstance(names, Names) else Names(names)
    with collector_paused():
        tensors, engine = tensors_with_graph(roots)
        ran = steps if isinstance(steps, DescribedGradients) else list(steps)
        if (known_graph := engine.reading.known_graph(tensors, view, ran)) is not None:
            return replace(known_graph, title=title) if title else known_graph
        labels = [
            known.of(tensor) or _root_label(number, tensors)
            for number, tensor in enumerate(tensors)
        ]
        build = GraphBuilder(
            title or ", ".join(labels),
            modules=known.module_classes(),
            module_details=known.module_details(),
        )
        if plan is None:
            plan = engine.reading.plan(tensors)
        whole = plan.order  # by which nodes are counted: addresses do not depend on how much runs
        running = whole if order is None or list(order) == list(whole) else order
        reader = SavedReader(engine, whole, known)
        for paths in dict.fromkeys(one.scope.paths for one in reader.records(whole) if one):
            if paths is not None:
                known.add_parts(paths)
        costs = engine.profiling.costs(whole, profile) if engine.profiling else {}
        recorded: list[Recorded] = []
        if view != "forward":
            described = _described(engine, ran)
            ids = add_backward(
                build, reader, running, whole, known, described, live=live, lazy=lazy
            )
            _add_seeds(build, tensors, labels, _seeds(tensors, gradient), ids)
            add_hooks(build, hooks or {})
            add_costs(build, costs, ids.get)
            del ids  # of a million nodes
            made = _records_of_ops(reader, running)
            recorded.append((range(len(made)), made))
        if view != "backward":
            traced = _is_traced(reader, whole)
            add = add_traced_forward if traced else add_derived_forward
            both = view == "both"
            forward_of, records = add(build, reader, tensors, labels, plan, running, both, known)
            recorded.append(records)
            if values is not None:
                values.update(reader.constants)
                values.update(zip(*records, strict=True) if traced else ())
            add_costs(build, costs, forward_of)
        build.rounds = rounds_of(recorded)
        build.calls, build.call_of = calls_of(recorded, known)
        if view != "backward":
            add_results(build, known, tensors, whole, forward_of)
        return build.graph()


def _described(engine: Engine, ran: list[Step] | DescribedGradients) -> DescribedGradients:
    """Return the gradients of steps, described."""
    if isinstance(ran, DescribedGradients):
        return ran
    # without a capability for numbers, there is no step either
    describes = engine.numbers.all_statistics if engine.numbers else StatisticsTable.of
    return DescribedGradients.of(ran, describes)


def _records_of_ops(reader: SavedReader, nodes: Sequence[GradFn]) -> list[Any]:
    """Return the records of what ran in the forward pass, None for leaves."""
    pairs = zip(nodes, reader.records(nodes), strict=True)
    return [None if node.kind == LEAF else record for node, record in pairs]


def _is_traced(reader: SavedReader, nodes: Sequence[GradFn]) -> bool:
    """Return whether every op of the forward pass was recorded."""
    pairs = zip(nodes, reader.records(nodes), strict=True)
    return all(type(record) is OpRecord for node, record in pairs if node.kind != LEAF)


def _root_label(number: int, tensors: tuple[Tensor, ...]) -> str:
    return "output" if len(tensors) == 1 else f"output {number}"


def _seeds(tensors: tuple[Tensor, ...], gradient: Any) -> list[Statistics | None]:
    given: Sequence[Any] = (
        (None,) * len(tensors)
        if gradient is None
        else (gradient,)
        if is_tensor(gradient)
        else tuple(gradient)
    )
    one = Statistics(1, 1.0, 1.0, 1.0, 0, 0, 0)
    return [
        describe(seed) if seed is not None else one if _is_scalar(tensor) else None
        for tensor, seed in zip(tensors, given, strict=True)
    ]


def _is_scalar(tensor: Tensor) -> bool:
    return tensor._shape is not None and prod(tensor._shape) == 1


def _add_seeds(
    build: GraphBuilder,
    tensors: tuple[Tensor, ...],
    labels: list[str],
    seeds: list[Statistics | None],
    ids: dict[GradFn, int],
) -> None:
    for tensor, label, seed in zip(tensors, labels, seeds, strict=True):
        node, nr = resolve(tensor.edge)
        assert node is not None
        if node not in ids:
            continue
        shape, dtype = tensor._shape, tensor.dtype.name
        entry = build.node(
            "seed", "backward", f"∂{label}/∂{label}", variable=f"∂{label}/∂{label}",
            shape=shape, dtype=dtype, statistics=seed, detail=statement_of(tensor, label),
        )  # fmt: skip
        build.edge(
            "gradient", entry, ids[node], input_nr=nr, shape=shape, dtype=dtype, statistics=seed
        )


def add_costs(
    build: GraphBuilder, costs: Mapping[Node, Cost], id_of: Callable[[Node], int | None]
) -> None:
    """Enter the cost of each node at that which stands for it in one half."""
    for node, cost in costs.items():
        id = id_of(node)
        if id is not None:
            build.costs[id] = cost

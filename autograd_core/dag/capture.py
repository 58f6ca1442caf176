"""From a tensor to the neutral Graph: the backward half, the forward half, or both.

The backward half follows the edges of the graph; node k is position k of the backward plan.
The forward half follows what tracing left on the nodes; where nothing was traced it is
derived from the backward half, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.engine import Step
from autograd_core.autograd.node import Node as GradFn
from autograd_core.autograd.node import resolve
from autograd_core.autograd.plan import Plan, make_plan
from autograd_core.dag.formula import Constant, formula_text
from autograd_core.dag.forward import add_derived_forward, add_traced_forward, plus
from autograd_core.dag.model import Graph, GraphBuilder, SavedValue, Shape
from autograd_core.dag.names import Names, caller_names
from autograd_core.dag.statistics import Statistics, format_statistics, statistics
from autograd_core.op.saved import SavedNode
from autograd_core.tensor import Tensor

View = Literal["forward", "backward", "both"]
Roots = Tensor | Sequence[Tensor]


class NotInGraph(ValueError):
    """The tensor has no graph: nothing it was made from requires a gradient."""


def capture(
    roots: Roots,
    view: View = "both",
    *,
    gradient: Tensor | Sequence[Tensor | None] | None = None,
    names: Names | Mapping[str, Any] | None = None,
    steps: Iterable[Step] = (),
    order: Sequence[GradFn] | None = None,
    title: str = "",
) -> Graph:
    """The graph behind ``roots``, as data.

    Args:
        roots: the tensor, or several, that ``backward`` would start from.
        view: which halves to include.
        gradient: what enters at the roots, if not 1; shown as the seed.
        names: the names of tensors, as a dictionary or :class:`Names`; by default the
            variables of the calling program.
        steps: the steps of a backward pass from these roots; their gradients go into the
            backward half.
        order: the nodes of a plan that runs less than the whole backward pass.
        title: of the graph; by default made from the names of the roots.

    Raises:
        NotInGraph: a root requires no gradient.
    """
    tensors = (roots,) if isinstance(roots, Tensor) else tuple(roots)
    for tensor in tensors:
        if tensor.edge is None:
            raise NotInGraph(
                "this tensor has no graph: nothing it was computed from requires a gradient"
            )
    if names is None:
        names = caller_names()
    known = names if isinstance(names, Names) else Names(names)
    labels = [
        known.of(tensor) or _root_label(number, tensors) for number, tensor in enumerate(tensors)
    ]
    build = GraphBuilder(title or ", ".join(labels))
    plan = make_plan([tensor.edge for tensor in tensors])  # type: ignore[misc]
    counts = node_counts(plan.order)  # of the whole graph, so that addresses do not depend on
    if order is not None:  # how much of it runs
        plan = plan._replace(order=order)
    ids: dict[GradFn, int] = {node: number for number, node in enumerate(plan.order)}
    if view != "forward":
        seeds = _seeds(tensors, gradient)
        _add_backward(build, plan, ids, counts, known, list(steps))
        _add_seeds(build, tensors, labels, seeds, ids)
    if view != "backward":
        add = add_traced_forward if _traced(plan) else add_derived_forward
        add(build, tensors, labels, plan, ids if view == "both" else {}, known)
    return build.graph()


def _root_label(number: int, tensors: tuple[Tensor, ...]) -> str:
    return "output" if len(tensors) == 1 else f"output {number}"


def _traced(plan: Plan) -> bool:
    return all(node.record is not None for node in plan.order if type(node) is not AccumulateGrad)


def _seeds(
    tensors: tuple[Tensor, ...], gradient: Tensor | Sequence[Tensor | None] | None
) -> list[Statistics | None]:
    given: Sequence[Tensor | None] = (
        (None,) * len(tensors)
        if gradient is None
        else (gradient,)
        if isinstance(gradient, Tensor)
        else tuple(gradient)
    )
    one = Statistics(1, 1.0, 1.0, 1.0, 0, 0, 0)
    return [
        statistics(seed.array) if seed is not None else one if tensor.array.size == 1 else None
        for tensor, seed in zip(tensors, given, strict=True)
    ]


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
            shape=shape, dtype=dtype, statistics=seed,
        )  # fmt: skip
        build.edge(
            "gradient", entry, ids[node], input_nr=nr, shape=shape, dtype=dtype, statistics=seed
        )


def _add_backward(
    build: GraphBuilder,
    plan: Plan,
    ids: dict[GradFn, int],
    counts: Mapping[GradFn, int],
    names: Names,
    steps: list[Step],
) -> None:
    by_index = {step.index: step for step in steps}
    for number, node in enumerate(plan.order):
        _add_node(build, node, number, counts.get(node), names, by_index.get(number))
    for number, node in enumerate(plan.order):
        step = by_index.get(number)
        for output_nr, edge in enumerate(node.edges):
            target, input_nr = resolve(edge)
            if target is None or target not in ids:
                continue
            sent = step.deliveries[output_nr].gradient if step else None
            build.edge(
                "gradient", number, ids[target], output_nr=output_nr, input_nr=input_nr,
                shape=input_shape(target, input_nr), dtype=target.output_dtype.name,
                statistics=describe(sent), undefined=step is not None and sent is None,
            )  # fmt: skip


def _add_node(
    build: GraphBuilder,
    node: GradFn,
    number: int,
    count: int | None,
    names: Names,
    step: Step | None,
) -> None:
    record = node.record
    incoming = step.hooked[0] if step else None
    leaf = type(node) is AccumulateGrad
    variable = names.of(node.leaf()) if isinstance(node, AccumulateGrad) else ""
    tensor = node.leaf() if isinstance(node, AccumulateGrad) else None
    build.node(
        "op" if not leaf else "parameter" if tensor is not None and tensor.is_parameter else "leaf",
        "backward",
        node.name().removeprefix("torch::autograd::"),
        variable=variable,
        stem=node.op.public_name if isinstance(node, SavedNode) else "",
        scope=record.scope if record is not None else "",
        count=count,
        shape=input_shape(node, 0),
        dtype=node.output_dtype.name,
        detail=_accumulation(step) if leaf else "",
        formula=formula(node, names),
        source=record.source if record is not None else None,
        order=number,
        saved=tuple(saved_values(node)),
        statistics=describe(step.after if leaf and step else incoming),
        undefined=step is not None and all(g is None for g in step.hooked),
    )


def _accumulation(step: Step | None) -> str:
    """``0 + 36``: what was there, and what came."""
    if step is None or step.hooked[0] is None:
        return ""
    before = describe(step.before)
    arrived = describe(step.hooked[0])
    assert arrived is not None
    return plus(format_statistics(before) if before else "0", format_statistics(arrived))


def node_counts(order: Sequence[GradFn]) -> dict[GradFn, int]:
    """Which of the equally named nodes of its scope each one is, in the order of the forward
    pass."""
    counts: dict[GradFn, int] = {}
    seen: dict[tuple[str, str], int] = {}
    for node in sorted(order, key=lambda node: node.sequence_nr):
        stem = node.op.public_name if isinstance(node, SavedNode) else node.name()
        key = (node.record.scope if node.record is not None else "", stem)
        counts[node] = seen[key] = seen.get(key, 0) + 1
    return counts


def input_shape(node: GradFn, nr: int) -> Shape:
    """The shape of the gradient that arrives at input ``nr`` of ``node``."""
    shapes: Sequence[Shape] | None = getattr(node, "output_shapes", None)
    return shapes[nr] if shapes is not None else node.output_shape


def describe(gradient: Any) -> Statistics | None:
    """The statistics of a gradient, be it an array, a NumPy scalar or a tensor."""
    if gradient is None:
        return None
    return statistics(gradient.array if isinstance(gradient, Tensor) else gradient)


def saved_values(node: GradFn) -> Iterable[SavedValue]:
    """What ``node`` keeps, numbers that it was called with left out."""
    for name, value, state in node.saved():
        if value is None:
            yield SavedValue(name, (), "", 0, "freed")
        elif not is_number(value):
            array = value.array if isinstance(value, Tensor) else value
            yield SavedValue(name, array.shape, array.dtype.name, array.nbytes, state)


def is_number(value: Any) -> bool:
    """Whether ``value`` is a Python number in the guise of a tensor."""
    return isinstance(value, Tensor) and isinstance(value.record, (int, float))


def formula(node: GradFn, names: Names) -> str:
    """The rules of the inputs that need a gradient, with this node's names and numbers."""
    if not isinstance(node, SavedNode):
        return ""
    called: dict[str, str] = {}
    constants: dict[str, Constant] = {}
    for name, value, _ in node.saved():
        if is_number(value):
            constants[name] = value.record
        elif isinstance(value, Tensor) and (known := names.of(value)):
            called[name] = known
    for name in node.op.saved_plain:
        value = getattr(node, name)
        if isinstance(value, (bool, int, float)) or value is None:
            constants[name] = value
    wanted = {
        name: edge
        for name, edge in zip(node.op.edges, node.edges, strict=False)
        if edge is not None
    }
    return ", ".join(
        formula_text(rule, called, constants)
        for name, rule in node.formulas()
        if name in wanted or node.op.joint is not None or node.op.variadic
    )

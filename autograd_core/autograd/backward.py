"""``backward`` and ``grad``: what a user calls to have gradients."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograd_core.autograd.anomaly_mode import run_watched
from autograd_core.autograd.deliver import lent
from autograd_core.autograd.engine import GraphTask
from autograd_core.autograd.grad_mode import USUAL, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import Node, Port
from autograd_core.tensor import Tensor

Tensors = Tensor | Sequence[Tensor]


class BackwardCall(NamedTuple):
    """A call of ``backward`` as an interceptor sees it, before anything ran."""

    roots: tuple[Tensor, ...]
    seeds: tuple[Any, ...]
    keep: bool
    graph: bool
    inputs: tuple[Tensor, ...] = ()  # the only leaves to accumulate into; all, if there are none


class Interceptor(Protocol):
    """Who may take over calls of ``backward`` (the debugger, ``gradstep render``)."""

    def __call__(self, call: BackwardCall) -> bool:
        """Whether the pass was carried out; False lets it run as usual."""


interceptor: ContextVar[Interceptor | None] = ContextVar("autograd_core_interceptor", default=None)


def backward(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensors | None = None,
) -> None:
    """Add to the ``.grad`` of the leaves the derivative of ``tensors`` by each of them.

    Args:
        tensors: where to start; scalars unless ``grad_tensors`` is given.
        grad_tensors: for each, the gradient that enters there; 1 by default.
        retain_graph: keep what the graph saved, for another pass; as ``create_graph``.
        create_graph: build the graph of the gradients, for derivatives of higher order.
        inputs: the only leaves to accumulate into.

    Raises:
        RuntimeError: in PyTorch's words, for a tensor without a graph, a missing or
            ill-shaped gradient, a graph that was freed, a saved value changed in place.
    """
    call = make_call(tensors, grad_tensors, retain_graph, create_graph)
    if inputs is not None:
        wanted = _tuple(inputs)
        if not wanted:
            raise RuntimeError("'inputs' argument to backward cannot be empty.")
        if not all(x.is_leaf and x.edge is not None for x in wanted):
            _accumulate(call, wanted)
            return
        call = call._replace(inputs=wanted)
    intercept = interceptor.get()
    if intercept is not None and intercept(call):
        return
    run(call)


def make_call(
    tensors: Tensors,
    grad_tensors: Tensor | Sequence[Tensor | None] | None,
    retain_graph: bool | None,
    create_graph: bool,
) -> BackwardCall:
    """The arguments of ``backward``, checked and completed; errors as there."""
    roots = _tuple(tensors)
    seeds = _seeds(roots, grad_tensors, create_graph)
    keep = create_graph if retain_graph is None else retain_graph
    return BackwardCall(roots, seeds, keep, create_graph)


def _accumulate(call: BackwardCall, inputs: tuple[Tensor, ...]) -> None:
    """Add what arrives at ``inputs`` to their ``.grad``, also where they are no leaves."""
    for x, g in zip(inputs, _gradients(call, inputs), strict=True):
        if g is not None:
            x.grad = g if x.grad is None else x.grad + g


def run(call: BackwardCall) -> None:
    """Carry out ``call`` with the bare loop."""
    task = start(call)
    mode = current_mode()
    with pass_mode(call.graph):
        if mode is not None and mode.anomaly is not None:
            run_watched(task, mode.anomaly.check_nan)
        else:
            task.run()


def start(call: BackwardCall) -> GraphTask:
    """The pass that ``call`` asks for, planned and seeded, not yet run."""
    edges: list[Any] = [root.edge for root in call.roots]
    task = GraphTask(edges, call.seeds, keep=call.keep, graph=call.graph)
    if call.inputs:
        task.restrict([x.edge for x in call.inputs])  # type: ignore[misc]
    return task


class pass_mode:
    """The state a backward pass runs in: gradients on under ``create_graph`` only, nobody
    tracing, and NumPy as silent as PyTorch about overflow and division by zero."""

    def __init__(self, graph: bool) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        before = current_mode() or USUAL
        self._token = enter_mode(replace(before, grad=self._graph, tracer=None))
        self._silent = np.errstate(all="ignore")
        self._silent.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._silent.__exit__(*error)
        leave_mode(self._token)


def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The derivatives of ``outputs`` by ``inputs``, without touching any ``.grad``.

    Args:
        outputs: as for :func:`backward`.
        inputs: the tensors by which to differentiate.
        grad_outputs: as for :func:`backward`.
        retain_graph: as for :func:`backward`.
        create_graph: as for :func:`backward`.
        only_inputs: for PyTorch's sake, where it is without effect too.
        allow_unused: give None for an input that was not used in the graph.
        is_grads_batched: the first dimension of each of ``grad_outputs`` counts a batch of them,
            and that of the results likewise; a pass is made for each.
        materialize_grads: give zeros for an input that was not used in the graph.

    Raises:
        RuntimeError: an input was not used in the graph, and neither ``allow_unused`` nor
            ``materialize_grads`` is set; otherwise as :func:`backward`.
    """
    wanted = _tuple(inputs)
    if is_grads_batched:
        unused = allow_unused, materialize_grads
        return _batched(outputs, wanted, grad_outputs, retain_graph, create_graph, *unused)
    from autograd_core.op.dual import current_level, without_graph  # built on what stands here

    # In forward mode gradients have tangents, which only rules called with tensors compute.
    in_forward_mode = current_level.get() is not None and not create_graph
    if in_forward_mode:
        retain_graph = bool(retain_graph)
    call = make_call(outputs, grad_outputs, retain_graph, create_graph or in_forward_mode)
    gradients = _gradients(call, wanted)
    if in_forward_mode:
        gradients = tuple(None if g is None else without_graph(g) for g in gradients)
    if materialize_grads:
        return tuple(
            Tensor.from_array(np.zeros_like(x.array)) if g is None else g
            for g, x in zip(gradients, wanted, strict=True)
        )
    for number, g in enumerate(gradients):
        if g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {number} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
    return gradients


def _batched(
    outputs: Tensors,
    wanted: tuple[Tensor, ...],
    batches: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
    materialize_grads: bool,
) -> tuple[Tensor | None, ...]:
    """``grad`` for each of a batch of ``grad_outputs``, the results stacked."""
    stack = lent("stack")

    listed = (batches,) if isinstance(batches, Tensor) else tuple(batches)
    count = next(len(batch) for batch in listed if batch is not None)
    if count == 0:
        return tuple(Tensor.from_array(np.zeros((0, *x._shape), x.dtype.dtype)) for x in wanted)
    rows = [
        grad(
            outputs,
            wanted,
            [None if batch is None else batch[number] for batch in listed],
            retain_graph=True if number < count - 1 else retain_graph,
            create_graph=create_graph,
            allow_unused=allow_unused,
            materialize_grads=materialize_grads,
        )
        for number in range(count)
    ]
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))


def _gradients(call: BackwardCall, wanted: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
    """Run ``call`` as far as it takes to know what arrives at ``wanted``."""
    for x in wanted:
        if x.edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    task = start(call)
    places: list[Node | Port] = [x.edge for x in wanted]  # type: ignore[misc]
    with pass_mode(call.graph):
        captured = task.run_for(places)
    return tuple(
        None
        if captured[place] is None
        else captured[place]
        if call.graph
        else Tensor.from_array(np.array(captured[place]))
        for place in places
    )


def _tuple(tensors: Tensors) -> tuple[Tensor, ...]:
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _seeds(
    roots: tuple[Tensor, ...], given: Tensor | Sequence[Tensor | None] | None, graph: bool
) -> tuple[Any, ...]:
    """The gradient that enters at each root, as an array, or a tensor under create_graph."""
    gradients: Sequence[Tensor | None]
    if given is None:
        gradients = (None,) * len(roots)
    else:
        gradients = (given,) if isinstance(given, Tensor) else tuple(given)
    if len(gradients) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(gradients)} gradients")
    seeds = []
    for number, (root, g) in enumerate(zip(roots, gradients, strict=True)):
        if root.edge is None:
            raise RuntimeError(
                f"element {number} of tensors does not require grad and does not have a grad_fn"
            )
        if g is None:
            if root.array.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            g = Tensor.from_array(np.ones_like(root.array))
        elif g._shape != root._shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{number}] has a shape of {g.shape} and "
                f"output[{number}] has a shape of {root.shape}."
            )
        seeds.append(g if graph else g.array)
    return tuple(seeds)

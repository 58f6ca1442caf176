"""``backward`` and ``grad``: what a user calls to have gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.call import Places, carry_out, make_call, stand_ins
from autograd_core.autograd.deliver import lent
from autograd_core.notices import warn
from autograd_core.op.dual import current_level, without_graph
from autograd_core.tensor import Tensor


def backward(
    tensors: Places,
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Places | None = None,
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
    if create_graph:
        warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak."
        )
    call = make_call(tensors, grad_tensors, retain_graph, create_graph)
    if inputs is not None:
        wanted = stand_ins(inputs)
        if not wanted:
            raise RuntimeError("'inputs' argument to backward cannot be empty.")
        _check_differentiable(wanted)
        for x in [inputs] if isinstance(inputs, Tensor) else inputs:
            if isinstance(x, Tensor):
                x.retain_grad()
        call = call._replace(inputs=wanted)
    carry_out(call)


def grad(
    outputs: Places,
    inputs: Places,
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
    wanted = stand_ins(inputs)
    if is_grads_batched:
        unused = allow_unused, materialize_grads
        return _batched(outputs, wanted, grad_outputs, retain_graph, create_graph, *unused)
    # In forward mode gradients have tangents, which only rules called with tensors compute.
    in_forward_mode = current_level.get() is not None and not create_graph
    if in_forward_mode:
        retain_graph = bool(retain_graph)
    call = make_call(outputs, grad_outputs, retain_graph, create_graph or in_forward_mode)
    _check_differentiable(wanted)
    found = carry_out(call._replace(inputs=wanted, is_grad=True))
    if in_forward_mode:
        found = tuple(None if g is None else without_graph(g) for g in found)
    if materialize_grads:
        return tuple(
            Tensor.from_array(np.zeros_like(x.array)) if g is None else g
            for g, x in zip(found, wanted, strict=True)
        )
    for number, g in enumerate(found):
        if g is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {number} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
    return found


def _batched(
    outputs: Places,
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


def _check_differentiable(inputs: tuple[Tensor, ...]) -> None:
    if any(x.edge is None for x in inputs):
        raise RuntimeError("One of the differentiated Tensors does not require grad")

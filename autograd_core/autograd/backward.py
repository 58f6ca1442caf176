"""``backward`` and ``grad``, which compute gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.call import (
    Gradients,
    TensorOrEdge,
    TensorsOrEdges,
    as_seeds,
    as_tensors,
    as_tuple,
    carry_out,
    make_call,
    run_plain,
)
from autograd_core.autograd.dual import current_level, without_graph
from autograd_core.op.record import OPS
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor

Inputs = TensorsOrEdges | dict[Any, Tensor]
Given = Tensor | Sequence[Tensor | None] | None


def backward(
    tensors: TensorsOrEdges,
    grad_tensors: Given = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Given = None,
    inputs: Inputs | None = None,
) -> None:
    """Compute the derivatives of ``tensors`` with respect to the leaves, and add them to their
    ``.grad``.

    Args:
        tensors: where to start; scalars, unless ``grad_tensors`` is given.
        grad_tensors: the seed gradient of each; 1 by default.
        retain_graph: keep the saved values of the graph for another pass; by default as
            ``create_graph``.
        create_graph: build a graph of the gradients, for higher-order derivatives.
        grad_variables: the old name of ``grad_tensors``.
        inputs: the only leaves to accumulate into: one, a sequence, or a dict of them.

    Raises:
        RuntimeError: in PyTorch's words, for a tensor without a graph, a missing or
            ill-shaped gradient, a graph that was freed, a saved value changed in place.
    """
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    requested = () if inputs is None else _listed_inputs(inputs, "backward")
    if create_graph:
        warn(
            "Using backward() with create_graph=True will create a reference cycle between the "
            "parameter and its gradient which can cause a memory leak. We recommend using "
            "autograd.grad when creating the graph to avoid this. If you have to use this "
            "function, make sure to reset the .grad fields of your parameters to None after use "
            "to break the cycle and avoid the leak."
        )
    elif inputs is None and run_plain(tensors, grad_tensors, bool(retain_graph)):
        return
    call = make_call(tensors, grad_tensors, retain_graph, create_graph)
    if requested:
        places = as_tensors(requested)
        for x in requested:
            if isinstance(x, Tensor):
                x.retain_grad()
        call = call._replace(inputs=places)
    carry_out(call)


def grad(
    outputs: TensorsOrEdges,
    inputs: Inputs,
    grad_outputs: Given = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Return the derivatives of ``outputs`` with respect to ``inputs``, without changing any
    ``.grad``.

    Args:
        outputs: as for :func:`backward`.
        inputs: the tensors to differentiate with respect to: one, a sequence, or a dict of them.
        grad_outputs: as for :func:`backward`.
        retain_graph: as for :func:`backward`.
        create_graph: as for :func:`backward`.
        only_inputs: accepted for compatibility; it has no effect in PyTorch either.
        allow_unused: return None for an input that was not used in the graph.
        is_grads_batched: the first dimension of each of ``grad_outputs`` and of each result is a
            batch; one pass runs for each element.
        materialize_grads: return zeros for an input that was not used in the graph.

    Returns:
        A tuple of derivatives or, for a dict, a dict with the same keys.

    Raises:
        RuntimeError: an input was not used in the graph, and neither ``allow_unused`` nor
            ``materialize_grads`` is set; otherwise as :func:`backward`.
        ValueError: ``allow_unused=False`` was given together with ``materialize_grads``.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    requested = _listed_inputs(inputs, "grad")
    if not only_inputs:
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    run = _batched if is_grads_batched else _gradients
    gradients = run(outputs, as_tensors(requested), grad_outputs, retain_graph, create_graph)
    if materialize_grads:
        gradients = tuple(
            _zeros_like(x, create_graph) if g is None else g
            for g, x in zip(gradients, requested, strict=True)
        )
    elif not allow_unused:
        for number, g in enumerate(gradients):
            if g is None:
                raise RuntimeError(
                    f"The differentiated Tensor at index {number} appears to not have been used in "
                    "the graph. Set allow_unused=True if this is the desired behavior."
                )
    return dict(zip(inputs, gradients, strict=True)) if type(inputs) is dict else gradients


def _listed_inputs(inputs: Inputs, function: str) -> tuple[TensorOrEdge, ...]:
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    requested = tuple(inputs.values()) if isinstance(inputs, dict) else as_tuple(inputs)
    if not requested:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return requested


def _gradients(
    outputs: TensorsOrEdges,
    requested: tuple[Tensor, ...],
    grad_outputs: Given,
    retain_graph: bool | None,
    create_graph: bool,
) -> Gradients:
    # In forward mode gradients have tangents, which only rules called with tensors compute.
    in_forward_mode = current_level.get() is not None and not create_graph
    if in_forward_mode:
        retain_graph = bool(retain_graph)
    call = make_call(outputs, grad_outputs, retain_graph, create_graph or in_forward_mode)
    if any(not x.requires_grad for x in requested):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    gradients = carry_out(call._replace(inputs=requested, is_grad=True))
    if in_forward_mode:
        gradients = tuple(None if g is None else without_graph(g) for g in gradients)
    return gradients


def _batched(
    outputs: TensorsOrEdges,
    requested: tuple[Tensor, ...],
    batches: Given,
    retain_graph: bool | None,
    create_graph: bool,
) -> Gradients:
    """Return the gradients for each of a batch of ``grad_outputs``, stacked."""
    roots = as_tensors(outputs)
    given = as_seeds(batches, len(roots))
    for number, (root, batch) in enumerate(zip(roots, given, strict=False)):
        if batch is not None and batch._shape[1:] != root._shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{number}] has a shape of {batch.shape[2:]} and output[{number}] has "
                f"a shape of {root.shape}. If you only want some tensors in `grad_output` to be "
                "considered batched, consider using vmap."
            )
    sizes = [len(batch) for batch in given if batch is not None]
    if len(sizes) < len(given):
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a "
            "Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
        )
    count = sizes[0]
    if any(size != count for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    if count == 0:
        return tuple(Tensor.from_array(np.zeros((0, *x._shape), x.dtype.dtype)) for x in requested)
    rows = [
        _gradients(
            outputs,
            requested,
            [None if batch is None else batch[number] for batch in given],
            True if number < count - 1 else retain_graph,
            create_graph,
        )
        for number in range(count)
    ]
    stack = OPS["stack"].call
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))


def _zeros_like(x: TensorOrEdge, requires_grad: bool) -> Tensor:
    if not isinstance(x, Tensor):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    return Tensor.from_array(np.zeros_like(x.array), requires_grad)

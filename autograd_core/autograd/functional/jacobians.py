"""Jacobians and Hessians, row by row or column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_core.autograd.forward_ad import dual_level, make_dual, unpack_dual
from autograd_core.autograd.functional.checks import (
    OUTPUTS,
    OptionalTensors,
    Tensors,
    check_depend,
    check_scalar,
    gradients_of,
    points_of,
    returned,
    tensors_in,
    zeros_like,
)
from autograd_core.autograd.grad_mode import enable_grad
from autograd_core.ops.shaping.joining import stack
from autograd_core.tensor import Tensor


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivative of every element of the outputs with respect to every element of the
    inputs.

    >>> import autograd_core as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x.sum(), torch.tensor([1.0, 2.0]))
    tensor([[4., 1.],
            [2., 5.]])

    Args:
        func: as for :func:`vjp`.
        inputs: as for :func:`vjp`.
        create_graph: make the result differentiable.
        strict: as for :func:`vjp`.
        vectorize: accepted for compatibility with PyTorch; it has no effect.
        strategy: "reverse-mode" runs one backward pass per element of the outputs, "forward-mode"
            calls ``func`` once per element of the inputs.

    Returns:
        A tensor of shape ``(*output, *input)``; a tuple of tensors if inputs or outputs are a
        tuple; a tuple of tuples if both are, the outer one over outputs.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strict and (vectorize or strategy == "forward-mode"):
        refused, instead = "`vectorized=True` are not supported together", "vectorize=False"
        if not vectorize:
            refused = '`strategy="forward-mode"` are not supported together (yet)'
            instead = 'strategy="reverse-mode"'
        raise RuntimeError(
            f"torch.autograd.functional.jacobian: `strict=True` and {refused}. Please either set "
            f"`strict=False` or `{instead}`."
        )
    forward = strategy == "forward-mode"
    rows = _forward_jacobian if forward else _reverse_jacobian
    with enable_grad():
        single, points = points_of(inputs, create_graph, "jacobian")
        single_output, blocks = rows(func, points, create_graph, strict)
    result = tuple(returned(row, single, create_graph) for row in blocks)
    return result[0] if single_output else result


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of ``func``, which returns one element, with respect to the
    inputs.

    >>> import autograd_core as torch
    >>> torch.autograd.functional.hessian(lambda x: x[0] ** 2 * x[1], torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])

    Arguments and errors are those of :func:`jacobian`.
    """
    single, points = tensors_in(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def scalar(*points: Tensor) -> Tensor:
        result = func(*points)
        _, outputs = tensors_in(result, OUTPUTS, "hessian")
        check_depend(outputs, "outputs", strict)
        check_scalar(result, outputs, "hessian")
        return result.reshape(())  # type: ignore[no-any-return]

    def gradient(*points: Tensor) -> Any:
        for point in points:
            if not point.requires_grad:
                point.requires_grad_()
        rows = jacobian(scalar, points, create_graph=True)
        check_depend(rows, "jacobian", strict)
        return rows

    blocks = jacobian(gradient, points, create_graph, strict, vectorize, outer_jacobian_strategy)
    return blocks[0][0] if single else blocks


def _reverse_jacobian(
    func: Callable[..., Any], points: Tensors, create_graph: bool, strict: bool
) -> tuple[bool, list[Tensors]]:
    """Per output, per input: their block; one backward pass per element of the outputs."""
    single, outputs = tensors_in(func(*points), OUTPUTS, "jacobian")
    check_depend(outputs, "outputs", strict)
    blocks = []
    for number, output in enumerate(outputs):
        columns: list[list[Tensor]] = [[] for _ in points]
        for place in np.ndindex(output._shape):
            seed = Tensor.from_array(_unit(output, place))
            row = gradients_of((output,), points, (seed,), create_graph, keep=True)
            if strict:
                _check_row(row, number, create_graph)
            for column, g, point in zip(columns, row, points, strict=True):
                column.append(zeros_like(point) if g is None else g)
        blocks.append(
            tuple(
                _stacked(column, point).view((*output._shape, *point._shape))
                for column, point in zip(columns, points, strict=True)
            )
        )
    return single, blocks


def _forward_jacobian(
    func: Callable[..., Any], points: Tensors, create_graph: bool, strict: bool
) -> tuple[bool, list[Tensors]]:
    """As :func:`_reverse_jacobian`; one call of ``func`` per element of the inputs."""
    single, outputs = tensors_in(func(*points), OUTPUTS, "jacobian")
    rows: list[list[Tensor]] = [[] for _ in outputs]
    for number, point in enumerate(points):
        columns: list[list[Tensor]] = [[] for _ in outputs]
        for place in np.ndindex(point._shape):
            with dual_level():
                dual = make_dual(point, Tensor.from_array(_unit(point, place)))
                _, moved = tensors_in(
                    func(*points[:number], dual, *points[number + 1 :]), OUTPUTS, "jacobian"
                )
                tangents = [unpack_dual(output).tangent for output in moved]
            for column, tangent, output in zip(columns, tangents, outputs, strict=True):
                column.append(zeros_like(output) if tangent is None else tangent)
        for row, column, output in zip(rows, columns, outputs, strict=True):
            # the element of the input is the first dimension, and has to be the last
            block = _stacked(column, output)
            last = block.permute((*range(1, block.ndim), 0))
            row.append(last.reshape((*output._shape, *point._shape)))
    return single, [tuple(row) for row in rows]


def _unit(t: Tensor, place: tuple[int, ...]) -> Any:
    array = np.zeros(t._shape, t.dtype.dtype)
    array[place] = 1
    return array


def _stacked(rows: list[Tensor], like: Tensor) -> Tensor:
    """Return rows of the shape of ``like`` as one tensor; of none there may be no rows."""
    if not rows:
        return Tensor.from_array(np.zeros((0, *like._shape), like.dtype.dtype))
    return stack(rows)  # type: ignore[no-any-return]


def _check_row(row: OptionalTensors, output: int, create_graph: bool) -> None:
    for number, g in enumerate(row):
        if g is None:
            raise RuntimeError(
                f"Output {output} of the user-provided function is independent of input {number}. "
                "This is not allowed in strict mode."
            )
        if create_graph and not g.requires_grad:
            raise RuntimeError(
                "The jacobian of the user-provided function is independent of input "
                f"{output}. This is not allowed in strict mode when create_graph=True."
            )

"""The way back from pooling: what was largest, where it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.ops.networks import unpooling
from autograd_core.ops.shaping import shape
from autograd_core.tensor import Tensor


def _unpooled_size(
    x: Tensor, dims: int, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[int, ...]:
    kernel, outside = sizes(kernel_size, dims), sizes(padding, dims)
    step = kernel if stride is None else sizes(stride, dims)
    usual = tuple(
        (n - 1) * s + k - 2 * p
        for n, s, k, p in zip(x._shape[-dims:], step, kernel, outside, strict=True)
    )
    if output_size is None:
        return usual
    if len(output_size) not in (dims, dims + 2):
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(output_size)}'"
        )
    asked = tuple(output_size)[-dims:]
    for want, n, s in zip(asked, usual, step, strict=True):
        if not n - s < want < n + s:
            raise ValueError(
                f'invalid output_size "{asked}" (dim 0 must be between {n - s} and {n + s})'
            )
    return asked


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return signals with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 1, kernel_size, stride, padding, output_size)
    column = shape.unsqueeze(input, -1), shape.unsqueeze(indices, -1)
    return shape.squeeze_dim(unpooling.max_unpool2d(*column, (*size, 1)), -1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return images with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 2, kernel_size, stride, padding, output_size)
    return unpooling.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Return volumes with the elements of ``input`` at ``indices``, zero elsewhere."""
    size = _unpooled_size(input, 3, kernel_size, stride, padding, output_size)
    return unpooling.max_unpool3d(input, indices, size)

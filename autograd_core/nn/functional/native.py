"""Normalizations that also return their statistics, like PyTorch's kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.nn.functional import normalization, vision
from autograd_core.nn.functional.linear import embedding as rows_of
from autograd_core.ops.networks import batch_norm as norms
from autograd_core.ops.networks.normalization import layer_norm
from autograd_core.tensor import Tensor


def _statistics(op: Any, *arguments: Any) -> tuple[Tensor, Tensor]:
    """Mean and reciprocal standard deviation, hidden from callers of the op: found again."""
    arrays = (
        argument.array if isinstance(argument, Tensor) else argument for argument in arguments
    )
    _, mean, rstd = op.op.kernel(*arrays)
    return Tensor.from_array(mean), Tensor.from_array(rstd)


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return :func:`layer_norm`, with the means and the reciprocal standard deviations."""
    options = tuple(normalized_shape), eps
    result = layer_norm(input, weight, bias, *options)
    return result, *_statistics(layer_norm, input, weight, bias, *options)


def native_group_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return :func:`group_norm`, with the means and the reciprocal standard deviations (N,
    group)."""
    result = norms.group_norm(input, weight, bias, group, eps)
    mean, rstd = _statistics(norms.group_norm, input, weight, bias, group, eps)
    return result, mean.reshape(N, group), rstd.reshape(N, group)


def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return :func:`batch_norm`, with the means and the reciprocal standard deviations (C,), which
    are empty outside of training."""
    result = normalization.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )
    if not training:
        return result, input.new_empty(0), input.new_empty(0)
    normalized = _statistics(norms.batch_norm, input, weight, bias, None, None, True, eps)
    return result, *normalized


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """Return :func:`torch.nn.functional.batch_norm`, with its arguments in another order."""
    return normalization.batch_norm(
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def embedding(weight: Tensor, indices: Tensor, padding_idx: int | None = None) -> Tensor:
    """Return :func:`torch.nn.functional.embedding`, with its arguments in another order."""
    return rows_of(indices, weight, padding_idx)


_MODES, _BORDERS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """:func:`grid_sample` with modes by number: 0 bilinear, 1 nearest, 2 bicubic; 0 zeros,
    1 border, 2 reflection."""
    mode, border = _MODES[interpolation_mode], _BORDERS[padding_mode]
    return vision.grid_sample(input, grid, mode, border, align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """Return :func:`affine_grid`."""
    return vision.affine_grid(theta, size, align_corners)


# What PyTorch has under its first name only, or with other arguments there.
OWN = (
    affine_grid_generator, batch_norm, embedding, grid_sampler, native_batch_norm,
    native_group_norm, native_layer_norm,
)  # fmt: skip

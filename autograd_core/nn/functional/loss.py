"""Regression losses."""

from __future__ import annotations

from autograd_core import functions
from autograd_core.nn.functional.reduction import reduced, reduction_of, validate_reduction
from autograd_core.op.generic import broadcast_shapes
from autograd_core.op.keywords import torch_form
from autograd_core.ops.losses import elementwise_loss, loss
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.shaping import shape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor


def _expanded(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return both in their common shape, with a warning where that is not the target's and
    input's."""
    if input._shape == target._shape:
        return input, target
    warn(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    size = broadcast_shapes((input, target))
    return (
        input if input._shape == size else shape.expand(input, size),
        target if target._shape == size else shape.expand(target, size),
    )


def _same_size(input: Tensor, weight: Tensor) -> None:
    if weight._shape != input._shape:
        raise ValueError("Weights and input must have the same size.")


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Return ``losses`` times ``weight``; their mean is by weight, too."""
    losses = elementwise.mul(losses, weight)
    if reduction == "mean":
        return elementwise.div(functions.sum(losses), functions.sum(weight))
    return _summed(losses, reduction)


def _summed(losses: Tensor, reduction: str) -> Tensor:
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(
            f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
        )
    return reduced(losses, reduction)


@torch_form
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the mean of the squared differences, weighted by ``weight`` if given."""
    one, other = _expanded(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is None:
        return loss.mse_loss(one, other, validate_reduction(reduction))
    _same_size(input, weight)
    return _weighted(functions.pow(elementwise.sub(one, other), 2), weight, reduction)


@torch_form
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Return the mean of the absolute differences, weighted by ``weight`` if given."""
    distance = elementwise.abs(elementwise.sub(*_expanded(input, target)))
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is None:
        return reduced(distance, reduction)
    _same_size(input, weight)
    return _weighted(distance, weight, reduction)


@torch_form
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Return the smooth L1 loss: squared differences below ``beta``, absolute ones above."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _expanded(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return elementwise_loss.smooth_l1_loss(input, target, validate_reduction(reduction), beta)


@torch_form
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Return the Huber loss: ``delta`` times :func:`smooth_l1_loss`, times ``weight``."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    one, other = _expanded(input, target)
    if weight is None:
        return elementwise_loss.huber_loss(one, other, validate_reduction(reduction), delta)
    _same_size(input, weight)
    losses = elementwise_loss.huber_loss(one, other, "none", delta)
    return _summed(elementwise.mul(losses, weight), reduction)

"""Losses that are negative log likelihoods."""

from __future__ import annotations

import math

from autograd_core.functions import reshape
from autograd_core.nn.functional.reduction import (
    check_constant,
    reduced,
    reduction_of,
    validate_reduction,
)
from autograd_core.op.generic import broadcast_shapes
from autograd_core.op.keywords import torch_form
from autograd_core.ops.losses import elementwise_loss, loss
from autograd_core.ops.pointwise import elementwise, exponential
from autograd_core.ops.reductions import reduce as reduce_ops
from autograd_core.ops.reductions.softmax import log_softmax
from autograd_core.ops.shaping import shape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


@torch_form
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the negative log likelihood of classes ``target``, from log probabilities (N, C)."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    if not input.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    function = loss.nll_loss if input.ndim < 3 else loss.nll_loss2d
    if weight is not None:
        check_constant(f"{function.__name__}_forward", weight=weight)
    return function(input, target, weight, reduction, ignore_index)


@torch_form
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return the cross entropy of the classes ``target``, given unnormalized scores (N, C).

    ``target`` may also contain a probability for each class.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    dim = 1 if input.ndim > 1 else 0
    of_each = target._shape == input._shape
    if of_each and not target.is_floating_point():
        raise RuntimeError(
            "Expected floating point type for target with class probabilities, got "
            + target.dtype.scalar_name
        )
    if of_each:
        _check_probabilities(input, weight, ignore_index, dim)
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    scores = log_softmax(input, dim)
    if of_each:
        return _of_probabilities(scores, target, weight, dim, reduction, label_smoothing)
    likely = nll_loss(scores, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing <= 0:
        return likely
    smooth = _smooth(scores, target, weight, ignore_index, reduction, dim)
    share = label_smoothing / input._shape[dim]
    return elementwise.add(
        elementwise.mul(likely, 1 - label_smoothing), elementwise.mul(smooth, share)
    )


def _check_probabilities(input: Tensor, weight: Tensor | None, ignore_index: int, dim: int) -> None:
    wrapped(dim, input.ndim, of_scalars=False) if input.ndim else wrapped(1, 0, of_scalars=False)
    if weight is not None and weight._shape != (input._shape[dim],):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {input._shape[dim]} "
            f"classes or no classes but got weight tensor of shape: {list(weight.shape)}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")


def _smooth(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    dim: int,
) -> Tensor:
    """Return the loss of all classes alike, of those places whose target counts."""
    if weight is not None:
        scores = elementwise.mul(scores, _along(weight, scores, dim))
    losses = elementwise.neg(reduce_ops.sum_dim(scores, dim))
    counts = target.array != ignore_index
    losses = elementwise.where(Tensor.from_array(counts), losses, 0)
    if reduction != "mean":
        return reduced(losses, reduction)
    total = counts.sum() if weight is None else weight.array[target.array[counts]].sum()
    return elementwise.div(reduce_ops.sum_all(losses), float(total))


def _of_probabilities(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    dim: int,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    if label_smoothing > 0:
        target = elementwise.add(
            elementwise.mul(target, 1 - label_smoothing), label_smoothing / scores._shape[dim]
        )
    products = elementwise.mul(scores, target)
    if weight is not None:
        products = elementwise.mul(products, _along(weight, scores, dim))
    if validate_reduction(reduction) == "none":
        return elementwise.neg(reduce_ops.sum_dim(products, dim))
    total = elementwise.neg(reduce_ops.sum_all(products))
    if reduction == "sum":
        return total
    count = math.prod(scores._shape) / (scores._shape[dim] or math.nan) if scores.ndim > 1 else 1
    return elementwise.div_number(total, other=count)


def _along(weight: Tensor, x: Tensor, dim: int) -> Tensor:
    return reshape(weight, tuple(-1 if axis == dim else 1 for axis in range(x.ndim)))


@torch_form
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the binary cross entropy of ``target``, given its probabilities."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    if input._shape != target._shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    check_constant("binary_cross_entropy", weight=weight)
    _check_weight(input, weight)
    return elementwise_loss.binary_cross_entropy(input, target, weight, reduction)


def _check_weight(x: Tensor, weight: Tensor | None) -> None:
    """``weight`` broadcasts to the shape of ``x``."""
    if weight is not None and weight._shape != x._shape:
        shape.expand(weight, x._shape)


@torch_form
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the :func:`binary_cross_entropy` of ``sigmoid(input)``, without overflow."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    if input._shape != target._shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    name = "binary_cross_entropy_with_logits"
    check_constant(name, weight=weight, pos_weight=pos_weight)
    for factor in (pos_weight, weight):
        if factor is not None:
            broadcast_shapes((factor, input))
    return elementwise_loss.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, reduction
    )


@torch_form
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return ``target * (log(target) - input)``, the Kullback-Leibler divergence.

    ``reduction="batchmean"`` divides by the batch size, as the mathematical definition does.
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    elif reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release."
        )
    if not (input.is_floating_point() and target.is_floating_point()):
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        losses = elementwise.mul(elementwise.exp(target), elementwise.sub(target, input))
    else:
        losses = elementwise.sub(exponential.xlogy(target, target), elementwise.mul(target, input))
    if reduction == "batchmean":
        total = reduced(losses, "sum")
        return elementwise.div(total, input._shape[0]) if input._shape else total
    return reduced(losses, reduction)

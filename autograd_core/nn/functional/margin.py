"""Margin losses."""

from __future__ import annotations

from collections.abc import Callable

from autograd_core import functions
from autograd_core.functions import reshape
from autograd_core.nn.functional.distance import pairwise_distance
from autograd_core.nn.functional.reduction import (
    check_constant,
    reduced,
    reduction_of,
    validate_reduction,
)
from autograd_core.op.generic import broadcast_shapes
from autograd_core.op.keywords import torch_form
from autograd_core.ops.losses import elementwise_loss, margin_loss
from autograd_core.ops.pointwise import elementwise, select
from autograd_core.ops.reductions import reduce as reduce_ops
from autograd_core.tensor import Tensor


@torch_form
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the multi-class hinge loss of scores (N, C) and labels (N,): the target class should
    score ``margin`` above the others."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    check_constant("multi_margin_loss", weight=weight)
    _check_scores(input)
    samples = input._shape[0] if input.ndim == 2 else 1
    if target.ndim > 1 or target.numel() != samples:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{samples}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != (input._shape or (1,))[-1]:
        raise RuntimeError(
            f"inconsistent weight size, expected {(input._shape or (1,))[-1]} but got "
            f"{list(weight.shape)}"
        )
    if input.ndim < 2:
        size = target._shape
        input, target = reshape(input, (1, input.numel())), reshape(target, (1,))
        loss = margin_loss.multi_margin_loss(input, target, weight, p, margin, reduction)
        return reshape(loss, size) if reduction == "none" else loss
    return margin_loss.multi_margin_loss(input, target, weight, p, margin, reduction)


def _check_scores(x: Tensor) -> None:
    if x.ndim > 2 or 0 in x._shape[x.ndim - 1 :]:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(x.shape)}"
        )


@torch_form
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return :func:`multi_margin_loss` for lists of target classes (N, C) that end at -1."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    _check_scores(input)
    if input.numel() != target.numel() or (input.ndim == 2 and input._shape != target._shape):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if input.ndim < 2:
        input, target = (reshape(tensor, (1, tensor.numel())) for tensor in (input, target))
        loss = margin_loss.multilabel_margin_loss(input, target, reduction)
        return reshape(loss, ()) if reduction == "none" else loss
    return margin_loss.multilabel_margin_loss(input, target, reduction)


@torch_form
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the distances of pairs if ``target`` is 1, and their shortfall from ``margin`` if it
    is -1."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    broadcast_shapes((target, input))
    edge = functions.full((), margin, dtype=input.dtype)  # as in C++: a whole number of integers
    apart = _at_least_0(elementwise.sub(edge, input))
    return reduced(_by_label(target, input, apart), reduction)


def _at_least_0(x: Tensor) -> Tensor:
    return select.clamp_min(x, min=0)


def _by_label(target: Tensor, alike: Tensor, apart: Tensor) -> Tensor:
    """Return ``alike`` but where ``target`` is -1, plus ``apart`` but where it is 1."""
    return elementwise.add(
        elementwise.where(elementwise.ne(target, 1), apart, 0),
        elementwise.where(elementwise.ne(target, -1), alike, 0),
    )


@torch_form
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the margin ranking loss: the first input should be ``margin`` above the second for
    target 1, and below for -1."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    difference = elementwise.sub(input1, input2)
    lack = elementwise.mul(elementwise.neg(target), difference)
    return reduced(_at_least_0(elementwise.add(lack, margin)), reduction)


@torch_form
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``1 - cos`` for pairs with target 1, and the excess of ``cos`` over ``margin`` for
    -1."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found "
            f"inputs with sizes {list(input1.shape)} and {list(input2.shape)}."
        )
    dim = input1.ndim - 1
    cosine = _cosine_with_eps(input1, input2, dim)
    apart = _at_least_0(elementwise.sub(cosine, margin))
    broadcast_shapes((target, cosine))
    losses = elementwise.add(
        elementwise.where(elementwise.eq(target, 1), elementwise.sub(1, cosine), 0),
        elementwise.where(elementwise.eq(target, -1), apart, 0),
    )
    return reduced(losses, reduction)


def _cosine_with_eps(a: Tensor, b: Tensor, dim: int) -> Tensor:
    product = reduce_ops.sum_dim(elementwise.mul(a, b), dim)
    squares = [
        elementwise.add(reduce_ops.sum_dim(elementwise.mul(x, x), dim), 1e-12) for x in (a, b)
    ]
    return elementwise.div(product, elementwise.sqrt(elementwise.mul(*squares)))


@torch_form
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the triplet loss: the negative should be ``margin`` farther from the anchor than the
    positive."""
    reduction = reduction_of(size_average, reduce, reduction)

    def apart(x: Tensor, y: Tensor) -> Tensor:
        return pairwise_distance(x, y, p, eps)

    return triplet_margin_with_distance_loss(
        anchor, positive, negative, distance_function=apart, margin=margin, swap=swap,
        reduction=reduction,
    )  # fmt: skip


@torch_form
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return :func:`triplet_margin_loss` with a custom distance."""
    validate_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, and negative "
            f"{negative.ndim}D inputs"
        )
    apart = pairwise_distance if distance_function is None else distance_function
    near, far = apart(anchor, positive), apart(anchor, negative)
    if swap:
        other = apart(positive, negative)
        far = elementwise.where(elementwise.lt(other, far), other, far)
    gap = elementwise.sub(elementwise.add(near, margin), far)
    return reduced(_at_least_0(gap), reduction)


@torch_form
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return ``log(1 + exp(-target * input))`` for targets 1 and -1."""
    reduction = validate_reduction(reduction_of(size_average, reduce, reduction))
    check_constant("soft_margin_loss", target=target)
    broadcast_shapes((input, target))
    return elementwise_loss.soft_margin_loss(input, target, reduction)

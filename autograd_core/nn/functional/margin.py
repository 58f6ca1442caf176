"""Margin losses."""

from __future__ import annotations

from autograd_core.functions import reshape
from autograd_core.nn.functional.reduction import (
    check_constant,
    reduction_of,
    validate_reduction,
)
from autograd_core.op.generic import broadcast_shapes
from autograd_core.op.keywords import torch_form
from autograd_core.ops.losses import elementwise_loss, margin_loss
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

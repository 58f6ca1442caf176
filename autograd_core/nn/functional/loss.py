"""Losses."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autograd_core import functions
from autograd_core.functions import reshape
from autograd_core.nn.functional.activation import logsigmoid
from autograd_core.op.generic import broadcast_shapes
from autograd_core.ops import (
    elementwise,
    elementwise_loss,
    exponential,
    loss,
    reduce,
    shape,
)
from autograd_core.tensor import Tensor


def known(reduction: str) -> str:
    """``reduction``, if there is one of that name."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of ``losses``, or all of them."""
    if known(reduction) == "none":
        return losses
    return reduce.mean_all(losses) if reduction == "mean" else reduce.sum_all(losses)


def _expanded(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Both in their common shape, with a warning where that is not the target's and input's."""
    if input._shape == target._shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        stacklevel=3,
    )
    size = broadcast_shapes((input, target))
    return (
        input if input._shape == size else shape.expand(input, size),
        target if target._shape == size else shape.expand(target, size),
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of the classes ``target``, given log probabilities (N, C)."""
    return loss.nll_loss(input, target, weight, known(reduction), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative log likelihood of the classes ``target``, given any scores (N, C).

    ``target`` may also hold a probability for each class.
    """
    dim = 1 if input.ndim > 1 else 0
    scores = loss.log_softmax(input, dim)
    if target.is_floating_point() and target._shape == input._shape:
        return _of_probabilities(scores, target, weight, dim, reduction, label_smoothing)
    likely = nll_loss(scores, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return likely
    smooth = _smooth(scores, target, weight, ignore_index, reduction, dim)
    share = label_smoothing / input._shape[dim]
    return elementwise.add(
        elementwise.mul(likely, 1 - label_smoothing), elementwise.mul(smooth, share)
    )


def _smooth(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
    dim: int,
) -> Tensor:
    """The loss of all classes alike, of those places whose target counts."""
    if weight is not None:
        scores = elementwise.mul(scores, _along(weight, scores, dim))
    losses = elementwise.neg(reduce.sum_dim(scores, dim))
    counts = target.array != ignore_index
    losses = elementwise.where(Tensor.from_array(counts), losses, 0)
    if reduction != "mean":
        return reduced(losses, reduction)
    total = counts.sum() if weight is None else weight.array[target.array[counts]].sum()
    return elementwise.div(reduce.sum_all(losses), float(total))


def _of_probabilities(
    scores: Tensor,
    target: Tensor,
    weight: Tensor | None,
    dim: int,
    reduction: str,
    label_smoothing: float,
) -> Tensor:
    if label_smoothing:
        target = elementwise.add(
            elementwise.mul(target, 1 - label_smoothing), label_smoothing / scores._shape[dim]
        )
    products = elementwise.mul(scores, target)
    if weight is not None:
        products = elementwise.mul(products, _along(weight, scores, dim))
    if known(reduction) == "none":
        return elementwise.neg(reduce.sum_dim(products, dim))
    total = elementwise.neg(reduce.sum_all(products))
    if reduction == "sum":
        return total
    return elementwise.div(total, scores.numel() // scores._shape[dim] if scores.ndim > 1 else 1)


def _along(weight: Tensor, x: Tensor, dim: int) -> Tensor:
    return reshape(weight, tuple(-1 if axis == dim else 1 for axis in range(x.ndim)))


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The mean of the squared differences."""
    return loss.mse_loss(*_expanded(input, target), known(reduction))


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The mean of the absolute differences."""
    input, target = _expanded(input, target)
    return reduced(elementwise.abs(elementwise.sub(input, target)), reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """Squared differences that become absolute ones from ``beta`` on."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    input, target = _expanded(input, target)
    if beta == 0:
        return l1_loss(input, target, reduction)
    return elementwise_loss.smooth_l1_loss(input, target, known(reduction), beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """``delta`` times :func:`smooth_l1_loss`."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return elementwise_loss.huber_loss(*_expanded(input, target), known(reduction), delta)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1."""
    return elementwise_loss.soft_margin_loss(input, target, known(reduction))


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The negative log likelihood of ``target``, given probabilities of its being 1."""
    if input._shape != target._shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    return elementwise_loss.binary_cross_entropy(input, target, weight, known(reduction))


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, without its overflow."""
    if input._shape != target._shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    return elementwise_loss.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight, known(reduction)
    )


def kl_div(
    input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False
) -> Tensor:
    """``target * (log(target) - input)``: how far log probabilities are from probabilities.

    ``reduction="batchmean"`` divides by the size of the batch, as the mathematics has it.
    """
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release.",
            stacklevel=2,
        )
    if log_target:
        losses = elementwise.mul(elementwise.exp(target), elementwise.sub(target, input))
    else:
        losses = elementwise.sub(exponential.xlogy(target, target), elementwise.mul(target, input))
    if reduction == "batchmean":
        return elementwise.div(reduce.sum_all(losses), max(input._shape[:1] or (1,)))
    return reduced(losses, reduction)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of counts, given the (log of the) rate of a Poisson process."""
    if log_input:
        losses = elementwise.sub(elementwise.exp(input), elementwise.mul(target, input))
    else:
        log_rate = elementwise.log(elementwise.add(input, eps))
        losses = elementwise.sub(input, elementwise.mul(target, log_rate))
    if full:  # Stirling's approximation of the logarithm of the factorial
        t = target.array
        large = np.where(t > 1, t, 1)
        terms = large * np.log(large) - large + 0.5 * np.log(2 * math.pi * large)
        losses = elementwise.add(losses, Tensor.from_array(np.where(t > 1, terms, 0)))
    return reduced(losses, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of ``target``, given mean and variance of normal
    distributions."""
    variance: Any = functions.full(input._shape, var) if isinstance(var, (int, float)) else var
    if (variance.array < 0).any():
        raise ValueError("var has negative entry/entries")
    if variance._shape == input._shape[:-1]:
        variance = shape.unsqueeze(variance, -1)
    # held above eps, but with the gradient of what it was
    lifted = Tensor.from_array(np.maximum(variance.array, eps) - variance.array)
    held = elementwise.add(variance, lifted)
    difference = functions.pow(elementwise.sub(input, target), 2)
    losses = elementwise.mul(
        elementwise.add(elementwise.log(held), elementwise.div(difference, held)), 0.5
    )
    if full:
        losses = elementwise.add(losses, 0.5 * math.log(2 * math.pi))
    return reduced(losses, reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """:func:`binary_cross_entropy_with_logits`, averaged over classes."""
    yes = elementwise.mul(target, logsigmoid(input))
    no = elementwise.mul(elementwise.sub(1, target), logsigmoid(elementwise.neg(input)))
    losses = elementwise.neg(elementwise.add(yes, no))
    if weight is not None:
        losses = elementwise.mul(losses, weight)
    dim = input.ndim - 1
    return reduced(elementwise.div(reduce.sum_dim(losses, dim), input._shape[dim]), reduction)

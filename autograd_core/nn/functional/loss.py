"""Losses."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from autograd_core import functions
from autograd_core.functions import reshape
from autograd_core.nn.functional.activation import logsigmoid
from autograd_core.nn.functional.distance import pairwise_distance
from autograd_core.ops import elementwise, elementwise_loss, loss, margin_loss, reduce, shape
from autograd_core.tensor import Tensor


def known(reduction: str) -> str:
    """``reduction``, if there is one of that name."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def _reduced(losses: Tensor, reduction: str) -> Tensor:
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
    size = np.broadcast_shapes(input._shape, target._shape)
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
    if target.is_floating_point():
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
        return _reduced(losses, reduction)
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
    return _reduced(elementwise.abs(elementwise.sub(input, target)), reduction)


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
    if log_target:
        losses = elementwise.mul(elementwise.exp(target), elementwise.sub(target, input))
    else:
        losses = elementwise.sub(_xlogx(target), elementwise.mul(target, input))
    if reduction == "batchmean":
        return elementwise.div(reduce.sum_all(losses), max(input._shape[:1] or (1,)))
    return _reduced(losses, reduction)


def _xlogx(x: Tensor) -> Tensor:
    safe = elementwise.where(elementwise.eq(x, 0), 1, x)
    return elementwise.mul(x, elementwise.log(safe))


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
    return _reduced(losses, reduction)


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
    return _reduced(losses, reduction)


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
    return _reduced(elementwise.div(reduce.sum_dim(losses, dim), input._shape[dim]), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What other classes lack to score ``margin`` below the right one, (N, C) and (N,)."""
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if input.ndim == 1:
        input, target = shape.unsqueeze(input, 0), reshape(target, (1,))
        found = margin_loss.multi_margin_loss(input, target, weight, p, margin, known(reduction))
        return reshape(found, ()) if reduction == "none" else found
    return margin_loss.multi_margin_loss(input, target, weight, p, margin, known(reduction))


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """:func:`multi_margin_loss` for several right classes, lists that end at -1, (N, C)."""
    if input.ndim == 1:
        input, target = shape.unsqueeze(input, 0), shape.unsqueeze(target, 0)
        found = margin_loss.multilabel_margin_loss(input, target, known(reduction))
        return reshape(found, ()) if reduction == "none" else found
    return margin_loss.multilabel_margin_loss(input, target, known(reduction))


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: str = "mean"
) -> Tensor:
    """Distances of pairs, where ``target`` is 1; what they lack to ``margin``, where it is -1."""
    apart = _at_least_0(elementwise.sub(margin, input))
    return _reduced(_by_label(target, input, apart), reduction)


def _at_least_0(x: Tensor) -> Tensor:
    return functions.clamp(x, min=0)


def _by_label(target: Tensor, alike: Tensor, apart: Tensor) -> Tensor:
    """``alike`` where ``target`` is 1, ``apart`` where it is -1."""
    return elementwise.add(
        elementwise.where(elementwise.ne(target, 1), apart, 0),
        elementwise.where(elementwise.ne(target, -1), alike, 0),
    )


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """What the first lacks to be ``margin`` above the second, for target 1; for -1, below."""
    difference = elementwise.mul(elementwise.neg(target), elementwise.sub(input1, input2))
    return _reduced(_at_least_0(elementwise.add(difference, margin)), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """``1 - cos`` of pairs for target 1, ``cos`` above ``margin`` for -1."""
    dim = input1.ndim - 1
    cosine = _cosine_with_eps(input1, input2, dim)
    apart = _at_least_0(elementwise.sub(cosine, margin))
    return _reduced(_by_label(target, elementwise.sub(1, cosine), apart), reduction)


def _cosine_with_eps(a: Tensor, b: Tensor, dim: int) -> Tensor:
    product = reduce.sum_dim(elementwise.mul(a, b), dim)
    squares = [elementwise.add(reduce.sum_dim(elementwise.mul(x, x), dim), 1e-12) for x in (a, b)]
    return elementwise.div(product, elementwise.sqrt(elementwise.mul(*squares)))


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """What the negative lacks to be ``margin`` farther from the anchor than the positive is."""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        other = pairwise_distance(positive, negative, p, eps)
        far = elementwise.where(elementwise.lt(other, far), other, far)
    gap = elementwise.sub(elementwise.add(near, margin), far)
    return _reduced(_at_least_0(gap), reduction)

"""Losses that want the right classes to score higher than the others by a margin."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented, check_same_dtype
from autograd_core.ops.losses.elementwise_loss import reduced
from autograd_core.ops.pointwise.elementwise import where
from autograd_core.ops.reductions.reduce import put_along, sum_dim, take_along
from autograd_core.ops.shaping.shape import reshape


@op(
    self=lambda g, self, target, weight, p, margin, reduction: multi_margin_loss_backward(
        g, self, target, weight, p, margin, reduction
    )
)
def multi_margin_loss(self, target, weight=None, /, p=1, margin=1.0, reduction="mean"):
    """Return the multi-class hinge loss of scores (N, C) and labels (N,): the shortfall of the
    margin between the target class and each other class, to the power of ``p``, summed over classes
    and divided by C."""
    check_implemented("multi_margin_loss_cpu_kernel", self, half=False)
    check_same_dtype(np.zeros(0, np.int64), target)
    check_same_dtype(self, weight)
    if target.size and not 0 <= target.min() <= target.max() < self.shape[1]:
        raise RuntimeError("target out of range")
    index = target[:, None]
    gaps = margin - np.take_along_axis(self, index, 1) + self
    gaps = np.where(gaps > 0, gaps, 0) ** p  # of NaN, too, nothing
    np.put_along_axis(gaps, index, 0, 1)
    if weight is not None:
        gaps *= weight[index]
    return reduced(gaps.sum(1) / self.shape[1], reduction)


def multi_margin_loss_backward(
    g: Any, x: Any, target: Any, weight: Any, p: int, margin: float, reduction: str
) -> Any:
    """Return the gradient of the scores."""
    rows, classes = x.shape
    index = _column(target)
    right = take_along(x, index, 1, True)
    gaps = margin - right + x
    others = put_along(right * 0 + 1, index, x.shape, 1, True) == 0
    slope = where(gaps > 0, right * 0 + 1 if p == 1 else 2 * gaps, 0) / classes
    if weight is not None:
        slope = slope * _column(weight[target])
    if reduction == "mean":
        slope = slope / rows
    slope = where(others, slope, 0) * (reshape(g, (rows, 1)) if reduction == "none" else g)
    return slope - put_along(sum_dim(slope, 1, True), index, x.shape, 1, True)


def _column(x: Any) -> Any:
    return reshape(x, (-1, 1))


@op(
    self=lambda g, self, target, reduction: multilabel_margin_loss_backward(
        g, self, target, reduction
    ),
    second=Second(
        "MultilabelMarginLossBackwardBackward0",
        lambda g, self, target, reduction: _slope_along(g, self, target, reduction),
    ),
)
def multilabel_margin_loss(self, target, /, reduction="mean"):
    """Return the multi-label hinge loss of scores (N, C) and labels (N, C), a list of classes that
    ends at -1: the shortfall of a margin of 1 between every target class and every other class,
    summed and divided by C."""
    check_implemented("multilabel_margin_loss_forward_out_frame", self, half=False)
    check_same_dtype(np.zeros(0, np.int64), target)
    if target.size and not -1 <= target.min() <= target.max() < self.shape[1]:
        raise RuntimeError("argument #2 'target' is out of range")
    wanted, labels = _wanted(target)
    right = np.take_along_axis(self, labels, 1)
    gaps = 1 - right[:, :, None] + self[:, None, :]
    gaps = np.where((gaps > 0) & _pairs(wanted, labels), gaps, 0)
    return reduced(gaps.sum((1, 2)) / self.shape[1], reduction)


def _wanted(target: Any) -> tuple[Any, Any]:
    """Return which entries of the list of labels count, and the labels, 0 for those that do not."""
    wanted = np.minimum.accumulate(target >= 0, 1)
    return wanted, np.where(wanted, target, 0)


def _pairs(wanted: Any, labels: Any) -> Any:
    """Return 1 for every pair of a label that counts and a class that is none, (N, C, C)."""
    is_label = np.zeros(labels.shape, bool)
    rows = np.broadcast_to(np.arange(len(labels))[:, None], labels.shape)
    is_label[rows[wanted], labels[wanted]] = True
    return wanted[:, :, None] & ~is_label[:, None, :]


def multilabel_margin_loss_backward(g: Any, x: Any, target: Any, reduction: str) -> Any:
    """Return the gradient of the scores, which is constant wherever it exists."""
    slope = _slope(x, target, reduction)
    return (reshape(g, (-1, 1)) if reduction == "none" else g) * slope


def _slope_along(g: Any, x: Any, target: Any, reduction: str) -> Any:
    """Return how the losses change where the scores change by ``g``."""
    return sum_dim(g * _slope(x, target, reduction), 1 if reduction == "none" else (0, 1))


def _slope(x: Any, target: Any, reduction: str) -> Any:
    scores, lists = (t if isinstance(t, np.ndarray) else t.array for t in (x, target))
    wanted, labels = _wanted(lists)
    right = np.take_along_axis(scores, labels, 1)
    pushed = (1 - right[:, :, None] + scores[:, None, :] > 0) & _pairs(wanted, labels)
    slope = pushed.sum(1).astype(scores.dtype)
    rows = np.broadcast_to(np.arange(len(labels))[:, None], labels.shape)
    np.subtract.at(slope, (rows, labels), pushed.sum(2))
    slope /= scores.shape[1] * (scores.shape[0] if reduction == "mean" else 1)
    return slope if isinstance(x, np.ndarray) else type(x).from_array(slope)

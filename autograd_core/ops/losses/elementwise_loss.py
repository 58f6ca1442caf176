"""Losses that compare tensors of one shape element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.op.blocks import in_blocks
from autograd_core.op.record import OPS
from autograd_core.op.refusals import no_difference
from autograd_core.ops.checks import (
    check_castable,
    check_found,
    check_implemented,
    promoted,
    scalar_name,
)
from autograd_core.ops.pointwise.activation import hardtanh, log_1_exp, log_sigmoid
from autograd_core.ops.pointwise.elementwise import clamp, log, sigmoid
from autograd_core.ops.reductions.reduce import numel


def reduced(losses: Any, reduction: str) -> Any:
    """Return the mean or the sum of ``losses``, or all of them, as arrays."""
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    return total / losses.size if reduction == "mean" else total


def reduction_backward(g: Any, shape: tuple[int, ...], reduction: str) -> Any:
    """Return the gradient of each loss, given that of the reduced loss."""
    return g / numel(shape) if reduction == "mean" else g


@op(
    self=lambda g, self, target, reduction, beta: smooth_l1_loss_backward(
        g, self, target, reduction, beta
    ),
    target=lambda g, self, target, reduction, beta: (
        -smooth_l1_loss_backward(g, self, target, reduction, beta)
    ),
    node="SmoothL1LossBackward0",
    broadcasts="self target",
)
def smooth_l1_loss(self, target, /, reduction="mean", beta=1.0):
    """Return half the squared difference over ``beta`` below ``beta``, and the absolute difference
    minus ``beta / 2`` above."""
    self, target = promoted(self, target)
    check_implemented("smooth_l1_cpu", self)
    distance = np.abs(self - target)
    near = 0.5 * np.square(distance) / beta if beta else distance
    return reduced(np.where(distance < beta, near, distance - 0.5 * beta), reduction)


def smooth_l1_loss_backward(g: Any, x: Any, target: Any, reduction: str, beta: float) -> Any:
    """Return the gradient of ``x``: its difference over ``beta``, between -1 and 1."""
    slope = hardtanh((x - target) / max(beta, 1e-300))
    return reduction_backward(g, x.shape, reduction) * slope


@op(
    self=lambda g, self, target, reduction, delta: huber_loss_backward(
        g, self, target, reduction, delta
    ),
    target=lambda g, self, target, reduction, delta: (
        -huber_loss_backward(g, self, target, reduction, delta)
    ),
    broadcasts="self target",
)
def huber_loss(self, target, /, reduction="mean", delta=1.0):
    """Return half the squared difference up to ``delta``, and a linear continuation above."""
    one, other = promoted(self, target)
    check_castable(one, self)
    check_implemented("huber_cpu", one)
    distance = np.abs(one - other)
    far = delta * (distance - 0.5 * delta)
    losses = np.where(distance <= delta, 0.5 * np.square(distance), far)
    return reduced(losses.astype(self.dtype, copy=False), reduction)


def huber_loss_backward(g: Any, x: Any, target: Any, reduction: str, delta: float) -> Any:
    """Return the gradient of ``x``: its difference, between ``-delta`` and ``delta``."""
    check_found(x, target)
    return reduction_backward(g, x.shape, reduction) * hardtanh(
        x - target, min_val=-delta, max_val=delta
    )


@op(
    self=lambda g, self, target, reduction: (
        reduction_backward(g, self.shape, reduction) * margin_slope(self, target)
    ),
    broadcasts="self",
)
def soft_margin_loss(self, target, /, reduction="mean"):
    """Return ``log(1 + exp(-target * self))`` for targets 1 and -1."""
    if self.dtype.kind != "f":
        _check_sign(self)
        check_castable(np.zeros(0, np.float32), self)
    return reduced(log_1_exp(-target.astype(self.dtype) * self), reduction)


def margin_slope(x: Any, target: Any) -> Any:
    """Return the derivative of the loss by the scores ``x``."""
    _check_sign(target)
    return -(target * sigmoid(-(target * x)))


def _check_sign(x: Any) -> None:
    if scalar_name(x) == "Bool":
        raise RuntimeError(OPS["neg"].bools)


@op(
    self=lambda g, self, target, weight, reduction: weighted(
        reduction_backward(g, self.shape, reduction)
        * ((self - target) / clamp((1 - self) * self, min=1e-12)),
        weight,
    ),
    target=lambda g, self, weight, reduction: weighted(
        reduction_backward(g, self.shape, reduction) * (log(1 - self) - log(self)), weight
    ),
    broadcasts="self target",
)
def binary_cross_entropy(self, target, weight=None, /, reduction="mean"):
    """Return ``-(target * log(self) + (1 - target) * log(1 - self))``, each logarithm at least
    -100."""
    check_found(self, target)
    check_implemented("binary_cross_entropy", self)
    if np.any((self < 0) | (self > 1)):
        raise RuntimeError("all elements of input should be between 0 and 1")
    if np.any((target < 0) | (target > 1)):
        raise RuntimeError("all elements of target should be between 0 and 1")
    with np.errstate(divide="ignore"):
        yes, no = np.maximum(np.log(self), -100), np.maximum(np.log1p(-self), -100)
    losses = weighted((target - 1) * no - target * yes, weight)
    return reduced(losses.astype(self.dtype, copy=False), reduction)


def weighted(losses: Any, weight: Any) -> Any:
    """Return ``losses`` times ``weight``, if there is one."""
    return losses if weight is None else losses * weight


@op(
    self=lambda g, self, target, weight, pos_weight, reduction: weighted(
        reduction_backward(g, self.shape, reduction) * logits_slope(self, target, pos_weight),
        weight,
    ),
    target=lambda g, self, weight, pos_weight, reduction: weighted(
        reduction_backward(g, self.shape, reduction)
        * (-self if pos_weight is None else log_sigmoid(-self) - pos_weight * log_sigmoid(self)),
        weight,
    ),
    node="BinaryCrossEntropyWithLogitsBackward0",
    broadcasts="self target",
)
def binary_cross_entropy_with_logits(
    self, target, weight=None, pos_weight=None, /, reduction="mean"
):
    """Return the :func:`binary_cross_entropy` of the sigmoid of ``self``, without overflow;
    ``pos_weight`` multiplies the loss of positive targets. The loss has the dtype of ``target``."""
    check_implemented("log_sigmoid_cpu", self)
    if pos_weight is not None and pos_weight.dtype == np.bool_:
        raise no_difference((pos_weight, 1))
    if target.dtype == np.bool_:
        raise no_difference((target,))
    check_castable(self, target)
    losses = weighted(_logits_losses(self, target, pos_weight), weight)
    return reduced(losses.astype(target.dtype, copy=False), reduction)


@in_blocks
def _logits_losses(x: Any, target: Any, pos_weight: Any) -> Any:
    rest = np.log1p(np.exp(-np.abs(x)))
    no, yes = np.maximum(x, 0) + rest, np.maximum(-x, 0) + rest
    return (1 - target) * no + weighted(target * yes, pos_weight)


@in_blocks
def logits_slope(x: Any, target: Any, pos_weight: Any) -> Any:
    """Return the derivative of the loss by the scores ``x``."""
    if pos_weight is None:
        return sigmoid(x) - target
    positive = target * pos_weight
    return (positive + 1 - target) * sigmoid(x) - positive

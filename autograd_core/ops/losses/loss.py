"""Losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented, check_same_dtype, promoted, scalar_name
from autograd_core.ops.reductions.reduce import numel


@op(
    self=lambda g, self, target, weight, reduction, ignore_index: nll_loss_backward(
        g, target, weight, self.shape, reduction, ignore_index
    ),
    second=Second(
        "NllLossBackwardBackward0",
        lambda g, target, weight, reduction, ignore_index: nll_loss(
            g, target, weight, reduction, ignore_index
        ),
    ),
)
def nll_loss(self, target, weight=None, /, reduction="mean", ignore_index=-100):
    """Return the negative element of ``self`` at ``target``, with a reduction.

    Args:
        self: log probabilities, (N, C), (C,) or (N, C, ...).
        target: the target classes: integers with the shape of ``self`` without C.
        weight: the weight of each class, (C,).
        reduction: "mean" (by weight), "sum" or "none".
        ignore_index: targets with this value are ignored.
    """
    return _losses(self, target, weight, reduction, ignore_index)


@op(
    self=lambda g, self, target, weight, reduction, ignore_index: nll_loss2d_backward(
        g, target, weight, self.shape, reduction, ignore_index
    ),
    node="NllLoss2DBackward0",
    second=Second(
        "NllLoss2DBackwardBackward0",
        lambda g, target, weight, reduction, ignore_index: nll_loss2d(
            g, target, weight, reduction, ignore_index
        ),
    ),
)
def nll_loss2d(self, target, weight=None, /, reduction="mean", ignore_index=-100):
    """Return the :func:`nll_loss` of an image, or of any input with several targets per example.

    Args:
        self: log probabilities, (N, C, ...).
    """
    return _losses(self, target, weight, reduction, ignore_index)


@op(
    grad_output=lambda g, target, weight, reduction, ignore_index: nll_loss(
        g, target, weight, reduction, ignore_index
    ),
    linear=True,
)
def nll_loss_backward(
    grad_output, target, weight=None, /, shape=None, reduction="mean", ignore_index=-100
):
    """Return the gradient of :func:`nll_loss`, of ``shape``, given ``grad_output``."""
    return _slopes(grad_output, target, weight, shape, reduction, ignore_index)


@op(
    grad_output=lambda g, target, weight, reduction, ignore_index: nll_loss2d(
        g, target, weight, reduction, ignore_index
    ),
    linear=True,
)
def nll_loss2d_backward(
    grad_output, target, weight=None, /, shape=None, reduction="mean", ignore_index=-100
):
    """Return the gradient of :func:`nll_loss2d`, of ``shape``, for that of the loss."""
    return _slopes(grad_output, target, weight, shape, reduction, ignore_index)


def _losses(self, target, weight, reduction, ignore_index):
    check_labels(target)
    check_implemented(
        "nll_loss_out_frame" if self.ndim < 3 else "nll_loss2d_forward_out_frame", self
    )
    check_same_dtype(self, weight)
    index, weights, axis = _picked(self.shape, self.dtype, target, weight, ignore_index)
    entries = _entries(self, index, axis)
    losses = 0.0 - (entries if weights is None else entries * weights)  # what does not count is 0
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    if reduction != "mean":
        return total
    return total / (losses.size if weights is None else np.add.reduce(weights, axis=None))


def _slopes(grad_output, target, weight, shape, reduction, ignore_index):
    index, weights, axis = _picked(shape, grad_output.dtype, target, weight, ignore_index)
    if weights is None:
        kind = grad_output.dtype.type
        slope = 0.0 - (
            grad_output * (kind(1) / kind(index.size)) if reduction == "mean" else grad_output
        )
    else:
        share = weights / np.add.reduce(weights, axis=None) if reduction == "mean" else weights
        slope = 0.0 - grad_output * share
    # be the loss NaN, if none counts
    if weights is not None and not np.logical_and.reduce(weights, axis=None):
        slope = np.where(target == ignore_index, slope.dtype.type(0), slope)
    result = np.zeros(shape, grad_output.dtype)
    if axis and len(shape) == 2:
        result[np.arange(len(index)), index] = slope
    else:
        if np.ndim(slope):
            slope = np.expand_dims(slope, axis)
        np.put_along_axis(result, np.expand_dims(index, axis), slope, axis)
    return result


def check_labels(target: Any) -> None:
    """``target`` holds numbers of classes."""
    if target.dtype not in (np.int64, np.uint8):
        kind = scalar_name(target)
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {kind}")


def _picked(
    shape: tuple[int, ...], kind: Any, target: Any, weight: Any, ignore_index: int
) -> tuple[Any, Any, int]:
    """Return where the targets are in an array of ``shape``, how much each counts, None if all
    count alike, and the class axis."""
    axis = 1 if len(shape) > 1 else 0
    if weight is not None and weight.shape != (shape[axis],):
        raise RuntimeError(
            f"weight tensor should be defined either for all {shape[axis]} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
    if len(shape) == 2 and target.ndim > 1 and len(target) == shape[0]:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.shape != shape[:axis] + shape[axis + 1 :]:
        _check_sizes(shape, target)
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size "
            f"({target.shape[0] if target.ndim else 0})."
        )
    if (
        weight is None
        and target.size
        and not 0 <= ignore_index < shape[axis]
        # without a sign, what is below 0 is above all classes
        and np.maximum.reduce(target.view(f"u{target.itemsize}"), None) < shape[axis]
    ):
        return target, None, axis  # as usual
    counts = target != ignore_index
    wrong = counts & ((target < 0) | (target >= shape[axis]))
    if np.logical_or.reduce(wrong, axis=None):
        raise IndexError(f"Target {target[wrong].flat[0]} is out of bounds.")
    index = np.where(counts, target, 0)
    weights = counts.astype(kind) if weight is None else counts * weight[index]
    return index, weights, axis


def _check_sizes(shape: tuple[int, ...], target: Any) -> None:
    """PyTorch's words for a target whose batch is as large as it should be."""
    if len(shape) == 1 and target.shape == (1,):
        raise RuntimeError(f"size mismatch (got input: {list(shape)}, target: [1])")
    if len(shape) == 1 and target.ndim == 1:
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {len(target)}"
        )
    wanted = [shape[0], *shape[2:]]
    if len(shape) == 4 and target.ndim not in (0, 3) and len(target) == shape[0]:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of dimension: "
            f"{target.ndim}"
        )
    if len(shape) == 3 and target.ndim and len(target) == shape[0]:
        raise RuntimeError(f"Expected target size {wanted}, got {list(target.shape)}")


def _entries(x: Any, index: Any, axis: int) -> Any:
    """Return what ``index`` picks along ``axis``."""
    if axis and x.ndim == 2:  # the usual case, and five times as fast
        return x[np.arange(len(index)), index]
    return np.take_along_axis(x, np.expand_dims(index, axis), axis).squeeze(axis)


@op(
    self=lambda g, self, target, reduction: mse_loss_backward(g, self, target, reduction),
    target=lambda g, self, target, reduction: -mse_loss_backward(g, self, target, reduction),
    broadcasts="self target",
)
def mse_loss(self, target, /, reduction="mean"):
    """Return the squared difference of two tensors of one shape, with a reduction."""
    self, target = promoted(self, target)
    check_implemented("mse_cpu", self)
    squares = np.square(self - target)
    if reduction == "none":
        return squares
    total = np.add.reduce(squares, axis=None)
    return total / squares.size if reduction == "mean" else total


def mse_loss_backward(g: Any, x: Any, target: Any, reduction: str) -> Any:
    """Return twice the difference, times the gradient of the loss."""
    return g * (2 / (numel(x.shape) or 1) if reduction == "mean" else 2) * (x - target)

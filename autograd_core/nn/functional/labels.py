"""Functions of class labels: one-hot vectors, label sequences, and random choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.nn.functional.reduction import validate_reduction
from autograd_core.op.keywords import torch_form
from autograd_core.ops.indices.scatter import scatter_number
from autograd_core.ops.losses import ctc
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.reductions import reduce
from autograd_core.ops.reductions.softmax import softmax
from autograd_core.ops.shaping import shape
from autograd_core.random import generator
from autograd_core.tensor import Tensor


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Return one-hot vectors (..., num_classes)."""
    labels = input.array
    if labels.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if labels.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if labels.size and labels.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(labels.max()) + 1
    elif num_classes < 1:
        raise RuntimeError("num_classes should be positive")
    if labels.size and labels.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    zeros = Tensor.from_array(np.zeros((*labels.shape, num_classes), np.int64))
    return scatter_number(zeros, shape.unsqueeze(input, -1), -1, 1)


def _lengths(given: Any) -> tuple[int, ...]:
    return tuple(np.ravel(given.array if isinstance(given, Tensor) else given).tolist())


@torch_form
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the negative log likelihood of the label sequences ``targets``, given ``log_probs``
    (T, N, C) or (T, C).

    Args:
        targets: labels (N, S), padded at the end, or the concatenated labels of all samples.
        blank: the blank class.
        reduction: "mean" divides by the number of labels, and averages over the batch.
        zero_infinity: replace infinite losses (of impossible sequences) by zero.
    """
    validate_reduction(reduction)
    inputs, lengths = _lengths(input_lengths), _lengths(target_lengths)
    batched = log_probs.ndim == 3
    scores = log_probs if batched else shape.unsqueeze(log_probs, 1)
    _check_spelling(scores, targets, inputs, lengths, blank, (input_lengths, target_lengths))
    losses = ctc.ctc_loss(scores, _rows(targets.array, lengths), inputs, lengths, blank)
    if zero_infinity:
        infinite = Tensor.from_array(np.isinf(losses.array))
        losses = elementwise.where(infinite, 0, losses)
    if reduction == "sum":
        return reduce.sum_all(losses)
    if reduction == "mean":
        counts = Tensor.from_array(np.maximum(lengths, 1).astype(log_probs.dtype.dtype))
        return reduce.mean_all(elementwise.div(losses, counts))
    return losses if batched else shape.squeeze_dim(losses, 0)


def _check_spelling(
    scores: Tensor,
    targets: Tensor,
    inputs: tuple[int, ...],
    lengths: tuple[int, ...],
    blank: int,
    given: tuple[Any, Any],
) -> None:
    """Refuse labels and lengths that do not fit ``scores`` (T, N, C), in PyTorch's words."""
    where = "(while checking arguments for ctc_loss_allocate_outputs)"
    if not scores.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    for name, value in zip(("input_lengths", "target_lengths"), given, strict=True):
        if isinstance(value, Tensor) and value.is_floating_point():
            raise RuntimeError(f"{name} must be integral")
    if scores.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {scores.ndim}-dimensional tensor for argument "
            f"#1 'log_probs' {where}"
        )
    steps, batch, classes = scores._shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, values, most in (("input_lengths", inputs, steps), ("target_lengths", lengths, None)):
        if len(values) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
        if min(values) < 0:
            raise RuntimeError(
                f"Expected {name} to have value at least 0, but got value {min(values)} {where}"
            )
        if most is not None and max(values) > most:
            raise RuntimeError(
                f"Expected {name} to have value at most {most}, but got value {max(values)} {where}"
            )
    expected = [(0, sum(lengths))] if targets.ndim == 1 else [(0, batch), (1, max(lengths))]
    for dim, size in expected:
        if targets._shape[dim] != size and (dim == 0 or targets._shape[dim] < size):
            least = "at least " if dim else ""
            raise RuntimeError(
                f"Expected tensor to have size {least}{size} at dimension {dim}, but got size "
                f"{targets._shape[dim]} for argument #2 'targets' {where}"
            )
    labels = _rows(targets.array, lengths)
    for row, length in zip(labels, lengths, strict=True):
        if length and not 0 <= row[:length].min() <= row[:length].max() < classes:
            # PyTorch reads and writes beyond its memory here
            raise RuntimeError(f"targets must be labels from 0 to {classes - 1}")


def _rows(targets: Any, lengths: Sequence[int]) -> Any:
    """Labels (N, S), whether they came so or in a row."""
    if targets.ndim > 1:
        return targets
    rows = np.zeros((len(lengths), max(lengths, default=0)), np.int64)
    ends = np.cumsum(lengths)
    for row, end, length in zip(rows, ends, lengths, strict=True):
        row[:length] = targets[end - length : end]
    return rows


@torch_form
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draw a differentiable random choice with ``logits`` (Jang et al. 2016): soft or, with
    ``hard``, one-hot with the gradient of the soft choice."""
    if not logits.is_floating_point():
        raise RuntimeError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {logits.dtype.scalar_name}"
        )
    noise = -np.log(generator().standard_exponential(logits._shape))
    noisy = elementwise.add(logits, Tensor.from_array(noise.astype(logits.dtype.dtype)))
    soft = softmax(elementwise.div(noisy, tau), dim)
    if not hard:
        return soft
    best = np.zeros_like(soft.array)
    np.put_along_axis(best, np.argmax(soft.array, dim, keepdims=True), 1, dim)
    return elementwise.add(elementwise.sub(Tensor.from_array(best), soft.detach()), soft)

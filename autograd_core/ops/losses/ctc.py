"""Connectionist temporal classification (Graves et al. 2006)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from autograd_core.op import op
from autograd_core.ops.algebra.matrices import constant
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.indices.index import index, index_put, slice_
from autograd_core.ops.pointwise.elementwise import exp, where
from autograd_core.ops.pointwise.exponential import logaddexp
from autograd_core.ops.shaping.joining import stack
from autograd_core.ops.shaping.rearrange import constant_pad_nd
from autograd_core.ops.shaping.shape import expand, reshape

Array = np.ndarray[Any, Any]

# The logarithm of what is impossible: finite, so that its derivatives are numbers.
_NEVER: Final = -1e30


class Trellis(NamedTuple):
    """All ways to spell the targets: which element of the log probabilities each state reads at
    each time, where the states come from, and both once more from the end to the start.

    Log probabilities have one class more than there are, which is impossible, and states are
    counted from 2, behind two that are.
    """

    reads: tuple[Array, Array, Array]
    reads_back: tuple[Array, Array, Array]
    comes_from: tuple[Array, Array]
    comes_back: tuple[Array, Array]
    ends: tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]
    mirrored: tuple[Array, Array, Array]


def trellis(
    shape: tuple[int, ...], targets: Any, input_lengths: Any, target_lengths: Any, blank: int
) -> Trellis:
    """Return the trellis for log probabilities of ``shape`` (T, N, C) and targets (N, S)."""
    steps, batch, classes = shape
    length, inputs = np.asarray(target_lengths), np.asarray(input_lengths)
    states = 2 * int(length.max(initial=0)) + 1
    labels = np.full((batch, states), blank)
    labels[:, 1::2] = targets[:, : states // 2]
    count = 2 * length + 1
    time, row = np.arange(steps)[:, None, None], np.arange(batch)[None, :, None]
    state = np.arange(states)[None, None, :]
    valid = (time < inputs[None, :, None]) & (state < count[None, :, None])
    back = (inputs[None, :, None] - 1 - time) % steps, row, (count[None, :, None] - 1 - state)
    turned = np.take_along_axis(labels, back[2][0] % states, 1)
    last = inputs - 1
    return Trellis(
        reads=(time, row, np.where(valid, labels[None], classes)),
        reads_back=(back[0], row, np.where(valid, turned[None], classes)),
        comes_from=_skips(labels, blank),
        comes_back=_skips(turned, blank),
        ends=tuple((last, row[0, :, 0], count + 1 - n) for n in (0, 1)),  # type: ignore[arg-type]
        mirrored=(back[0], row, back[2] % states),
    )


def _skips(labels: Array, blank: int) -> tuple[Array, Array]:
    """From where a state may be reached by leaving out the one before it; else from nowhere."""
    rows = np.arange(len(labels))[:, None]
    columns = np.arange(labels.shape[1])[None]
    before = np.roll(labels, 2, 1)
    allowed = (columns >= 2) & (labels != blank) & (labels != before)
    return rows, np.where(allowed, columns, 0)


def _ways(emitted: Any, skips: tuple[Array, Array], batch: int, states: int) -> Any:
    """Return the log probability of all ways to each state at each time, (T, N, S + 2)."""
    rows = np.arange(batch)[:, None]
    start = np.where(np.arange(states) < 2, np.arange(states), states)[None]
    first = index(constant_pad_nd(index(emitted, (0,)), (0, 1), _NEVER), (rows, start))
    ways = [constant_pad_nd(first, (2, 0), _NEVER)]
    for time in range(1, int(emitted.shape[0])):
        before = ways[-1]
        one = index(before, (rows, np.arange(1, states + 1)[None]))
        total = logaddexp(logaddexp(slice_(before, 1, 2, states + 2, 1), one), index(before, skips))
        ways.append(constant_pad_nd(total + index(emitted, (time,)), (2, 0), _NEVER))
    return stack(ways, dim=0)


def _read(x: Any, reads: tuple[Array, Array, Array]) -> Any:
    return index(constant_pad_nd(x, (0, 1), _NEVER), reads)


def _likelihood(ways: Any, ends: Any) -> Any:
    return logaddexp(index(ways, ends[0]), index(ways, ends[1]))


@op(
    log_probs=lambda g, log_probs, log_probs_shape, targets, input_lengths, target_lengths, blank: (
        ctc_gradient(
            g,
            log_probs,
            input_lengths,
            trellis(log_probs_shape, targets, input_lengths, target_lengths, blank),
        )
    ),
    normalized=True,
)
def ctc_loss(log_probs, /, targets, input_lengths, target_lengths, blank):
    """Return minus the logarithm of the probability that ``log_probs`` (T, N, C), log probabilities
    of classes at each time, spells ``targets`` (N, S): with repeats, and blanks anywhere between.
    """
    check_implemented("ctc_loss_cpu", log_probs, half=False)
    plan = trellis(log_probs.shape, targets, input_lengths, target_lengths, blank)
    losses = -_likelihood(
        _ways(_read(log_probs, plan.reads), plan.comes_from, *_size(plan)), plan.ends
    )
    losses = np.where(losses > -_NEVER / 10, np.inf, losses)
    # in no time, nothing can be spelled, and nothing else
    nothing = np.where(np.equal(target_lengths, 0), 0.0, np.inf)
    return np.where(np.equal(input_lengths, 0), nothing, losses).astype(log_probs.dtype)


def _size(plan: Trellis) -> tuple[int, int]:
    batch, states = plan.comes_from[1].shape
    return batch, states


def ctc_gradient(g: Any, x: Any, input_lengths: Any, plan: Trellis) -> Any:
    """Return the probability of each class at each time, less what it is given the targets.

    The derivative is the second term alone.  The first, which PyTorch adds, makes no difference
    behind a ``log_softmax``; with it this is the gradient of the scores that were normalized.
    """
    steps, batch, classes = tuple(x.shape)
    states = _size(plan)[1]
    emitted = _read(x, plan.reads)
    forth = _ways(emitted, plan.comes_from, batch, states)
    back = _ways(_read(x, plan.reads_back), plan.comes_back, batch, states)
    within = slice_(back, 2, 2, states + 2, 1)
    total = reshape(_likelihood(forth, plan.ends), (1, batch, 1))
    passing = slice_(forth, 2, 2, states + 2, 1) + index(within, plan.mirrored) - emitted - total
    share = exp(passing) * expand(reshape(-g, (1, batch, 1)), (steps, batch, states))
    given = slice_(index_put(share, (steps, batch, classes + 1), plan.reads), 2, 0, classes, 1)
    time = np.arange(steps)[:, None, None] < np.asarray(input_lengths)[None, :, None]
    return where(constant(time, x) > 0, exp(x) * reshape(g, (1, batch, 1)), 0) + given

"""Derivatives along a direction, by differences, with an honest bound on their error.

A central difference with step h errs by about h² through the function's curvature and by about
ε/h through rounding (ε being the spacing of floating-point numbers at 1).  One that combines the
steps h and h/2 (Richardson's extrapolation) loses most of the former.  How far the two steps are
apart, and what rounding can do at most, bounds the error of the result.  No one step suits all
functions, so several are tried, and the one with the smallest bound counts.

Steps are relative to each element: log at 1e-8 and a sum at 1e8 both need their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# The value of the outputs after a step along the direction: flat, of all outputs together.
Moved = Callable[[float], Array]

_STEPS = (1.0, 64.0, 1e-2, 2048.0)  # times the cube root of ε, the usual one first


class Slope(NamedTuple):
    """A derivative by differences, and how far off it may be; NaN where they are not finite."""

    value: float
    error: float


def slopes(moved: Moved, weights: Array, eps: float) -> Iterator[Slope]:
    """Estimate how fast the sum of the outputs, each element times its weight, changes: once per
    step, for outputs with the precision ``eps``."""
    for factor in _STEPS:
        h = factor * float(eps) ** (1 / 3)
        up, down = moved(h), moved(-h)
        wide = _weighted(up - down, weights) / (2 * h)
        narrow = _weighted(moved(h / 2) - moved(-h / 2), weights) / h
        size = float(np.abs(weights * up).sum() + np.abs(weights * down).sum())
        error = max(abs(narrow - wide), 2 * eps * size / h)
        yield Slope((4 * narrow - wide) / 3, error)


def _weighted(values: Array, weights: Array) -> float:
    return float((weights * values).sum())


def kink(moved: Moved, weights: Array, eps: float) -> float:
    """Measure how far the slopes on the left and on the right are apart where that is so however
    small the step is; 0 where there is no kink and no jump."""
    here = moved(0.0)
    gaps = []
    for factor in (1.0, 1 / 16):
        h = factor * float(eps) ** (1 / 3)
        right = _weighted(moved(h) - here, weights) / h
        left = _weighted(here - moved(-h), weights) / h
        noise = 8 * eps * float(np.abs(weights * here).sum()) / h
        gaps.append(abs(right - left))
    wide, narrow = gaps
    # of a smooth function, the gap shrinks as the step does
    stays = narrow > noise and narrow > 0.5 * wide
    return narrow if stays and np.isfinite(narrow) else 0.0


def scales(x: Array, least: float = 0.03) -> Array:
    """Choose what a step is relative to: each element's size; that of the others for zeros, and at
    ``least`` such a part of it, lest a mistake at small elements is not seen."""
    size = np.abs(x)
    present = size[size > 0]
    usual = float(np.sqrt(np.mean(np.square(present)))) if present.size else 1.0
    return np.where(size > 0, np.maximum(size, least * usual), usual)


def bisect(count: int, mismatch: Callable[[Sequence[int] | slice], float]) -> int:
    """Return one of ``count`` elements that a mismatch comes from: of two halves, always the one
    whose mismatch is larger, which takes 2 log2(count) looks."""
    start, stop = 0, count
    while stop - start > 1:
        middle = (start + stop) // 2
        left = mismatch(slice(start, middle))
        if left >= mismatch(slice(middle, stop)):
            stop = middle
        else:
            start = middle
    return start

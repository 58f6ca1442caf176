"""A step length along a direction that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

ARMIJO, CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
    """A place on the line: how far along, the loss there, its gradient, and its slope."""

    t: float
    loss: float
    gradient: np.ndarray[Any, Any]
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    t: float,
    length: float,
    tolerance_change: float,
    max_evaluations: int,
) -> tuple[Point, int]:
    """Return a point that decreases the loss enough and where the slope is small enough.

    First a bracket is found that must contain one, then it is narrowed (Nocedal and Wright,
    Numerical Optimization, section 3.5), both times by cubic interpolation.

    Args:
        evaluate: the point at a step length.
        start: the point at 0.
        t: the step length to try first.
        length: the largest component of the direction, by which a bracket is measured.

    Returns:
        The best point found, and how many were evaluated.
    """
    bracket, count, done = _find_bracket(evaluate, start, t, max_evaluations)
    stuck = False
    low, high = _low_high(bracket)
    while not done and count - 1 < max_evaluations:
        ends = [point.t for point in bracket]
        if abs(ends[1] - ends[0]) * length < tolerance_change:
            break
        t, stuck = _inside(_minimum(bracket[0], bracket[1]), ends, stuck)
        new = evaluate(t)
        count += 1
        if _too_high(new, start) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = _low_high(bracket)
            continue
        if _flat(new, start):
            done = True
        elif new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
    return bracket[low], count


def _find_bracket(
    evaluate: Callable[[float], Point], start: Point, t: float, max_evaluations: int
) -> tuple[list[Point], int, bool]:
    """Return two points with a good one between them, or a good one alone; and whether it is
    that."""
    previous, new, count = start, evaluate(t), 1
    while count - 1 < max_evaluations:
        if _too_high(new, start) or (count > 2 and new.loss >= previous.loss):
            return [previous, new], count, False
        if _flat(new, start):
            return [new], count, True
        if new.slope >= 0:
            return [previous, new], count, False
        bounds = new.t + 0.01 * (new.t - previous.t), new.t * 10
        t = _minimum(previous, new, bounds)
        previous, new = new, evaluate(t)
        count += 1
    return [start, new], count, False


def _too_high(new: Point, start: Point) -> bool:
    return new.loss > start.loss + ARMIJO * new.t * start.slope


def _flat(new: Point, start: Point) -> bool:
    return abs(new.slope) <= -CURVATURE * start.slope


def _low_high(bracket: list[Point]) -> tuple[int, int]:
    return (0, 1) if bracket[0].loss <= bracket[-1].loss else (1, 0)


def _inside(t: float, ends: list[float], stuck: bool) -> tuple[float, bool]:
    """Return ``t``, moved away from the ends of the bracket where that is not the first time; and
    whether it lay close to one and was left there."""
    first, last = min(ends), max(ends)
    margin = 0.1 * (last - first)
    if min(last - t, t - first) >= margin:
        return t, False
    if not stuck and first < t < last:
        return t, True
    return (last - margin if abs(t - last) < abs(t - first) else first + margin), False


def _minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Return where the cubic through both points, with their slopes, is least within ``bounds``."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    if a.t > b.t:
        a, b = b, a
    middle = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = middle * middle - a.slope * b.slope
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    t = b.t - (b.t - a.t) * ((b.slope + root - middle) / (b.slope - a.slope + 2 * root))
    return min(max(t, low), high)

"""One input of a node, held to differences along whatever direction is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import Rerun
from gradstep.findings.checking.differences import (
    Moved,
    Slope,
    bisect,
    kink,
    scales,
    slopes,
)

Array = NDArray[Any]
_ONE_BY_ONE = 256  # elements of an input that are looked at one by one
_ENDS = "the function is not finite next to these inputs"


class Answer(NamedTuple):
    """The answer of one direction, and the two derivatives along it."""

    verdict: Literal["right", "wrong", "unclear"]
    analytical: float
    slope: Slope
    reason: str = ""


class Perturbation:
    """Input ``number`` at a point, under one weighting of the outputs, and what the rule makes of
    it there."""

    def __init__(
        self,
        rerun: Rerun,
        points: Sequence[Array],
        number: int,
        weights: Array,
        gradient: Array | None,
        tolerance: float,
    ) -> None:
        self.name, self.point, self.number = rerun.names[number], points[number], number
        self._rerun, self._points, self._weights = rerun, points, weights
        self._gradient = np.zeros(self.point.shape) if gradient is None else gradient
        self._tolerance = tolerance
        self._limit = max(1e-3, 2 * tolerance)

    def moved(self, v: Array) -> Moved:
        """Return the outputs after a step along ``v``."""

        def at(h: float) -> Array:
            points = list(self._points)
            points[self.number] = self.point + h * v
            return self._rerun.values(points)

        return at

    def along(self, v: Array) -> Answer:
        """Compare rule and differences along ``v``."""
        v = self._rerun.direction(v)
        parts = self._gradient.astype(np.float64) * v
        analytical, size = float(parts.sum()), float(np.sqrt(np.square(parts).sum()))
        best: Slope | None = None
        for slope in slopes(self.moved(v), self._weights, self._rerun.eps):
            if not np.isfinite(slope.error) or not np.isfinite(slope.value):
                continue
            if best is None or slope.error < best.error:
                best = slope
            if self._agree(analytical, size, best) and best.error <= 1e-3 * self._tolerance * size:
                break
        if best is None:
            return Answer("unclear", analytical, Slope(np.nan, np.nan), _ENDS)
        if not np.isfinite(analytical):
            return Answer("wrong", analytical, best)
        if self._agree(analytical, size, best):
            return Answer("right", analytical, best)
        if best.error > self._limit * max(size, abs(best.value)):
            return Answer("unclear", analytical, best, _unsettled(size, best))
        return Answer("wrong", analytical, best)

    def _agree(self, analytical: float, size: float, slope: Slope) -> bool:
        apart = abs(analytical - slope.value)
        if size == 0:
            return apart <= 4 * slope.error
        return (
            slope.error <= self._limit * max(size, abs(slope.value))
            and apart <= self._tolerance * max(size, abs(slope.value)) + 4 * slope.error
        )

    def element(self, at: int, v: Array) -> Answer:
        """As :meth:`along`, for one element alone."""
        return self.along(_only(v, slice(at, at + 1)))

    def _mismatch(self, v: Array) -> float:
        answer = self.along(v)
        apart = abs(answer.analytical - answer.slope.value)
        return apart if np.isfinite(apart) else np.inf

    def worst(self, v: Array) -> int:
        """Return the element at which rule and differences are furthest apart."""
        if v.size > _ONE_BY_ONE:
            return bisect(v.size, lambda part: self._mismatch(_only(v, part)))
        flat = v.reshape(-1)
        apart = [
            self._mismatch(_only(v, slice(at, at + 1))) / abs(flat[at]) for at in range(v.size)
        ]
        return int(np.argmax(apart))

    def find_kink(self, v: Array) -> int | None:
        """Return an element with a kink."""

        def gap(part: Any) -> float:
            direction = self._rerun.direction(_only(v, part))
            return kink(self.moved(direction), self._weights, self._rerun.eps)

        if not gap(slice(None)):
            return None
        at = bisect(v.size, gap)
        return at if gap(slice(at, at + 1)) else None

    def goes_in_steps(self, v: Array, at: int | None = None) -> bool:
        """Return whether the outputs stay as they are a little around this point, and change
        further off; where only element ``at`` moves, if that is given."""
        if at is not None:
            v = _only(v, slice(at, at + 1))
        moved, near, far = self.moved(v), self._rerun.eps**0.5, 2.0
        here = moved(0.0)
        same = [np.array_equal(moved(h), here) for h in (near, -near, far, -far)]
        return same[0] and same[1] and not (same[2] and same[3])

    def full(self) -> tuple[Array, Array] | None:
        """Return the whole gradient, by the rule and by differences, of an input that is small."""
        if self.point.size > _ONE_BY_ONE:
            return None
        v = scales(self.point)
        flat = v.reshape(-1)
        numerical = np.zeros(self.point.size)
        for at in range(v.size):
            numerical[at] = self.along(_only(v, slice(at, at + 1))).slope.value / flat[at]
        return self._gradient, numerical.reshape(self.point.shape)


def _only(v: Array, part: Any) -> Array:
    """Return ``v`` with zeros everywhere but in ``part``, counted as one row."""
    chosen = np.zeros(v.size)
    chosen[part] = v.reshape(-1)[part]
    return chosen.reshape(v.shape)


def _unsettled(size: float, best: Slope) -> str:
    if best.error > abs(best.value):
        return "the derivative is too small to measure, relative to the result"
    return "finite differences do not converge as the step shrinks: the function bends too sharply"

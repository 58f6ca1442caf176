"""Whether the rule of one node is right: its gradient against differences of its own forward.

One random direction tells whether anything is wrong: the derivative of a random sum of the
outputs, along a random change of one input, depends on every entry of the Jacobian.  Only where
it disagrees is the worst element looked for, one by one in a small input, by halving in a large
one.

Tolerance.  Differences are right to about ε^(2/3) of the values at best, rules and kernels to a
few ε times what the numbers cancel: a rule counts as wrong where it is off by more than 10 √ε
(1.5e-7 in float64, 3.5e-3 in float32) of the gradient's size along the direction, and then by
four times the bound on the error of the differences.  Where that bound exceeds a thousandth (in
lower precision: twice the tolerance), nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_core.debug.checking.cause import guess
from autograd_core.debug.checking.differences import (
    Moved,
    Slope,
    bisect,
    kink,
    scales,
    slopes,
)
from autograd_core.debug.checking.rerun import Rerun
from autograd_core.debug.checking.result import InputCheck

Array = NDArray[Any]
_ONE_BY_ONE = 256  # elements of an input that are looked at one by one
_SEED = 20_231_117
_STEPS = (
    "its forward goes in steps, so that every difference is 0; a gradient that is passed on all "
    "the same (straight through) cannot be checked"
)


class Judge:
    """The inputs of one node at one point, judged one after the other."""

    def __init__(self, rerun: Rerun, points: Sequence[Array]) -> None:
        self._rerun, self._points = rerun, list(points)
        rng = np.random.default_rng(_SEED)
        self._weights = rng.uniform(0.5, 1.5, rerun.size) * rng.choice((-1.0, 1.0), rerun.size)
        self._ones = np.ones(rerun.size)
        self._tolerance = 10 * float(np.sqrt(rerun.eps))
        self._gradients = rerun.gradients(self._points, self._weights)

    def input(self, number: int) -> InputCheck:
        """The verdict on the gradient by input ``number``."""
        name, point = self._rerun.names[number], self._points[number]
        g = self._gradients[number]
        if g is not None and g.shape != point.shape:
            return _wrong_shape(name, g.shape, point.shape)
        look = _Look(self._rerun, self._points, number, self._weights, g, self._tolerance)
        rng = np.random.default_rng(_SEED + 1)
        for _ in range(2 if point.size <= 10_000 else 1):
            signs = rng.choice((-1.0, 1.0), point.shape) * rng.uniform(0.5, 1.5, point.shape)
            v = signs * scales(point)
            answer = look.along(v)
            if answer.verdict == "unclear":  # steps for large elements are too large for small ones
                v = signs * scales(point, least=0)
                answer = look.along(v)
            if answer.verdict != "right":
                return self._explained(look, answer, v)
        return InputCheck(name, "right", analytical=answer.analytical, numerical=answer.slope.value)

    def _explained(self, look: _Look, answer: _Answer, v: Array) -> InputCheck:
        """Where it goes wrong, or why it cannot be told."""
        name, shape = look.name, look.point.shape
        if answer.verdict == "unclear":
            return InputCheck(name, "not checkable", answer.reason)
        kink_at = look.find_kink(v)
        if kink_at is not None:
            return InputCheck(name, "not checkable", _kink_text(kink_at, shape))
        if look.goes_in_steps(v):
            return InputCheck(name, "not checkable", _STEPS)
        return self._wrong(look, v)

    def _wrong(self, look: _Look, v: Array) -> InputCheck:
        """The worst element, in the plain terms of a gradient of 1 at every output if that shows
        the mistake, else for the random one that did."""
        plain = _Look(
            self._rerun, self._points, look.number, self._ones,
            self._rerun.gradients(self._points, self._ones)[look.number], self._tolerance,
        )  # fmt: skip
        shows = plain.along(v).verdict == "wrong"
        chosen = plain if shows else look
        at = chosen.worst(v)
        answer = chosen.element(at, v)
        if answer.verdict != "wrong" and shows:
            chosen, at = look, look.worst(v)
            answer = chosen.element(at, v)
        step = v.reshape(-1)[at]
        position = np.unravel_index(at, look.point.shape)
        return InputCheck(
            look.name, "wrong", position=tuple(int(i) for i in position),
            analytical=answer.analytical / step, numerical=answer.slope.value / step,
            weighted=chosen is look,
            cause=guess(self._rerun, self._points, look.number, self._weights, look.full()),
        )  # fmt: skip


class _Answer(NamedTuple):
    """What one direction says, and the two derivatives along it."""

    verdict: Literal["right", "wrong", "unclear"]
    analytical: float
    slope: Slope
    reason: str = ""


class _Look:
    """One input under one weighting of the outputs."""

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
        """The outputs after a step along ``v``."""

        def at(h: float) -> Array:
            points = list(self._points)
            points[self.number] = self.point + h * v
            return self._rerun.values(points)

        return at

    def along(self, v: Array) -> _Answer:
        """Whether rule and differences agree along ``v``."""
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
            return _Answer("unclear", analytical, Slope(np.nan, np.nan), "the result is not "
                           "finite at these inputs, or a little beside them")  # fmt: skip
        if not np.isfinite(analytical):
            return _Answer("wrong", analytical, best)
        if self._agree(analytical, size, best):
            return _Answer("right", analytical, best)
        if best.error > self._limit * max(size, abs(best.value)):
            return _Answer("unclear", analytical, best, _unsettled(size, best))
        return _Answer("wrong", analytical, best)

    def _agree(self, analytical: float, size: float, slope: Slope) -> bool:
        apart = abs(analytical - slope.value)
        if size == 0:
            return apart <= 4 * slope.error
        return (
            slope.error <= self._limit * max(size, abs(slope.value))
            and apart <= self._tolerance * max(size, abs(slope.value)) + 4 * slope.error
        )

    def element(self, at: int, v: Array) -> _Answer:
        """As :meth:`along`, for one element alone."""
        return self.along(_only(v, slice(at, at + 1)))

    def _mismatch(self, v: Array) -> float:
        answer = self.along(v)
        apart = abs(answer.analytical - answer.slope.value)
        return apart if np.isfinite(apart) else np.inf

    def worst(self, v: Array) -> int:
        """The element at which rule and differences are furthest apart."""
        if v.size > _ONE_BY_ONE:
            return bisect(v.size, lambda part: self._mismatch(_only(v, part)))
        flat = v.reshape(-1)
        apart = [
            self._mismatch(_only(v, slice(at, at + 1))) / abs(flat[at]) for at in range(v.size)
        ]
        return int(np.argmax(apart))

    def find_kink(self, v: Array) -> int | None:
        """An element with a kink."""

        def gap(part: Any) -> float:
            direction = self._rerun.direction(_only(v, part))
            return kink(self.moved(direction), self._weights, self._rerun.eps)

        if not gap(slice(None)):
            return None
        at = bisect(v.size, gap)
        return at if gap(slice(at, at + 1)) else None

    def goes_in_steps(self, v: Array) -> bool:
        """Whether the outputs stay as they are a little around this point, and change further
        off."""
        moved, near, far = self.moved(v), 2 * self._rerun.eps ** (1 / 3), 2.0
        here = moved(0.0)
        same = [np.array_equal(moved(h), here) for h in (near, -near, far, -far)]
        return same[0] and same[1] and not (same[2] and same[3])

    def full(self) -> tuple[Array, Array] | None:
        """The whole gradient, by the rule and by differences, of an input that is small."""
        if self.point.size > _ONE_BY_ONE:
            return None
        v = scales(self.point)
        flat = v.reshape(-1)
        numerical = np.zeros(self.point.size)
        for at in range(v.size):
            numerical[at] = self.along(_only(v, slice(at, at + 1))).slope.value / flat[at]
        return self._gradient, numerical.reshape(self.point.shape)


def _only(v: Array, part: Any) -> Array:
    """``v`` with zeros everywhere but in ``part``, counted as one row."""
    chosen = np.zeros(v.size)
    chosen[part] = v.reshape(-1)[part]
    return chosen.reshape(v.shape)


def _unsettled(size: float, best: Slope) -> str:
    if best.error > abs(best.value):
        return "the derivative is too small to be measured beside the values of the result"
    return "differences do not settle as their step shrinks: the function bends too sharply"


def _kink_text(at: int, shape: tuple[int, ...]) -> str:
    place = [int(i) for i in np.unravel_index(at, shape)]
    return f"the function has a kink or a jump{f' at {place}' if place else ''}"


def _wrong_shape(name: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> InputCheck:
    reason = f"it has the shape {list(found)}, and {name} has {list(wanted)}"
    cause = ""
    try:
        common = np.broadcast_shapes(found, wanted)
    except ValueError:
        common = ()
    if found == wanted[::-1]:
        cause = "a transpose is missing"
    elif common == found:
        cause = f"{name} was broadcast: sum the gradient over what was added or stretched"
    elif common == wanted:
        cause = f"expand it to the shape of {name}"
    return InputCheck(name, "wrong", reason, cause=cause)

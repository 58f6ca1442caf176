"""The check of one node's rule: its gradient against differences of its own forward.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import Rerun
from gradstep.findings.checking.cause import Guess, guess
from gradstep.findings.checking.differences import scales
from gradstep.findings.checking.perturbation import Answer, Perturbation
from gradstep.findings.checking.result import InputCheck

Array = NDArray[Any]
_SEED = 20_231_117
_STEPS = (
    "its forward is a step function, so every difference is 0; a straight-through gradient "
    "cannot be checked"
)


class RuleChecker:
    """The inputs of one node at one point, judged one after the other."""

    def __init__(self, rerun: Rerun, points: Sequence[Array]) -> None:
        self._rerun, self._points = rerun, list(points)
        rng = np.random.default_rng(_SEED)
        self._weights = rng.uniform(0.5, 1.5, rerun.size) * rng.choice((-1.0, 1.0), rerun.size)
        self._ones = np.ones(rerun.size)
        self._tolerance = 10 * float(np.sqrt(rerun.eps))
        self._gradients = rerun.gradients(self._points, self._weights)

    def input(self, number: int) -> InputCheck:
        """Return the verdict on the gradient for input ``number``."""
        name, point = self._rerun.names[number], self._points[number]
        g = self._gradients[number]
        if g is not None and g.shape != point.shape:
            return _wrong_shape(name, g.shape, point.shape)
        probe = Perturbation(self._rerun, self._points, number, self._weights, g, self._tolerance)
        rng = np.random.default_rng(_SEED + 1)
        for _ in range(2 if point.size <= 10_000 else 1):
            signs = rng.choice((-1.0, 1.0), point.shape) * rng.uniform(0.5, 1.5, point.shape)
            v = signs * scales(point)
            answer = probe.along(v)
            if answer.verdict == "unclear":  # steps for large elements are too large for small ones
                v = signs * scales(point, least=0)
                answer = probe.along(v)
            if answer.verdict != "right":
                return self._explained(probe, answer, v)
        return InputCheck(name, "right", analytical=answer.analytical, numerical=answer.slope.value)

    def _explained(self, probe: Perturbation, answer: Answer, v: Array) -> InputCheck:
        """Explain where it goes wrong, or why it cannot be told."""
        name, shape = probe.name, probe.point.shape
        if answer.verdict == "unclear":
            return InputCheck(name, "not checkable", answer.reason)
        kink_at = probe.find_kink(v)
        if kink_at is not None:
            return InputCheck(name, "not checkable", _kink_text(kink_at, shape))
        # of many elements, some are near a step
        if probe.goes_in_steps(v) or probe.goes_in_steps(v, probe.worst(v)):
            return InputCheck(name, "not checkable", _STEPS, goes_in_steps=True)
        return self._wrong(probe, v)

    def _wrong(self, probe: Perturbation, v: Array) -> InputCheck:
        """Return the worst element, in the plain terms of a gradient of 1 at every output if that
        shows the mistake, else for the random one that did."""
        plain = Perturbation(
            self._rerun, self._points, probe.number, self._ones,
            self._rerun.gradients(self._points, self._ones)[probe.number], self._tolerance,
        )  # fmt: skip
        shows = plain.along(v).verdict == "wrong"
        chosen = plain if shows else probe
        at = chosen.worst(v)
        answer = chosen.element(at, v)
        if answer.verdict != "wrong":  # it shows in the sum of many only
            answer = probe.along(v)
            return InputCheck(
                probe.name, "wrong", analytical=answer.analytical, numerical=answer.slope.value,
                weighted=True,
            )  # fmt: skip
        step = v.reshape(-1)[at]
        guessed = guess(self._rerun, self._points, probe.number, self._weights, probe.full())
        position = np.unravel_index(at, probe.point.shape)
        return InputCheck(
            probe.name, "wrong", position=tuple(int(i) for i in position),
            analytical=answer.analytical / step, numerical=answer.slope.value / step,
            weighted=chosen is probe, cause=guessed,
        )  # fmt: skip


def _kink_text(at: int, shape: tuple[int, ...]) -> str:
    place = [int(i) for i in np.unravel_index(at, shape)]
    return f"the function has a kink or a jump{f' at {place}' if place else ''}"


def _wrong_shape(name: str, actual: tuple[int, ...], wanted: tuple[int, ...]) -> InputCheck:
    reason = f"it has the shape {list(actual)}, and {name} has {list(wanted)}"
    cause: Guess | None = None
    try:
        common = np.broadcast_shapes(actual, wanted)
    except ValueError:
        common = ()
    if actual == wanted[::-1]:
        cause = Guess("not transposed")
    elif common == actual:
        cause = Guess("broadcast", name)
    elif common == wanted:
        cause = Guess("not expanded", name)
    return InputCheck(name, "wrong", reason, cause=cause)

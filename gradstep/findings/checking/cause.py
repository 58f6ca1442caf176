"""Guesses at what is wrong with a rule, from how its gradient differs from the right one.

Each is a pattern that the whole gradient fits, so a guess is seldom off; where none fits,
nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import Rerun

Array = NDArray[Any]


class Guess(NamedTuple):
    """What may be wrong, in words, and whether it is that the rule ignores what it is given."""

    text: str
    ignores_gradient: bool = False


def guess(
    rerun: Rerun,
    points: Sequence[Array],
    number: int,
    weights: Array,
    full: tuple[Array, Array] | None,
) -> Guess:
    """Guess what is wrong with the gradient for input ``number``; "" where nothing is known.

    Args:
        weights: the gradient of the outputs, in one row.
        full: the whole gradient by the rule and by differences, where both are known.
    """
    twice = rerun.gradients(points, 2 * weights)[number]
    once = rerun.gradients(points, weights)[number]
    if once is None or twice is None:
        return Guess("the rule gives None, as if the result did not depend on it")
    if not np.isfinite(once).all():
        return Guess("")
    if np.any(once) and np.array_equal(once, twice):
        return Guess("the rule ignores the incoming gradient", ignores_gradient=True)
    if not _close(twice, 2 * once):
        return Guess("the rule is not linear in the incoming gradient")
    if full is None:
        return Guess("")
    actual, right = full
    if not np.isfinite(right).all():
        return Guess("")
    if not np.any(actual):
        return Guess("the rule gives zeros")
    if not np.any(right):
        return Guess("the result does not depend on it")
    return Guess(
        _factor(actual, right)
        or _power(rerun.names, points, actual, right)
        or _transposed(points, number, weights, actual, right)
        or _misplaced(actual, right)
    )


def _close(a: Array, b: Array) -> bool:
    """Return whether two gradients agree to four digits of the larger elements."""
    return a.shape == b.shape and bool(
        np.abs(a - b).max(initial=0) <= 1e-4 * np.abs(b).max(initial=0)
    )


def _factor(actual: Array, right: Array) -> str:
    factor = float((actual * right).sum() / np.square(right).sum())
    if not _close(actual, factor * right):
        return ""
    if abs(factor + 1) < 1e-4:
        return "the sign is wrong"
    return f"every element is {factor:.4g} times the correct value"


def _power(names: Sequence[str], points: Sequence[Array], actual: Array, right: Array) -> str:
    """Find out whether a factor is missing, or there too often, that is an input or its square."""
    if actual.size < 2:
        return ""
    for name, x in zip(names, points, strict=True):
        if x.shape != actual.shape or not np.all(x) or np.ptp(np.abs(x)) == 0:
            continue
        for power, factor in ((1, name), (2, f"{name}²")):
            if _close(actual * x**power, right):
                return f"a factor {factor} is missing"
            if _close(actual, right * x**power):
                return f"there is an extra factor {factor}"
    return ""


def _transposed(
    points: Sequence[Array], number: int, weights: Array, actual: Array, right: Array
) -> str:
    """Find out whether a square matrix should have been transposed: the gradient itself, or an
    input that it is multiplied with."""
    if right.ndim != 2:
        return ""
    text = "a transpose is missing or superfluous"
    if actual.shape == right.T.shape and _close(actual.T, right):
        return text
    for at, b in enumerate(points):
        if at == number or b.ndim != 2 or b.shape[0] != b.shape[1]:
            continue
        for rows, cols in {(right.shape[0], len(b)), (len(b), right.shape[1])}:
            if rows * cols != weights.size:
                continue
            g = weights.reshape(rows, cols)
            for left, other in ((g, b), (b, g)):
                if left.shape[1] != other.shape[0]:
                    continue
                flipped = (g @ b.T) if left is g else (b.T @ g)
                products = left @ other, flipped
                for mine, wanted in (products, products[::-1]):
                    if _close(actual, mine) and _close(right, wanted):
                        return text
    return ""


def _misplaced(actual: Array, right: Array) -> str:
    if actual.size > 1 and _close(np.sort(actual, axis=None), np.sort(right, axis=None)):
        return "the values are right, but in the wrong places"
    return ""

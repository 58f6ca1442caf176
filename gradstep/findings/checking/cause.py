"""Guesses at what is wrong with a rule, from how its gradient differs from the right one.

Each is a pattern that the whole gradient fits, so a guess is seldom off; where none fits,
nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import Rerun

Array = NDArray[Any]


Kind = Literal[
    "none", "ignores", "not linear", "zeros", "constant", "sign", "factor", "missing", "extra",
    "transposed", "misplaced", "not transposed", "broadcast", "not expanded",
]  # fmt: skip


class Guess(NamedTuple):
    """What may be wrong with a rule: ``name`` is the input, or the factor, that it is about, and
    ``number`` how many times too large each element is."""

    kind: Kind
    name: str = ""
    number: float = 1.0

    @property
    def text(self) -> str:
        """The same in words."""
        return _TEXTS[self.kind].format(name=self.name, number=self.number)


_TEXTS: Final[Mapping[Kind, str]] = {
    "none": "the rule gives None, as if the result did not depend on it",
    "ignores": "the rule ignores the incoming gradient",
    "not linear": "the rule is not linear in the incoming gradient",
    "zeros": "the rule gives zeros",
    "constant": "the result does not depend on it",
    "sign": "the sign is wrong",
    "factor": "every element is {number:.4g} times the correct value",
    "missing": "a factor {name} is missing",
    "extra": "there is an extra factor {name}",
    "transposed": "a transpose is missing or superfluous",
    "misplaced": "the values are right, but in the wrong places",
    "not transposed": "a transpose is missing",
    "broadcast": "{name} was broadcast: sum the gradient over the broadcast dimensions",
    "not expanded": "expand it to the shape of {name}",
}


def guess(
    rerun: Rerun,
    points: Sequence[Array],
    number: int,
    weights: Array,
    full: tuple[Array, Array] | None,
) -> Guess | None:
    """Guess what is wrong with the gradient for input ``number``; None where nothing is known.

    Args:
        weights: the gradient of the outputs, in one row.
        full: the whole gradient by the rule and by differences, where both are known.
    """
    twice = rerun.gradients(points, 2 * weights)[number]
    once = rerun.gradients(points, weights)[number]
    if once is None or twice is None:
        return Guess("none")
    if not np.isfinite(once).all():
        return None
    if np.any(once) and np.array_equal(once, twice):
        return Guess("ignores")
    if not _close(twice, 2 * once):
        return Guess("not linear")
    if full is None:
        return None
    actual, right = full
    if not np.isfinite(right).all():
        return None
    if not np.any(actual):
        return Guess("zeros")
    if not np.any(right):
        return Guess("constant")
    return (
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


def _factor(actual: Array, right: Array) -> Guess | None:
    factor = float((actual * right).sum() / np.square(right).sum())
    if not _close(actual, factor * right):
        return None
    return Guess("sign") if abs(factor + 1) < 1e-4 else Guess("factor", number=factor)


def _power(
    names: Sequence[str], points: Sequence[Array], actual: Array, right: Array
) -> Guess | None:
    """Find out whether a factor is missing, or there too often, that is an input or its square."""
    if actual.size < 2:
        return None
    for name, x in zip(names, points, strict=True):
        if x.shape != actual.shape or not np.all(x) or np.ptp(np.abs(x)) == 0:
            continue
        for power, factor in ((1, name), (2, f"{name}²")):
            if _close(actual * x**power, right):
                return Guess("missing", factor)
            if _close(actual, right * x**power):
                return Guess("extra", factor)
    return None


def _transposed(
    points: Sequence[Array], number: int, weights: Array, actual: Array, right: Array
) -> Guess | None:
    """Find out whether a square matrix should have been transposed: the gradient itself, or an
    input that it is multiplied with."""
    if right.ndim != 2:
        return None
    transposed = Guess("transposed")
    if actual.shape == right.T.shape and _close(actual.T, right):
        return transposed
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
                        return transposed
    return None


def _misplaced(actual: Array, right: Array) -> Guess | None:
    if actual.size > 1 and _close(np.sort(actual, axis=None), np.sort(right, axis=None)):
        return Guess("misplaced")
    return None

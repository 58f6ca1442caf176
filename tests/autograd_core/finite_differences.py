"""What the derivatives of a call of the grid are, by differences of its results alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.autograd_core.op_grid import Answer, Given, answer, changed, tensors
from tests.autograd_core.operator_cases import Call

STEP = 1e-5
MOST = 12  # elements of a tensor that are moved


def can_be_differentiated(call: Call) -> bool:
    """Whether its leaves are doubles as they stand, which leave room for differences."""
    leaves = [each for each in tensors(call) if each.leaf]
    return bool(leaves) and all(
        each.array.dtype == np.float64 and each.layout == "plain" for each in leaves
    )


def wrong_derivatives(torch: Any, path: str, call: Call) -> tuple[int, list[str]]:
    """How many numbers of first and second derivatives could be looked at, and those that are
    not what differences say; what is not smooth, or not finite, there says nothing."""
    found = answer(torch, path, call, [])
    looked_at, wrong = 0, []
    for order, objective in (("first", _total), ("second", _squares)):
        derivatives = getattr(found, order)
        if isinstance(derivatives, str):
            break
        if not np.isfinite(objective(torch, found)):
            break
        numbers = [number for number, each in enumerate(tensors(call)) if each.leaf]
        for number, derivative in zip(numbers, derivatives, strict=True):
            slopes, smooth = _slopes(torch, path, call, number, objective)
            own = np.zeros_like(slopes) if derivative is None else derivative.numpy(force=True)
            smooth &= np.isfinite(slopes)
            looked_at += int(smooth.sum())
            scale = 1 + np.max(np.abs(slopes[smooth]), initial=0)
            close = np.isclose(own[smooth], slopes[smooth], rtol=1e-4, atol=1e-6 * scale)
            if not close.all():
                wrong.append(f"{order} {number}: {own.tolist()}, not {slopes.tolist()}")
    return looked_at, wrong


def _total(torch: Any, found: Answer) -> float:
    """What the first derivatives of the grid are those of."""
    outputs = [each for each in found.results if hasattr(each, "requires_grad")]
    arrays = [each.numpy(force=True) for each in outputs if each.requires_grad]
    return sum(float((a * np.cos(np.arange(a.size)).reshape(a.shape)).sum()) for a in arrays)


def _squares(torch: Any, found: Answer) -> float:
    """What the second ones are those of."""
    assert not isinstance(found.first, str)
    return sum(
        float((g.numpy(force=True) ** 2).sum())
        for g in found.first
        if g is not None and g.requires_grad
    )


def _slopes(
    torch: Any, path: str, call: Call, number: int, objective: Callable[[Any, Answer], float]
) -> tuple[Any, Any]:
    """The slope of ``objective`` by some elements of tensor ``number``, and whether it is one: the
    same on both sides; NaN for others."""
    array = tensors(call)[number].array

    def moved(place: int, step: float) -> float:
        def there(each: Given) -> Given:
            new = each.array.copy()
            new.reshape(-1)[place] += step
            return each._replace(array=new)

        return objective(torch, answer(torch, path, changed(call, there, number), []))

    here = objective(torch, answer(torch, path, call, []))
    sides = np.full((2, array.size), np.nan)
    for place in range(0, array.size, 1 + array.size // MOST):
        sides[:, place] = [(moved(place, step) - here) / step for step in (STEP, -STEP)]
    after, before = sides.reshape(2, *array.shape)
    return (after + before) / 2, np.isclose(after, before, rtol=1e-2, atol=1e-4)

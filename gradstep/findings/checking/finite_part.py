"""A function as far as it is finite: what is infinite is held fixed, or left out.

An attention mask makes scores infinite on purpose, and the softmax of those is to be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import CannotRerun, Rerun

Array = NDArray[Any]


class FinitePart:
    """``rerun`` as a function of the inputs that are finite, of the results that are, too."""

    def __init__(self, rerun: Rerun, values: Array) -> None:
        """``values`` are the results at the points of ``rerun``."""
        self._rerun, self._given = rerun, rerun.points
        self._fixed = [~np.isfinite(point) for point in rerun.points]
        self._shown = np.isfinite(values)
        self.names, self.eps, self.custom = rerun.names, rerun.eps, rerun.custom
        self.size = int(self._shown.sum())
        self.points = [
            np.where(fixed, 0, point) for fixed, point in zip(self._fixed, self._given, strict=True)
        ]

    @property
    def note(self) -> str:
        """What is left out, in words."""
        held = any(fixed.any() for fixed in self._fixed)
        parts = ["infinite inputs held fixed"] if held else []
        if not self._shown.all():
            parts.append("results that are not finite left out")
        return " and ".join(parts)

    def direction(self, v: Array) -> Array:
        return self._rerun.direction(v)

    def values(self, points: Sequence[Array]) -> Array:
        return self._rerun.values(self._whole(points))[self._shown]

    def gradients(self, points: Sequence[Array], weights: Array) -> list[Array | None]:
        spread = np.zeros(self._shown.size)
        spread[self._shown] = weights
        parts: list[Array | None] = []
        gradients = self._rerun.gradients(self._whole(points), spread)
        for g, fixed in zip(gradients, self._fixed, strict=True):
            if g is not None and g.shape == fixed.shape:
                g = np.where(fixed, 0, g)
                if not (np.isfinite(g).all() or self._shown.all()):
                    raise CannotRerun("its result is not finite")  # 0 times infinity, perhaps
            parts.append(g)
        return parts

    def _whole(self, points: Sequence[Array]) -> list[Array]:
        """Return ``points`` with the infinite elements in their places."""
        return [
            np.where(fixed, given, point).astype(point.dtype)
            for fixed, given, point in zip(self._fixed, self._given, points, strict=True)
        ]

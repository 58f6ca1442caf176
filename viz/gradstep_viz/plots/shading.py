"""Which shade of a map stands for which size: steps of equal ratios, on a log scale."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import Final

import numpy as np

from gradstep.graph.statistics import format_number
from gradstep_viz.plots.sizes import Ints, Numbers

SHADES: Final = 16
_STEPS: Final = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Powers of ten that a shade may reach over."""
_BELOW: Final = 0.7
"""How much of the scale is below the median, where not all of it is on the scale."""


@dataclass(frozen=True)
class Shading:
    """Shades from the power of ten ``low`` on, each over ``step`` of a power.

    What is smaller than the scale has its first shade, what is larger its last one; ``is_below``
    and ``is_above`` say whether there is any.
    """

    low: float
    step: float
    count: int
    is_below: bool = False
    is_above: bool = False

    def of(self, values: Numbers) -> Ints:
        """Return the shades of sizes, from 0 on; all of them are larger than 0."""
        shades = np.floor((np.log10(values) - self.low) / self.step)
        return np.clip(shades, 0, self.count - 1).astype(np.int64)

    @property
    def ends(self) -> tuple[str, str]:
        """The ends of the scale as they are printed."""
        low, high = (format_number(10.0**p) for p in (self.low, self.low + self.step * self.count))
        return ("≤ " if self.is_below else "") + low, ("≥ " if self.is_above else "") + high


def shading_of(values: Numbers) -> Shading | None:
    """Return the shades for sizes that are larger than 0, None where there are none.

    >>> shading_of(np.array([2e-9, 3e-4, 0.5]))
    Shading(low=-9.0, step=1.0, count=9, is_below=False, is_above=False)
    """
    if not len(values):
        return None
    powers = np.sort(np.log10(values))
    least, median, most = (float(powers[at]) for at in (0, (len(powers) - 1) // 2, -1))
    step = next((step for step in _STEPS if _count(least, most, step) <= SHADES), _STEPS[-1])
    low, count = floor(least / step + 1e-9), _count(least, most, step)
    if count > SHADES:
        low = max(low, floor(median) - int(SHADES * _BELOW))
        count = min(SHADES, ceil(most) - low)
    high = (low + count) * step
    return Shading(low * step, step, count, least < low * step - 1e-9, most > high + 1e-9)


def _count(least: float, most: float, step: float) -> int:
    return max(ceil(most / step - 1e-9) - floor(least / step + 1e-9), 1)

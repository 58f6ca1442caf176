"""The columns of a plot: the calls of a run, several in one where there are too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from gradstep.text import plural
from gradstep_viz.plots.sizes import Ints, Numbers

MOST_COLUMNS: Final = 600
FILLED: Final = 0.25
"""Where fewer of the columns of an even scale have anything, the calls that were recorded stand
side by side."""
_FEW: Final = 60
"""So many calls each have a column of their own, whatever the gaps between them."""


@dataclass(frozen=True)
class Columns:
    """Which calls a column stands for: those from ``starts`` to ``ends``, both included.

    ``is_even`` where all stand for the same number of calls, and none is left out.
    """

    starts: Ints
    ends: Ints
    is_even: bool

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def width(self) -> int:
        """The most calls that a column stands for."""
        return int((self.ends - self.starts).max(initial=0)) + 1

    def of(self, calls: Ints) -> Ints:
        """Return in which column each call is."""
        return np.searchsorted(self.starts, calls, side="right") - 1

    def places(self, calls: Ints) -> Numbers:
        """Return where on the axis each call is: a column reaches from its number to the next."""
        if self.is_even:
            return np.asarray((calls - self.starts[0] + 0.5) / self.width)
        column = self.of(calls)
        inside = (calls - self.starts[column] + 0.5) / (self.ends - self.starts + 1)[column]
        return np.asarray(column + np.minimum(inside, 1.0))

    def title(self, column: int) -> str:
        """Say which calls a column stands for.

        >>> Columns(np.array([1, 3]), np.array([2, 3]), True).title(0)
        'calls 1 to 2'
        """
        start, end = int(self.starts[column]), int(self.ends[column])
        return f"call {start:,}" if start == end else f"calls {start:,} to {end:,}"

    @property
    def said(self) -> str:
        """What the axis says of its scale."""
        if not self.is_even:
            return "recorded calls, side by side"
        return "call" if self.width == 1 else f"call ({plural(self.width, 'call')} a column)"


def columns_of(
    calls: Sequence[int], shown: Sequence[int] = (), most: int = MOST_COLUMNS
) -> Columns:
    """Return the columns for ``calls``, the indices of those that were recorded.

    ``shown`` are those of them that have what is to be shown: where it was recorded of one call in
    ten, a column stands for ten.
    """
    indices = np.unique(np.array(calls, np.int64))
    first, last = int(indices[0]), int(indices[-1])
    count = last - first + 1
    gaps = np.diff(np.unique(np.array(shown or calls, np.int64)))
    stride = int(np.median(gaps)) if len(indices) > _FEW else 1
    width = max(ceil(count / most), stride, 1)
    starts = np.arange(first, last + 1, width, dtype=np.int64)
    even = Columns(starts, starts + width - 1, True)
    if len(np.unique(even.of(indices))) >= FILLED * len(even):
        return even
    step = ceil(len(indices) / most)
    starts = indices[::step]
    ends = indices[np.minimum(np.arange(len(starts)) * step + step - 1, len(indices) - 1)]
    return Columns(starts, ends, False)

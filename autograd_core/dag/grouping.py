"""Values by key, where keys count from 0: members of groups, neighbours of nodes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def grouped(keys: Ints, values: Ints, count: int) -> list[tuple[int, ...]]:
    """The values of each key from 0 to ``count`` - 1, in the order in which they come.

    >>> grouped(np.array([2, 0, 2]), np.array([7, 8, 9]), 3)
    [(8,), (), (7, 9)]
    """
    flat = tuple(values[np.argsort(keys, kind="stable")].tolist())
    ends = np.cumsum(np.bincount(keys, minlength=count)).tolist()
    return [flat[start:end] for start, end in pairwise([0, *ends])]

"""The number of this process in a job of several."""

from __future__ import annotations

import os


def rank_and_size() -> tuple[int, int]:
    """Return the number of this process in its job, and how many there are: 0 of 1 if alone."""
    try:
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    except (KeyError, ValueError):
        return 0, 1
    return (rank, size) if 0 <= rank < size else (0, 1)

"""The processes of a job whose recordings are open, one of which a session shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass
class Ranks:
    """The numbers of the processes; ``current`` is that of the session, ``wanted`` the one to go on
    with."""

    numbers: Sequence[int]
    current: int
    wanted: int

    def __str__(self) -> str:
        others = ", ".join(str(each) for each in self.numbers if each != self.current)
        return f"rank {self.current}; the others are {others or 'none'}"

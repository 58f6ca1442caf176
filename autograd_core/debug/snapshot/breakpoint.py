"""The record of one breakpoint: frozen, so that a snapshot can hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PointKind = Literal["breakpoint", "catch", "watch", "log"]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A place to stop at, or a property to stop on.

    ``text`` is the place as it was typed, "" for a point that has none, and ``indices`` the plan
    nodes it means here (none: it waits for a pass in which there is such a place).  ``condition``
    must hold for it to be hit; the next ``ignore`` hits do not stop.  ``born`` asks a point
    without a place to stop only where its condition becomes true, not where it stays so.
    ``message`` is what a log point says instead of stopping, ``commands`` what is carried out
    at a stop.
    """

    number: int
    text: str
    indices: tuple[int, ...]
    enabled: bool = True
    hits: int = 0
    kind: PointKind = "breakpoint"
    condition: str = ""
    ignore: int = 0
    temporary: bool = False
    born: bool = False
    message: str = ""
    sums: bool = False
    commands: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The point in one phrase: ``breakpoint 2: mul if rms > 10``."""
        return f"{self.label}: {self.what}"

    @property
    def label(self) -> str:
        """``breakpoint 2``."""
        anywhere = self.kind == "catch" and not self.born  # a breakpoint without a place
        kind = "breakpoint" if anywhere else "logpoint" if self.kind == "log" else self.kind
        return f"{kind} {self.number}"

    @property
    def what(self) -> str:
        """Its place and its condition, as they are typed: ``mul if rms > 10``."""
        if self.kind == "catch" and self.born:
            return self.condition
        place = f"{self.text}.grad" if self.kind == "watch" and not self.sums else self.text
        condition = f"if {self.condition}" if self.condition else ""
        return " ".join(part for part in (place, condition) if part)

    @property
    def command(self) -> str:
        """The command that sets it: ``tbreak mul if rms > 10``."""
        if self.kind == "log":
            return f"logpoint {self.text} {self.message}"
        if self.kind == "watch" or self.born:
            return f"{self.kind} {self.what}"
        return f"{'t' if self.temporary else ''}break {self.what}"

"""The record of one breakpoint: frozen, so that a snapshot can hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PointKind = Literal["breakpoint", "catch", "watch", "log"]


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A place or a condition to stop at.

    ``text`` is the place as typed, "" if there is none, and ``indices`` are its plan nodes; if
    there are none, it waits for a pass that has this place. ``condition`` must hold for a hit. The
    next ``ignore`` hits do not stop. ``born`` makes a breakpoint without a place stop only where
    its condition becomes true. A log point prints ``message`` instead of stopping. ``commands`` run
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
        """A description: ``breakpoint 2: mul if rms > 10``."""
        return f"{self.label}: {self.what}"

    @property
    def label(self) -> str:
        """``breakpoint 2``."""
        anywhere = self.kind == "catch" and not self.born  # a breakpoint without a place
        kind = "breakpoint" if anywhere else "logpoint" if self.kind == "log" else self.kind
        return f"{kind} {self.number}"

    @property
    def what(self) -> str:
        """Its place and condition, as typed: ``mul if rms > 10``."""
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

"""Reasons why a number is NaN or infinite: all of one code."""

from __future__ import annotations

from typing import Literal

from gradstep.findings.finding import Reason

Began = Literal["at", "at_or_before"]


class NotFinite(Reason):
    """Something is NaN or infinite."""

    code = "not-finite"
    after = ("changed", "loss-rises")
    is_open = True
    is_once_a_run = True
    other_is = "after"

    @property
    def began(self) -> Began:
        """Whether it is known to have begun at the place that is named, or there or before."""
        return "at"

    @property
    def is_cause(self) -> bool:
        return self.began == "at"

    @property
    def finds(self) -> str:
        """The command that finds where it began, "" where that is known, or where none does."""
        return ""

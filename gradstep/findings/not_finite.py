"""Reasons why a number is NaN or infinite: all of one code."""

from __future__ import annotations

from gradstep.findings.finding import Reason


class NotFinite(Reason):
    """Something is NaN or infinite."""

    code = "not-finite"
    after = ("changed",)
    is_open = True
    is_once_a_run = True
    other_is = "after"

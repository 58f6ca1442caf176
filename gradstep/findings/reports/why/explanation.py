"""The answer to the question why a gradient is what it is."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Literal

from gradstep.findings.reports.formatting import Row, row_lines
from gradstep.text import WIDTH

Verdict = Literal[
    "unknown",
    "none",
    "undefined",
    "nan",
    "inf",
    "zero",
    "tiny",
    "huge",
    "cancels",
    "ordinary",
    "run",
]


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why the gradient ``name`` is what it is: one sentence, and what speaks for it.

    ``certain`` is False where the cause is only likely.  ``index`` is the plan node to look at,
    None where there is none; ``tensor`` is the program's own.
    """

    name: str
    verdict: Verdict
    headline: str
    rows: tuple[Row, ...] = ()
    certain: bool = True
    index: int | None = None
    tensor: Any = None

    @property
    def is_wrong(self) -> bool:
        """True where something is wrong with the gradient, or, as ``run`` says, with what became of
        it."""
        return self.verdict != "ordinary"

    def lines(self, width: int = WIDTH) -> list[str]:
        """Return the sentence and what speaks for it, in lines that fit."""
        head = wrap(self.headline, width, subsequent_indent="  ", break_on_hyphens=False)
        return [*head, *row_lines(self.rows, width)]

    def __str__(self) -> str:
        """Return all of it, for a terminal of 80 columns."""
        return "\n".join(self.lines())

    __repr__ = __str__  # where a notebook or a prompt shows a result

"""A finding of ``check``: the record, the texts that explain it, and the rule that yields it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Generic, Literal, NamedTuple, TypeVar

from gradstep.graph.model import Source

Severity = Literal["error", "warning", "info"]
Facts = TypeVar("Facts")
_NUMBER = re.compile(
    r"(?<![\w.:/\[#])[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[−-]?\d+)?(?![\w/]|\.\w)|(?<= )\[[\d, :]+\]"
)


class Fix(NamedTuple):
    """A line of the program, and what stands in its place when it is mended: "" nothing, or several
    lines. The first one has the indentation of the line, and the others are relative to it."""

    source: Source
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a graph.

    An "error" makes the pass raise; a "warning" is probably a mistake; "info" is good to know.
    ``what`` describes the finding, and ``remedy`` the fix. ``address`` and ``index`` are those of
    the node; "" and None if there is none. ``source`` is the program line, ``other`` a second
    related line. ``count`` says how often it was found; ``leaves`` names those that it is about.
    ``details`` has the arithmetic behind it, and ``fix`` the remedy as lines of this program.
    """

    severity: Severity
    code: str
    what: str
    remedy: str
    address: str = ""
    index: int | None = None
    source: Source | None = None
    other: Source | None = None
    count: int = 1
    leaves: tuple[str, ...] = ()
    details: str = ""
    fix: tuple[Fix, ...] = ()

    @property
    def is_bad(self) -> bool:
        """Whether it is an error or a warning."""
        return self.severity != "info"

    @property
    def cells(self) -> tuple[str, ...]:
        """How bad it is, the line, what it is, and the remedy."""
        remedy = f"remedy: {self.remedy}"
        place = self.source.place if self.source else ""
        return f"{self.severity} [{self.code}]", place, self.what, remedy

    def naming(self, target: str) -> Finding:
        """Return the same with the ``target`` of this run in the commands that it names."""
        return replace(self, remedy=self.remedy.replace("TARGET", target))

    @property
    def cause(self) -> Finding:
        """The same without the numbers in its text, and of its node only the op and its module:
        equal for the same mistake in two calls, or in two rounds of a loop.

        >>> from gradstep.findings import Finding
        >>> found = Finding("warning", "dead-units", "8 units of 1/relu:3 are 0", "", "1/relu:3")
        >>> found.cause.what, found.cause.address
        ('# units of 1/relu are #', '1/relu')
        """
        op = self.address.rpartition(":")[0] or self.address
        what = self.what.replace(self.address, op) if self.address else self.what
        return replace(
            self, what=_NUMBER.sub("#", what), address=op, index=None, count=1, details="", fix=()
        )


class Meaning(NamedTuple):
    """The texts of a finding: a title of a few words, what it means, a wrong and a right program,
    and when to ignore it, "" if never; ``severity`` is the usual one."""

    code: str
    severity: Severity
    title: str
    means: str
    wrong: str
    right: str
    ignore: str = ""


class Rule(Generic[Facts]):
    """A function from a graph, or from the facts of a run, to findings, and what these mean.

    A finding that several rules yield is explained by one of them.
    """

    def __init__(self, find: Callable[[Facts], Iterable[Finding]], *meanings: Meaning) -> None:
        self.find = find
        self.meanings = meanings


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding, the first, for all that have the same cause, as those of a line in a loop
    have; those without a line are apart."""
    every = list(findings)
    causes = [
        (finding.cause, number if finding.source is None else 0)
        for number, finding in enumerate(every)
    ]
    counts, first = Counter(causes), dict(zip(reversed(causes), reversed(every), strict=True))
    return [replace(first[cause], count=counts[cause]) for cause in dict.fromkeys(causes)]

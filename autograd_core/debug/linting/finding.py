"""Findings of lint: one frozen record per problem or possible problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autograd_core.dag.model import Source

Severity = Literal["error", "warning", "info"]
Code = Literal[
    "freed",
    "changed",
    "not-finite",
    "unreached",
    "cut",
    "create-graph",
    "duplicate-hook",
    "stale-grad",
    "unchanged",
    "broadcast",
    "saturated",
    "dead-units",
    "squashed-twice",
    "zero-grad",
    "vanishing",
    "exploding",
    "grad-jump",
    "constant-loss",
    "shared",
    "memory",
    "untraced",
]
CODES: tuple[Code, ...] = Code.__args__  # type: ignore[attr-defined]  # of a Literal
_NUMBER = re.compile(
    r"(?<![\w.:/\[#])[−-]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[−-]?\d+)?(?![\w/]|\.\w)|(?<= )\[[\d, :]+\]"
)
_SHOWN = 5  # names in one sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a graph.

    An "error" makes the pass raise; a "warning" is probably a mistake; "info" is good to know.
    ``what`` describes the finding, and ``remedy`` the fix. ``address`` and ``index`` are those of
    the node; "" and None if there is none. ``source`` is the program line, ``other`` a second
    related line. ``count`` says how often it was found.
    """

    severity: Severity
    code: Code
    what: str
    remedy: str
    address: str = ""
    index: int | None = None
    source: Source | None = None
    other: Source | None = None
    count: int = 1

    @property
    def without_numbers(self) -> Finding:
        """The same without the numbers in its text, and without its position: equal for the same
        mistake in two calls, which has other values in each.

        >>> found = Finding("warning", "saturated", "8 of the 12 rows of 1/softmax:1 are 1", "")
        >>> found.without_numbers.what
        '# of the # rows of 1/softmax:1 are #'
        """
        return replace(self, what=_NUMBER.sub("#", self.what), index=None, count=1)


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Return one finding for all that are alike, as those of a line in a loop are; those without a
    line are apart."""
    found = list(findings)
    counts = Counter(each for each in found if each.source is not None)
    unique = dict.fromkeys(
        (each, number if each.source is None else 0) for number, each in enumerate(found)
    )
    return [replace(each, count=counts.get(each, 1)) for each, _ in unique]


def listed(names: Sequence[str]) -> str:
    """Return names in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(list("abcdefgh"))
    ('a', 'a and b', 'a, b, c, d, e and 3 more')
    """
    if len(names) > _SHOWN + 1:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

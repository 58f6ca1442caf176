"""A second name of a network that was meant to be a copy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts, Objects
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import aliases

_COPIES: Final = re.compile(
    r"(^|_)(target|teacher|ema|old|frozen|reference|ref|copy|momentum|prev|previous)(_|$|\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Aliased(Reason):
    """A module that is called a ``copy`` is the ``original``."""

    keeps_loss = True
    code = "aliased"
    copy: str
    original: str

    def text(self) -> str:
        return (
            f"{self.copy} is the same module as {self.original}, not a copy: each step changes both"
        )

    def remedy(self) -> str:
        return f"{self.copy} = copy.deepcopy({self.original})"

    def fix(self) -> tuple[Fix, ...]:
        return Line(self.source).replaced(
            f"import copy\n{self.copy} = copy.deepcopy({self.original})"
        )


def aliased(facts: Facts) -> Iterator[Reason]:
    """Yield ``target_net = net``, where the one is called a copy and the other is not, and both are
    one module."""
    modules = {name.rpartition(".")[2] for name in facts.names.modules}
    line = facts.line
    for copy, original, source in () if line is None else aliases(line.file):
        ends = copy.rpartition(".")[2], original.rpartition(".")[2]
        # of two names of one module, only the first counts
        if len(modules & {*ends}) != 1 or ends[0] == ends[1]:
            continue
        if _COPIES.search(ends[0]) and not _COPIES.search(ends[1]):
            yield Aliased(copy, original, source=source)


RULES: Final = (
    Rule(aliased, Meaning(
        "aliased", "warning", "a copy of a network is the network itself",
        "Python gave it a second name. Each step changes both.",
        "target_net = net", "target_net = copy.deepcopy(net)",
        "When both should change together.",
    ), needs=(Objects,)),
)  # fmt: skip

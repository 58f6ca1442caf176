"""A second name of a network that was meant to be a copy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import aliases
from gradstep.findings.whole_run.watch import Evidence

_COPIES: Final = re.compile(
    r"(^|_)(target|teacher|ema|old|frozen|reference|ref|copy|momentum|prev|previous)(_|$|\d)",
    re.IGNORECASE,
)


def aliased(evidence: Evidence) -> Iterator[Finding]:
    """Yield ``target_net = net``, where the one is called a copy and the other is not, and both are
    one module."""
    modules = {name.rpartition(".")[2] for name in evidence.names.modules}
    line = evidence.line
    for copy, original, source in () if line is None else aliases(line.file):
        ends = copy.rpartition(".")[2], original.rpartition(".")[2]
        # of two names of one module, only the first counts
        if len(modules & {*ends}) != 1 or ends[0] == ends[1]:
            continue
        if _COPIES.search(ends[0]) and not _COPIES.search(ends[1]):
            yield Finding(
                "warning", "aliased",
                f"{copy} is the same module as {original}, not a copy: each step changes both",
                f"{copy} = copy.deepcopy({original})", source=source,
                fix=Line(source).replaced(f"import copy\n{copy} = copy.deepcopy({original})"),
            )  # fmt: skip


RULES: Final = (
    Rule(aliased, Meaning(
        "aliased", "warning", "a copy of a network is the network itself",
        "Python gave it a second name. Each step changes both.",
        "target_net = net", "target_net = copy.deepcopy(net)",
    )),
)  # fmt: skip

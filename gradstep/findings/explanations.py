"""What each finding means, from the texts beside its rule: for commands and documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from textwrap import indent, wrap
from typing import Final

from gradstep.findings.finding import Meaning
from gradstep.findings.rules.graph import RULES as GRAPH_RULES
from gradstep.findings.rules.graph.lost_graph import NO_GRAPH
from gradstep.findings.rules.run import RULES as RUN_RULES
from gradstep.text import WIDTH, did_you_mean

_SEVERITIES: Final = ("error", "warning", "info")


_DIGEST: Final = re.compile(r"-[0-9a-f]{6}$")
"""Behind a code, in the id of a finding."""


def _meanings() -> Mapping[str, Meaning]:
    of_graphs = [meaning for rule in GRAPH_RULES for meaning in rule.meanings]
    of_runs = [meaning for rule in RUN_RULES for meaning in rule.meanings]
    meanings = sorted(
        [NO_GRAPH, *of_graphs, *of_runs], key=lambda meaning: _SEVERITIES.index(meaning.severity)
    )
    return {meaning.code: meaning for meaning in meanings}


MEANINGS: Final = _meanings()
"""By code, errors first."""


def require_codes(codes: Iterable[str]) -> None:
    """See that there are findings of these codes, which may be ids.

    >>> require_codes(["stale_grad"])
    Traceback (most recent call last):
    ValueError: there is no finding 'stale_grad'; did you mean stale-grad?
    """
    if isinstance(codes, str):
        raise TypeError(f"pass a list of codes: [{codes!r}]")
    for code in codes:
        if _DIGEST.sub("", code) not in MEANINGS:
            hint = did_you_mean(code, MEANINGS) or "gradstep explain lists them"
            raise ValueError(f"there is no finding '{code}'; {hint}")


def explanation(code: str) -> str:
    """Return what a finding means."""
    meaning = MEANINGS[code]
    blocks = [f"[{code}] {meaning.title}"]
    if meaning.means:
        blocks.append(_paragraph(meaning.means))
    wrong, right = indent(meaning.wrong, "    "), indent(meaning.right, "    ")
    blocks.append(f"  wrong:\n{wrong}\n  right:\n{right}")
    if meaning.ignore:
        blocks.append(_paragraph(f"ignore it: {meaning.ignore}"))
    return "\n\n".join(blocks)


def _paragraph(text: str) -> str:
    return "\n".join(wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  "))


def summary() -> str:
    """Return the codes by severity, for a help text."""
    lines = []
    for severity in _SEVERITIES:
        codes = [code for code, meaning in MEANINGS.items() if meaning.severity == severity]
        indents = f"  {severity:<9}", " " * 11
        lines += wrap(
            ", ".join(codes), WIDTH, initial_indent=indents[0], subsequent_indent=indents[1],
            break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)

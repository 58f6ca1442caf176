"""What the findings of `gradstep check --format json` are worth for one program.

- silence: no error and no warning.
- told: an error or warning names one of the lines of the table and, in its own text, all that
  ``words`` asks for.
- right place: one names such a line, and none tells the cause.
- misleading: there are errors or warnings, and none names such a line.
"""

from __future__ import annotations

import re
from typing import Any, Literal, NamedTuple

from tests.check_corpus.report import LINE, is_named

Worth = Literal["told", "right place", "misleading", "silence"]


class Finding(NamedTuple):
    code: str
    lines: frozenset[int]
    text: str


def alarms(document: dict[str, Any]) -> list[Finding]:
    """The errors and warnings of a report."""
    return [
        Finding(each["code"], _lines(each), f"{each['what']}\n{each['details']}\n{each['remedy']}")
        for each in document["findings"]
        if each["severity"] in ("error", "warning")
    ]


def _lines(finding: dict[str, Any]) -> frozenset[int]:
    places = [finding["at"], finding["other"]]
    numbers = {place["line"] for place in places if place}
    for key in ("what", "details", "remedy"):
        numbers |= {int(number) for number in LINE.findall(finding[key])}
        numbers |= {int(number) for number in re.findall(r"^ +(\d+) \| ", finding[key], re.M)}
    return frozenset(numbers)


def worth(findings: list[Finding], lines: list[int], words: tuple[str, ...]) -> Worth:
    if not findings:
        return "silence"
    here = [each for each in findings if not each.lines.isdisjoint(lines)]
    if not here:
        return "misleading"
    tells = any(
        all(any(is_named(name, each.text) for name in word.split("|")) for word in words)
        for each in here
    )
    return "told" if tells else "right place"

"""The report of ``gradstep check``: what was found in a run, as text for people and as JSON."""

from __future__ import annotations

import json
import linecache
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

from gradstep.capturing.sources import portable
from gradstep.capturing.statement import operation_at
from gradstep.findings.finding import Finding, Fix, Severity
from gradstep.graph.model import Source
from gradstep.text import plural

VERSION: Final = 1
"""Of the JSON document; it grows when something in it changes that is there already."""
_IGNORED: Final = re.compile(r"#\s*gradstep:\s*ignore\[([\w\s,-]+)\]")
_CALLED: Final = re.compile(r"\.?([A-Za-z_]\w*)(?=\(\)|:\d)")


@dataclass(frozen=True)
class Checked:
    """What ``gradstep check`` says of a target.

    Attributes:
        target: as the command was given it.
        findings: what was found, worst first, each with the title of the call that shows it, "" of
            the whole run.
        calls: how many calls of ``backward()`` and ``autograd.grad()`` there were.
        looked_at, not_looked_at: in words.
        next: the command that shows more.
        failure: what ended the program, in words.
    """

    target: str
    findings: tuple[tuple[str, Finding], ...]
    calls: int
    looked_at: str
    not_looked_at: tuple[str, ...]
    next: str
    failure: str = ""

    @property
    def bad(self) -> list[tuple[str, Finding]]:
        """The errors and warnings."""
        return [pair for pair in self.findings if pair[1].is_bad]

    def text(self, here: Path, *, everything: bool = False) -> str:
        """Return the report for a person, with the notes if ``everything``; files are named as seen
        from ``here``."""
        bad, notes = self.bad, len(self.findings) - len(self.bad)
        counts = Counter(finding.severity for _, finding in bad)
        kinds: tuple[Severity, ...] = ("error", "warning")
        totals = ", ".join(plural(counts[kind], kind) for kind in kinds if counts[kind])
        until = f" before {self.failure}" if self.failure else ""
        blocks = [f"{self.target}: {totals or f'nothing suspicious was found{until}'}"]
        blocks += [
            "\n".join(
                [
                    finding_text(finding, here, marked(finding)),
                    *([f"  in {title}"] if title else []),
                ]
            )
            for title, finding in (self.findings if everything else bad)
        ]
        last = [f"looked at: {self.looked_at}"]
        if self.not_looked_at:
            last.append(f"not looked at: {'; '.join(self.not_looked_at)}")
        if notes and not everything:
            last.append(f"{plural(notes, 'note')}: --all lists {'it' if notes == 1 else 'them'}")
        if bad:
            last.append(f"what it means: gradstep explain {bad[0][1].code}")
        return "\n\n".join([*blocks, "\n".join([*last, f"next: {self.next}"])])

    def lines(self, here: Path) -> str:
        """Return one line for each error and warning, as compilers print them."""
        return "\n".join(one_line(finding, here) for _, finding in self.bad)

    def json(self, here: Path) -> str:
        """Return a JSON document, notes included; its schema is in the documentation."""

        def place(source: Source | None) -> dict[str, Any] | None:
            name = place_text(source, here).rpartition(":")[0]
            return None if source is None else {"file": name, "line": source.line}

        findings = [
            {
                "code": finding.code, "severity": finding.severity, "what": finding.what,
                "remedy": finding.remedy, "details": finding.details, "at": place(finding.source),
                "other": place(finding.other), "call": title, "node": finding.address,
                "leaves": list(finding.leaves), "count": finding.count,
                "fix": [{**(place(fix.source) or {}), "text": fix.text} for fix in finding.fix],
            }
            for title, finding in self.findings
        ]  # fmt: skip
        document = {
            "version": VERSION, "target": self.target, "calls": self.calls, "findings": findings,
            "looked_at": self.looked_at, "not_looked_at": list(self.not_looked_at),
            "next": self.next,
        }  # fmt: skip
        return json.dumps(document, indent=2, ensure_ascii=False)


def one_line(found: Finding, here: Path) -> str:
    """Return a finding as compilers print them: ``train.py:14: warning: ... [cut]``."""
    place = place_text(found.source, here, found.address)
    return f"{place}: {found.severity}: {found.what} [{found.code}]".removeprefix(": ")


def left(
    findings: Sequence[tuple[str, Finding]], ignored: Sequence[str], target: str
) -> list[tuple[str, Finding]]:
    """Leave out findings whose codes are ``ignored``, or are in a comment on one of their lines:
    ``# gradstep: ignore[cut]``; the commands of the others name ``target``."""
    return [
        (title, finding.naming(target))
        for title, finding in findings
        if finding.code not in ignored and finding.code not in set(_ignored_at(finding))
    ]


def _ignored_at(finding: Finding) -> Iterator[str]:
    for source in (finding.source, finding.other):
        comment = _IGNORED.search(_line(source))
        if comment is not None:
            yield from (code.strip() for code in comment[1].split(","))


def _line(source: Source | None) -> str:
    return "" if source is None else linecache.getline(source.file, source.line).rstrip()


def marked(found: Finding) -> list[str]:
    """Return the line that a finding is about, and a line with a mark below the part that is meant,
    where that is known: the one call of what its address or its text names."""
    line = dedent(_line(found.source))
    if not line or found.source is None:
        return []
    front = f"{found.source.line} | "
    shown = [f"    {front}{line}"]
    indent = len(_line(found.source)) - len(line)
    for name in dict.fromkeys(_CALLED.findall(f"{found.address} {found.what}")):
        part = operation_at(found.source, name)
        if part is not None:
            spaces, marks = " " * (part.at - indent), "^" * (part.end - part.at)
            shown.append(f"    {' ' * (len(front) - 2)}| {spaces}{marks}")
            break
    return shown


def finding_text(found: Finding, here: Path, lines: Sequence[str] = ()) -> str:
    """Return a finding for a person, with ``lines`` of the program; files are named as seen from
    ``here``."""
    where = " ".join(filter(None, [found.address, place_text(found.source, here)]))
    if found.other is not None:
        verb = {
            "changed": "changed at",
            "freed": "freed at",
            "not-finite": "after",
            "derivative": "its backward at",
        }.get(found.code, "and")
        where = f"{where}, {verb} {place_text(found.other, here)}"
    head = f"{found.severity} [{found.code}]{'  ' if where else ''}{where}"
    times = f" ({found.count} times)" if found.count > 1 else ""
    rows = [
        head,
        f"  {found.what}{times}",
        *lines,
        f"  remedy: {found.remedy}",
        *map(_fix_text, found.fix),
    ]
    return "\n".join([*rows, f"  details: {found.details}"] if found.details else rows)


def _fix_text(fix: Fix) -> str:
    first, *others = (fix.text or "# delete this line").split("\n")
    number = f"    {fix.source.line} |"
    blank = " " * (len(number) - 1) + "|"
    return "\n".join([f"{number} {first}", *(f"{blank} {line}" for line in others)])


def place_text(source: Source | None, here: Path, otherwise: str = "") -> str:
    """Return ``file:line`` as seen from ``here``, ``otherwise`` where there is none."""
    return otherwise if source is None else f"{portable(source.file, here)}:{source.line}"

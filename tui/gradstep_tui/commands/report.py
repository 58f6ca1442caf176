"""The findings of ``gradstep check`` as text: the worst first, each with its remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gradstep.findings.checking import NodeCheck
from gradstep.findings.linting import Finding
from gradstep.findings.reports.findings import finding_text, place_text
from gradstep.own_files import is_own_file
from gradstep.text import plural

_MOST_UNCHECKED = 5  # that are named unasked


@dataclass(frozen=True)
class Report:
    """The findings of lint and of the numeric check about ``title``."""

    title: str
    findings: tuple[Finding, ...]
    checks: tuple[NodeCheck, ...]

    def without(self, codes: Collection[str]) -> Report:
        """Return the same, without findings of these kinds."""
        return replace(self, findings=tuple(f for f in self.findings if f.code not in codes))

    def of(self, verdict: str) -> list[NodeCheck]:
        """Return the nodes with that verdict, in the order of the backward pass."""
        return [each for each in self.checks if each.verdict == verdict]

    @property
    def bad_findings(self) -> list[Finding]:
        """Those that are more than good to know."""
        return [found for found in self.findings if found.severity != "info"]

    @property
    def is_bad(self) -> bool:
        """True if anything is wrong."""
        return bool(self.of("wrong") or self.bad_findings)


def report_text(report: Report, here: Path, *, everything: bool, quiet: bool) -> str:
    """Return ``report`` for a person; files are named as seen from ``here``."""
    if quiet:
        return "\n".join(_short(report, here))
    blocks = [report.title]
    blocks += wrong_rules(report, here)
    blocks += [
        finding_text(found, here)
        for found in (report.findings if everything else report.bad_findings)
    ]
    blocks += _unchecked(report, here, everything)
    if everything:
        blocks += ["\n".join(_line("right", each, here) for each in report.of("right"))]
    return "\n\n".join(filter(None, [*blocks, _summary(report, everything)]))


def wrong_rules(report: Report, here: Path) -> list[str]:
    """Return what is said of each wrong rule."""
    return [_wrong(each, here, count) for each, count in _distinct(report.of("wrong"))]


def _short(report: Report, here: Path) -> Iterator[str]:
    for each in report.of("wrong"):
        yield f"{place_text(each.source, here, each.address)}: {each.sentence}"
    for found in report.bad_findings:
        place = place_text(found.source, here, found.address)
        yield f"{place}{': ' if place else ''}{found.severity}: {found.what} [{found.code}]"


def _distinct(checks: Sequence[NodeCheck]) -> list[tuple[NodeCheck, int]]:
    """Return the first node of each rule of the program that is wrong, and how many there are."""
    found: dict[Any, list[NodeCheck]] = {}
    for each in checks:
        wrong = tuple(nr for nr, one in enumerate(each.inputs) if one.verdict == "wrong")
        known = each.rule is not None and not is_own_file(each.rule.file)
        found.setdefault((each.op, each.rule, wrong) if known else id(each), []).append(each)
    return [(first, 1 + len(others)) for first, *others in found.values()]


def _wrong(found: NodeCheck, here: Path, count: int) -> str:
    more = f"  and {count - 1} more" if count > 1 else ""
    lines = [_line("WRONG", found, here) + more]
    for each in found.inputs:
        if each.verdict == "wrong":
            lines += [f"  {each.claim}", *([f"  {each.cause}"] if each.cause else [])]
    if found.rule is not None and not is_own_file(found.rule.file):
        lines.append(f"  the rule is defined at {place_text(found.rule, here)}")
    return "\n".join(lines)


def _unchecked(report: Report, here: Path, everything: bool) -> list[str]:
    """Return the nodes of which nothing can be said, each reason once."""
    by_reason: dict[str, list[NodeCheck]] = {}
    for each in report.of("not checkable"):
        by_reason.setdefault(each.why_not, []).append(each)
    shown = list(by_reason.items()) if everything else list(by_reason.items())[:_MOST_UNCHECKED]
    lines = [f"not checkable  {_nodes(checks, here)}\n  {reason}" for reason, checks in shown]
    if len(shown) < len(by_reason):
        lines.append(f"... and {len(by_reason) - len(shown)} more reasons (--all lists them)")
    return ["\n".join(lines)] if lines else []


def _nodes(checks: Sequence[NodeCheck], here: Path) -> str:
    first = checks[0]
    place = place_text(first.source, here)
    named = f"{first.address} {place}".rstrip()
    return named if len(checks) == 1 else f"{named} and {len(checks) - 1} more"


def _line(verdict: str, found: NodeCheck, here: Path) -> str:
    return "  ".join(
        filter(None, [verdict, found.op, found.address, place_text(found.source, here)])
    )


def _summary(report: Report, everything: bool) -> str:
    counts = {verdict: len(report.of(verdict)) for verdict in ("wrong", "right", "not checkable")}
    nodes = f"{plural(len(report.checks), 'node')}: " + ", ".join(
        f"{count:,} {verdict}" for verdict, count in counts.items() if count
    )
    severities = [found.severity for found in report.findings]
    found = [
        plural(severities.count(severity), word)
        for severity, word in (("error", "error"), ("warning", "warning"), ("info", "note"))
        if severity in severities
    ]
    hidden = not everything and "info" in severities
    parts = [*([nodes] if report.checks else []), *([", ".join(found)] if found else [])]
    return "; ".join(parts or ["no common mistakes found"]) + (
        " (--all lists notes too)" if hidden else ""
    )

"""Findings as text: what, where, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gradstep.capturing.sources import portable
from gradstep.findings.linting.finding import Finding, Fix
from gradstep.graph.model import Source


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

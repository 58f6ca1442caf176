"""Findings as data: what a program reads of them, without a sentence."""

from __future__ import annotations

import json
import linecache
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from math import isfinite
from pathlib import Path
from textwrap import dedent
from typing import Any, Final, NamedTuple

import numpy as np

from gradstep.capturing.sources import portable
from gradstep.capturing.statement import Operation, operation_at
from gradstep.findings.finding import Finding, Reason
from gradstep.findings.zeros import called_at
from gradstep.graph.model import Source

IGNORED: Final = re.compile(r"#\s*gradstep:\s*ignore\[([\w\s,-]+)\]")
"""The comment that leaves out what is found in its line."""
_OF_ALL: Final = {each.name for each in fields(Reason)}


class Raised(NamedTuple):
    """An exception that ended a program: its class and message, and the last line of the program
    that it came through, None where none is known."""

    type: str
    message: str
    at: Source | None = None


def line_of(source: Source | None) -> str:
    """Return the text of a line, "" where that is not known."""
    return "" if source is None else linecache.getline(source.file, source.line).rstrip()


def meant_part(finding: Finding) -> Operation | None:
    """Return the one call in the line of a finding that it is about, None where that is not
    known."""
    if finding.source is None:
        return None
    for name in dict.fromkeys([called_at(finding.address), *finding.reason.calls()]):
        part = operation_at(finding.source, name) if name else None
        if part is not None:
            return part
    return None


def identified(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, each with an id that ``--ignore`` takes, and that stays the same where
    lines move, files are renamed, or another call shows it."""
    counts: Counter[str] = Counter()
    named = []
    for finding in findings:
        text = IGNORED.sub("", line_of(finding.source)).strip()
        place = text or finding.reason.op
        key = repr((finding.code, place, sorted(finding.leaves)))
        counts[key] += 1
        digest = sha256(f"{key}{counts[key]}".encode()).hexdigest()[:6]
        named.append(replace(finding, id=f"{finding.code}-{digest}"))
    return named


def place(source: Source | None, here: Path, part: Operation | None = None) -> Any:
    """Return a line of the program, and from where to where ``part`` of it is, counted from 1."""
    if source is None:
        return None
    columns = {} if part is None else {"column": part.at + 1, "end_column": part.end + 1}
    return {
        "file": portable(source.file, here), "line": source.line, **columns,
        "text": dedent(line_of(source)),
    }  # fmt: skip


def evidence(reason: Reason, here: Path) -> Mapping[str, Any]:
    """Return what a reason knows, by the names of its fields."""
    known = {
        each.name: plain(getattr(reason, each.name), here)
        for each in fields(reason)
        if each.name not in _OF_ALL
    }
    return {"kind": type(reason).__name__.lstrip("_"), "fields": known}


def plain(value: Any, here: Path) -> Any:
    """Return a value as JSON has it: a number that is not finite is "nan", "inf" or "-inf", and
    what is no fact is null."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case np.generic():
            return plain(value.item(), here)
        case complex():
            return [plain(value.real, here), plain(value.imag, here)]
        case Source():
            return place(value, here)
        case Reason():
            line = place(value.source, here)
            return {**evidence(value, here), "leaves": list(value.leaves), "at": line}
        case Mapping():
            return {str(key): plain(each, here) for key, each in value.items()}
        case tuple() if hasattr(value, "_asdict"):
            return plain(value._asdict(), here)
        case list() | tuple():
            return [plain(each, here) for each in value]
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name), here) for each in fields(value)}
    return None


def as_json(value: Any, margin: str = "") -> str:
    """Return data as JSON, with the fields of an object below each other, and other lists in one
    line.

    >>> print(as_json({"a": [1, 2], "b": [{"c": None}]}))
    {
      "a": [1, 2],
      "b": [
        {
          "c": null
        }
      ]
    }
    """
    inner = f"{margin}  "
    match value:
        case dict() if value:
            rows = [f"{json.dumps(key)}: {as_json(each, inner)}" for key, each in value.items()]
            first, last = "{}"
        case list() if any(isinstance(each, dict | list) for each in value):
            rows = [as_json(each, inner) for each in value]
            first, last = "[]"
        case _:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
    body = f",\n{inner}".join(rows)
    return f"{first}\n{inner}{body}\n{margin}{last}"


def ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Return the first and the last of each row of numbers that follow each other.

    >>> ranges([1, 2, 3, 7])
    [[1, 3], [7, 7]]
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return rows

"""``.. releases:: FILE`` lists what other releases of PyTorch show otherwise than the reference.

The file is written by ``python -m tests.releases``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from generated import Generated, escaped
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "2.13"
NAMED = 3
"""Things in one row that are named; of more, it says how many."""


class Difference(NamedTuple):
    """What a release shows otherwise than the reference, of several things."""

    release: str
    of: list[str]
    here: str
    reference: str


class Releases(Generated):
    """Which releases show the same as the reference, and a row for each difference of others."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        facts = json.loads(path.read_text(encoding="utf-8"))
        rows = [row for release in facts for row in _differences(release, facts[release])]
        same = [release for release, differences in facts.items() if not differences]
        if same:
            yield f"{_listed(same)} show what {REFERENCE} shows."
        if rows:
            yield from ["", ".. list-table::", "   :header-rows: 1", "   :widths: 10 30 30 30", ""]
            yield from _row("PyTorch", "of", "shown there", f"shown with {REFERENCE}")
        for row in rows:
            yield from _row(row.release, _listed(row.of), row.here, row.reference)
        yield ""


def _differences(release: str, facts: dict[str, dict[str, str]]) -> list[Difference]:
    together: dict[tuple[str, str], list[str]] = {}
    for of, texts in facts.items():
        together.setdefault((texts["here"], texts["reference"]), []).append(of)
    return [Difference(release, of, *texts) for texts, of in together.items()]


def _listed(texts: list[str]) -> str:
    named = texts if len(texts) <= NAMED + 1 else texts[:NAMED]
    more = [f"{len(texts) - len(named)} more"] if len(texts) > len(named) else []
    *first, last = [*named, *more]
    return f"{', '.join(first)} and {last}" if first else last


def _row(*cells: str) -> Iterator[str]:
    for number, cell in enumerate(cells):
        yield f"   {' ' if number else '*'} - {escaped(cell)}"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("releases", Releases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The table of what other releases of PyTorch show: a row for each difference from 2.13."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="Sphinx is not installed")

ROOT = Path(__file__).parents[2]


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the directive has to say of some facts."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    releases: Any = importlib.import_module("releases")

    def of(facts: dict[str, Any]) -> str:
        path = tmp_path / "facts.json"
        path.write_text(json.dumps(facts), "utf-8")
        noting = SimpleNamespace(note_dependency=lambda path: None)
        directive = SimpleNamespace(arguments=[str(path)], env=noting)
        return "\n".join(releases.Releases.lines(directive))

    return of


def test_what_differs_alike_is_one_row(lines: Any) -> None:
    alike = {"here": "2", "reference": "1"}
    other = {"check a": alike, "check b": alike, "check d": {"here": "2", "reference": "nothing"}}
    text = lines({"2.9": {}, "2.10": other, "2.12": {}})
    assert text.startswith("2.9 and 2.12 show what 2.13 shows.")
    rows = [row.split("\n     - ") for row in text.split("   * - ")[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["2.10", "check a and check b", "2", "1"],
        ["2.10", "check d", "2", "nothing"],
    ]


def test_many_that_differ_alike_are_counted(lines: Any) -> None:
    alike = {"here": "2", "reference": "1"}
    text = lines({"2.8": {f"check {n}": alike for n in range(9)}})
    assert "check 0, check 1, check 2 and 6 more" in text


def test_each_release_that_has_a_session_was_run() -> None:
    (line,) = re.findall(r"^PYTORCHES = \[(.*)\]", (ROOT / "noxfile.py").read_text("utf-8"), re.M)
    facts = json.loads((ROOT / "docs" / "releases.json").read_text("utf-8"))
    assert {*re.findall(r'"([\d.]+)"', line)} <= facts.keys()

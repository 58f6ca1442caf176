"""What general mechanisms say of programs for whose mistakes there is no rule."""

from __future__ import annotations

import ast
import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradstep.findings.rules.run.result_unused import without_effect
from gradstep.findings.rules.run.unread import unread_of
from gradstep_tui.cli import main
from tests.check_corpus.running import numbers_of

FOLDER = Path(__file__).parent
BUGS: dict[str, dict[str, str]] = tomllib.loads((FOLDER / "table.toml").read_text("utf-8"))
BY_TEXT = [name for name, bug in BUGS.items() if bug["code"] in ("unread", "result-unused")]
SAMPLE = [*(name for name in BUGS if name not in BY_TEXT), random.Random(54).choice(BY_TEXT)]


def source_of(name: str) -> str:
    return (FOLDER / "programs" / f"{name}.py").read_text("utf-8")


def fixed(name: str) -> str:
    text, bug = source_of(name), BUGS[name]
    assert text.count(bug["old"]) == 1
    return text.replace(bug["old"], bug["new"])


def found_in(text: str) -> Iterator[tuple[str, int]]:
    tree = ast.parse(text)
    for reason in unread_of("train.py", tree):
        if reason.source is not None:
            yield reason.code, reason.source.line
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and without_effect(node.value, frozenset()):
            yield "result-unused", node.lineno


def test_each_program_is_in_the_table() -> None:
    assert sorted(BUGS) == sorted(path.stem for path in (FOLDER / "programs").glob("*.py"))


@pytest.mark.parametrize("name", BY_TEXT)
def test_the_text_tells_what_is_never_read(name: str) -> None:
    bug, text = BUGS[name], source_of(name)
    found = set(found_in(text))
    lines = numbers_of((bug["at"],), text)
    assert any((bug["code"], line) in found for line in lines)
    assert {code for code, _ in found} == {bug["code"]}


@pytest.mark.parametrize("name", BY_TEXT)
def test_the_fixed_program_reads_all(name: str) -> None:
    assert list(found_in(fixed(name))) == []


@pytest.mark.torch
@pytest.mark.parametrize("name", SAMPLE)
def test_the_report_names_the_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bug, text = BUGS[name], source_of(name)
    found = checked(tmp_path, text, capsys)
    lines = numbers_of((bug["at"],), text)
    assert any(each["code"] == bug["code"] and each["at"]["line"] in lines for each in found)
    for each in checked(tmp_path, fixed(name), capsys):
        assert each["severity"] == "info"
        assert each["code"] != bug["code"]


def checked(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    (folder / "train.py").write_text(text, "utf-8")
    main(["check", "--format", "json", str(folder / "train.py")])
    printed = capsys.readouterr().out
    document = json.loads(printed[printed.index("{") :])
    findings: list[dict[str, Any]] = document["findings"]
    return findings

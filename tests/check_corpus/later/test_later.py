"""The later corpus holds what its tables say; `python -m tests.check_corpus.later` measures it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.check_corpus.later.judging import Finding, Worth, alarms, worth
from tests.check_corpus.later.table import FOLDER, HALVES, Bug, Half, bugs, healthy, program_of
from tests.check_corpus.running import mended, numbers_of, run

WITH_BUGS = [(half, bug) for half in HALVES for bug in bugs(half)]
PROGRAMS = [program_of(half, bug) for half, bug in WITH_BUGS]
PROGRAMS += [program for half in HALVES for program in healthy(half)]
SAMPLE = random.Random(51).sample(PROGRAMS, 3)


@pytest.mark.parametrize("half", HALVES)
def test_each_program_is_in_the_table_of_its_half(half: Half) -> None:
    programs = sorted(program.stem for program in (FOLDER / half / "buggy").glob("*.py"))
    assert sorted(bug.name for bug in bugs(half)) == programs
    assert (len(programs), len(healthy(half))) == (30, 20)


def test_no_class_occurs_in_both_halves_nor_a_name_twice() -> None:
    kinds = {half: {bug.kind for bug in bugs(half)} for half in HALVES}
    assert kinds["read"].isdisjoint(kinds["unread"])
    names = [program.stem for program in PROGRAMS]
    assert len(names) == len({*names})


@pytest.mark.parametrize(("half", "bug"), WITH_BUGS, ids=lambda each: getattr(each, "name", each))
def test_the_table_fits_the_program(half: Half, bug: Bug) -> None:
    source = program_of(half, bug).read_text("utf-8")
    assert numbers_of(bug.at, source)
    compile(mended(bug, source), bug.name, "exec")
    assert bug.words
    assert bug.silent or bug.with_bug != bug.fixed


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_compiles_and_says_nothing_of_its_bug(program: Path) -> None:
    source = program.read_text("utf-8")
    compile(source, program.name, "exec")
    assert 40 <= len(source.splitlines()) <= 120
    assert "#" not in source


@pytest.mark.torch
@pytest.mark.parametrize("program", SAMPLE, ids=lambda program: program.stem)
def test_a_program_runs_to_its_end_and_prints_its_success(program: Path) -> None:
    ended = run(program.read_text("utf-8"), program.stem, "torch")
    if ended.error:
        raise ended.error
    assert any(character.isdigit() for character in ended.output.splitlines()[-1])


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        ([], "silence"),
        ([Finding("cut", frozenset({3}), "the mask is inverted")], "misleading"),
        ([Finding("cut", frozenset({3, 7}), "masks nothing")], "right place"),
        ([Finding("cut", frozenset({7}), "the mask is inverted")], "told"),
        (
            [
                Finding("cut", frozenset({3}), "the mask is inverted"),
                Finding("domain", frozenset({7}), "sqrt of 0"),
            ],
            "right place",
        ),
    ],
)
def test_findings_are_judged_by_their_lines_and_words(
    findings: list[Finding], expected: Worth
) -> None:
    assert worth(findings, [7, 8], ("mask|padding", "inverted|opposite")) == expected


def test_of_a_report_errors_and_warnings_count_with_all_lines_that_they_name() -> None:
    finding = {
        "code": "cut",
        "severity": "warning",
        "what": "made at line 4",
        "details": "    9 | y = x.detach()\n",
        "remedy": "see train.py:12",
        "at": {"file": "train.py", "line": 2},
        "other": {"file": "train.py", "line": 3},
    }
    (alarm,) = alarms({"findings": [finding, {**finding, "severity": "info"}]})
    assert (alarm.code, alarm.lines) == ("cut", {2, 3, 4, 9, 12})

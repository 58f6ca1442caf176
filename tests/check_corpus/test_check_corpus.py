"""The corpus holds what its table says: bugs that show, remedies that mend, and healthy programs.

What `gradstep check` says of them is measured by ``python -m tests.check_corpus``.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradstep_tui.cli import main
from tests.check_corpus.report import applied, verdict
from tests.check_corpus.running import (
    FOLDER,
    as_before,
    healthy_programs,
    holds,
    lines_of,
    mended,
    program_of,
    run,
    text,
)
from tests.check_corpus.table import BLIND, BUGS, Bug, engines_of

BY_NAME = {bug.name: bug for bug in BUGS}


def on(engine: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.torch] if engine == "torch" else []


with_bugs = pytest.mark.parametrize(
    ("bug", "engine"),
    [
        pytest.param(bug, engine, id=f"{bug.name}-{engine}", marks=on(engine))
        for bug in BUGS
        for engine in bug.engines
    ],
)
without_bugs = pytest.mark.parametrize(
    ("program", "engine"),
    [
        pytest.param(program, engine, id=f"{program.stem}-{engine}", marks=on(engine))
        for program in healthy_programs()
        for engine in engines_of(program.stem)
    ],
)


@pytest.mark.sampled(16)
@with_bugs
def test_a_bug_shows_and_its_remedy_mends_it(bug: Bug, engine: str) -> None:
    source = text(program_of(bug), engine)

    ill = run(source, bug.name, engine)
    if bug.error:
        assert bug.error in str(ill.error)
    elif ill.error:
        raise ill.error
    assert holds(bug.symptom, ill.variables, engine)

    well = run(mended(bug, source), bug.name, engine)
    if well.error:
        raise well.error
    assert bug.symptom == "True" or not holds(bug.symptom, well.variables, engine)
    assert all(math.isfinite(loss) for loss in losses(well.variables))


def losses(variables: dict[str, Any]) -> Iterator[float]:
    for name, value in variables.items():
        if "loss" in name and isinstance(value, float):
            yield value
        elif "loss" in name and hasattr(value, "numel"):
            yield value.sum().item()


@pytest.mark.sampled(16)
@without_bugs
def test_a_healthy_program_learns(program: Path, engine: str) -> None:
    ended = run(text(program, engine), program.stem, engine)
    if ended.error:
        raise ended.error
    history = ended.variables["history"]
    assert all(math.isfinite(loss) for loss in history)
    fifth = -(-len(history) // 5)
    assert sum(history[-fifth:]) < 0.9 * sum(history[:fifth])


# PyTorch warns while our frames are the innermost ones, which pytest would take for our warnings
@pytest.mark.filterwarnings("default")
@pytest.mark.sampled(6, torch=4)
@without_bugs
def test_check_finds_nothing_in_a_healthy_program(
    program: Path,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(text(program, engine), "utf-8")
    linecache.clearcache()
    with as_before(engine):
        code = main(["check", "train.py"])
    assert (code, verdict(capfd.readouterr().out, code, None).codes) == (0, ())


IN_WORDS = (
    "action_chosen_by_argmax",
    "argmax_in_a_loss_term",
    "codebook_loss_on_the_copied_code",
    "critic_frozen_for_good",
    "ctc_target_too_long",
    "deep_sigmoids",
    "discriminator_stepped_between",
    "features_through_numpy",
    "gradients_switched_off_by_evaluate",
    "half_precision_norm_overflows",
    "inplace_relu_changes_the_skip",
    "kl_term_with_the_wrong_sign",
    "labels_from_one_on",
    "lambda_returns_the_rate",
    "layer_made_in_forward",
    "learning_rate_too_high",
    "log_std_outside_its_clamp",
    "loss_forced_to_require_grad",
    "optimizer_made_for_each_batch",
    "own_predictions_as_targets",
    "penalty_larger_than_the_loss",
    "pixels_saturate_the_sigmoid",
    "place_rounded_to_an_index",
    "prices_beyond_the_clamp",
    "recurrence_explodes",
    "relu_on_the_output",
    "scheduler_stepped_per_batch",
    "sentence_of_padding_only",
    "vae_variance_overflows",  # of three places, it mends one in each run
    "zeroed_in_each_micro_batch",
)
"""The report has no line of code that mends these, so that the remedy of the table does."""
STILL_TRUE = {
    "cross_entropy_by_hand": {"saturated"},
    "log_of_a_vanished_probability": {"saturated"},
}
"""What check rightly says of a program after its remedy, too: it has another problem."""


# PyTorch warns while our frames are the innermost ones, which pytest would take for our warnings
@pytest.mark.filterwarnings("default")
@pytest.mark.sampled(4, torch=2)
@with_bugs
def test_check_finds_a_bug_and_nothing_of_it_after_the_remedy_that_it_prints(
    bug: Bug,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    source = text(program_of(bug), engine)

    def checked(program: str) -> tuple[set[str], str]:
        Path("train.py").write_text(program, "utf-8")
        linecache.clearcache()
        with as_before(engine):
            code = main(["check", "train.py"])
        report = capfd.readouterr().out
        return set(verdict(report, code, None).codes), report

    found, report = checked(source)
    assert found
    if bug.name in IN_WORDS:
        better = mended(bug, source)
    else:
        better = applied(report, source)
        assert better != source
        assert not run(better, bug.name, engine).error
    assert not (found & checked(better)[0]) - STILL_TRUE.get(bug.name, set())


def test_each_program_is_in_the_table_once() -> None:
    programs = sorted(program.stem for program in (FOLDER / "buggy").glob("*.py"))
    assert sorted(bug.name for bug in BUGS) == programs
    assert len(BUGS) >= 60
    assert len(healthy_programs()) >= 30


def test_every_second_program_is_held_out() -> None:
    assert {bug.half for bug in (*BUGS[:BLIND:2], *BUGS[BLIND:])} == {"seen"}
    assert {bug.half for bug in BUGS[1:BLIND:2]} == {"held_out"}


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_the_lines_of_the_table_are_in_the_program(bug: Bug) -> None:
    assert lines_of(bug)
    assert mended(bug, program_of(bug).read_text("utf-8"))


@pytest.mark.parametrize(
    ("report", "code", "codes", "told"),
    [
        ("1 warning\n\nwarning [domain]  train.py:11\n  sqrt'(0) is inf\n", 5, ("domain",), True),
        ("error [not-finite]\n  at line 11 a sqrt of 0\n", 5, ("not-finite",), True),
        ("warning [domain]  train.py:12\n  sqrt'(0) is inf\n", 5, ("domain",), False),
        ("warning [domain]  train.py:11\n  NaN\n", 5, ("domain",), False),
        ("warning [domain]  train.py:11\n  rsqrts\n", 5, ("domain",), False),
        ("note [domain]  train.py:11\n  sqrt\n", 0, (), False),
    ],
)
def test_a_report_is_judged_by_lines_and_names(
    report: str, code: int, codes: tuple[str, ...], told: bool
) -> None:
    said = verdict(report, code, BY_NAME["distance_of_equal_points"])
    assert (said.found, said.codes, said.told) == (code == 5, codes, told)

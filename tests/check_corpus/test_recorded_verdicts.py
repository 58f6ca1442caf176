"""A recording gives the verdict of the live run, as far as it holds what the rules need."""

from __future__ import annotations

import json
import linecache
from functools import partial
from pathlib import Path

import pytest

from gradstep.findings.rules.graph.lost_graph import NO_GRAPH
from gradstep.findings.whole_run.recorded import given_by
from gradstep.findings.whole_run.watch import Watch
from gradstep.recording.reading import FileRun
from gradstep_tui.cli import main
from gradstep_tui.commands import check_run
from tests.check_corpus.running import FOLDER, as_before, healthy_programs, text
from tests.check_corpus.table import ALL, BUGS, TORCH_ONLY

BUGS_OF_SAMPLES = Path(__file__).parents[2] / "samples" / "bugs"
PROGRAMS = sorted(BUGS_OF_SAMPLES.glob("*.py"))
PROGRAMS += [FOLDER / "buggy" / f"{bug.name}.py" for bug in BUGS if bug.engines == ALL]
PROGRAMS += [program for program in healthy_programs() if program.stem not in TORCH_ONLY]


@pytest.mark.filterwarnings("default")  # PyTorch warns while our frames are the innermost ones
@pytest.mark.sampled(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
@pytest.mark.parametrize(
    "engine", [pytest.param(each, marks=[pytest.mark.torch] * (each == "torch")) for each in ALL]
)
def test_a_recording_says_what_the_live_run_does_as_far_as_it_holds_the_facts(
    program: Path,
    engine: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(text(program, engine), "utf-8")

    def codes(target: str) -> set[str]:
        linecache.clearcache()
        with as_before(engine):
            main(["check", "--format", "json", target])
        printed = capfd.readouterr().out
        report = json.loads(printed[printed.index('{\n  "version"') :])
        return {each["code"] for each in report["findings"] if each["severity"] != "info"}

    with as_before(engine):
        main(["record", "--budget", "none", "-o", "run.gsr", "train.py"])
    with FileRun(Path("run.gsr")) as run:
        given = given_by(run)
        if not run.indices:
            return
    recorded = codes("run.gsr")
    monkeypatch.setattr(check_run, "Watch", partial(Watch, given=given))
    # that a loss has no graph is no call, and is not recorded
    assert recorded == codes("train.py") - {NO_GRAPH.code}

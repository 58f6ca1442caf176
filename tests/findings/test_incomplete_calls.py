"""After a failure of ours, no rule claims anything about that call, or of what all calls have in
common: functions of ours are made to fail while `check` looks at a program without a bug."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradstep.findings.facts import Facts
from gradstep.findings.rules.graph.overflow import Overflow
from gradstep.findings.whole_run.conclusions import certain, conclusions
from gradstep.guest.fence import not_shown, tell_anew
from gradstep.recording.facts import CallFacts, Header
from gradstep.recording.reading import FileRun
from gradstep.recording.run import MemoryRun
from tests.forking import ROOT, run_python

SABOTAGE = str(ROOT / "tests" / "engines" / "sabotage.py")
PROGRAM = """
import {library} as torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
x = torch.rand(16, 3)
for step in range(4):
    loss = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
ALWAYS = (
    "engines/{engine}.py:{plan}*", "capturing/names.py:_listed*", "recording/leaves.py:_owners*",
    "findings/whole_run/watch.py:Watch._note_reached_inside*",
)  # fmt: skip
"""What was followed by claims when it failed at each call, and what begins or ends one."""


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_function_that_fails_is_followed_by_no_claim(
    library: str, tmp_path: Path, sample: Callable[[Any, int], list[Any]]
) -> None:
    pytest.importorskip(library)
    (tmp_path / "train.py").write_text(PROGRAM.format(library=library), "utf-8")

    def run(*words: str) -> Any:
        return run_python([SABOTAGE, *words, "train.py"], tmp_path, {"PYTHONPATH": str(ROOT)})

    assert run("--", "check").returncode == 0
    functions = (tmp_path / "functions").read_text("utf-8").splitlines()
    assert len(functions) > 50
    native = {"engine": "native/__init__", "plan": "NativeReading.plan"}
    known = {"engine": "pytorch/order", "plan": "plan_of"} if library == "torch" else native
    chosen = [*(name.format(**known) for name in ALWAYS), *sample(functions, 3)]
    for function in (*chosen, *(f"{name}*" for name in sample(functions, 3))):
        done = run(function, "--", "check", "--format", "json")
        if done.returncode == 3:  # no call was seen
            assert "not shown" in done.stderr
            continue
        report = json.loads(done.stdout)
        assert report["findings"] == [], function
        if "not shown" in done.stderr:
            assert "gradstep failed at some" in json.dumps(report), function


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_recording_tells_which_calls_are_not_complete(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    (tmp_path / "train.py").write_text(PROGRAM.format(library=library), "utf-8")
    words = ["recording/leaves.py:LeafWatch.after*", "--", "record", "train.py"]
    done = run_python([SABOTAGE, *words], tmp_path, {"PYTHONPATH": str(ROOT)})
    assert "not shown: the leaves of backward() call 1" in done.stderr
    run = FileRun(tmp_path / "run.gsr")
    assert run.incomplete == [1, 2, 3, 4]
    run.close()
    checked = run_python(["-m", "gradstep", "check", "run.gsr"], tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert "not looked at: what all calls have in common" in checked.stdout


def test_what_was_found_in_other_calls_is_told() -> None:
    facts = Facts(MemoryRun(Header()))
    for number in (1, 2):
        call = CallFacts(number, "backward", number, None, "leaves")
        facts.run.add_begun(call)  # type: ignore[attr-defined]
        facts.seen.append((call.title, Overflow("exp", "inf")))
    assert len(certain(facts)) == 2
    facts.run.add_incomplete(2)  # type: ignore[attr-defined]
    assert [each.finding.call for each in conclusions(facts)] == ["backward() call 1"]
    assert [finding.call for finding in certain(facts)] == ["backward() call 1"]


def test_a_failure_between_calls_makes_a_run_incomplete(capsys: pytest.CaptureFixture[str]) -> None:
    facts = Facts(MemoryRun(Header()))
    assert facts.is_complete
    not_shown("what runs between calls", KeyError("x"))
    tell_anew()
    assert not facts.is_complete
    assert facts.failures.noted()
    assert facts.is_complete
    assert "not shown" in capsys.readouterr().err

"""Commands on a recording, where neither PyTorch nor the script is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograd_core as torch
from gradstep.program.process import run_as_main
from gradstep.program.target import parse_target
from gradstep.recording import observing
from gradstep.recording.facts import Level
from gradstep.recording.recorder import Flight
from gradstep.recording.schedule import Schedule
from gradstep_tui.cli import main
from tests.recording.watched import recording

SCRIPT = """\
import autograd_core as torch
torch.manual_seed(0)
w = torch.randn(3, 2, requires_grad=True)
x = torch.randn(4, 3)
for step in range(4):
    loss = (x @ w).tanh().square().mean()
    loss.backward()
    with torch.no_grad():
        w.sub_(0.1 * w.grad)
        w.grad = None
"""


@pytest.fixture(scope="module", params=["stats", "all"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A recording of all calls but the third, whose script is gone."""
    folder = tmp_path_factory.mktemp("run")
    script = folder / "train.py"
    script.write_text(SCRIPT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        schedule = Schedule(request.param, lambda number, kind: number != 3, last=False)
        with recording(folder / "run.gsr", schedule):
            run_as_main(parse_target("train.py"), [])
        script.unlink()
        patch.setitem(sys.modules, "torch", None)  # it cannot be imported
        yield folder / "run.gsr"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(words)
    told = capsys.readouterr()
    return code, told.out + told.err


def test_pictures_films_and_reasons(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["render", "--view", "backward"], ["render", "--call", "last"], ["film"]):
        file = tmp_path / "made.svg"
        assert ran(capsys, *command, "-o", str(file), str(run))[0] == 0
        assert "tanh" in file.read_text()
    code, told = ran(capsys, "why", "--call", "1", str(run), "w")
    assert code == 0
    assert "nothing is wrong with w.grad" in told
    assert "w changed by rms" in told
    assert "before backward() call 2" in told
    assert "#1 mean:1 -> #2 pow:1 -> #3 tanh:1 -> #4 mm:1 -> #5 w" in told


@pytest.mark.parametrize("values", ["stats", "all"])
def test_a_nan_is_explained_from_a_flight_recording(
    values: Level, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.gsr"
    w = torch.ones(3, requires_grad=True)
    with recording(path, Schedule(values), Flight(("nan",), keep=2)):
        for number in range(5):
            w.grad = None
            ((w - float(number == 3)) ** 2).sum().sqrt().backward()
    code, told = ran(capsys, "why", str(path), "w")
    assert code == 5
    assert told.startswith("backward() call 4\nw.grad is nan at 3 of 3 places: out of #1 sqrt:1")
    assert "saved.result  0" in told
    code, told = ran(capsys, "debug", "--fail-on", "nan,inf", str(path))
    assert code == 5
    assert "backward() call 4: out of #1 sqrt:1 is inf" in told
    code, told = ran(capsys, "check", str(path))
    assert code == 5
    assert "in backward() call 4, the gradient that sqrt:1 sends on is inf" in told
    assert "; w.grad is nan" in told


def test_tensors_for_which_there_was_no_room_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing, "TENSORS", 100)
    path = tmp_path / "run.gsr"
    w = torch.ones(3, 2, requires_grad=True)
    with recording(path, Schedule("all", budget=None)):
        (torch.ones(40, 3) @ w).tanh().square().mean().backward()
    code, told = ran(capsys, "check", str(path))
    assert code == 0
    assert "nothing found in what the recording holds" in told


def test_a_recording_tells_what_no_optimizer_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.gsr"
    used, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    sgd = torch.optim.SGD(used.parameters(), lr=0.1)
    with recording(path, Schedule("leaves", budget=None)):
        for _ in range(6):
            sgd.zero_grad()
            other(used(torch.ones(3, 2))).square().mean().backward()
            sgd.step()
    code, told = ran(capsys, "check", str(path))
    assert code == 5
    assert "other.weight and other.bias never learn: sgd lacks them" in told


def test_the_debugger_goes_through_the_calls(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["break tanh", "continue", "info node", "back", "print rms", "scale 2"]
    words = [word for line in lines for word in ("--ex", line)]
    code, told = ran(capsys, "debug", "--batch", *words, str(run))
    assert code == 2
    assert "this is a recording: it can be looked at, not changed" in told
    assert "breakpoint 1" in told
    words = ["--ex", "next 2", "--ex", "info node", "--ex", "quit"] * 3
    code, told = ran(capsys, "debug", "--batch", *words, str(run))
    assert (code, told.count("(gradstep) info node")) == (0, 3)
    condition = ["debug", "--batch", "--ex", "next 3", "--ex", "print mean(in)"]
    code, told = ran(capsys, *condition, str(run))
    assert ("were not recorded" in told) == (code == 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["render", "--call", "3"], "backward() call 2 is the nearest one in full"),
        (["render", "--call", "9"], "the recording has no such call; --call takes 1, 2, 4"),
        (["render", "--call", "grad:1"], "the recording has no such call"),
    ],
)
def test_what_is_not_there_is_said(
    run: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = ran(capsys, *words, str(run))
    assert code in (2, 3)
    assert said in told


@pytest.mark.parametrize(("calls", "end"), [(11, "9, 10, 11"), (12, "9, 10, ... 12")])
def test_of_many_calls_the_first_ten_and_the_last_are_listed(
    calls: int, end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = torch.ones(2, requires_grad=True)
    with recording(tmp_path / "run.gsr", Schedule(every=1)):
        for _ in range(calls):
            x.exp().sum().backward()
    _, told = ran(capsys, "render", "--call", "99", str(tmp_path / "run.gsr"))
    assert f"--call takes 1, 2, 3, 4, 5, 6, 7, 8, {end}" in told.splitlines()[-1]


def test_a_damaged_file_is_said_to_be_one(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content, said in (
        ("cut.gsr", run.read_bytes()[:20_000], "is damaged"),
        ("text.gsr", b"hello", "is not a recording"),
    ):
        (tmp_path / name).write_bytes(content)
        code, told = ran(capsys, "debug", "--batch", "--ex", "next", str(tmp_path / name))
        assert (code, said in told) == (3, True)
    code, told = ran(capsys, "render", str(tmp_path / "non.gsr"))
    assert (code, "does not exist" in told) == (3, True)

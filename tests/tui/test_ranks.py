"""In a job of several processes, one of them shows what there is to show."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.forking import run_gradstep

SCRIPT = """\
import autograd_core as torch

x = torch.tensor([3.0, 0.0], requires_grad=True)
for step in range(2):
    (x / x).sum().backward()
    print("step", step)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    return tmp_path


def run_as(rank: int, folder: Path, *arguments: str, of: int = 2) -> CompletedProcess[str]:
    return run_gradstep(arguments, folder, {"RANK": str(rank), "WORLD_SIZE": str(of)})


def files(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.name != "train.py")


@pytest.mark.parametrize(("command", "name"), [("render", "train"), ("film", "train-film")])
def test_the_first_process_alone_writes_a_file(command: str, name: str, folder: Path) -> None:
    silent = run_as(1, folder, command, "train.py")
    assert (silent.returncode, silent.stderr, files(folder)) == (0, "", [])
    told = run_as(0, folder, command, "train.py")
    assert told.stderr.startswith(f"[rank0]: gradstep: wrote {name}.svg")
    assert files(folder) == [f"{name}.svg"]


@pytest.mark.parametrize(("command", "name"), [("render", "train"), ("film", "train-film")])
def test_each_process_may_write_a_file_of_its_own(command: str, name: str, folder: Path) -> None:
    for rank in (0, 1):
        run_as(rank, folder, command, "--on-rank", "all", "train.py")
    assert files(folder) == [f"{name}.rank0.svg", f"{name}.rank1.svg"]


def test_another_process_can_be_chosen(folder: Path) -> None:
    found = [run_as(rank, folder, "why", "--on-rank", "1", "train.py", "x") for rank in (0, 1)]
    assert "x.grad" not in found[0].stdout
    assert all(
        line.startswith("[rank1]: ") for line in found[1].stdout.splitlines() if "step" not in line
    )
    assert "x.grad is nan" in found[1].stdout


def test_a_check_is_reported_by_every_process(folder: Path) -> None:
    for rank in (0, 1):
        found = run_as(rank, folder, "check", "-q", "train.py")
        assert found.returncode == 5
        assert f"[rank{rank}]: train.py:5: warning: " in found.stdout
    assert "[rank" not in run_as(1, folder, "check", "--on-rank", "0", "-q", "train.py").stdout


def test_every_process_watches_for_a_condition(folder: Path) -> None:
    for rank in (0, 1):
        found = run_as(rank, folder, "debug", "--fail-on", "nan", "train.py")
        assert found.returncode == 5
        assert found.stderr.startswith(f"[rank{rank}]: gradstep: backward() call 1: ")


@pytest.mark.parametrize("more", [["--until", "nan"], ["--batch", "--ex", "next"]])
def test_a_process_that_is_not_chosen_runs_as_without_us(more: list[str], folder: Path) -> None:
    found = run_as(1, folder, "debug", "--on-rank", "0", *more, "train.py")
    assert (found.returncode, found.stdout, found.stderr) == (0, "step 0\nstep 1\n", "")


def test_errors_of_the_script_are_told_by_every_process(folder: Path) -> None:
    (folder / "train.py").write_text("1 / 0", "utf-8")
    found = run_as(1, folder, "render", "train.py")
    assert found.returncode == 1
    assert "[rank1]: ZeroDivisionError: division by zero" in found.stderr


@pytest.mark.parametrize(
    ("wanted", "of", "problem"),
    [
        ("2", 2, "name a process from 0 to 1, or all"),
        ("-1", 2, "name a process from 0 to 1, or all"),
        ("first", 2, "name a process from 0 to 1, or all"),
        ("1", 1, "there is only one process"),
    ],
)
def test_a_process_that_there_is_not_is_refused(
    wanted: str, of: int, problem: str, folder: Path
) -> None:
    found = run_as(0, folder, "render", f"--on-rank={wanted}", "train.py", of=of)
    assert found.returncode == 2
    assert problem in found.stderr
    assert files(folder) == []


def test_a_single_process_is_not_numbered(folder: Path) -> None:
    assert run_gradstep(["render", "train.py"], folder).stderr == "gradstep: wrote train.svg\n"
    assert run_as(0, folder, "render", "train.py", of=1).stderr == "gradstep: wrote train.svg\n"


def test_processes_of_the_script_itself_are_pointed_out(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "from multiprocessing import Process\n"
        "if __name__ == '__main__':\n"
        "    worker = Process(target=print, args=('trained',))\n"
        "    worker.start()\n"
        "    worker.join()\n",
        "utf-8",
    )
    found = run_gradstep(["render", "train.py"], tmp_path)
    assert found.returncode == 3
    assert "start them with torchrun --no-python gradstep ..." in found.stderr


JOB = """\
import os
import autograd_core as torch

rank = int(os.environ["RANK"])
w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(3):
    x = torch.tensor([3.0, float("nan") if rank == 1 and step == 1 else 4.0])
    h = w * x
    if rank != 2 or step != 2:
        h = h.tanh()
    h.sum().backward()
    w.grad = None
"""


@pytest.fixture
def recordings(folder: Path) -> list[str]:
    """Recordings of three processes, of which one has a NaN, and one another graph."""
    (folder / "job.py").write_text(JOB, "utf-8")
    for rank in range(3):
        run_as(rank, folder, "record", "--on-rank", "all", "-o", "run.gsr", "job.py", of=3)
    return [f"run.rank{rank}.gsr" for rank in (1, 0, 2)]


def test_recordings_of_a_job_are_compared_and_checked(folder: Path, recordings: list[str]) -> None:
    found = run_gradstep(["diff", "--ranks", *recordings], folder)
    assert found.returncode == 5
    lines = found.stdout.splitlines()
    assert lines[0] == "rank 1: backward() call 2: nan in the result of mul:1, job.py:8"
    assert lines[1].startswith("rank 2: backward() call 3: its graph is not that of rank 0: ")
    checked = run_gradstep(["check", *recordings], folder)
    assert checked.returncode == 5
    assert checked.stdout.startswith("\n".join(lines))
    assert "run.rank1.gsr: 1 warning" in checked.stdout
    told = run_gradstep(["check", "--format", "json", *recordings], folder)
    document = json.loads(told.stdout)
    assert document["findings"][0]["ranks"] == [1]
    assert document["report"]["version"] == 2
    twice = run_gradstep(["diff", "--ranks", recordings[0], recordings[0]], folder)
    assert (twice.returncode, "are both of rank 1" in twice.stderr) == (2, True)


def test_the_debugger_goes_from_rank_to_rank(folder: Path, recordings: list[str]) -> None:
    words = ("next", "rank 1", "next", "info leaves", "rank", "rank 2", "rank 0", "rank")
    options = [option for word in words for option in ("--ex", word)]
    found = run_gradstep(["debug", "--batch", "--call", "2", *options, *recordings], folder)
    assert found.returncode == 0, found.stderr
    assert "rank 1; the others are 0, 2\n" in found.stdout
    assert found.stdout.endswith("rank 0; the others are 1, 2\n")
    wrong = run_gradstep(["debug", "--batch", "--ex", "rank 7", *recordings], folder)
    assert "there is no rank '7': rank 0; the others are 1, 2" in wrong.stderr
    alone = run_gradstep(["debug", "--batch", "--ex", "rank", recordings[0]], folder)
    assert "this is one process" in alone.stderr

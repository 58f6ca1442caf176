"""What is shown of a tensor that is sharded over processes is said to be the part of one."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch.distributed", reason="PyTorch is not installed, or without processes")

from tests.engines.test_collectives import prepared, run  # which needs it
from tests.forking import run_gradstep

pytestmark = pytest.mark.torch

PART = "(this rank's part)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared("tensor_parallel", tmp_path_factory.mktemp("job"))


def shown(folder: Path, *words: str) -> str:
    """Return what the first process prints under a command."""
    first, _ = run(["-m", "gradstep", words[0], "--on-rank", "0", *words[1:]], folder)
    assert "defect" not in first.said
    return first.printed


def line_of(name: str, text: str) -> str:
    return next(line for line in text.splitlines() if f"{name} " in line)


def test_the_debugger_says_so(folder: Path) -> None:
    commands = ("next 4", "info saved", "print saved.mat2", "continue", "info leaves")
    words = [word for command in commands for word in ("--ex", command)]
    text = shown(folder, "debug", "--batch", *words, "train.py")
    assert PART in line_of("up.weight.grad", text)
    assert PART not in line_of("down.bias.grad", text)  # each process has all of it
    assert "saved.mat2  [8, 8] float32  this rank's part of [16, 8]" in text


def test_why_and_a_picture_say_so(folder: Path) -> None:
    assert PART in line_of("value", shown(folder, "why", "--call", "2", "train.py", "up.weight"))
    words = ("render", "--call", "2", "--format", "txt", "-o", "-", "train.py")
    assert "of 8 sharded gradients, this rank's part" in shown(folder, *words)


def test_nothing_is_claimed_of_a_whole_tensor_whose_part_gets_no_gradient(tmp_path: Path) -> None:
    folder = prepared("sequence_parallel", tmp_path)
    text = (folder / "train.py").read_text("utf-8")
    words = "torch.randint(16, (2, 4))"
    assert words in text  # of which the second process has the later half
    (folder / "train.py").write_text(text.replace(words, "torch.randint(7, (2, 4))"), "utf-8")
    for done in run(["-m", "gradstep", "check", "train.py"], folder):
        assert done.code == 0, done.printed


def test_a_recording_says_so(folder: Path) -> None:
    shown(folder, "record", "--values", "all", "-o", "run.gsr", "train.py")
    words = ("--ex", "continue", "--ex", "info leaves")
    text = run_gradstep(["debug", "--batch", *words, "run.gsr"], folder).stdout
    assert PART in line_of("up.weight.grad", text)
    assert PART not in line_of("down.bias.grad", text)

"""``gradstep completion``: what a shell completes, asked of bash itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradstep_tui.cli import COMMANDS, main
from tests.forking import run_gradstep

ROOT = Path(__file__).parents[2]
TRAINING = """
import autograd_core as torch

net = torch.nn.Linear(2, 1)
net(torch.ones(3, 2)).sum().backward()
"""
ASK = """
source completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_shtab_gradstep
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, a recording of it, the script that bash reads, and the command."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "train.py").write_text(TRAINING)
    assert run_gradstep(["record", "-o", "run.gsr", "train.py"], folder).returncode == 0
    done = run_gradstep(["completion", "bash"], folder)
    assert (done.returncode, done.stderr) == (0, "")
    (folder / "completion.bash").write_text(done.stdout)
    command = folder / "bin" / "gradstep"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m gradstep "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.mark.extra("completion")
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("gradstep rec", {"record"}),
        ("gradstep ", set(COMMANDS)),
        ("gradstep render --theme ", {"auto", "light", "dark"}),
        ("gradstep check --derivat", {"--derivatives"}),
        ("gradstep debug trai", {"train.py"}),
        ("gradstep why run.gsr ", {"net.weight", "net.bias"}),
        ("gradstep why train.py ", {""}),
    ],
)
def test_bash_completes(folder: Path, words: str, completions: set[str]) -> None:
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "viz", ROOT / "tui")))
    search = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", ASK, "bash", *words.split(" ")],
        cwd=folder, env={**os.environ, "PATH": search, "PYTHONPATH": paths},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(done.stdout.splitlines()) == completions


@pytest.mark.extra("completion")
@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "gradstep completion --leaves" in script
    assert "derivatives" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_a_shell_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion"]) == 2
    assert "name a shell: bash, zsh, fish" in capsys.readouterr().err

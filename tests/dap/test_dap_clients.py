"""Sessions by clients that others wrote, where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CONFIGURATION = HERE.parents[1] / "editors" / "emacs" / "gradstep.el"
PROGRAM = """\
import autograd_core as torch
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
x = torch.tensor([2.0, 0.0, 1.0])
y = w * x
z = y * y
loss = z.sum() + (w * 2).sum()
loss.backward()
print("grad", w.grad.tolist())
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which ``gradstep`` is this one."""
    (tmp_path / "program.py").write_text(PROGRAM)
    command = tmp_path / "bin" / "gradstep"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradstep "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path)}


def runs(words: list[str]) -> bool:
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_the_test_client_of_vs_code(environment: dict[str, str], tmp_path: Path) -> None:
    if not runs(["node", "-e", "require('@vscode/debugadapter-testsupport')"]):
        pytest.skip("Node.js has no @vscode/debugadapter-testsupport on NODE_PATH")
    script, program = HERE / "vscode_session.js", tmp_path / "program.py"
    command = ["node", str(script), str(tmp_path / "bin" / "gradstep"), str(program)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    # fmt: off
    assert run.stdout.splitlines()[:4] == [
        "#5 mul:2 program.py:5", "#4 sum:1 program.py:6", "#1 add:1 program.py:6",
        "Inputs in = 1 everywhere",
    ]
    assert run.stdout.splitlines()[-4:] == [
        "next step", "stepIn step", "stepBack step", "reverseContinue breakpoint"
    ]
    # fmt: on


def test_dap_mode_of_emacs(environment: dict[str, str], tmp_path: Path) -> None:
    batch = ["emacs", "--batch", "--eval", "(package-initialize)"]
    if not runs([*batch, "--eval", "(require 'dap-mode)"]):
        pytest.skip("there is no Emacs with dap-mode")
    command = ["emacs", "--batch", "-l", str(HERE / "emacs_session.el"), str(CONFIGURATION),
               str(tmp_path / "program.py")]  # fmt: skip
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    stops = [line for line in run.stderr.splitlines() if line.startswith(("stop", "=>", "grad"))]
    assert stops == [
        "stop 1: #1 add:1", "stop 2: #2 sum:2", "stop 3: #5 mul:2", "stop 4: #4 sum:1",
        "=> rms 2.16, 1 to 3", "grad [10.0, 2.0, 8.0]",
    ]  # fmt: skip

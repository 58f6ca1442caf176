"""Processes that a program forks end as they would plainly: the command's end is the parent's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import run_gradstep, run_python

SCRIPT = """\
import os, sys
import autograd_core as torch
x = torch.tensor(2.0, requires_grad=True)
(x * x).backward()
loss = x * 3
assert not loss.dim()
sys.stdout.flush()
for ending in ("runs on", "exits", "complains", "raises"):
    child = os.fork()
    if child:
        print(ending, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    elif ending == "runs on":
        loss = None
        break
    elif ending == "exits":
        sys.exit(0)
    elif ending == "complains":
        sys.exit("no more data")
    else:
        raise ValueError("no such file")
"""
COMMANDS = {
    "render": ["render", "--call", "last", "-o", "graph.txt"],
    "film": ["film", "--call", "last", "-o", "film.html"],
    "debug": ["debug", "--batch", "--ex", "continue"],
    "certify": ["debug", "--certify"],
    "fail-on": ["debug", "--fail-on", "nan"],
    "check": ["check"],
    "why": ["why", "--call", "last"],
    "plot": ["plot", "-o", "plot.svg"],
    "record": ["record", "-o", "run.gsr"],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=pytest.mark.extra("plot")) if name == "plot" else name
        for name in COMMANDS
    ],
)
def test_children_leave_the_end_of_the_command_to_their_parent(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    plain = run_python(["script.py"], tmp_path)
    assert plain.stdout == "runs on 0\nexits 0\ncomplains 1\nraises 1\n"
    words = [*COMMANDS[command], "script.py", *(["x"] if command == "why" else [])]
    run = run_gradstep(words, tmp_path)
    assert run.returncode == 0, run.stderr
    told = [
        line
        for line in run.stdout.splitlines(keepends=True)
        if line in plain.stdout.splitlines(keepends=True)
    ]
    assert "".join(told) == plain.stdout
    (tmp_path / "script.py").write_text(SCRIPT.partition("sys.stdout")[0])
    for path in tmp_path.glob("*.gsr"):  # it would be renamed
        path.unlink()
    alone = run_gradstep(words, tmp_path)
    assert run.stdout.replace("".join(told), "") == alone.stdout
    ours = [line for line in run.stderr.splitlines() if line.startswith("gradstep: ")]
    assert ours == alone.stderr.splitlines()
    assert run.stderr.count("no more data") == 1
    assert run.stderr.count("ValueError: no such file") == 1
    assert run.stderr.count("Traceback") == 1

"""A backward pass that the engine refuses: every command ends with the lines that are to be
changed, on both engines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tui.conftest import Gradstep

Run = Callable[..., str]

CHANGED = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
y = w.exp()
y.mul_(2)
y.sum().backward()
"""
CARRIED = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
h = torch.ones(4)
for step in range(2):
    h = (h * w).tanh()
    (h * h).sum().backward()
"""
INSIDE_A_MODULE = """\
import LIBRARY as torch
from LIBRARY import nn
net = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid())
last = nn.ReLU(inplace=True)
def loss(x):
    h = net(x)
    return (h * last(h)).sum() + h.exp().sum()
loss(torch.ones(2, 3)).backward()
"""
OF_GRAD = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
y = w.exp()
y[0] = 2
torch.autograd.grad([y.sum()], [w])
"""
PROGRAMS = {
    "changed": (CHANGED, "backward", "[changed]  exp:1 train.py:3, changed at train.py:4"),
    "carried": (CARRIED, "backward", "[freed]  tanh:1 train.py:5, freed at train.py:6"),
    "module": (INSIDE_A_MODULE, "backward", "train.py:6, changed at train.py:7"),
    "grad": (OF_GRAD, "grad:", "[changed]  exp:1 train.py:3, changed at train.py:4"),
}
COMMANDS = {
    "render": ("render", "-o", "a.svg", "--call", "last"),
    "film": ("film", "-o", "a.svg", "--call", "last"),
    "fail-on": ("debug", "--batch", "--fail-on", "nan"),
    "batch": ("debug", "--batch", "--ex", "jump end"),
    "check": ("check",),
    "why": ("why",),
}


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Run a command on a script; what is printed."""

    def run(script: str, *command: str) -> str:
        after = ["w"] if command[0] == "why" else []
        code, out, err = gradstep(script, *command, "train.py", *after)
        assert code in (1, 5)
        return out + err

    return run


@pytest.mark.sampled(torch=5)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("program", ["changed", "carried"])
def test_every_command_ends_with_the_lines_and_without_frames_of_a_library(
    run: Run, program: str, command: tuple[str, ...]
) -> None:
    script, _, finding = PROGRAMS[program]
    if command[0] == "why":
        command = ("why", "--call", "1" if program == "changed" else "2")
    if "--ex" in command and program == "carried":
        command = (*command[:1], "--call", "2", *command[1:])
    printed = run(script, *command)
    assert printed.count(finding) == 1, printed
    assert 'train.py", line' in printed
    assert "site-packages" not in printed
    assert "not there yet" not in printed


@pytest.mark.parametrize("program", ["module", "grad"])
def test_the_line_is_found_inside_of_modules_and_for_grad(run: Run, program: str) -> None:
    script, kind, finding = PROGRAMS[program]
    call = ("--call", "grad:1") if kind == "grad:" else ()
    assert finding in run(script, "render", *call, "-o", "a.svg")


def test_an_error_that_the_program_catches_is_its_own(run: Run) -> None:
    script = CHANGED.replace(
        "y.sum().backward()",
        "try:\n    y.sum().backward()\nexcept RuntimeError: pass\nraise SystemExit(1)",
    )
    assert "[changed]" not in run(script, "debug", "--batch", "--fail-on", "nan")


def test_a_pass_that_failed_is_not_the_one_that_freed_the_graph(run: Run) -> None:
    """What it ran before it failed was not freed by an earlier one."""
    printed = run(CARRIED, "check", "--call", "5")
    assert "mul:3" not in printed
    assert "at or just after tanh:1" in printed


ANOTHER_BETWEEN = """\
import LIBRARY as torch
w = torch.ones(4, requires_grad=True)
first, second = w.exp().sum(), w.exp().sum()
first.backward()
second.backward()
first.backward()
"""


@pytest.mark.parametrize(
    "command",
    [("check",), ("debug", "--batch", "--call", "1,2", "--ex", "continue", "--ex", "quit")],
    ids=["plainly", "stepped"],
)
def test_the_call_that_freed_a_graph_is_told_from_those_of_others(
    run: Run, command: tuple[str, ...]
) -> None:
    assert "train.py:3, freed at train.py:4" in run(ANOTHER_BETWEEN, *command)

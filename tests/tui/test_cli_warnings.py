"""Warnings of a program are shown at the lines at which plain Python shows them, and as often."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from gradstep_tui.cli import main
from tests.both import on_pytorch

OF_THE_PROGRAM = """\
import warnings
import LIBRARY as torch
from LIBRARY import nn
def library(text):
    warnings.warn(text, stacklevel=2)
class Net(nn.Module):
    def forward(self, x):
        library("in forward()")
        return x * 2
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        warnings.warn("in a Function")
        return x / 2
    @staticmethod
    def backward(ctx, g):
        library("in backward()")
        return g / 2
net = Net()
x = torch.ones(2, 3, requires_grad=True)
y = Half.apply(net(x))
y.register_hook(lambda g: warnings.warn("in a hook"))
library("at last")
y.sum().backward()
"""
AT = {"in forward()": 8, "in a Function": 13, "in backward()": 17, "in a hook": 22, "at last": 23}
OF_PYTORCH = """\
import warnings
import torch
import torch.nn.functional as F
x = torch.ones(2, 3, requires_grad=True)
def soft():
    return F.softmax(x)
total = soft() + F.softmax(x)
total = total + torch.fft.fft(x).to(torch.float32)
total = total + torch.fft.fft(x).to(torch.float32)
loss = F.mse_loss(x.sum(1, keepdim=True), torch.ones(2))
for step in range(2):
    h = x.sum().reshape(1).T
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    F.softmax(x)
assert caught[0].filename == __file__ and caught[0].lineno == 15
with warnings.catch_warnings():
    warnings.filterwarnings("error", "Implicit", module="__main__")
    try:
        F.softmax(x)
    except UserWarning:
        loss = loss + 0
    else:
        raise SystemExit("the filter did not see the module")
(total.sum() + loss + h.sum()).backward()
"""
COMMANDS = [
    ["check"],
    ["render", "--call", "last", "-o", "a.svg"],
    ["debug", "--batch", "--fail-on", "nan"],
    ["record", "-o", "run.gsr"],
    ["film", "--call", "last", "-o", "film.svg"],
]


def shown(command: list[str]) -> list[tuple[str, int]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        assert main([*command, "train.py"]) in (0, 5)
    assert {Path(each.filename).name for each in caught} == {"train.py"}
    return [(str(each.message), each.lineno) for each in caught]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_warnings_of_the_program_keep_their_lines(
    torch: Any, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(OF_THE_PROGRAM.replace("LIBRARY", torch.__name__))
    assert dict(shown(command)) == AT


@on_pytorch
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_warnings_of_pytorch_keep_the_lines_of_the_program(
    torch: Any, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(OF_PYTORCH)
    # PyTorch tells some once in a process, which other tests may have made it do
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        lines = [line for _, line in shown(command)]
    finally:
        torch.set_warn_always(before)
    assert sorted(lines) == [6, 7, 8, 9, 10, 12]


def test_nothing_of_it_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(OF_THE_PROGRAM.replace("LIBRARY", "autograd_core"))
    before = vars(sys.modules["warnings"])["_showwarnmsg"]
    shown(["check"])
    assert vars(sys.modules["warnings"])["_showwarnmsg"] is before


IN_A_LOOP = """\
import warnings
import LIBRARY as torch

class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g

w = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(4):
    Double.apply(w).pow(2).sum().backward()
    warnings.warn("told once", stacklevel=1)
"""


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_warning_in_a_loop_is_shown_as_often_as_plainly(
    torch: Any, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(IN_A_LOOP.replace("LIBRARY", torch.__name__))
    assert shown(command) == [("told once", 16)]

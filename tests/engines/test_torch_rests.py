"""Lines and modules are noted in ever fewer calls, and nobody is told a false one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import run_gradstep, run_python

pytest.importorskip("torch", reason="PyTorch is not installed")

pytestmark = pytest.mark.torch

TRAINING = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 1)
    def forward(self, x, scale):
        y = self.last(self.first(x).relu())
        return (y * scale).sqrt()

torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.0)
for call in range(1, 41):
    opt.zero_grad()
    out = net(torch.ones(2, 3), torch.zeros(()) if call == {bad} else torch.ones(()))
    if call in {odd}:
        out = out.exp()
    out.sum().backward()
    opt.step()
print("done", net.first.weight.grad.abs().sum().isfinite().item())
"""


def write(folder: Path, bad: int = 0, odd: str = "()") -> None:
    text = TRAINING.replace("{bad}", str(bad)).replace("{odd}", odd)
    (folder / "train.py").write_text(text.replace("y * scale", "y * y * scale"), "utf-8")


def report(folder: Path, *options: str) -> list[str]:
    run = run_gradstep(["debug", "--fail-on", "nan", *options, "train.py"], folder)
    assert run.returncode == 5, run.stderr
    return run.stderr.splitlines()


def test_a_first_call_of_the_other_kind_is_noted(tmp_path: Path) -> None:
    write(tmp_path)
    with (tmp_path / "train.py").open("a", encoding="utf-8") as file:
        file.write("y = net.first(torch.ones(3)).exp().sum()\n")
        file.write("torch.autograd.grad(y, list(net.parameters()), allow_unused=True)\n")
    run = run_gradstep(
        ["render", "--call", "grad:1", "-o", "-", "--format", "dot", "train.py"], tmp_path
    )
    assert "train.py:23" in run.stdout
    assert "note" not in run.stderr, run.stderr


@pytest.mark.parametrize("call", [6, 30])
def test_a_hit_has_the_lines_of_a_call_whose_graph_is_alike(call: int, tmp_path: Path) -> None:
    write(tmp_path, call)
    told = report(tmp_path)
    noted = report(tmp_path, "--call", str(call))
    remark = "note lines and modules are those of backward() call 20, whose graph is alike "
    one, other = (" ".join(" ".join(lines).split()) for lines in (told, noted))
    assert "line train.py:10" in other
    assert (remark in one) == (call == 30)
    assert one.replace(remark, "") == other


def test_a_hit_in_a_graph_like_no_other_has_no_lines(tmp_path: Path) -> None:
    write(tmp_path, 30, "(30,)")
    told = report(tmp_path)
    assert not any("train.py" in line or "alike" in line for line in told), told
    assert "no call that was has such a graph; --call 30 notes them" in told[0]
    noted = report(tmp_path, "--call", "30")
    assert any("train.py:10" in line for line in noted)
    assert not any("alike" in line or "not noted" in line for line in noted)


def test_calls_are_noted_again_where_graphs_are_new(tmp_path: Path) -> None:
    write(tmp_path, 24, "range(18, 41)")  # call 20 is noted, and as no other
    told = report(tmp_path)
    assert any("train.py:10" in line for line in told)
    assert not any("alike" in line or "not noted" in line for line in told)


def test_the_call_that_is_drawn_is_noted(tmp_path: Path) -> None:
    write(tmp_path)
    drawn = [
        run_gradstep(["render", "--call", call, "-o", "-", "--format", "dot", "train.py"], tmp_path)
        for call in ("6", "30")
    ]
    assert "alike" not in drawn[1].stderr
    one, other = (run.stdout for run in drawn)
    assert "first" in one
    assert one == other


def test_modes_of_the_program_end_where_they_do(tmp_path: Path) -> None:
    text = """\
import torch
from torch.overrides import TorchFunctionMode

class Mode(TorchFunctionMode):
    count = 0
    def __torch_function__(self, function, types, args=(), kwargs=None):
        Mode.count += 1
        return function(*args, **(kwargs or {}))

def step(call):
    (w * call).sum().backward()

w = torch.ones(2, requires_grad=True)
mode = Mode()
for call in range(1, 101):
    if call % 7 == 3:  # while lines are noted in none, one, and several of the calls
        mode.__enter__()
    step(call)
    if call % 7 == 5 and call < 98:
        mode.__exit__(None, None, None)
    if call % 11 == 0:
        with Mode():
            step(call)
print(Mode.count, torch.overrides._get_current_function_mode_stack() == [mode], w.grad)
w.grad = None
(w / 0).sum().backward()
"""
    (tmp_path / "train.py").write_text(text, "utf-8")
    plain = run_python(["train.py"], tmp_path)
    run = run_gradstep(["debug", "--fail-on", "inf", "train.py"], tmp_path)
    assert run.returncode == 5
    count = plain.stdout.split()[0]
    assert run.stdout.split()[0] == count
    assert run.stdout == plain.stdout


def test_a_check_of_one_call_notes_only_what_comes_just_before(tmp_path: Path) -> None:
    write(tmp_path, 30)
    text = (tmp_path / "train.py").read_text("utf-8")
    seen = "print(call, len(torch.overrides._get_current_function_mode_stack()))\n    out = net"
    (tmp_path / "train.py").write_text(text.replace("out = net", seen), "utf-8")
    run = run_gradstep(["check", "--call", "30", "train.py"], tmp_path)
    assert run.returncode == 5, run.stderr
    assert "train.py:10" in run.stdout
    assert {"25 0", "28 1", "30 1"} <= set(run.stdout.splitlines())

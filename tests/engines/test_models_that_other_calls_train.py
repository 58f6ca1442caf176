"""``check`` of programs with several models: what another call trains is no mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import run_gradstep

LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
TWO = """
import {library} as torch
from {library} import nn

A, B, x = nn.Linear(3, 1), nn.Linear(3, 1), torch.rand(4, 3)
{more}
opt = torch.optim.SGD([*A.parameters(), *B.parameters()], 0.1)
A(x).pow(2).mean().backward()
opt.step()
opt.zero_grad()
B(x).pow(2).mean().backward()
opt.step()
"""
HELD = """
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.A, self.B = A, B
both = Both()
A, B = both.A, both.B
"""
FORGOTTEN = """
import {library} as torch
from {library} import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.forgotten = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.used(x)

net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
net(torch.rand(4, 3)).pow(2).mean().backward()
opt.step()
"""


def lint(code: str, library: str, folder: Path) -> tuple[int, str]:
    (folder / "train.py").write_text(code, "utf-8")
    done = run_gradstep(["check", "--all", "train.py"], folder)
    assert not done.stderr, done.stderr
    return done.returncode, " ".join(done.stdout.split())


@pytest.mark.parametrize("more", ["", HELD], ids=["apart", "held by a module that does not run"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_that_another_call_trains_is_a_note(
    library: str, more: str, tmp_path: Path
) -> None:
    pytest.importorskip(library)
    code, said = lint(TWO.format(library=library, more=more), library, tmp_path)
    assert code == 0, said
    assert "warning" not in said
    assert said.count("info [unreached]") == 2
    if not more:  # else B looks like a template of the part that is a copy of it
        assert said.count("whose modules did not run in this forward pass") == 2
    first, second = said.split("call 2")
    assert "B" in first
    assert "B.weight" not in second


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_layer_that_its_model_forgets_is_a_note(library: str, tmp_path: Path) -> None:
    pytest.importorskip(library)
    code, said = lint(FORGOTTEN.format(library=library), library, tmp_path)
    assert code == 0  # it may be one for later
    assert "info [unreached]" in said
    assert "forgotten.weight and forgotten.bias never get a gradient: opt is to train them" in said

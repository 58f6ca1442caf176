"""Programs written for PyTorch, run with only their import lines changed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

SPRING = """
import torch
from torch.autograd import grad

stretch = torch.tensor(3.0, requires_grad=True)
speed = torch.tensor(2.0, requires_grad=True)
stored = stretch**2 / 2
moving = 4 * speed**2
energy = stored + moving
found["names"] = [energy.grad_fn.name()]
found["names"] += [node.name() for node, _ in energy.grad_fn.next_functions]
found["grads"] = [float(g) for g in grad(energy, (stretch, speed), retain_graph=True)]
energy.backward(gradient=torch.tensor(-0.5))
found["scaled"] = [stretch.grad.item(), speed.grad.item()]
found["shown"] = [repr(energy), repr(stretch), repr(stretch.grad)]
"""

OWN_GRADIENT = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function


class Gate(Function):
    # Closed below 0 and above 1; a closed gate still lets some of the gradient through.

    @staticmethod
    def forward(ctx, x, crack):
        ctx.crack = crack
        ctx.save_for_backward(x)
        return x.clamp(min=0, max=1)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        through = g.clone()
        through[(x < 0) | (x > 1)] *= ctx.crack
        return through, None


class Canal(nn.Module):
    def __init__(self):
        super().__init__()
        self.locks = nn.Linear(2, 3)

    def forward(self, water):
        return Gate.apply(self.locks(water), 0.25)


canal = Canal().double()
with torch.no_grad():
    canal.locks.weight.copy_(torch.tensor([[0.5, -0.5], [1.0, 2.0], [-1.5, 0.25]]).double())
    canal.locks.bias.copy_(torch.tensor([0.2, -0.4, 0.3]).double())
water = torch.tensor([[0.4, 0.8], [-1.0, 1.5]]).double().requires_grad_()
loss = F.mse_loss(canal(water), torch.full((2, 3), 0.5).double())
loss.backward()
found["loss"] = loss.item()
wanted = (water.grad, canal.locks.weight.grad, canal.locks.bias.grad)
found["grads"] = [g.reshape(-1).tolist() for g in wanted]
"""

CONVOLUTIONAL = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Weaver(nn.Module):
    # Which of seven patterns is in a piece of cloth of 20 by 20 threads?

    def __init__(self):
        super().__init__()
        self.threads = nn.Conv2d(2, 12, 5, 1)
        self.knots = nn.Conv2d(12, 30, 3, 1)
        self.sort = nn.Linear(30 * 3 * 3, 80)
        self.name = nn.Linear(80, 7)

    def forward(self, cloth):
        seen = F.max_pool2d(F.relu(self.threads(cloth)), 2, 2)
        seen = F.max_pool2d(F.relu(self.knots(seen)), 2, 2)
        sorted_out = F.relu(self.sort(seen.view(-1, 30 * 3 * 3)))
        return F.log_softmax(self.name(sorted_out), dim=1)


rng = np.random.default_rng(0)
weaver = Weaver()
with torch.no_grad():
    for parameter in weaver.parameters():
        values = rng.uniform(-0.05, 0.05, tuple(parameter.shape))
        parameter.copy_(torch.from_numpy(values.astype("float32")))
seen = found["hooks"] = []
weaver.knots.register_forward_hook(lambda module, given, made: seen.append(tuple(made.shape)))
weaver.knots.register_full_backward_hook(
    lambda module, to_given, to_made: seen.append(
        (tuple(to_given[0].shape), tuple(to_made[0].shape))
    )
)
sgd = optim.SGD(weaver.parameters(), lr=0.05, momentum=0.5)
losses = found["losses"] = []
for day in range(3):
    cloth = torch.from_numpy(rng.standard_normal((6, 2, 20, 20)).astype("float32"))
    pattern = torch.from_numpy(rng.integers(0, 7, 6))
    sgd.zero_grad()
    loss = F.nll_loss(weaver(cloth), pattern)
    loss.backward()
    sgd.step()
    losses.append(loss.item())
found["weight"] = weaver.threads.weight.detach().reshape(-1)[:25].tolist()
found["grad"] = weaver.name.bias.grad.tolist()
"""


def run(source: str, library: str) -> dict[str, Any]:
    """What the program leaves in ``found``, in this library."""
    if library != "torch":
        source = re.sub(r"^import torch$", f"import {library} as torch", source, flags=re.M)
        source = re.sub(r"^import torch\.", f"import {library}.", source, flags=re.M)
        source = re.sub(r"^from torch\b", f"from {library}", source, flags=re.M)
    found: dict[str, Any] = {}
    exec(compile(source, f"<program on {library}>", "exec"), {"found": found, "__name__": "p"})
    return found


@pytest.fixture
def pytorch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")


def agree(mine: Any, theirs: Any, tolerance: float) -> None:
    if isinstance(theirs, float):
        assert mine == pytest.approx(theirs, rel=tolerance, abs=tolerance)
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            agree(a, b, tolerance)
    else:
        assert mine == theirs


def test_the_energy_of_a_spring_has_the_nodes_and_gradients_of_its_formula() -> None:
    found = run(SPRING, "autograd_core")
    assert found["names"] == ["AddBackward0", "DivBackward0", "MulBackward0"]
    assert found["grads"] == [3, 16]
    assert found["scaled"] == [-1.5, -8]
    assert found["shown"][0] == "tensor(20.5000, grad_fn=<AddBackward0>)"


def test_the_convolutional_net_learns_and_calls_its_hooks() -> None:
    found = run(CONVOLUTIONAL, "autograd_core")
    assert found["hooks"] == [(6, 30, 6, 6), ((6, 12, 8, 8), (6, 30, 6, 6))] * 3
    assert all(1.8 < loss < 2.1 for loss in found["losses"])


@pytest.mark.torch
@pytest.mark.parametrize(
    ("source", "tolerance"),
    [(SPRING, 1e-6), (OWN_GRADIENT, 1e-10), (CONVOLUTIONAL, 1e-5)],
    ids=["spring", "own gradient", "convolutional net"],
)
def test_programs_give_pytorchs_numbers(pytorch: None, source: str, tolerance: float) -> None:
    mine, theirs = run(source, "autograd_core"), run(source, "torch")
    assert mine.keys() == theirs.keys()
    for name, value in theirs.items():
        agree(mine[name], value, tolerance)


@pytest.mark.torch
def test_the_heated_rod_gives_pytorchs_numbers(pytorch: None) -> None:
    source = (ROOT / "samples" / "heated_rod.py").read_text("utf-8")
    source += """
found["warmth"] = warmth.detach().tolist()
found["grads"] = [g.tolist() for g in (heat.grad, rod.contact.grad, rod.loss.grad)]
"""
    theirs = source.replace("import autograd_core as torch", "import torch")
    theirs = theirs.replace("autograd_core", "torch")
    agree(list(run(source, "autograd_core").values()), list(run(theirs, "torch").values()), 1e-10)


def test_the_gradients_of_the_heated_rod_are_those_of_small_changes() -> None:
    source = (ROOT / "samples" / "heated_rod.py").read_text("utf-8")
    source += """
from autograd_core.autograd import gradcheck

found["right"] = gradcheck(Balance.apply, (rod.contact, rod.loss, heat))
"""
    assert run(source, "autograd_core")["right"]


def test_joined_graphs_have_the_gradients_of_their_parts() -> None:
    source = (ROOT / "samples" / "join_graphs.py").read_text("utf-8")
    source += "\nfound['grad'] = x.grad.tolist()"
    x = np.array([0.5, 1.5, 2.5])
    slope = np.cos(2 * x) / (2 * x) - np.sin(2 * x) / (2 * x) ** 2
    expected = np.clip([0.5, 3.0, -7.0], -1, 1) * 4 * slope * 2
    assert run(source, "autograd_core")["grad"] == pytest.approx(expected.tolist(), rel=1e-5)

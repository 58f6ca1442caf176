"""Programs written for PyTorch, run with only their import lines changed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

QUADRATIC = """
import torch
from torch.autograd import grad

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(6.0, requires_grad=True)
O = 3 * a**3
P = b**2
Q = O - P
found["names"] = [Q.grad_fn.name(), *(node.name() for node, _ in Q.grad_fn.next_functions)]
found["grads"] = [float(g) for g in grad(Q, (a, b), retain_graph=True)]
external = torch.tensor(-2.0)
Q.backward(gradient=external)
found["scaled"] = [a.grad.item(), b.grad.item()]
found["shown"] = [repr(Q), repr(a), repr(a.grad)]
"""

OWN_GRADIENT = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd import Function, Variable


class LeakyGradient(Function):
    @staticmethod
    def forward(ctx, x, leak):
        ctx.leak = leak
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad = grad_output.clone()
        grad[x < 0] = grad[x < 0] * ctx.leak
        return grad, None


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        f = LeakyGradient.apply
        return f(self.linear(x), 0.1)


layer = Layer().double()
with torch.no_grad():
    layer.linear.weight.copy_(torch.tensor([[0.5, -1.0, 0.25], [1.5, 0.75, -2.0]]).double())
    layer.linear.bias.copy_(torch.tensor([0.1, -0.2]).double())
x = Variable(torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]]).double(), requires_grad=True)
loss = F.mse_loss(layer(x), torch.ones(2, 2).double())
loss.backward()
found["loss"] = loss.item()
wanted = (x.grad, layer.linear.weight.grad, layer.linear.bias.grad)
found["grads"] = [g.reshape(-1).tolist() for g in wanted]
"""

CONVOLUTIONAL = """
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 20, 5, 1)
        self.conv2 = nn.Conv2d(20, 50, 5, 1)
        self.fc1 = nn.Linear(4 * 4 * 50, 500)
        self.fc2 = nn.Linear(500, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(x, 2, 2)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2, 2)
        x = x.view(-1, 4 * 4 * 50)
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)


rng = np.random.default_rng(0)
model = Net()
with torch.no_grad():
    for parameter in model.parameters():
        values = rng.uniform(-0.05, 0.05, tuple(parameter.shape))
        parameter.copy_(torch.from_numpy(values.astype("float32")))
seen = found["hooks"] = []
model.conv2.register_forward_hook(lambda module, inputs, output: seen.append(tuple(output.shape)))
model.conv2.register_full_backward_hook(
    lambda module, grad_input, grad_output: seen.append(
        (tuple(grad_input[0].shape), tuple(grad_output[0].shape))
    )
)
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
losses = found["losses"] = []
for step in range(3):
    data = torch.from_numpy(rng.standard_normal((8, 1, 28, 28)).astype("float32"))
    target = torch.from_numpy(rng.integers(0, 10, 8))
    optimizer.zero_grad()
    loss = F.nll_loss(model(data), target)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
found["weight"] = model.conv1.weight.detach().reshape(-1)[:25].tolist()
found["grad"] = model.fc2.bias.grad.tolist()
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


def test_the_quadratic_has_the_nodes_and_gradients_of_the_tutorial() -> None:
    found = run(QUADRATIC, "autograd_core")
    assert found["names"] == ["SubBackward0", "MulBackward0", "PowBackward0"]
    assert found["grads"] == [36, -12]
    assert found["scaled"] == [-72, 24]
    assert found["shown"][0] == "tensor(-12., grad_fn=<SubBackward0>)"


def test_the_convolutional_net_learns_and_calls_its_hooks() -> None:
    found = run(CONVOLUTIONAL, "autograd_core")
    assert found["hooks"] == [(8, 50, 8, 8), ((8, 20, 12, 12), (8, 50, 8, 8))] * 3
    assert all(2 < loss < 3 for loss in found["losses"])


@pytest.mark.torch
@pytest.mark.parametrize(
    ("source", "tolerance"),
    [(QUADRATIC, 1e-6), (OWN_GRADIENT, 1e-10), (CONVOLUTIONAL, 1e-5)],
    ids=["quadratic", "own gradient", "convolutional net"],
)
def test_programs_give_pytorchs_numbers(pytorch: None, source: str, tolerance: float) -> None:
    mine, theirs = run(source, "autograd_core"), run(source, "torch")
    assert mine.keys() == theirs.keys()
    for name, value in theirs.items():
        agree(mine[name], value, tolerance)


@pytest.mark.torch
def test_the_scipy_convolution_gives_pytorchs_numbers(pytorch: None) -> None:
    source = (ROOT / "samples" / "scipy_convolution.py").read_text("utf-8")
    source += """
found["output"] = output.detach().reshape(-1).tolist()
wanted = (picture.grad, layer.kernel.grad, layer.bias.grad)
found["grads"] = [g.reshape(-1).tolist() for g in wanted]
"""
    theirs = source.replace("import autograd_core as torch", "import torch")
    theirs = theirs.replace("autograd_core", "torch")
    agree(list(run(source, "autograd_core").values()), list(run(theirs, "torch").values()), 1e-10)


def test_joined_graphs_have_the_gradients_of_their_parts() -> None:
    source = (ROOT / "samples" / "join_graphs.py").read_text("utf-8")
    source += "\nfound['grad'] = x.grad.tolist()"
    x = np.array([0.5, 1.5, 2.5])
    slope = np.cos(2 * x) / (2 * x) - np.sin(2 * x) / (2 * x) ** 2
    expected = np.clip([0.5, 3.0, -7.0], -1, 1) * 4 * slope * 2
    assert run(source, "autograd_core")["grad"] == pytest.approx(expected.tolist(), rel=1e-5)

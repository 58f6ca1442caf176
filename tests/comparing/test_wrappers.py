"""A model that is wrapped, compiled or renamed is the same model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gradstep.comparing import report
from gradstep.comparing.align import Renamed
from gradstep.comparing.runs import Comparison, compare
from gradstep.comparing.values import Tolerance
from tests.comparing.test_comparing import record

NET = """
from LIBRARY import nn
import LIBRARY as torch
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(4, 6), nn.Linear(6, 4)
    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inlet, self.head = nn.Linear(3, 4), nn.Linear(4, 2)
        self.blocks = nn.ModuleList([Block(), Block()])
    def forward(self, x):
        x = self.inlet(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
torch.manual_seed(0)
model = net = Net()
WRAP
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.ones(5, 3)).pow(2).sum()
    loss.backward()
    optimizer.step()
"""
WRAPPED = {
    "data_parallel": "model = nn.DataParallel(net)",
    "ddp": "model = nn.parallel.DistributedDataParallel(net)",
    "one_of_two_models": "both = nn.ModuleDict({'a': nn.DataParallel(net)}); model = both['a']",
    "fsdp": "from torch.distributed.fsdp import fully_shard\n"
    "fully_shard(net.blocks[0]); fully_shard(net)",
    "checkpoint": "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import *\n"
    "net.blocks[0] = checkpoint_wrapper(net.blocks[0])",
    "parametrized": "from torch.nn.utils import parametrize\n"
    "parametrize.register_parametrization(net.head, 'weight', nn.Identity())",
}
COMPILE = "torch.compile({}, backend='aot_eager')"
COMPILED = {
    "whole": (f"model = {COMPILE.format('net')}", [(16, 1)]),
    "a_block": (f"net.blocks[0] = {COMPILE.format('net.blocks[0]')}", [(6, 1)]),
    "two_blocks": (
        f"for at in (0, 1): net.blocks[at] = {COMPILE.format('net.blocks[at]')}",
        [(12, 2)],
    ),
}


@pytest.fixture
def process_group() -> Iterator[None]:
    from torch import distributed

    with tempfile.TemporaryDirectory() as folder:
        distributed.init_process_group(
            "gloo", init_method=f"file://{folder}/store", rank=0, world_size=1
        )
        yield
        distributed.destroy_process_group()


def compared(torch: ModuleType, wrap: str, change: tuple[str, str] = ("", "")) -> Comparison:
    text = NET.replace("LIBRARY", torch.__name__)
    runs = [
        record(torch, program.replace("WRAP", line).splitlines())
        for program, line in ((text, ""), (text.replace(*change), wrap))
    ]
    return compare(runs[0], runs[1], Tolerance("bitwise"))


def assert_equal(comparison: Comparison) -> None:
    assert comparison.is_equal, report.text(comparison, ("plain", "wrapped"), Path())
    assert comparison.same == comparison.values > 50


@pytest.mark.torch
@pytest.mark.parametrize("kind", WRAPPED)
def test_a_wrapper_is_no_difference(kind: str, process_group: None) -> None:
    import torch

    comparison = compared(torch, WRAPPED[kind])
    assert_equal(comparison)
    assert comparison.compiled == []
    inside = [each[:2] for each in comparison.renamed]
    assert inside == ([("", "a")] if kind == "one_of_two_models" else [])


@pytest.mark.torch
@pytest.mark.parametrize("kind", COMPILED)
def test_what_is_compiled_is_compared_by_its_results(kind: str) -> None:
    import torch

    wrap, ops = COMPILED[kind]
    comparison = compared(torch, wrap)
    assert_equal(comparison)
    assert comparison.compiled == ops
    said = report.text(comparison, ("plain", "compiled"), Path())
    assert f"compiled: {ops[0][0]} ops of the first, {ops[0][1]} op" in said


@pytest.mark.torch
@pytest.mark.parametrize("order", [1, -1])
def test_a_compiled_part_may_have_several_results(order: int) -> None:
    import torch

    program = """
import torch
from torch import nn
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.mu, self.logvar = nn.Linear(8, 6), nn.Linear(6, 4), nn.Linear(6, 4)
        self.decoder = nn.Linear(4, 8)
    def forward(self, x):
        h = torch.relu(self.encoder(x))
        mu, logvar = self.mu(h), self.logvar(h)
        return self.decoder(mu + torch.exp(0.5 * logvar)), mu, logvar
model = net = Net()
WRAP
x = torch.randn(5, 8)
reconstruction, mu, logvar = model(x)
kl = (1 + logvar - mu.pow(2) - logvar.exp()).mean()
loss = (reconstruction - x).pow(2).mean() - kl
loss.backward()
"""
    runs = [
        record(torch, program.replace("WRAP", line).splitlines())
        for line in ("", f"model = {COMPILE.format('net')}")[::order]
    ]
    comparison = compare(runs[0], runs[1], Tolerance("dtype"))
    assert comparison.is_equal, report.text(comparison, ("one", "other"), Path())
    assert len(comparison.compiled) == 1


@pytest.mark.torch
def test_another_number_in_a_compiled_part_is_a_difference() -> None:
    import torch

    wrap, _ = COMPILED["whole"]
    comparison = compared(torch, wrap, ("torch.relu", "1.01 * torch.relu"))
    assert comparison.structures == []
    assert comparison.first is not None
    assert comparison.first.what == "the result of head/addmm:1"
    assert not comparison.first.is_certain


def test_a_renamed_module_is_said_once_and_is_no_difference(torch: ModuleType) -> None:
    comparison = compared(torch, "", ("self.blocks", "self.layers"))
    assert_equal(comparison)
    assert [each[:2] for each in comparison.renamed] == [("blocks", "layers")]
    said = report.text(comparison, ("plain", "renamed"), Path())
    assert "same module, other name: blocks → layers\n" in said


def test_a_model_inside_of_another_is_the_same(torch: ModuleType) -> None:
    wrap = "class Task(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    wrap += "        self.net = net\n    def forward(self, x):\n        return self.net(x)\n"
    comparison = compared(torch, f"{wrap}model = Task()")
    assert_equal(comparison)
    assert comparison.renamed == [Renamed("", "net", comparison.renamed[0].nodes)]


def test_independent_ops_may_run_in_any_order(torch: ModuleType) -> None:
    lines = ["x, y = leaf(1, 'float32'), leaf(2, 'float32')", "a = x.sin()", "b = y.exp()"]
    lines += ["c = x.exp()", "(a * b * c).sum().backward()"]
    order = [lines[0], lines[3], lines[2], lines[1], lines[4]]
    runs = record(torch, lines), record(torch, order)
    comparison = compare(*runs, Tolerance("bitwise"))
    assert comparison.structures == []
    assert comparison.first is None


def test_a_module_that_does_something_else_is_not_only_renamed(torch: ModuleType) -> None:
    comparison = compared(torch, "", ("self.head(x)", "self.head(x).sin()"))
    assert not comparison.is_equal
    assert comparison.renamed == []
    assert [each.what for each in comparison.structures] == ["added"]

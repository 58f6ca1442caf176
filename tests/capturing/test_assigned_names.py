"""The variables that results of ops were assigned to, and what modules are like."""

from __future__ import annotations

from pathlib import Path

import autograd_core as torch
from gradstep.capturing import capture
from gradstep.contract.tracing import trace
from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json, to_json

PROGRAM = """\
import autograd_core as torch
from autograd_core import nn

conv, norm = nn.Conv2d(1, 2, 3, stride=2), nn.LayerNorm(3)

image = torch.ones(1, 1, 9, 9)
x = torch.ones(3, requires_grad=True)


def mix(x):
    x = x * 2
    x = x.exp()
    x = (x + 1).log() * x.sin()
    left, right = x.chunk(2)
    return left.sum() + right.sum()


total = mix(x)
twice = (
    total
    * 2
)
for number in range(3):
    step = twice + number
maps = conv(image)
loss = step + twice + maps.sum()
"""


def graph_of(folder: Path) -> Graph:
    file = folder / "program.py"
    file.write_text(PROGRAM, "utf-8")
    variables: dict[str, object] = {}
    with trace():
        exec(compile(PROGRAM, str(file), "exec"), variables)
    assert isinstance(variables["loss"], torch.Tensor)
    return capture(variables["loss"], names=variables)


def test_the_last_op_of_a_statement_has_the_name_that_it_assigns(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    results = [(graph.names[id], name) for id, name in sorted(graph.results.items())]
    assert ("mul", "twice") in results
    assert ("add", "loss") in results
    assert "left, right" in {name for _, name in results}
    # x stands for several values
    assert "x" not in {name for _, name in results}


def test_a_result_of_a_function_has_the_name_of_the_variable_that_holds_it(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    (id,) = (id for id, name in graph.results.items() if name == "total")
    assert graph.names[id] == "add"


def test_modules_are_told_by_their_attributes(tmp_path: Path) -> None:
    assert graph_of(tmp_path).module_details == {"conv": "3×3, 2, stride 2"}


def test_both_are_in_the_document_of_a_graph(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    again = from_json(to_json(graph))
    assert dict(again.results) == dict(graph.results)
    assert dict(again.module_details) == dict(graph.module_details)


CALLS = """\
import autograd_core as torch
from autograd_core import nn


class Inner(nn.Module):
    def forward(self, x):
        return x.tanh() * 2


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(3), Inner()

    def forward(self, x):
        made = self.inner(self.norm(x))
        kept = [x.sin()]
        self.state = made.exp()
        return self.state + kept[0]


outer = Outer()
outputs = outer(torch.ones(2, 3, requires_grad=True))
chosen = (outputs * 2).detach()
loss = (outputs * chosen).sum()
"""


def test_what_a_statement_gives_to_a_module_is_not_its_result(tmp_path: Path) -> None:
    file = tmp_path / "calls.py"
    file.write_text(CALLS, "utf-8")
    variables: dict[str, object] = {}
    with trace():
        exec(compile(CALLS, str(file), "exec"), variables)
    assert isinstance(variables["loss"], torch.Tensor)
    graph = capture(variables["loss"], names=variables)
    named = {name: graph.names[id] for id, name in graph.results.items()}
    assert named["made"] == "mul"
    assert named["state"] == "exp"
    assert "kept" not in named  # a list
    assert "chosen" not in named  # which holds what no op made

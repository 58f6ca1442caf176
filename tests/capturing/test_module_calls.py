"""A graph knows which ops ran in one call of a module, also where calls follow each other."""

from __future__ import annotations

from typing import Any

import gradstep
from gradstep import Graph
from gradstep.graph.common_module import without_module
from gradstep.graph.folding.chains import find_heads
from gradstep.graph.folding.columns import columns_of
from gradstep.graph.folding.fold import BOTH
from gradstep.graph.folding.paths import Paths
from gradstep.graph.folding.units import make_units
from gradstep.graph.model import Call
from gradstep.graph.serialize import from_json, to_json


def graph_of_calls(torch: Any) -> Graph:
    """The graph of a net that calls one of its modules twice, each with two others inside."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.act = nn.Linear(3, 3), nn.Tanh()

        def forward(self, x: Any) -> Any:
            return self.act(self.layer(x))

    class Net(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.block, self.act = Block(), nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.act(self.act(self.block(self.block(x)) * 2))

    net = Net()
    with gradstep.trace():
        loss = net(torch.ones(2, 3)).sum()
    return gradstep.capture(loss)


def called(graph: Graph, id: int) -> list[tuple[str, int]]:
    """The calls around a node, from the innermost one on."""
    around = []
    at = graph.call_of.get(id, -1)
    while at >= 0:
        around.append((graph.calls[at].module, graph.calls[at].number))
        at = graph.calls[at].outer
    return around


def test_each_op_knows_the_calls_that_it_ran_in(torch: Any) -> None:
    graph = graph_of_calls(torch)
    ran = [
        (graph.stem(id), called(graph, id))
        for id, half in enumerate(graph.halves)
        if half == "forward" and graph.stem(id) in ("tanh", "mul", "relu", "sum")
    ]
    assert ran == [
        ("tanh", [("block.act", 1), ("block", 1), ("", 1)]),
        ("tanh", [("block.act", 2), ("block", 2), ("", 1)]),
        ("mul", [("", 1)]),
        ("relu", [("act", 1), ("", 1)]),
        ("relu", [("act", 2), ("", 1)]),
        ("sum", []),
    ]


def test_a_grad_fn_ran_in_the_call_of_its_op(torch: Any) -> None:
    graph = graph_of_calls(torch)
    pairs = [(id, pair) for id, pair in graph.pairs.items() if graph.kinds[id] == "op"]
    assert len(pairs) > 10
    for id, pair in pairs:
        assert graph.call_of.get(id, -1) == graph.call_of.get(pair, -1)


def test_calls_are_kept_in_a_file_and_named_as_their_modules_are(torch: Any) -> None:
    graph = graph_of_calls(torch)
    read = from_json(to_json(graph))
    assert list(read.calls) == list(graph.calls)
    assert dict(read.call_of) == dict(graph.call_of)
    short = without_module(graph, "block")
    assert Call("act", 1, 1) in short.calls


def test_two_calls_that_follow_each_other_are_two_segments(torch: Any) -> None:
    graph = graph_of_calls(torch)
    columns = columns_of(graph, BOTH)
    units = make_units(graph, columns)
    assert units is not None
    paths = Paths(graph, units)
    mains = find_heads(graph, units).mains
    of_relu = {paths.of(unit) for unit, main in enumerate(mains) if units.stems[main] == "relu"}
    assert len(of_relu) == 2

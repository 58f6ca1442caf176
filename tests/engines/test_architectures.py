"""Well-known architectures have the same backward graph on PyTorch and on the core."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep import Graph
from gradstep.graph.serialize import from_json
from gradstep_tui.cli import main
from tests.engines.architecture_programs import PROGRAMS, on_the_core

pytestmark = pytest.mark.torch
# The core takes the steps of an LSTM one by one, PyTorch a whole layer.
IN_STEPS = {"lstm_language_model": "rnn"}


class Backward(NamedTuple):
    """The backward half of a graph, without what only one engine knows."""

    nodes: list[Any]  # name, scope, shape and line, in the order in which they run
    edges: Counter[Any]  # between places in `nodes`; of a leaf, its shape


def drawn(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("train.py").write_text(code, "utf-8")
    assert main(["render", "--view", "both", "-o", "graph.json", "train.py"]) == 0
    return from_json(Path("graph.json").read_text("utf-8"))


def backward(graph: Graph, in_steps: str | None) -> Backward:
    edges_of_both = list(zip(graph.edge_sources, graph.edge_targets, strict=True))
    left_out = {index for index in graph.orders if graph.scopes[index] == in_steps}
    left_out |= {
        target
        for source, target in edges_of_both
        if source in left_out and graph.names[target] == "AccumulateGrad"
    }
    places: dict[int, Any] = {}
    nodes = []
    for index in sorted(graph.orders.keys() - left_out, key=graph.orders.__getitem__):
        places[index] = len(nodes)
        line = graph.sources[index].line if index in graph.sources else None
        name = graph.names[index].removeprefix("Unsafe")  # PyTorch 2.15 just views behind a matmul
        nodes.append((name, graph.scopes[index], graph.shapes[index], line))
    edges = Counter(
        (places[source], places.get(target, graph.shapes[target]))
        for source, target in edges_of_both
        if source in places and target not in left_out
    )
    return Backward(nodes, edges)


@pytest.mark.parametrize("program", PROGRAMS)
def test_both_engines_have_the_same_graph(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = PROGRAMS[program]
    theirs, ours = (
        backward(drawn(text, tmp_path / name, monkeypatch), IN_STEPS.get(program))
        for name, text in (("pytorch", code), ("core", on_the_core(code)))
    )
    assert len(ours.nodes) > 6
    assert ours.nodes == theirs.nodes
    assert ours.edges == theirs.edges


DROPOUTS = """
import torch
from torch import nn
from torch.nn import functional as F

layer, drop = nn.Linear(3, 3), nn.Dropout(0.5)
hidden = F.dropout(layer(torch.ones(2, 3)), 0.5) * torch.ones(2, 3)
images = F.dropout2d(hidden.reshape(1, 2, 3, 1), 0.5)
loss = drop(images).sum()
loss.backward()
"""


@pytest.mark.parametrize("options", [[], ["--values"]])
def test_both_engines_call_dropout_dropout(
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in (DROPOUTS, on_the_core(DROPOUTS)):
        Path("train.py").write_text(code, "utf-8")
        arguments = ["render", "--view", "forward", "--format", "txt", "-o", "-", *options]
        assert main([*arguments, "train.py"]) == 0
        titles = [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:]]
        assert [one for one in titles if one.startswith(("dropout", "hidden"))] == [
            "dropout:1", "hidden", "dropout:2", "dropout:3",
        ]  # fmt: skip

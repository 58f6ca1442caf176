"""A library that the project does not know is drawn through the protocol alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("autograd", reason="HIPS autograd is not installed")

import autograd.numpy as np

import gradstep
from gradstep.contract import registry
from gradstep.graph.serialize import from_json
from tests.engines import hips_engine


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    registry.register("autograd", "tests.engines.hips_engine:HIPS", "autograd.tracer:Box")
    yield
    del registry.HOMES["autograd"]
    registry.TENSORS.clear()


def test_its_graphs_are_drawn_forwards_and_backwards() -> None:
    loss, (x, weight) = hips_engine.traced(
        lambda x, weight: np.sum(np.tanh(x * weight) * x), np.ones(3), np.full(3, 2.0)
    )
    graph = from_json(str(gradstep.render(loss, format="json")))
    kinds = list(zip(graph.kinds, graph.names, graph.halves, strict=True))
    assert [name for kind, name, half in kinds if (kind, half) == ("op", "forward")] == [
        "multiply", "tanh", "multiply", "sum"
    ]  # fmt: skip
    order = [graph.address(id) for id in range(len(graph.names)) if graph.halves[id] == "backward"]
    assert order[:4] == ["sum:1", "multiply:2", "tanh:1", "multiply:1"]
    assert {graph.variables[id] for id, kind in enumerate(graph.kinds) if kind == "leaf"} == {
        "x",
        "weight",
    }
    assert x._value.shape == weight._value.shape
    for view in ("forward", "backward", "both"):
        assert "<svg" in gradstep.render(loss, view=view).text


def test_a_graph_of_it_is_captured_as_data() -> None:
    loss, _ = hips_engine.traced(lambda x: np.exp(x) + x, 2.0)
    graph = gradstep.capture(loss, "backward")
    edges = {(graph.names[edge.source], graph.names[edge.target]) for edge in graph.edges()}
    assert ("add", "exp") in edges
    assert graph.derived_forward is False


@pytest.mark.parametrize("act", [gradstep.Session, gradstep.check, gradstep.film])
def test_a_command_says_once_what_an_engine_cannot_do(act: Callable[[Any], Any]) -> None:
    loss, _ = hips_engine.traced(lambda x: np.exp(x) + x, 2.0)
    with pytest.raises(Exception, match=r"^this engine cannot \w.*: that of autograd offers no"):
        act(loss)

"""``autograd.profiler``: what is recorded, and where a graph shows it."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import autograd_core
from autograd_core import nn
from autograd_core.autograd.call import make_call
from autograd_core.autograd.plan import make_plan
from autograd_core.autograd.profiler import profile
from gradstep import trace
from gradstep.capturing import capture
from gradstep.capturing.names import Names
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph.folding import fold
from gradstep.graph.model import Cost
from gradstep.graph.serialize import from_json, to_json


class Square(autograd_core.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return 2 * g * ctx.saved_tensors[0]


def test_a_profile_is_entered_once() -> None:
    found = profile()
    with found, pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"):
        found.__enter__()


def test_every_node_has_its_cost_forward_and_backward() -> None:
    x = autograd_core.ones(3, 4, requires_grad=True)
    with profile() as found:
        y = x.sin()
        z = Square.apply(y).sum()
        z.backward(retain_graph=True)
        z.backward()
    nodes = make_plan([z.edge]).order
    forward = {n.name(): found.forward[n.notes] for n in nodes if n.notes in found.forward}
    backward = {n.name(): found.backward[n.notes] for n in nodes if n.notes in found.backward}
    assert forward.keys() == {"SinBackward0", "SquareBackward", "SumBackward0"}
    assert backward.keys() == forward.keys() | {"torch::autograd::AccumulateGrad"}
    assert [forward[name].bytes for name in sorted(forward)] == [48, 48, 4]
    assert [backward[name].bytes for name in sorted(forward)] == [96, 96, 96]
    assert {spent.calls for spent in forward.values()} == {1}
    assert {spent.calls for spent in backward.values()} == {2}
    assert all(spent.seconds > 0 for spent in [*forward.values(), *backward.values()])


def test_a_profile_keeps_no_graph_alive() -> None:
    gc.disable()
    try:
        with profile() as found:
            autograd_core.ones(3, requires_grad=True).sin().sum()
        assert not found.forward
    finally:
        gc.enable()


def test_calls_of_grad_are_profiled_too() -> None:
    x = autograd_core.ones(3, requires_grad=True)
    y = x.sin().sum()
    with profile() as found:
        (g,) = autograd_core.autograd.grad(y, x)
    assert g.tolist() == pytest.approx([0.5403023] * 3)
    assert [found.backward[node.notes].bytes for node in make_plan([y.edge]).order[:2]] == [12, 12]


def test_an_op_that_fails_leaves_the_profile_whole() -> None:
    with profile() as found:
        with pytest.raises(RuntimeError):
            autograd_core.ones(2) + autograd_core.ones(3)
        y = autograd_core.ones(2, requires_grad=True).sin()
    assert found.forward[y.grad_fn.notes].calls == 1


def test_what_a_profile_measured_comes_to_the_nodes_of_a_graph() -> None:
    x = autograd_core.ones(3, 4, requires_grad=True)
    with profile() as found, trace():
        y = x.sin() * 2
        z = y.sum()
        z.backward(retain_graph=True)
    graph = capture(z, "both", names={"x": x, "z": z}, profile=found)
    costs = {(node.half, node.name): graph.costs.get(node.id) for node in graph.nodes()}
    sine = costs["backward", "SinBackward0"]
    assert sine is not None
    assert (sine.forward_bytes, sine.backward_bytes) == (48, 48)
    assert sine.forward_seconds > 0 < sine.backward_seconds
    assert costs["forward", "sin"] == sine
    leaf = costs["backward", "AccumulateGrad"]
    assert leaf is not None
    assert leaf.forward_seconds is None
    assert capture(z, "both", names={"x": x, "z": z}).costs == {}


def test_costs_add_up_in_boxes_and_survive_json() -> None:
    model = nn.Sequential(*[nn.Sequential(nn.Linear(2, 2), nn.Tanh()) for _ in range(12)])
    x = autograd_core.ones(3, 2)
    with profile() as found, trace():
        loss = model(x).sum()
        loss.backward(retain_graph=True)
    graph = capture(loss, "both", profile=found)
    folded = fold(graph)
    assert len(folded) < len(graph)
    for half in ("forward", "backward"):
        for part in Cost._fields:
            whole, boxes = (
                sum(
                    getattr(cost, part) or 0
                    for id, cost in each.costs.items()
                    if each.halves[id] == half
                )
                for each in (graph, folded)
            )
            assert boxes == pytest.approx(whole, rel=1e-9)
            assert whole > 0
    assert from_json(to_json(graph)).costs == graph.costs
    assert from_json(to_json(folded)).costs == folded.costs


def test_what_was_not_measured_counts_as_nothing_in_a_sum() -> None:
    assert Cost(1.0, None, None, 4) + Cost(2.0, None, 3.0, 5) == Cost(3.0, None, 3.0, 9)


def test_a_forward_view_knows_what_its_ops_took() -> None:
    x = autograd_core.ones(3, 4, requires_grad=True)
    with profile() as found, trace():
        z = x.sin().sum()
    graph = capture(z, "forward", profile=found)
    (sine,) = [graph.costs[id] for id, name in enumerate(graph.names) if name == "sin"]
    assert sine.forward_bytes == 48
    assert sine.backward_seconds is None


def test_a_graph_that_is_taken_within_a_profile_knows_what_it_measured() -> None:
    x = autograd_core.ones(3, 4, requires_grad=True)
    with profile():
        z = x.sin().sum()
        assert capture(z, "backward").costs
    assert not capture(z, "backward").costs


def test_a_pass_that_is_observed_is_measured_as_a_plain_one() -> None:
    x = autograd_core.ones(3, 4, requires_grad=True)
    with profile():
        z = x.sin().sum()
        with ObservedPass(make_call(z, None, None, False), Names({"x": x})) as seen:
            seen.run()
            costs = seen.graph("backward").costs
    assert [cost.backward_bytes for cost in costs.values()] == [48, 48, 0]
    assert all(cost.backward_seconds > 0 for cost in costs.values())

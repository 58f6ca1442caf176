"""``autograd.profiler``: what is recorded, how it is read, and that it costs nothing when off."""

from __future__ import annotations

import gc
import json
from importlib import import_module
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


def profiler_of(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.autograd.profiler")


def square(torch: Any) -> Any:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g * ctx.saved_tensors[0]

    return Square


def program(torch: Any, **options: Any) -> Any:
    """A profile of a matrix product, a custom Function, and the backward pass."""
    profiler = profiler_of(torch)
    x = torch.ones(3, 4, requires_grad=True)
    w = torch.ones(4, 5, requires_grad=True)
    with profiler.profile(**options) as found:
        with profiler.record_function("first part"):
            y = torch.mm(x, w).sin()
        square(torch).apply(y).sum().backward()
    return found


EXPECTED = [
    "first part", "aten::mm", "aten::sin", "Square", "aten::sum", "SumBackward0",
    "SquareBackward", "SinBackward0", "MmBackward0", "torch::autograd::AccumulateGrad",
]  # fmt: skip


def event_of(found: Any, name: str) -> Any:
    return next(event for event in found.function_events if event.name == name)


def test_ops_nodes_and_blocks_are_events_in_the_order_they_began(torch: Any) -> None:
    names = [event.name for event in program(torch).function_events]
    assert list(dict.fromkeys(name for name in names if name in EXPECTED)) == EXPECTED


def test_events_lie_within_each_other(torch: Any) -> None:
    found = program(torch)
    block = event_of(found, "first part")
    assert [child.name for child in block.cpu_children if child.name in EXPECTED] == EXPECTED[1:3]
    product = event_of(found, "aten::mm")
    assert product.cpu_parent is block
    inner = [child.name for child in event_of(found, "Square").cpu_children]
    assert inner == ["aten::mul"]
    assert block.cpu_time_total >= sum(child.cpu_time_total for child in block.cpu_children)
    outside = block.cpu_time_total - sum(child.cpu_time_total for child in block.cpu_children)
    assert block.self_cpu_time_total == pytest.approx(outside)
    start, end = block.time_range.start, block.time_range.end
    assert start <= product.time_range.start <= product.time_range.end <= end


def test_the_engine_evaluates_each_node(torch: Any) -> None:
    found = program(torch)
    for name in EXPECTED[5:]:
        event = event_of(found, name)
        around = event.cpu_parent
        assert around.name == f"autograd::engine::evaluate_function: {name}"
        assert (around.scope, around.sequence_nr) == (0, event.sequence_nr)
        assert around.cpu_parent is None
        assert around.cpu_time_total >= event.cpu_time_total


def test_an_event_says_what_it_was(torch: Any) -> None:
    found = program(torch)
    forward, backward = event_of(found, "aten::mm"), event_of(found, "MmBackward0")
    assert forward.sequence_nr == backward.sequence_nr >= 0
    assert [event_of(found, name).scope for name in ("first part", "aten::mm", "MmBackward0")] == [
        7, 0, 1,
    ]  # fmt: skip
    assert forward.count == 1
    assert forward.key == "aten::mm"
    assert forward.cpu_time == forward.cpu_time_total


def test_shapes_are_kept_if_asked_for(torch: Any) -> None:
    assert event_of(program(torch, record_shapes=True), "aten::mm").input_shapes == [[3, 4], [4, 5]]
    assert event_of(program(torch), "aten::mm").input_shapes == []


def test_bytes_of_results_are_counted(torch: Any) -> None:
    found = program(torch, profile_memory=True)
    assert event_of(found, "aten::mm").cpu_memory_usage == 60
    assert event_of(found, "aten::mm").self_cpu_memory_usage == 60
    assert event_of(found, "first part").cpu_memory_usage == 120
    assert event_of(found, "first part").self_cpu_memory_usage == 0


def test_averages_add_up_by_name_and_by_shape(torch: Any) -> None:
    profiler = profiler_of(torch)
    with profiler.profile(record_shapes=True) as found:
        for size in (2, 2, 3):
            torch.ones(size).sin()
    (by_name,) = [each for each in found.key_averages() if each.key == "aten::sin"]
    assert by_name.count == 3
    events = [event for event in found.function_events if event.name == "aten::sin"]
    assert by_name.cpu_time_total == pytest.approx(sum(event.cpu_time_total for event in events))
    assert by_name.cpu_time == pytest.approx(by_name.cpu_time_total / 3)
    by_shape = [
        (each.input_shapes, each.count)
        for each in found.key_averages(group_by_input_shape=True)
        if each.key == "aten::sin"
    ]
    assert sorted(by_shape) == [([[2]], 2), ([[3]], 1)]
    total = found.total_average()
    assert total.count == len(found.function_events)
    assert total.self_cpu_time_total == pytest.approx(found.self_cpu_time_total)


def test_a_table_is_sorted_and_cut(torch: Any) -> None:
    averages = program(torch, profile_memory=True).key_averages()
    text = averages.table(sort_by="self_cpu_time_total", row_limit=2)
    lines = text.splitlines()
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["CPU Mem", "Self CPU Mem", "# of Calls"]
    assert [title.strip() for title in lines[1].split("  ") if title] == titles
    greatest = sorted(averages, key=lambda each: each.self_cpu_time_total, reverse=True)[:2]
    assert [line.split()[-1] for line in lines[3:5]] == [str(each.count) for each in greatest]
    assert lines[3].strip().startswith(greatest[0].key[:40])
    assert len(lines) == 7
    assert lines[-1].startswith("Self CPU time total: ")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        averages.table(sort_by="nothing")


def test_a_table_of_events_can_leave_out_what_is_within_others(torch: Any) -> None:
    found = program(torch)
    whole = found.table(row_limit=-1)
    top = found.table(row_limit=-1, top_level_events_only=True)
    assert "aten::mm" in whole
    assert "aten::mm" not in top
    assert "first part" in top


def test_the_trace_is_written_for_chrome(torch: Any, tmp_path: Any) -> None:
    file = tmp_path / "trace.json"
    program(torch).export_chrome_trace(str(file))
    events = {
        event["name"]: event
        for event in json.loads(file.read_text())["traceEvents"]
        if event.get("ph") == "X"
    }
    block, inner = events["first part"], events["aten::sin"]
    assert block["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= block["ts"] + block["dur"] + 1e-3


def test_a_block_may_be_a_function(torch: Any) -> None:
    profiler = profiler_of(torch)

    @profiler.record_function("decorated")
    def function(x: Any) -> Any:
        """Its docstring."""
        return x.sin()

    assert function.__doc__ == "Its docstring."
    assert function(torch.zeros(1)).item() == 0  # without a profile
    with profiler.profile() as found:
        function(torch.zeros(1))
    assert [child.name for child in event_of(found, "decorated").cpu_children] == ["aten::sin"]


def test_a_profile_that_is_off_records_nothing(torch: Any) -> None:
    profiler = profiler_of(torch)
    found = profiler.profile(enabled=False)
    with found as entered:
        torch.zeros(1).sin()
    assert entered is None
    if torch is autograd_core:  # PyTorch has no list of them then
        assert not found.function_events


def test_a_profile_is_entered_once(torch: Any) -> None:
    found = profiler_of(torch).profile()
    with found, pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"):
        found.__enter__()


# -- what only this core tells -------------------------------------------------------------------


def test_every_node_has_its_cost_forward_and_backward() -> None:
    x = autograd_core.ones(3, 4, requires_grad=True)
    with profile() as found:
        y = x.sin()
        z = square(autograd_core).apply(y).sum()
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
        assert len(found.function_events) == 2
    finally:
        gc.enable()


def test_calls_of_grad_are_profiled_too() -> None:
    x = autograd_core.ones(3, requires_grad=True)
    y = x.sin()
    with profile() as found:
        (g,) = autograd_core.autograd.grad(y.sum(), x)
    assert g.tolist() == pytest.approx([0.5403023] * 3)
    assert [event.name for event in found.function_events if event.cpu_parent is not None] == [
        "SumBackward0", "SinBackward0", "torch::autograd::AccumulateGrad",
    ]  # fmt: skip


def test_an_op_that_fails_leaves_the_profile_whole() -> None:
    with profile() as found:
        with pytest.raises(RuntimeError):
            autograd_core.ones(2) + autograd_core.ones(3)
        autograd_core.ones(2).sin()
    assert [event.name for event in found.function_events][-1] == "aten::sin"
    assert all(event.cpu_parent is None for event in found.function_events)


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


def test_the_newer_profiler_has_another_face(torch: Any) -> None:
    profiler = import_module(f"{torch.__name__}.profiler")
    ready: list[Any] = []
    with profiler.profile(
        activities=[profiler.ProfilerActivity.CPU],
        record_shapes=True,
        on_trace_ready=ready.append,
    ) as found:
        with profiler.record_function("mine"):
            torch.ones(2, 3).exp()
        found.step()
    assert ready == [found]
    assert {"mine", "aten::exp"} <= {event.name for event in found.events()}
    assert "mine" in found.key_averages().table(sort_by="cpu_time_total", row_limit=10)


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

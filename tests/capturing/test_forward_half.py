"""The forward half begins where the backward half ends: at the leaves that get a gradient."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import autograd_core as torch
import autograd_core.nn.functional as F
from autograd_core import nn
from autograd_core.autograd.call import make_call
from autograd_core.autograd.graph import get_gradient_edge, saved_tensors_hooks
from gradstep import Graph, capture, trace
from gradstep.capturing import Names
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.graph.folding.totals import totals

LEAVES = ("leaf", "parameter", "frozen", "constant")


def ends(graph: Graph) -> list[tuple[str, str, str]]:
    """Kind, name and detail of what the forward half begins with."""
    return [
        (node.kind, node.name, node.detail)
        for node in graph.nodes()
        if node.half == "forward" and node.kind in LEAVES
    ]


def ops(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes() if node.half == "forward" and node.kind == "op"]


def check_twins(graph: Graph) -> None:
    """Every node of the backward half has its op or leaf in the forward half."""
    alone = [graph.address(id) for id in graph.orders if id not in graph.pairs]
    assert not alone
    total = totals(graph)
    assert total.leaves == total.leaf_gradients


def penalty(function: Callable[[Any], Any], *shape: int) -> Any:
    x = torch.randn(*shape, requires_grad=True)
    (slope,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    return (slope * slope).sum()


def test_a_saved_result_leads_back_to_the_op_that_made_it() -> None:
    with trace():
        x = torch.randn(3, requires_grad=True)
        (slope,) = torch.autograd.grad(torch.exp(x).sum(), x, create_graph=True)
        loss = (slope * slope).sum()
    graph = capture(loss, names={"x": x, "loss": loss})
    assert ops(graph) == ["exp", "expand", "mul", "mul", "sum"]
    assert [end[:2] for end in ends(graph)] == [("leaf", "x"), ("constant", "constant")]
    check_twins(graph)


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        result = torch.exp(x)
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0]


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (torch.tanh, (3,)), (torch.sigmoid, (3,)), (torch.sqrt, (3,)), (torch.linalg.inv, (3, 3)),
        (lambda x: F.softmax(x, 1) ** 2, (2, 3)), (lambda x: x.norm(dim=1), (2, 3)),
        (lambda x: x.max(1)[0] ** 3, (2, 3)),
        pytest.param(
            lambda x: torch.linalg.lu(x)[2] ** 2, (3, 3), marks=pytest.mark.extra("scipy")
        ),
        (lambda x: F.max_pool2d(x, 2) ** 3, (1, 1, 4, 4)), (Exp.apply, (3,)),
        (lambda x: F.layer_norm(x, (3,)) ** 3, (2, 3)),
    ],
)  # fmt: skip
def test_a_gradient_penalty_has_both_halves_whole(
    function: Callable[[Any], Any], shape: tuple[int, ...]
) -> None:
    with trace():
        loss = penalty(function, *shape)
    graph = capture(loss)
    assert not graph.derived_forward
    check_twins(graph)


def test_a_saved_result_that_was_packed_leads_back_too() -> None:
    with trace(), saved_tensors_hooks(lambda t: t.detach().numpy(), torch.from_numpy):
        loss = penalty(torch.exp, 3)
    graph = capture(loss)
    assert ops(graph)[0] == "exp"
    check_twins(graph)


def test_a_pass_from_an_edge_of_the_graph_has_the_forward_half_of_its_node() -> None:
    with trace():
        x = torch.ones(2, 3, requires_grad=True)
        _, second = x.exp().unbind(0)
    call = make_call(get_gradient_edge(second), torch.ones(3), None, False)
    graph = ObservedPass(call, Names({"x": x})).graph("both")
    assert ops(graph) == ["exp", "unbind"]
    value = next(edge for edge in graph.edges() if graph.kinds[edge.target] == "output")
    assert (graph.names[value.source], value.output_nr) == ("unbind", 1)


def by_method(x: Any) -> Any:
    return x.requires_grad_()


def by_property(x: Any) -> Any:
    x.requires_grad = True
    return x


@pytest.mark.parametrize("require", [by_method, by_property])
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.randn(3, 3) * 0.1, lambda: torch.randn(9).view(3, 3),
        lambda: torch.zeros(3, 3).fill_(0.5).t(), lambda: nn.init.uniform_(torch.empty(3, 3)),
    ],
)  # fmt: skip
def test_a_result_that_was_made_a_leaf_is_one(
    make: Callable[[], Any], require: Callable[[Any], Any]
) -> None:
    with trace():
        w = require(make())
        loss = (w @ torch.ones(3, 3)).sum()
    graph = capture(loss, names={"w": w, "loss": loss})
    assert ends(graph) == [("leaf", "w", "requires grad"), ("constant", "constant", "")]
    assert ops(graph) == ["mm", "sum"]
    check_twins(graph)


def test_a_leaf_that_training_changes_stays_a_leaf_with_its_present_value() -> None:
    with trace():
        w = torch.tensor(2.0, requires_grad=True)
        for _ in range(2):
            w.grad = None
            (w * w).backward()
            with torch.no_grad():
                w -= 0.25 * w.grad
        loss = w * w
    graph = capture(loss, names={"w": w, "loss": loss})
    assert ends(graph) == [("leaf", "w", "requires grad")]
    assert ops(graph) == ["mul"]
    values = [n.statistics for n in graph.nodes() if n.half == "forward" and n.name == "w"]
    assert [value.scalar for value in values if value] == [0.5]


def test_a_leaf_that_no_gradient_comes_back_to_is_a_constant_and_says_so() -> None:
    with trace():
        x, w = (torch.ones(2, requires_grad=True) for _ in range(2))
        with torch.no_grad():
            shift = x * 2
        loss = torch.where(x > 0, w * shift, 0.0).sum()
    graph = capture(loss, names={"x": x, "w": w})
    assert ends(graph)[0] == ("constant", "x", "requires grad, no gradient gets here")
    check_twins(graph)


def test_a_parameter_without_gradient_is_frozen() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False))
    model[0].requires_grad_(False)
    with trace():
        loss = model(torch.ones(1, 2)).sum()
    graph = capture(loss, names={"model": model})
    kinds = {name: (kind, detail) for kind, name, detail in ends(graph)}
    assert kinds["0.weight"] == ("frozen", "frozen parameter")
    assert kinds["1.weight"] == ("parameter", "requires grad")
    assert (totals(graph).leaves, totals(graph).constants) == (1, 2)
    check_twins(graph)


def test_a_value_that_left_the_graph_in_place_says_where() -> None:
    with trace():
        x, w = (torch.ones(2, requires_grad=True) for _ in range(2))
        y = x * 2
        y.detach_()
        loss = (y * w).sum()
    kind, name, detail = ends(capture(loss, names={"y": y, "w": w}))[0]
    assert (kind, name) == ("constant", "y")
    assert detail.startswith("detach_() at test_forward_half.py:")


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("is_grad", [True, False])
@pytest.mark.parametrize("names", ["w", "b", "h", "hw", "wb"])
def test_a_pass_to_some_inputs_has_a_whole_forward_half(
    traced: bool, is_grad: bool, names: str
) -> None:
    with trace() if traced else nullcontext():
        w, b = torch.randn(3, 3, requires_grad=True), torch.randn(3, requires_grad=True)
        h = torch.ones(2, 3) @ w + b
        loss = (h.tanh() * w[0]).sum()
    known = {"w": w, "b": b, "h": h}
    call = make_call(loss, None, None, False)
    call = call._replace(inputs=tuple(known[name] for name in names), is_grad=is_grad)
    with ObservedPass(call, Names({**known, "loss": loss})) as seen:
        seen.run()
        graph = seen.graph("both")
    assert graph.derived_forward is not traced
    assert ops(graph) == (["mm", "add", "tanh", "select", "mul", "sum"])
    asked = {name: detail for _, name, detail in ends(graph) if name in ("w", "b")}
    assert asked == {
        name: "requires grad" if name in names else "requires grad, not in inputs"
        for name in ("w", "b")
    }
    check_twins(graph)


def test_an_op_at_which_a_pass_ends_says_that_its_gradient_was_returned() -> None:
    x = torch.ones(2, requires_grad=True)
    h = x * 2
    call = make_call(h.exp().sum(), None, None, False)._replace(inputs=(h,), is_grad=True)
    with ObservedPass(call, Names({"x": x, "h": h})) as seen:
        seen.run()
        graph = seen.graph("backward")
    last = max(graph.orders, key=graph.orders.__getitem__)
    assert (graph.names[last], graph.details[last]) == ("MulBackward0", "returned by grad()")
    assert graph.formulas[last] == ""

"""``retain_grad``, and ``backward`` and ``grad`` for some places only."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest


def leaf(torch: Any) -> Any:
    return torch.tensor([2.0, 3.0], requires_grad=True)


def test_a_retained_gradient_accumulates(torch: Any) -> None:
    y = leaf(torch) * 1
    y.retain_grad()
    y.retain_grad()  # once more changes nothing
    z = (y * 3).sum()
    z.backward(retain_graph=True)
    z.backward()
    assert y.grad.tolist() == [6.0, 6.0]


def test_a_retained_gradient_is_that_of_the_tensor_as_changed_in_place(torch: Any) -> None:
    y = leaf(torch) * 1
    y.retain_grad()
    y.mul_(5)
    (y * 3).sum().backward()
    assert y.retains_grad
    assert y.grad.tolist() == [3.0, 3.0]


def test_a_retained_gradient_is_that_of_a_base_changed_through_a_view(torch: Any) -> None:
    y = leaf(torch) * 1
    y.retain_grad()
    view = y[0]
    view.mul_(5)
    (y * 3).sum().backward()
    assert (y.retains_grad, view.retains_grad) == (True, False)
    assert y.grad.tolist() == [3.0, 3.0]


def test_a_view_made_anew_keeps_its_gradient(torch: Any) -> None:
    y = leaf(torch) * 1
    view = y[0]
    view.retain_grad()
    y.mul_(5)
    (y * 3).sum().backward(retain_graph=True)
    assert view.grad is None  # the sum does not come from the view
    view.backward()
    assert view.grad.item() == 1


def test_each_of_several_outputs_is_retained_for_itself(torch: Any) -> None:
    a, b = leaf(torch).unbind()
    a.retain_grad()
    assert (a.retains_grad, b.retains_grad) == (True, False)
    (a * b).backward()
    assert a.grad.item() == 3
    assert leaf(torch).retains_grad is False


def test_tensor_hooks_see_the_place_where_they_were_registered(torch: Any) -> None:
    y = leaf(torch) * 1
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(5)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1.0, 1.0]), ("before", [5.0, 5.0])]


def test_a_retained_gradient_makes_no_cycle(torch: Any) -> None:
    gc.collect()
    gc.disable()
    try:
        y = leaf(torch) * 1
        y.retain_grad()
        y.sum().backward()
        gone = weakref.ref(y)
        del y
        assert gone() is None
    finally:
        gc.enable()


def test_backward_for_a_result_keeps_its_gradient_and_runs_its_node(torch: Any) -> None:
    x = leaf(torch)
    y = x * x
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    z.backward(inputs=[y])
    assert y.grad.tolist() == [16.0, 36.0]
    assert y.retains_grad
    assert x.grad is None
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("ask", "fired"),
    [
        (lambda torch, x, y, z: torch.autograd.grad(z, y), ["tensor"]),
        (lambda torch, x, y, z: torch.autograd.grad(z, (y, x)), ["tensor", "pre", "post"]),
        (lambda torch, x, y, z: z.backward(inputs=[y]), ["tensor", "pre", "post"]),
        (lambda torch, x, y, z: z.backward(inputs=[x]), ["tensor", "pre", "post"]),
    ],
)
def test_a_node_that_need_not_run_fires_only_the_hooks_of_its_tensor(
    torch: Any, ask: Any, fired: list[str]
) -> None:
    x = leaf(torch)
    y = x * x
    z = (y * y).sum()
    seen: list[str] = []
    y.grad_fn.register_prehook(lambda g: seen.append("pre"))
    y.grad_fn.register_hook(lambda sent, got: seen.append("post"))
    y.register_hook(lambda g: seen.append("tensor"))
    y.retain_grad()
    ask(torch, x, y, z)
    assert seen == fired
    assert y.grad.tolist() == [8.0, 18.0]


def test_edges_stand_for_tensors(torch: Any) -> None:
    edge_of = torch.autograd.graph.get_gradient_edge
    x = leaf(torch)
    y = x * x
    z = (y * y).sum()
    start = edge_of(z)
    assert torch.autograd.grad(start, x, retain_graph=True)[0].tolist() == [32.0, 108.0]
    seed = torch.tensor(2.0)
    (found,) = torch.autograd.grad(start, edge_of(y), seed, retain_graph=True)
    assert found.tolist() == [16.0, 36.0]
    torch.autograd.backward([start], [seed], retain_graph=True)
    assert x.grad.tolist() == [64.0, 216.0]
    torch.autograd.backward(start, inputs=[edge_of(x)], retain_graph=True)
    assert x.grad.tolist() == [96.0, 324.0]
    torch.autograd.backward(start, inputs=[edge_of(y)])
    assert y.grad is None


def test_an_input_without_a_graph_is_refused(torch: Any) -> None:
    x = leaf(torch)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require"):
        torch.autograd.grad(x.sum(), torch.ones(2))


@pytest.mark.parametrize("kind", ["op", "several", "leaf"])
@pytest.mark.parametrize("how", ["grad", "graph", "backward", "several"])
def test_a_root_that_leads_nowhere_tells_its_hooks_alone(torch: Any, how: str, kind: str) -> None:
    x, y, seen = leaf(torch), leaf(torch), []
    root = {"op": x.sin, "several": lambda: (x * 1).unbind(0)[1], "leaf": lambda: x}[kind]()
    root.register_hook(lambda g: seen.append(g.sum().item()))
    if kind != "leaf":
        root.retain_grad()
        root.grad_fn.register_hook(lambda sent, received: seen.append("the node"))
    seed = torch.ones_like(root)
    if how == "backward":
        torch.autograd.backward(root, seed, inputs=[y])
    elif how == "several":  # of which one leads to it
        torch.autograd.grad([root, y * 2], y, [seed, torch.ones(2)], retain_graph=True)
    else:
        found = torch.autograd.grad(root, y, seed, allow_unused=True, create_graph=how == "graph")
        assert found == (None,)
    assert seen == ([] if how == "several" else [seed.sum().item()])
    assert y.grad is None
    root.backward(seed)  # nothing was freed
    assert x.grad is not None

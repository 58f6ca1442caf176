"""Inference mode: which tensors it makes, and what may be done with them outside."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

SAVED = "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
CHANGED = "Inplace update to inference tensor outside InferenceMode is not allowed."


def made(torch: Any) -> Any:
    with torch.inference_mode():
        return torch.ones(2)


def product(torch: Any) -> Any:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[1], None

    return Product


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda torch, x, n: torch.ones(2), True),
        (lambda torch, x, n: torch.tensor([1.0]), True),
        (lambda torch, x, n: x * 2, True),
        (lambda torch, x, n: torch.cat([n, n]), True),
        (lambda torch, x, n: n.sort().values, True),
        (lambda torch, x, n: (x * 2)[0:1], True),
        (lambda torch, x, n: product(torch).apply(x, n), True),
        (lambda torch, x, n: n[0:1], False),  # a view is what its base is
        (lambda torch, x, n: n.detach(), False),
        (lambda torch, x, n: n.mul_(2), False),
        (lambda torch, x, n: n, False),
    ],
)
def test_what_is_made_in_inference_mode_is_an_inference_tensor(
    torch: Any, make: Any, expected: bool
) -> None:
    x, n = torch.ones(2, requires_grad=True), torch.ones(2)
    with torch.inference_mode():
        y = make(torch, x, n)
    assert y.is_inference() is expected
    assert torch.is_inference(y) is expected


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda t: t[0:1], True),
        (lambda t: t.detach(), True),
        (lambda t: t.data, True),
        (lambda t: t + 1, False),
        (lambda t: t.clone(), False),
        (copy.deepcopy, False),
    ],
)
def test_outside_views_stay_what_they_were_and_results_do_not(
    torch: Any, make: Callable[[Any], Any], expected: bool
) -> None:
    assert make(made(torch)).is_inference() is expected


@pytest.mark.parametrize(
    "use",
    [
        lambda torch, x, i: x * i,
        lambda torch, x, i: (x * 1).mul_(i),
        lambda torch, x, i: product(torch).apply(x, i),
        lambda torch, x, i: torch.where(i > 0, x, 0) * i,
    ],
)
def test_no_node_may_save_one(torch: Any, use: Any) -> None:
    with pytest.raises(RuntimeError, match=SAVED):
        use(torch, torch.ones(2, requires_grad=True), made(torch))


def test_graphs_that_need_not_save_one_may_use_it(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x + made(torch)) * 3
    y.backward(made(torch))
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "change",
    [
        lambda i: i.add_(1),
        lambda i: i.zero_(),
        lambda i: i[0:1].mul_(2),
    ],
)
def test_it_is_changed_in_inference_mode_only(torch: Any, change: Any) -> None:
    i = made(torch)
    with pytest.raises(RuntimeError, match=CHANGED):
        change(i)
    with torch.inference_mode():
        change(i.fill_(3))
    assert i.tolist() != [3.0, 3.0]


def test_it_has_no_version(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Inference tensors do not track version counter"):
        _ = made(torch)._version
    torch.autograd.graph.increment_version(made(torch))


def test_it_cannot_come_to_require_a_gradient(torch: Any) -> None:
    message = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed"
    with pytest.raises(RuntimeError, match=message):
        made(torch).requires_grad_()
    with pytest.raises(RuntimeError, match=message):
        made(torch).requires_grad = True
    assert made(torch).requires_grad_(False).requires_grad is False
    with torch.inference_mode():
        leaf = torch.ones(2, requires_grad=True)
        assert (leaf * 2).requires_grad is False
    assert leaf.requires_grad


def test_changes_of_normal_tensors_count_in_inference_mode_too(torch: Any) -> None:
    n = torch.ones(2)
    with torch.inference_mode():
        n.mul_(2)
        view = n.view(2)
    view.add_(1)
    assert n._version == 2


def test_modes_nest_within_inference_mode(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            y = x * 2
        with torch.inference_mode(False):
            z = x * 2
            enabled = torch.is_grad_enabled()
    assert (y.requires_grad, y.is_inference()) == (False, True)
    assert (z.requires_grad, z.is_inference(), enabled) == (True, False, True)


def test_numbers_met_in_inference_mode_serve_outside(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        _ = x * 1234.5
    (x * 1234.5).sum().backward()
    assert x.grad.tolist() == [1234.5, 1234.5]


@pytest.mark.parametrize("with_parentheses", [True, False])
def test_it_is_a_decorator_too(torch: Any, with_parentheses: bool) -> None:
    decorate = torch.inference_mode() if with_parentheses else torch.inference_mode

    @decorate
    def function() -> Any:
        return torch.ones(1)

    assert function().is_inference()


def test_gradients_can_be_on_in_inference_mode_and_yet_no_graph_is_built(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            y = x * 2
            assert torch.is_grad_enabled()
            assert torch.is_inference_mode_enabled()
            assert y.is_inference()
            assert not y.requires_grad
        with torch.set_grad_enabled(True):
            assert torch.is_grad_enabled()
        with torch.inference_mode(False):
            assert (x * 2).requires_grad


def test_leaving_inference_mode_inside_turns_gradients_on(torch: Any) -> None:
    with torch.no_grad(), torch.inference_mode(False):
        assert torch.is_grad_enabled()

"""Checkpoints: the gradients of a plain run, from values that are computed again."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import weakref
from typing import Any

import pytest

LIBRARIES = ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.fixture(params=LIBRARIES)
def torch(request: pytest.FixtureRequest) -> Any:
    """Each fact is stated once, and holds in both libraries."""
    if importlib.util.find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    importlib.import_module(f"{request.param}.utils.checkpoint")
    return importlib.import_module(request.param)


@pytest.fixture(params=[True, False], ids=["reentrant", "not reentrant"])
def reentrant(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def checkpoint(torch: Any, *args: Any, **kwargs: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint(*args, **kwargs)


def leaf(torch: Any, *numbers: float) -> Any:
    return torch.tensor(list(numbers), requires_grad=True)


def names(node: Any) -> list[str]:
    """The first branch of a graph, from its end."""
    found = []
    while node is not None:
        found.append(node.name())
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def test_gradients_are_those_of_a_plain_run(torch: Any, reentrant: bool) -> None:
    weight = leaf(torch, 0.5, -1.0)
    runs = []

    def block(x: Any, scale: float) -> Any:
        runs.append(torch.is_grad_enabled())
        return (x * weight).tanh().exp() * scale

    plain, saving = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    block(plain * 2, 3.0).sum().backward()
    expected, weight.grad = weight.grad, None
    runs.clear()
    checkpoint(torch, block, saving * 2, 3.0, use_reentrant=reentrant).sum().backward()
    assert saving.grad.tolist() == plain.grad.tolist()
    assert weight.grad.tolist() == expected.tolist()
    assert runs == [not reentrant, True]


def test_graphs_show_one_node_or_all(torch: Any) -> None:
    x = leaf(torch, 1.0)
    y = checkpoint(torch, lambda x: x.exp().sin(), x, use_reentrant=True)
    assert names(y.grad_fn) == ["CheckpointFunctionBackward", "torch::autograd::AccumulateGrad"]
    y = checkpoint(torch, lambda x: x.exp().sin(), x, use_reentrant=False)
    assert names(y.grad_fn) == ["SinBackward0", "ExpBackward0", "torch::autograd::AccumulateGrad"]


def test_random_numbers_are_those_of_the_first_run(torch: Any, reentrant: bool) -> None:
    F = torch.nn.functional
    x = torch.ones(100, requires_grad=True)
    y = checkpoint(torch, lambda x: F.dropout(x, 0.5), x, use_reentrant=reentrant)
    torch.manual_seed(7)
    expected = torch.randn(3).tolist()
    torch.manual_seed(7)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert torch.randn(3).tolist() == expected  # and those after it go on undisturbed


@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_nested_checkpoints(torch: Any, reentrant: bool) -> None:
    def inner(x: Any) -> Any:
        return x.sin() * x

    def outer(x: Any) -> Any:
        return checkpoint(torch, inner, x.exp(), use_reentrant=reentrant).tanh()

    x, y = leaf(torch, 0.5), leaf(torch, 0.5)
    checkpoint(torch, outer, x, use_reentrant=reentrant).sum().backward()
    inner(y.exp()).tanh().sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_several_outputs_and_inputs(torch: Any, reentrant: bool) -> None:
    def block(x: Any, note: str, y: Any) -> Any:
        return x * y, x.exp()

    x, y = leaf(torch, 2.0), torch.tensor([3.0])
    product, power = checkpoint(torch, block, x, "note", y, use_reentrant=reentrant)
    (product * 2 + power * 0).sum().backward()
    assert x.grad.tolist() == [6.0]
    assert y.grad is None


def test_without_reentrance_derivatives_go_on(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = checkpoint(torch, lambda x: x * x.exp(), x, use_reentrant=False)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x)
    assert g.item() == pytest.approx(3 * 2.718281828**2, rel=1e-5)
    assert second.item() == pytest.approx(4 * 2.718281828**2, rel=1e-5)


def test_a_freed_graph_stays_freed(torch: Any, reentrant: bool) -> None:
    y = checkpoint(torch, lambda x: x.exp() * x, leaf(torch, 2.0), use_reentrant=reentrant).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_keywords_are_for_the_kind_without_reentrance(torch: Any) -> None:
    x = leaf(torch, 2.0)
    y = checkpoint(torch, lambda x, factor: x * factor, x, factor=3.0, use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == [3.0]
    with pytest.raises(ValueError, match="Unexpected keyword arguments: factor"):
        checkpoint(torch, lambda x, factor: x, x, factor=3.0, use_reentrant=True)


def test_what_changed_in_between_is_found(torch: Any) -> None:
    lengths = [2, 1]

    def block(x: Any) -> Any:
        for _ in range(lengths.pop(0)):
            x = x.exp()
        return x.sin()

    y = checkpoint(torch, block, leaf(torch, 0.1), use_reentrant=False)
    with pytest.raises(RuntimeError, match=r"torch\.utils\.checkpoint"):
        y.sum().backward()


def test_warnings_say_what_is_missing(torch: Any) -> None:
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch, lambda x: x.exp(), leaf(torch, 1.0))
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch, lambda x: x.exp(), torch.ones(1), use_reentrant=True)


def test_a_chain_in_segments(torch: Any) -> None:
    nn = torch.nn
    sequential = importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint_sequential
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
    x, y = leaf(torch, 1.0, 2.0), leaf(torch, 1.0, 2.0)
    sequential(model, 2, x, use_reentrant=False).sum().backward()
    model(y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()


def test_saved_values_are_gone_in_between_and_the_graph_dies_alone() -> None:
    torch = importlib.import_module("autograd_core")
    x = leaf(torch, 1.0)
    gc.disable()
    try:
        y = checkpoint(torch, lambda x: x.exp().sin(), x * 1, use_reentrant=False)
        assert [state for _, _, state in y.grad_fn.saved()] == ["freed"]
        watched = weakref.ref(y.grad_fn.next_functions[0][0])
        del y
        assert watched() is None
    finally:
        gc.enable()

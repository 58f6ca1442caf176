"""``torch.func``: each fact stated once, on this core and on PyTorch."""

from __future__ import annotations

import importlib
from contextlib import nullcontext
from typing import Any

import pytest


@pytest.fixture
def func(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.func")


def test_gradients_nest(torch: Any, func: Any) -> None:
    second = func.grad(lambda x: func.grad(lambda y: y**3)(x))
    found = second(torch.tensor(2.0))
    assert found.item() == 12
    assert not found.requires_grad


def test_a_gradient_belongs_to_the_graph_of_its_argument(torch: Any, func: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    func.grad(lambda y: y**2)(x).backward()
    assert x.grad.item() == 2


def test_gradients_by_dictionaries_come_as_dictionaries(torch: Any, func: Any) -> None:
    values = {"a": torch.tensor(2.0), "b": [torch.tensor(5.0)]}
    found = func.grad(lambda v: v["a"] * v["b"][0])(values)
    assert (found["a"].item(), found["b"][0].item()) == (5, 2)


def test_aux_comes_last_and_out_of_the_graph(torch: Any, func: Any) -> None:
    found, aux = func.grad(lambda x: (x.sum(), x * 2), has_aux=True)(torch.ones(2))
    assert found.tolist() == [1, 1]
    assert aux.tolist() == [2, 2]
    assert not aux.requires_grad


def test_vjp_pulls_back_what_is_given_and_hands_on_the_rest(torch: Any, func: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    result, pull, aux = func.vjp(lambda x: (x * x, x.sum()), x, has_aux=True)
    assert (result.tolist(), aux.item()) == ([1, 4], 3)
    assert pull(torch.tensor([1.0, 10.0]))[0].tolist() == [2, 40]


def test_what_no_argument_reaches_has_gradient_zero(torch: Any, func: Any) -> None:
    assert func.grad(lambda x: torch.ones(2).sum())(torch.ones(3)).tolist() == [0, 0, 0]


def test_the_derivative_of_a_constant_is_zero_at_infinity_too(torch: Any, func: Any) -> None:
    endless = torch.tensor([float("inf"), float("nan"), 1.0])
    _, tangent = func.jvp(lambda x: endless, (torch.ones(3),), (torch.ones(3),))
    assert tangent.tolist() == [0.0] * 3
    gradient = func.grad(lambda x: torch.ones(3).sum())(endless)
    assert gradient.tolist() == [0.0] * 3


def test_a_jacobian_is_the_same_from_both_sides(torch: Any, func: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    for jacobian in (func.jacrev, func.jacfwd):
        found = jacobian(lambda x, y: x * y.sum(), argnums=(0, 1))(x, x)
        assert [each.tolist() for each in found] == [[[3, 0], [0, 3]], [[1, 1], [2, 2]]]
    assert func.hessian(lambda x: (x**3).sum())(x).tolist() == [[6, 0], [0, 12]]


def test_vmap_says_where_examples_are_counted(torch: Any, func: Any) -> None:
    x = torch.arange(6.0).reshape(3, 2)
    rows = func.vmap(lambda a, b: a * b.sum(), in_dims=(1, None), out_dims=1)(x, torch.ones(2))
    assert rows.tolist() == [[0, 2], [4, 6], [8, 10]]
    assert torch.vmap(lambda d: d["a"] + 1)({"a": x})[2].tolist() == [5, 6]


def test_a_functional_call_ties_weights_and_leaves_the_module_alone(torch: Any, func: Any) -> None:
    first, second = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)
    second.weight = first.weight
    module, before = torch.nn.Sequential(first, second), first.weight
    found = func.functional_call(module, {"0.weight": 2 * torch.eye(2)}, torch.ones(2))
    assert found.tolist() == [4, 4]
    assert first.weight is before
    assert second.weight is before


REFUSED = {
    "returned a vector": (lambda f, x: f.grad(lambda x: x * 2)(x), "return a scalar Tensor, got t"),
    "returned a number": (lambda f, x: f.grad(lambda x: 3.0)(x), "to return a Tensor, got <class"),
    "returned no pair": (lambda f, x: f.grad(lambda x: x.sum(), has_aux=True)(x), "be a tuple: (o"),
    "no such argument": (lambda f, x: f.grad(lambda x: x.sum(), argnums=2)(x), "Got argnum=2, but"),
    "other cotangents": (
        lambda f, x: f.vjp(lambda x: (x, x), x)[1](x),
        "pytree structure of cotan",
    ),
    "primals no tuple": (lambda f, x: f.jvp(lambda x: x, x, x), "Expected primals to be a tuple"),
    "no dimension": (
        lambda f, x: f.vmap(lambda x: x)(x.sum()),
        "dimensionality 0 so expected in_d",
    ),
    "other sizes": (
        lambda f, x: f.vmap(lambda x, y: x)(x, x[1:]),
        "same size in the mapped dimens",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_told_in_pytorchs_words(torch: Any, func: Any, case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises((RuntimeError, ValueError)) as caught:
        call(func, torch.ones(3))
    assert message in str(caught.value)


def test_a_gradient_belongs_to_the_graph_of_what_its_function_takes_from_elsewhere(
    torch: Any, func: Any
) -> None:
    weight = torch.tensor(0.5, requires_grad=True)
    func.grad(lambda x: (x**2 * weight).sum())(torch.ones(2)).sum().backward()
    assert weight.grad.item() == 4


def test_forward_mode_goes_over_reverse_mode(torch: Any, func: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    value, product = func.jvp(func.grad(lambda x: (x**3).sum()), (x,), (torch.ones(2),))
    assert (value.tolist(), product.tolist()) == ([3, 12], [6, 12])


def test_models_of_one_kind_are_called_together(torch: Any, func: Any) -> None:
    models = [torch.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = func.stack_module_state(models)
    assert tuple(parameters["weight"].shape) == (4, 2, 3)
    assert all(p.is_leaf and p.requires_grad for p in parameters.values())
    x = torch.ones(5, 3)
    together = func.vmap(
        lambda p, b: func.functional_call(models[0], (p, b), (x,)), in_dims=(0, 0)
    )(parameters, buffers)
    assert torch.allclose(together[2], models[2](x))
    with pytest.raises(RuntimeError, match="at least one model"):
        func.stack_module_state([])


# --- random numbers, and hooks on saved tensors ------------------------------------------------


def noisy(torch: Any, x: Any) -> Any:
    return x * 0 + torch.randn(())


@pytest.mark.parametrize("randomness", ["error", "neither"])
def test_vmap_refuses_random_numbers_unless_told_otherwise(
    torch: Any, func: Any, randomness: str
) -> None:
    said = (
        "called random operation while in randomness error mode"
        if randomness == "error"
        else ("Only allowed values for randomness are 'error', 'different', or 'same'. Got neither")
    )
    with pytest.raises(RuntimeError, match=said):
        func.vmap(lambda x: noisy(torch, x), randomness=randomness)(torch.zeros(3))
    assert torch.randn(3).unique().numel() == 3


@pytest.mark.parametrize(("randomness", "number"), [("same", 1), ("different", 4)])
def test_vmap_draws_for_each_example_as_it_is_told(
    torch: Any, func: Any, randomness: str, number: int
) -> None:
    mapped = func.vmap(lambda x: noisy(torch, x), randomness=randomness)
    first, second = mapped(torch.zeros(4)), mapped(torch.zeros(4))
    assert first.unique().numel() == second.unique().numel() == number
    assert first.tolist() != second.tolist()


def test_a_forward_jacobian_takes_a_random_function_as_one(torch: Any, func: Any) -> None:
    def scaled(x: Any) -> Any:
        return x * torch.rand(2)

    found = func.jacfwd(scaled, randomness="same")(torch.ones(2))
    assert found.count_nonzero() == 2
    with pytest.raises(RuntimeError, match="called random operation"):
        func.jacfwd(scaled)(torch.ones(2))


@pytest.mark.parametrize("transform", ["grad", "vjp", "jacrev", "hessian"])
@pytest.mark.parametrize("inside", [False, True])
def test_reverse_mode_refuses_hooks_on_saved_tensors(
    torch: Any, func: Any, transform: str, inside: bool
) -> None:
    hooks = torch.autograd.graph.saved_tensors_hooks

    def square(x: Any) -> Any:
        if not inside:
            return (x * x).sum()
        with hooks(lambda saved: saved, lambda saved: saved):
            return (x * x).sum()

    def call() -> Any:
        x = torch.ones(2)
        return func.vjp(square, x) if transform == "vjp" else getattr(func, transform)(square)(x)

    around = nullcontext() if inside else hooks(lambda saved: saved, lambda saved: saved)
    with around, pytest.raises(RuntimeError, match="don't yet support saved tensor hooks"):
        call()

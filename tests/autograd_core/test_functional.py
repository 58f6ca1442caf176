"""Jacobians, Hessians and products with them: the same on this core and on PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest


def listed(result: Any) -> Any:
    """Tensors as lists, tuples kept."""
    if isinstance(result, (tuple, list)):
        return tuple(listed(each) for each in result)
    return result.detach().tolist()


def at(torch: Any, *values: float, **keywords: Any) -> Any:
    return torch.tensor([float(value) for value in values], dtype=torch.float64, **keywords)


def mixed(x: Any, y: Any) -> Any:
    """Two outputs of two inputs."""
    return x * y.sum(), (x * x).sum()


def cubic(x: Any) -> Any:
    return (x**3).sum() + x[0] * x[1]


def test_jacobian_of_one_by_one_is_a_tensor(torch: Any) -> None:
    jacobian = torch.autograd.functional.jacobian
    found = jacobian(lambda x: x * x.sum(), at(torch, 1, 2))
    assert listed(found) == [[4, 1], [2, 5]]
    assert not found.requires_grad
    assert jacobian(lambda x: x.sum(), torch.ones(2, 3)).shape == (2, 3)
    assert jacobian(lambda x: x.expand(4, 3), torch.ones(3)).shape == (4, 3, 3)


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_jacobian_nests_outputs_and_inputs(torch: Any, strategy: str) -> None:
    x, y = at(torch, 1, 2), at(torch, 3)
    found = torch.autograd.functional.jacobian(mixed, (x, y), vectorize=True, strategy=strategy)
    assert listed(found) == (([[3, 0], [0, 3]], [[1], [2]]), ([2, 4], [0]))
    only = torch.autograd.functional.jacobian(
        lambda x, y: x * y, (x, y), vectorize=True, strategy=strategy
    )
    assert listed(only) == ([[3, 0], [0, 3]], [[1], [2]])
    both = torch.autograd.functional.jacobian(
        lambda x: (x, x * 2), y, vectorize=True, strategy=strategy
    )
    assert listed(both) == ([[1]], [[2]])


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_hessian_nests_inputs_twice(torch: Any, strategy: str) -> None:
    def hessian(*arguments: Any) -> Any:
        return listed(
            torch.autograd.functional.hessian(
                *arguments, vectorize=True, outer_jacobian_strategy=strategy
            )
        )

    assert hessian(cubic, at(torch, 1, 2)) == [[6, 1], [1, 12]]
    assert hessian(lambda x, y: (x * x * y).sum(), (at(torch, 2), at(torch, 3))) == (
        ([[6]], [[4]]),
        ([[4]], [[0]]),
    )


def test_products_with_jacobian_and_hessian(torch: Any) -> None:
    functional = torch.autograd.functional
    x, y, v = at(torch, 1, 2), at(torch, 3), at(torch, 1, 10)
    assert listed(functional.vjp(mixed, (x, y), (v, torch.ones((), dtype=torch.float64)))) == (
        ([3, 6], 5),
        ([5, 34], [21]),
    )
    assert listed(functional.jvp(mixed, (x, y), (v, at(torch, 2)))) == (([3, 6], 5), ([5, 34], 42))
    assert listed(functional.vhp(cubic, x, v)) == (11, [16, 121])
    assert listed(functional.hvp(cubic, x, v)) == (11, [16, 121])


def test_the_vector_may_be_left_out_for_one_element(torch: Any) -> None:
    functional = torch.autograd.functional
    x = at(torch, 3)
    assert listed(functional.vjp(lambda x: x * x, x)) == ([9], [6])
    assert listed(functional.jvp(lambda x: x * x, x)) == ([9], [6])
    assert listed(functional.hvp(lambda x: x**3, x)) == ([27], [18])
    assert listed(functional.vhp(lambda x: x**3, x)) == ([27], [18])


@pytest.mark.parametrize("name", ["vjp", "jvp", "hvp", "vhp", "jacobian", "hessian"])
def test_create_graph_makes_the_results_differentiable(torch: Any, name: str) -> None:
    function = getattr(torch.autograd.functional, name)
    x = at(torch, 1, 2, requires_grad=True)
    products = {"vjp": (torch.ones((), dtype=torch.float64),)}
    v = () if name in ("jacobian", "hessian") else products.get(name, (at(torch, 1, 1),))
    result = function(lambda x: (x**4).sum(), x, *v, create_graph=True)
    derivative = result[1] if v else result
    (g,) = torch.autograd.grad(derivative.sum(), x)
    first, second = [12, 48], [24, 48]
    assert listed(g) == (first if name in ("vjp", "jvp", "jacobian") else second)
    plain = function(lambda x: (x**4).sum(), x, *v)
    assert not (plain[1] if v else plain).requires_grad


def test_without_strict_what_is_missing_is_zero(torch: Any) -> None:
    functional = torch.autograd.functional
    x, one = at(torch, 1, 2), torch.ones((), dtype=torch.float64)
    constant = lambda x: torch.ones((), dtype=torch.float64)  # noqa: E731
    linear = lambda x: (x * 2).sum()  # noqa: E731
    assert listed(functional.vjp(constant, x, one)) == (1, [0, 0])
    assert listed(functional.jvp(constant, x, x)) == (1, 0)
    assert listed(functional.jacobian(constant, x)) == [0, 0]
    assert listed(functional.hvp(linear, x, x)) == (6, [0, 0])
    assert listed(functional.vhp(linear, x, x)) == (6, [0, 0])
    assert listed(functional.hessian(linear, x)) == [[0, 0], [0, 0]]


def constant(x: Any) -> Any:
    return (x * 0).sum().detach()


def linear(x: Any) -> Any:
    return (x * 2).sum()


def quadratic(x: Any) -> Any:
    return (x * x).sum()


STRICT = [
    ("vjp", constant, False, "Output 0 of the user-provided function does not require gradients"),
    ("jvp", constant, False, "Output 0 of the user-provided function does not require gradients"),
    ("jacobian", constant, False, "Output 0 of the user-provided function does not require"),
    ("hessian", constant, False, "Output 0 of the user-provided function does not require"),
    ("vjp", linear, True, "The jacobian of the user-provided function is independent of input 0"),
    ("jacobian", linear, True, "The jacobian of the user-provided function is independent of"),
    ("vhp", linear, False, "found that the jacobian of the user-provided function with respect to"),
    ("hvp", linear, False, "found that the jacobian of the user-provided function with respect to"),
    ("hessian", linear, False, "found that the jacobian of the user-provided function with resp"),
    ("vhp", quadratic, True, "The hessian of the user-provided function is independent of input 0"),
]


@pytest.mark.parametrize(("name", "func", "create_graph", "said"), STRICT)
def test_strict_names_what_does_not_depend(
    torch: Any, name: str, func: Any, create_graph: bool, said: str
) -> None:
    x = at(torch, 1, 2, requires_grad=True)
    vectors = {"vjp": (torch.ones((), dtype=torch.float64),), "jacobian": (), "hessian": ()}
    v = vectors.get(name, (at(torch, 1, 1),))
    function = getattr(torch.autograd.functional, name)
    with pytest.raises(RuntimeError, match=said):
        function(func, x, *v, create_graph=create_graph, strict=True)


@pytest.mark.parametrize("name", ["vjp", "jacobian"])
def test_strict_finds_an_unused_input(torch: Any, name: str) -> None:
    x = at(torch, 1)
    with pytest.raises(RuntimeError, match="independent of input 1"):
        getattr(torch.autograd.functional, name)(lambda x, y: x * 2, (x, x), strict=True)


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "said"),
    [
        ("vjp", lambda t: (lambda x: x, t.ones(2)), RuntimeError, "The vector v can only be None"),
        ("jvp", lambda t: (lambda x: x, t.ones(2)), RuntimeError, "The vector v can only be None"),
        ("hvp", lambda t: (quadratic, t.ones(2)), RuntimeError, "The vector v can only be None"),
        (
            "vjp",
            lambda t: (lambda x: x, t.ones(2), t.ones(3)),
            RuntimeError,
            r"v has invalid size: should be torch.Size\(\[2\]\) but got torch.Size\(\[3\]\)",
        ),
        (
            "jvp",
            lambda t: (lambda x, y: x, (t.ones(2), t.ones(1)), (t.ones(2), t.ones(2))),
            RuntimeError,
            "Entry 1 in v has invalid size",
        ),
        (
            "jvp",
            lambda t: (lambda x, y: x, (t.ones(2), t.ones(1)), t.ones(2)),
            RuntimeError,
            "v is a tuple of invalid length: should be 2 but got 1",
        ),
        (
            "vhp",
            lambda t: (quadratic, t.ones(2), (t.ones(2), t.ones(2))),
            RuntimeError,
            "The given v should contain a single Tensor",
        ),
        ("hessian", lambda t: (lambda x: x, t.ones(2)), RuntimeError, "contain a single element"),
        ("hvp", lambda t: (lambda x: (x,), t.ones(1)), RuntimeError, "return a single Tensor"),
        ("jacobian", lambda t: (quadratic, 2.0), TypeError, "given inputs has type <class 'float'"),
        (
            "jacobian",
            lambda t: (lambda x: (x, 2.0), t.ones(1)),
            TypeError,
            "the value at index 1 has type <class 'float'>",
        ),
        (
            "jacobian",
            lambda t: (quadratic, t.ones(1), False, False, False, "sideways"),
            AssertionError,
            'Expected strategy to be either "forward-mode" or "reverse-mode"',
        ),
        (
            "jacobian",
            lambda t: (quadratic, t.ones(1), False, True, True),
            RuntimeError,
            "`strict=True` and `vectorized=True` are not supported together",
        ),
    ],
)
def test_wrong_arguments_are_refused_in_pytorchs_words(
    torch: Any, name: str, arguments: Any, kind: Any, said: str
) -> None:
    with pytest.raises(kind, match=said):
        getattr(torch.autograd.functional, name)(*arguments(torch))


def test_the_inputs_are_left_alone(torch: Any) -> None:
    x = at(torch, 1, 2)
    y = at(torch, 1, 2, requires_grad=True)
    torch.autograd.functional.hessian(lambda x, y: (x * y).sum(), (x, y))
    assert (x.requires_grad, x.grad, y.grad) == (False, None, None)


@pytest.mark.parametrize("size", [1, 3])
def test_both_strategies_give_the_same_numbers(size: int) -> None:
    torch = importlib.import_module("autograd_core")
    weight = torch.from_numpy(np.random.default_rng(0).standard_normal((size, 3)))

    def network(x: Any) -> Any:
        return torch.softmax(torch.tanh(weight @ x), 0)

    x = torch.from_numpy(np.array([0.5, -1.0, 2.0]))
    found = [
        torch.autograd.functional.jacobian(network, x, strategy=strategy).numpy()
        for strategy in ("reverse-mode", "forward-mode")
    ]
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-15)
    hessians = [
        torch.autograd.functional.hessian(
            lambda x: network(x)[0], x, outer_jacobian_strategy=strategy
        ).numpy()
        for strategy in ("reverse-mode", "forward-mode")
    ]
    np.testing.assert_allclose(*hessians, rtol=1e-12, atol=1e-15)


# --- a batch of gradients at once --------------------------------------------------------------


def test_grads_may_come_in_batches(torch: Any) -> None:
    x, unused = at(torch, 1, 2, requires_grad=True), at(torch, 1, requires_grad=True)
    batch = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    found = torch.autograd.grad(
        x * x, (x, unused), batch, is_grads_batched=True, allow_unused=True, create_graph=True
    )
    assert listed(found[0]) == [[2, 0], [0, 4], [2, 4]]
    assert found[1] is None
    (again,) = torch.autograd.grad(found[0].sum(), x)
    assert listed(again) == [4, 4]


def test_a_batch_frees_the_graph_as_one_pass_does(torch: Any) -> None:
    x = at(torch, 1, 2, requires_grad=True)
    y = x.exp()
    batch = torch.ones(2, 2, dtype=torch.float64)
    torch.autograd.grad(y, x, batch, is_grads_batched=True, retain_graph=True)
    torch.autograd.grad(y, x, batch, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(y, x, batch, is_grads_batched=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"vectorize": True},
            (
                "`strict=True` and `vectorized=True` are not supported together. Please either set "
                "`strict=False` or `vectorize=False`."
            ),
        ),
        (
            {"strategy": "forward-mode"},
            (
                '`strict=True` and `strategy="forward-mode"` are not supported together (yet). '
                'Please either set `strict=False` or `strategy="reverse-mode"`.'
            ),
        ),
    ],
)
def test_strictness_goes_row_by_row(torch: Any, options: Any, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.functional.jacobian(torch.sin, torch.ones(2), strict=True, **options)
    assert str(caught.value) == f"torch.autograd.functional.jacobian: {message}"

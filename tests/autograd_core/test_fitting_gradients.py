"""What is handed to autograd as a gradient must fit, or is refused in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def through(torch: Any, gradient: Callable[[Any], Any]) -> Any:
    """The gradient of a [2, 3] leaf, given by a custom Function's backward."""

    class Given(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return gradient(torch)

    x = torch.ones(2, 3, requires_grad=True)
    Given.apply(x).sum().backward()
    return x.grad


@pytest.mark.parametrize("shape", [(4,), (2, 1), (3, 3), ()])
def test_a_function_whose_gradient_has_another_shape_is_refused(torch: Any, shape: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        through(torch, lambda torch: torch.ones(shape))
    assert str(caught.value) == (
        "Function GivenBackward returned an invalid gradient at index 0 - got "
        f"{list(shape)} but expected shape compatible with [2, 3]"
    )


def test_a_function_may_give_what_sums_to_the_input(torch: Any) -> None:
    assert through(torch, lambda torch: torch.ones(5, 2, 3)).tolist() == [[5.0] * 3] * 2


@pytest.mark.parametrize("kind", ["float64", "int64", "float16"])
def test_a_function_may_give_another_dtype(torch: Any, kind: str) -> None:
    g = through(torch, lambda torch: torch.ones(2, 3, dtype=getattr(torch, kind)))
    assert g.dtype is torch.float32


def test_a_function_may_give_nothing(torch: Any) -> None:
    assert through(torch, lambda torch: None) is None


RESIZED = "hook '{}' has changed the size of value"
WIDENED = "hook '{}' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)"


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda torch: torch.ones(3), RuntimeError, RESIZED),
        (lambda torch: torch.ones(1, 2), RuntimeError, RESIZED),
        (lambda torch: torch.ones(2).double(), RuntimeError, WIDENED),
        (lambda torch: 5, TypeError, "expected Variable, but hook returned 'int'"),
    ],
)
@pytest.mark.parametrize("kind", ["tensor", "leaf", "pre", "post"])
def test_what_a_hook_returns_must_fit(
    torch: Any, kind: str, returned: Any, error: Any, message: str
) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2

    def hook(*_: Any) -> Any:
        value = returned(torch)
        return {"pre": (value,), "post": (value, None)}.get(kind, value)

    {
        "tensor": y.register_hook, "leaf": x.register_hook,
        "pre": y.grad_fn.register_prehook, "post": y.grad_fn.register_hook,
    }[kind](hook)  # fmt: skip
    with pytest.raises(error) as caught:
        y.sum().backward()
    assert str(caught.value) == message.format("hook")


def test_a_hook_without_a_name_is_called_unknown(torch: Any) -> None:
    class Hook:
        def __call__(self, g: Any) -> Any:
            return torch.ones(3)

    y = torch.ones(2, requires_grad=True) * 2
    y.register_hook(Hook())
    with pytest.raises(RuntimeError, match="hook '<unknown>' has changed the size of value"):
        y.sum().backward()


def test_none_keeps_a_gradient_but_within_a_tuple_takes_it_away(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: None)
    handle = y.grad_fn.register_hook(lambda sent, got: None)
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2.0, 2.0]
    handle.remove()
    x.grad = None
    y.grad_fn.register_hook(lambda sent, got: (None, None))
    y.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("kind", ["register_prehook", "register_hook"])
def test_hooks_of_nodes_return_tuples_of_the_right_length(torch: Any, kind: str) -> None:
    y = torch.ones(2, requires_grad=True).exp()
    handle = getattr(y.grad_fn, kind)(lambda *_: torch.ones(2))
    with pytest.raises(TypeError, match="expected tuple, but hook returned 'Tensor'"):
        y.sum().backward()
    handle.remove()
    y = torch.ones(2, requires_grad=True).exp()
    getattr(y.grad_fn, kind)(lambda *_: (torch.ones(2),) * 3)
    with pytest.raises(RuntimeError, match=r"incorrect number of values \(got 3, but expected 1\)"):
        y.sum().backward()


def test_a_hook_cannot_make_a_gradient_of_none(torch: Any) -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    x = torch.ones(2, requires_grad=True)
    y = Nothing.apply(x)
    y.grad_fn.register_hook(lambda sent, got: (torch.ones(2),))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        y.sum().backward()


def test_what_is_assigned_to_grad_must_fit(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    said = [
        (5, TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"),
        (x, RuntimeError, "can't assign Variable as its own grad"),
        (
            torch.ones(3),
            RuntimeError,
            (
                "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please "
                "ensure that the gradient and the tensor are the same size"
            ),
        ),
    ]
    for value, error, message in said:
        with pytest.raises(error) as caught:
            x.grad = value
        assert str(caught.value) == message
    for kind, name in ((torch.float64, "double"), (torch.int64, "long int")):
        with pytest.raises(RuntimeError) as caught:
            x.grad = torch.ones(2, dtype=kind)
        start = f"attempting to assign a gradient with dtype '{name}' to a tensor with grad_dtype "
        assert str(caught.value).startswith(f"{start}'Float'. The gradient must match")
    x.grad = torch.ones(2)
    x.grad = None


def test_what_enters_a_pass_is_cast_to_where_it_enters(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.ones(2, dtype=torch.float64))
    assert x.grad.dtype is torch.float32

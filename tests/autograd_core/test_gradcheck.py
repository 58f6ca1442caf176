"""gradcheck: it passes what is right, fails what is wrong, and says where."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest


def failure(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.autograd.gradcheck").GradcheckError


def leaf(torch: Any, *values: float) -> Any:
    values = tuple(float(value) for value in values)
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def function(torch: Any, forward: Any, backward: Any, jvp: Any = None) -> Any:
    """A custom Function of two inputs that saves both."""

    class Custom(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.save_for_backward(x, y)
            ctx.save_for_forward(x, y)
            return forward(x, y)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return backward(g, *ctx.saved_tensors)

    if jvp is not None:
        Custom.jvp = staticmethod(lambda ctx, dx, dy: jvp(dx, dy, *ctx.saved_tensors))
    return Custom.apply


def right(torch: Any) -> Any:
    return function(
        torch,
        lambda x, y: x * x * y,
        lambda g, x, y: (2 * g * x * y, g * x * x),
        lambda dx, dy, x, y: 2 * dx * x * y + dy * x * x,
    )


def wrong(torch: Any) -> Any:
    """The gradient of y is doubled."""
    return function(
        torch,
        lambda x, y: x * x * y,
        lambda g, x, y: (2 * g * x * y, 2 * g * x * x),
        lambda dx, dy, x, y: 2 * dx * x * y + 2 * dy * x * x,
    )


@pytest.mark.parametrize("fast", [False, True])
def test_what_is_right_passes(torch: Any, fast: bool) -> None:
    inputs = (leaf(torch, 1, 2), leaf(torch, 3, -1))
    arguments: Any = {"fast_mode": fast, "check_undefined_grad": False}
    for func in (right(torch), lambda x, y: (torch.softmax(x * y, 0), (x @ y).exp())):
        assert torch.autograd.gradcheck(func, inputs, check_forward_ad=True, **arguments)
        assert torch.autograd.gradgradcheck(func, inputs, **arguments)


@pytest.mark.parametrize("fast", [False, True])
def test_what_is_wrong_fails(torch: Any, fast: bool) -> None:
    inputs = (leaf(torch, 1, 2), leaf(torch, 3, -1))
    with pytest.raises(failure(torch), match="Jacobian mismatch for output 0 with respect to in"):
        torch.autograd.gradcheck(wrong(torch), inputs, fast_mode=fast)
    assert not torch.autograd.gradcheck(wrong(torch), inputs, raise_exception=False, fast_mode=fast)


def test_a_wrong_jvp_fails_in_forward_mode_alone(torch: Any) -> None:
    func = function(
        torch,
        lambda x, y: x * y,
        lambda g, x, y: (g * y, g * x),
        lambda dx, dy, x, y: dx * y,
    )
    inputs = (leaf(torch, 1, 2), leaf(torch, 3, -1))
    assert torch.autograd.gradcheck(func, inputs)
    with pytest.raises(failure(torch)):
        torch.autograd.gradcheck(func, inputs, check_forward_ad=True, check_backward_ad=False)


def test_a_rule_that_is_right_once_fails_twice(torch: Any) -> None:
    func = function(
        torch,
        lambda x, y: x * x * y,
        lambda g, x, y: (2 * g * x.detach() * y, g * x * x),
    )
    inputs = (leaf(torch, 1, 2), leaf(torch, 3, -1))
    assert torch.autograd.gradcheck(func, inputs)
    with pytest.raises(failure(torch), match="Jacobian mismatch"):
        torch.autograd.gradgradcheck(func, inputs)


@pytest.mark.parametrize("fast", [False, True])
def test_a_backward_of_chance_is_found(torch: Any, fast: bool) -> None:
    numbers = iter(range(10**6))
    func = function(
        torch,
        lambda x, y: x * y,
        lambda g, x, y: (g * y * (1 + next(numbers) * 1e-9), g * x),
    )
    inputs = (leaf(torch, 1, 2), leaf(torch, 3, -1))
    with pytest.raises(failure(torch), match="Backward is not reentrant"):
        torch.autograd.gradcheck(func, inputs, fast_mode=fast)
    assert torch.autograd.gradcheck(func, inputs, nondet_tol=1e-3, fast_mode=fast)


def test_a_backward_that_ignores_its_gradient_is_found(torch: Any) -> None:
    func = function(torch, lambda x, y: x + y, lambda g, x, y: (g * 0 + 1, g))
    inputs = (leaf(torch, 1), leaf(torch, 3))
    with pytest.raises(failure(torch), match="backward not multiplied by grad_output"):
        torch.autograd.gradcheck(func, inputs)


@pytest.mark.filterwarnings("ignore:Backwards compatibility", "ignore::UserWarning")
def test_undefined_gradients_must_be_understood(torch: Any) -> None:
    class Careless(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if g is None:
                raise RuntimeError("no gradient")
            return g * 2

    with pytest.raises(failure(torch), match="to handle undefined output grads"):
        torch.autograd.gradcheck(Careless.apply, leaf(torch, 1))
    assert torch.autograd.gradcheck(Careless.apply, leaf(torch, 1), check_undefined_grad=False)


def test_detached_outputs_must_be_constant(torch: Any) -> None:
    x = leaf(torch, 1, 2)
    with pytest.raises(failure(torch), match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradcheck(lambda x: (x * 2).detach(), x)
    assert torch.autograd.gradcheck(lambda x: (x * 0).detach(), x)


def test_inputs_that_are_not_watched_are_passed_on(torch: Any) -> None:
    y = torch.ones(2, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x, y, n: x * y * n, (leaf(torch, 1, 2), y, 3.0))


def test_unsuitable_inputs_are_refused_or_warned_of(torch: Any) -> None:
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        torch.autograd.gradcheck(lambda x: x, torch.ones(2))
    x = torch.ones(1, dtype=torch.float64).expand(3).detach().requires_grad_()
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        torch.autograd.gradcheck(lambda x: x * 2, x)
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double"):
        torch.autograd.gradcheck(
            lambda x: x * 2, torch.ones(2, requires_grad=True), raise_exception=False
        )
    with pytest.raises(AssertionError, match="at least one of check_forward_ad or check_backward"):
        torch.autograd.gradcheck(lambda x: x, leaf(torch, 1), check_backward_ad=False)


def test_the_inputs_are_left_as_they_were(torch: Any) -> None:
    x, y = leaf(torch, 0.1, 0.2), leaf(torch, 3, -1)
    torch.autograd.gradcheck(right(torch), (x, y), check_forward_ad=True)
    torch.autograd.gradcheck(wrong(torch), (x, y), raise_exception=False)
    assert (x.tolist(), x.grad, y.tolist()) == ([0.1, 0.2], None, [3, -1])


def test_forward_mode_over_reverse_mode_is_checked(torch: Any) -> None:
    def func(x: Any) -> Any:
        return (x.exp() * x).sigmoid()

    assert torch.autograd.gradgradcheck(func, leaf(torch, 0.5, -1), check_fwd_over_rev=True)


# --- what the message says ---------------------------------------------------------------------


def message(func: Any, inputs: Any, **keywords: Any) -> str:
    torch = importlib.import_module("autograd_core")
    with pytest.raises(failure(torch)) as caught:
        torch.autograd.gradcheck(func, inputs, **keywords)
    return str(caught.value)


def test_the_message_names_op_input_position_and_both_values() -> None:
    torch = importlib.import_module("autograd_core")
    said = message(wrong(torch), (leaf(torch, 1, 2), leaf(torch, 3, -1)))
    theirs, ours = said.split("\n\n")
    assert theirs == (
        "Jacobian mismatch for output 0 with respect to input 1,\n"
        "numerical:tensor([[1.0000, 0.0000],\n"
        "        [0.0000, 4.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[2., 0.],\n"
        "        [0., 8.]], dtype=torch.float64)"
    )
    assert ours == (
        "In CustomBackward (rule for inputs: Custom.backward(ctx, g)):\n"
        "the derivative of element [1] of output 0 by element [1] of input 1 is\n"
        "    analytical 8\n"
        "    numerical  4\n"
        "2 of 4 elements disagree, this one most.\n"
    )


def test_the_message_lists_the_ops_before() -> None:
    torch = importlib.import_module("autograd_core")

    def func(x: Any, y: Any) -> Any:
        return wrong(torch)(x.exp(), y).sum()

    said = message(func, (leaf(torch, 0), leaf(torch, 3)))
    assert "\nIn SumBackward0 (after CustomBackward, ExpBackward0):\n" in said
    assert "of element [] of output 0 by element [0] of input 1" in said
    forward = message(wrong(torch), (leaf(torch, 1), leaf(torch, 3)), check_backward_ad=False,
                      check_forward_ad=True)  # fmt: skip
    assert forward.startswith("Jacobian mismatch for output 0 with respect to input 1 in forward m")


def test_an_output_of_nan_is_no_agreement() -> None:
    torch = importlib.import_module("autograd_core")
    func = function(torch, lambda x, y: x + y, lambda g, x, y: (g * float("nan"), g))
    assert "analytical nan" in message(func, (leaf(torch, 1), leaf(torch, 3)))


def test_seeds_may_have_gaps_in_memory() -> None:
    torch = importlib.import_module("autograd_core")
    x = torch.from_numpy(np.array([[0.5, 1.0], [2.0, 3.0]])).requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: x @ x, x, gen_non_contig_grad_outputs=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check_batched_forward_grad": True}, "check_batched_forward_grad=True requires check_fo"),
        (
            {"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True},
            "check_batched_grad=True requires check_backward_ad to be True",
        ),
    ],
)
def test_batches_are_checked_in_a_mode_that_is_checked(
    torch: Any, options: Any, message: str
) -> None:
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match=message):
        torch.autograd.gradcheck(torch.sin, (x,), **options)


def test_the_warning_about_single_precision_points_to_the_call(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float32, requires_grad=True)
    with pytest.warns(UserWarning, match="is not a double precision floating point") as caught:
        torch.autograd.gradcheck(lambda x: x * 2, x, raise_exception=False)
    if torch.__name__ == "autograd_core":
        assert caught[0].filename == __file__

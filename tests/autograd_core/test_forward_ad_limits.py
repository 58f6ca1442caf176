"""Where forward mode ends, and what gradcheck refuses to compare."""

from __future__ import annotations

from typing import Any

from tests.autograd_core.outcomes import Error, each, expect, outcome


def with_a_dual(torch: Any, run: Any) -> Any:
    """``run(x)``, where ``x`` is 1, 1 with the tangent 2, 2."""
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        return run(forward_ad.make_dual(torch.ones(2), torch.full((2,), 2.0)))


def tangent(torch: Any, t: Any) -> Any:
    return torch.autograd.forward_ad.unpack_dual(t).tangent


def stored_into_a_dual(torch):
    with_a_dual(torch, lambda x: torch.add(torch.ones(2), 1, out=x))


def of_a_dual_stored(torch):
    with_a_dual(torch, lambda x: torch.add(x, 1, out=torch.zeros(2)))


def of_a_dual_stored_without_gradients(torch):
    with torch.no_grad():
        with_a_dual(torch, lambda x: torch.sum(x, 0, out=torch.zeros(())))


def of_a_list_with_a_dual_stored(torch):
    with_a_dual(torch, lambda x: torch.cat([torch.ones(2), x], out=torch.zeros(4)))


def several_stored(torch):
    out = torch.zeros(()), torch.zeros((), dtype=torch.int64)
    with_a_dual(torch, lambda x: torch.max(x, 0, out=out))


def of_a_list_in_a_graph_stored(torch):
    torch.cat([torch.ones(2, requires_grad=True)], out=torch.zeros(2))


def a_dual_for_a_tangent(torch):
    with_a_dual(torch, lambda x: torch.autograd.forward_ad.make_dual(torch.ones(2), x))


def another_level(torch):
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.make_dual(torch.ones(2), torch.ones(2), level=1)


def the_end_of_no_level(torch):
    torch.autograd.forward_ad.exit_dual_level()


def a_number_taken_apart(torch):
    with torch.autograd.forward_ad.dual_level():
        torch.autograd.forward_ad.unpack_dual(3)


def in_inference_mode(torch):
    def run(x):
        with torch.inference_mode():
            return tangent(torch, x * 3), tangent(torch, torch.cat([x, x]))

    return with_a_dual(torch, run)


def the_node_of_a_dual(torch):
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2, requires_grad=True), torch.ones(2))
        return x.grad_fn


def no_forward_mode(name: str) -> Error:
    return Error(
        "NotImplementedError",
        f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
        "function",
    )


LIMITS = {
    stored_into_a_dual: no_forward_mode("add"),
    of_a_dual_stored: no_forward_mode("add"),
    of_a_dual_stored_without_gradients: no_forward_mode("sum"),
    of_a_list_with_a_dual_stored: no_forward_mode("cat"),
    several_stored: no_forward_mode("max"),
    of_a_list_in_a_graph_stored: Error(
        "RuntimeError",
        "cat(): functions with out=... arguments don't support automatic differentiation, but one "
        "of the arguments requires grad.",
    ),
    a_dual_for_a_tangent: Error(
        "RuntimeError",
        "Setting a forward grad that itself has a forward gradient at the same level0 is not "
        "supported.",
    ),
    another_level: Error("RuntimeError", "Invalid level given to _make_dual"),
    the_end_of_no_level: Error("RuntimeError", "Dual level must be a positive number."),
    a_number_taken_apart: Error(
        "TypeError", "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not int"
    ),
    in_inference_mode: [None, None],
    the_node_of_a_dual: "ViewBackward0",
}


@each(LIMITS)
def test_forward_mode_ends_where_it_does_in_pytorch(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- gradcheck ---------------------------------------------------------------------------------


def check(torch: Any, run: Any, **options: Any) -> Any:
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    return torch.autograd.gradcheck(run, (x,), **options)


def another_shape_beside_it(torch):
    check(torch, lambda x: x[x > 2])


def another_dtype_beside_it(torch):
    check(torch, lambda x: x * 2 if (x.detach() >= 2).all() else (x * 2).float())


def another_dtype_beside_it_forwards(torch):
    def run(x):
        return x * 2 if (x.detach() >= 2).all() else (x * 2).float()

    check(torch, run, check_forward_ad=True, check_backward_ad=False)


def a_number_beside_tensors(torch):
    check(torch, lambda x: (x * 2, 3))


def nothing_at_all(torch):
    check(torch, lambda x: None)


def no_zeros_for_nothing(torch):
    class Strict(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if g is None:
                raise RuntimeError("no gradient")
            return g * 2

    assert check(torch, Strict.apply, check_undefined_grad=False)
    check(torch, Strict.apply)


def ones_for_nothing(torch):
    class Eager(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.ones(2, dtype=torch.float64) if g is None else g * 2

    assert check(torch, Eager.apply, check_undefined_grad=False)
    check(torch, Eager.apply)


def perturbed(what: str, values: str) -> Error:
    return Error(
        "AssertionError",
        f"Expected `func` to return outputs with the same {what} when inputs are perturbed on "
        f"index (0,) by 1e-06, but got: {what}s {values}.",
    )


CHECKS = {
    another_shape_beside_it: perturbed("shape", "torch.Size([1]) and torch.Size([2])"),
    another_dtype_beside_it: perturbed("dtype", "torch.float32 and torch.float64"),
    another_dtype_beside_it_forwards: perturbed("dtype", "torch.float32 and torch.float64"),
    a_number_beside_tensors: Error(
        "AttributeError", "'int' object has no attribute 'requires_grad'"
    ),
    nothing_at_all: Error("AttributeError", "'NoneType' object has no attribute 'requires_grad'"),
    no_zeros_for_nothing: Error(
        "GradcheckError", "Expected backward function to handle undefined output grads"
    ),
    ones_for_nothing: Error(
        "GradcheckError",
        "Expected all input grads to be undefined or zero when all output grads are undefined or "
        "zero",
    ),
}


@each(CHECKS)
def test_gradcheck_refuses_what_cannot_be_compared(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)

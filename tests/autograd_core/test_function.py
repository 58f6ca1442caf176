"""Custom Functions: the same class bodies on this core and, where it is there, on PyTorch."""

from __future__ import annotations

import gc
import importlib
import weakref
from typing import Any

import numpy as np
import pytest


def tensor(torch: Any, *values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def array(t: Any) -> list[float]:
    return [float(value) for value in t.detach().reshape(-1)]


def square_of(torch: Any) -> Any:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    return Square


def test_the_node_is_named_after_the_class_and_sits_in_the_graph(torch: Any) -> None:
    x = tensor(torch, 1, 2)
    y = square_of(torch).apply(x)
    assert y.grad_fn.name() == "SquareBackward"
    ((node, number),) = y.grad_fn.next_functions
    assert (node.variable is x, number) == (True, 0)
    assert not y.is_leaf


def test_a_backward_that_builds_a_graph_is_differentiated_again(torch: Any) -> None:
    x = tensor(torch, 1, 2)
    (g,) = torch.autograd.grad((square_of(torch).apply(x) ** 2).sum(), x, create_graph=True)
    assert array(g) == [4, 32]
    (second,) = torch.autograd.grad(g.sum(), x)
    assert array(second) == [12, 48]


def test_a_saved_result_differentiates_again(torch: Any) -> None:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    x = tensor(torch, 0)
    (g,) = torch.autograd.grad(Exp.apply(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert array(third) == [1]


def test_several_outputs_and_undefined_gradients(torch: Any) -> None:
    seen = []

    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, materialize: bool) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append(None if b is None else array(b))
            return a * 2, None

    x = tensor(torch, 1, 1)
    for materialize in (True, False):
        first, _ = Split.apply(x, materialize)
        first.sum().backward()
    assert seen == [[0, 0], None]
    assert array(x.grad) == [4, 4]


def test_needs_input_grad_says_what_is_wanted(torch: Any) -> None:
    seen = []

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, note: str) -> Any:
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.needs_input_grad)
            return g * ctx.saved_tensors[1], None, None

    x = tensor(torch, 3)
    product = Product.apply(x, torch.tensor([2.0]), "by hand")
    assert [number for _, number in product.grad_fn.next_functions] == [0, 0]
    assert product.grad_fn.next_functions[1][0] is None
    product.sum().backward()
    assert seen == [(True, False, False)]
    assert array(x.grad) == [2]


def test_setup_context_keeps_attributes(torch: Any) -> None:
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, factor: float) -> Any:
            return x * factor

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.factor, None

    x = tensor(torch, 1)
    Scale.apply(x, 5.0).sum().backward()
    assert array(x.grad) == [5]


def test_outputs_marked_non_differentiable_require_no_gradient(torch: Any) -> None:
    class Sort(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            places = x > 1
            ctx.mark_non_differentiable(places)
            return x * 2, places

        @staticmethod
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            return g * 2

    x = tensor(torch, 1, 2)
    values, places = Sort.apply(x)
    assert (values.requires_grad, places.requires_grad) == (True, False)
    values.sum().backward()
    assert array(x.grad) == [2, 2]


def test_an_input_returned_as_it_came_is_a_result(torch: Any) -> None:
    class Through(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 10

    x = tensor(torch, 1)
    y = Through.apply(x)
    assert y is not x
    y.sum().backward()
    assert array(x.grad) == [10]


def test_once_differentiable_refuses_the_second_time(torch: Any) -> None:
    function = importlib.import_module(f"{torch.__name__}.autograd.function")

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * g

    x = tensor(torch, 3)
    (g,) = torch.autograd.grad((Square.apply(x) * x).sum(), x, create_graph=True)
    assert array(g) == [27]
    # what was computed without a graph leads nowhere; what was not, as the factor x, does
    (second,) = torch.autograd.grad(g.sum(), x, retain_graph=True)
    assert array(second) == [6]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda g: (g, g), r"returned an incorrect number of gradients \(expected 1, got 2\)"),
        (lambda g: (), r"returned an incorrect number of gradients \(expected 1, got 0\)"),
        (lambda g: "wrong", "expected Variable"),
    ],
)
def test_wrong_gradients_are_named(torch: Any, returned: Any, said: str) -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return returned(g)

    with pytest.raises((RuntimeError, TypeError), match=said):
        Wrong.apply(tensor(torch, 1)).sum().backward()


def test_saved_values_are_freed_and_watched(torch: Any) -> None:
    Square = square_of(torch)
    y = Square.apply(tensor(torch, 1)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    z = tensor(torch, 2) * 1
    y = Square.apply(z)
    with torch.no_grad():
        z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_function_without_gradient_makes_no_node(torch: Any) -> None:
    Square = square_of(torch)
    assert Square.apply(torch.tensor([1.0])).grad_fn is None
    with torch.no_grad():
        assert Square.apply(tensor(torch, 1)).grad_fn is None


def test_forward_may_leave_for_numpy(torch: Any) -> None:
    class Flip(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return torch.from_numpy(np.flip(x.numpy()).copy())

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return torch.from_numpy(np.flip(g.numpy()).copy())

    x = tensor(torch, 1, 2)
    (Flip.apply(x) * torch.tensor([1.0, 10.0])).sum().backward()
    assert array(x.grad) == [10, 1]


def test_an_instance_is_frowned_upon_and_cannot_be_called(torch: Any) -> None:
    with pytest.warns(DeprecationWarning, match="should not be instantiated. Methods on autograd"):
        instance = square_of(torch)()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        instance(tensor(torch, 1))


def increment_of(torch: Any) -> Any:
    class Increment(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            x.add_(1)
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 3 * g

    return Increment


def test_a_view_that_a_function_changed_changes_its_base(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    base = x * 1
    view = base[:2]
    assert increment_of(torch).apply(view) is view
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    base.sum().backward()
    assert array(x.grad) == [3, 3, 1, 1]


def test_a_leaf_that_a_function_changed_is_an_error(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad has been used in an"):
        increment_of(torch).apply(torch.ones(2, requires_grad=True))


def test_a_change_by_a_function_counts_outside_the_graph_too(torch: Any) -> None:
    x = torch.ones(2)
    before = x._version
    increment_of(torch).apply(x)
    assert x._version > before


def test_a_graph_with_a_saved_result_dies_without_the_collector() -> None:
    torch = importlib.import_module("autograd_core")

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x.exp()
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[1]

    gc.disable()
    try:
        y = Exp.apply(tensor(torch, 1))
        watched = weakref.ref(y.grad_fn)
        del y
        assert watched() is None
    finally:
        gc.enable()


# -- the namespace of ctx ------------------------------------------------------------------------

TAKEN = ("kind", "hooks", "record", "order", "to", "edges", "saved", "op", "output_shape",
         "sequence_nr", "i0", "release", "ported", "all_edges", "state", "backward")  # fmt: skip


def test_ctx_takes_attributes_of_any_name(torch: Any) -> None:
    found = []

    class Named(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            for name in TAKEN:
                setattr(ctx, name, f"my {name}")
            ctx.mine = 1
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            found.extend(getattr(ctx, name) for name in TAKEN)
            assert not hasattr(ctx, "nothing")
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y = Named.apply(x)
    assert y.grad_fn.mine == 1
    y.sum().backward()
    assert found == [f"my {name}" for name in TAKEN]
    assert x.grad.tolist() == [2.0, 2.0]


def test_ctx_is_the_node_to_those_who_ask(torch: Any) -> None:
    kept = []

    class Kept(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, number: int) -> Any:
            kept.append(ctx)
            ctx.save_for_backward(x, y)
            ctx.metadata["key"] = 1
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g, None

    x = torch.ones(2, requires_grad=True)
    y = Kept.apply(x, torch.ones(2), 3)
    (ctx,) = kept
    assert isinstance(ctx, torch.autograd.function.FunctionCtx)
    assert ctx.name() == type(ctx).__name__ == y.grad_fn.name() == "KeptBackward"
    assert y.grad_fn.metadata == {"key": 1}
    assert ctx.needs_input_grad == (True, False, False)
    assert len(ctx.next_functions) == 2
    assert len(y.grad_fn.saved_tensors) == 2
    found = y.grad_fn.apply(torch.ones(2))
    assert [g if g is None else g.tolist() for g in found] == [[1.0, 1.0], [1.0, 1.0], None]
    with pytest.raises(TypeError, match="'KeptBackward' object is not callable"):
        y.grad_fn(torch.ones(2))
    del y
    assert ctx.saved_tensors[0].tolist() == [1.0, 1.0]


def test_post_hooks_see_what_inputs_without_gradient_were_given(torch: Any) -> None:
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, number: int) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2, g * 3, None

    x = torch.ones(2, requires_grad=True)
    y = Both.apply(x, torch.ones(2), 3)
    seen = []
    y.grad_fn.register_hook(lambda sent, got: seen.append([g.tolist() for g in (*sent, *got)]))
    y.sum().backward()
    assert seen == [[[2.0, 2.0], [3.0, 3.0], [1.0, 1.0]]]
    assert x.grad.tolist() == [2.0, 2.0]


def test_arguments_may_be_given_by_name(torch: Any) -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, scale: float = 2.0, name: Any = None) -> Any:
            ctx.scale, ctx.called = scale, name
            return x * scale

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.scale, None, None

    x = torch.ones(1, requires_grad=True)
    y = Scaled.apply(x, 3.0, name="a")
    assert y.grad_fn.called == "a"
    y.backward()
    assert x.grad.tolist() == [3]

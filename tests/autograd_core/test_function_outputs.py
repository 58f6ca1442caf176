"""What a custom Function returns besides new tensors: other things, its inputs, views of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.autograd_core.outcomes import Error, each, expect, outcome


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def function(torch: Any, forward: Callable[..., Any], **methods: Callable[..., Any]) -> Any:
    """A Function of that forward, whose backward passes the first gradient on by default."""
    methods.setdefault("backward", lambda ctx, *g: g[0])
    body = {name: staticmethod(method) for name, method in methods.items()}
    return type("Tried", (torch.autograd.Function,), {"forward": staticmethod(forward), **body})


# -- what is no tensor -------------------------------------------------------------------------


def each_output_gets_a_gradient(torch):
    tried = function(torch, lambda ctx, x: (x * 2, 3, None), backward=lambda ctx, *g: g[0] * len(g))
    x = leaf(torch)
    y, number, nothing = tried.apply(x)
    y.sum().backward()
    return x.grad, y.output_nr, number, nothing


def a_tensor_behind_others_has_its_own_place(torch):
    seen = []

    def backward(ctx, *g):
        seen.append(g)
        return g[1] * 2

    x = leaf(torch)
    _, y, _, z = function(torch, lambda ctx, x: ("a", x * 2, None, x * 3), backward=backward).apply(
        x
    )
    y.sum().backward()
    shapes = [tuple(data.shape) for data in y.grad_fn._input_metadata]
    return seen, y.output_nr, z.output_nr, shapes, x.grad


def without_materializing_all_are_none(torch):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, 3, x * 4

    x = leaf(torch)
    function(torch, forward, backward=lambda ctx, *g: seen.append(g)).apply(x)[0].sum().backward()
    return seen


def hooks_see_all_of_them(torch):
    seen = []
    y = function(torch, lambda ctx, x: (x * 2, 3, None)).apply(leaf(torch))[0]
    y.grad_fn.register_prehook(lambda g: seen.append(("pre", g)))
    y.grad_fn.register_hook(lambda sent, got: seen.append(("post", sent, got)))
    y.sum().backward()
    return seen


def a_graph_of_the_gradient(torch):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return "square", x * x, None

    tried = function(torch, forward, backward=lambda ctx, _, g, __: 2 * ctx.saved_tensors[0] * g)
    x = leaf(torch)
    (g,) = torch.autograd.grad(tried.apply(x)[1].sum(), x, create_graph=True)
    return g, torch.autograd.grad(g.sum(), x)


def hooks_and_gradients_of_a_later_tensor(torch):
    seen = []
    tried = function(
        torch, lambda ctx, x: ("a", x * 2, x * 3), backward=lambda ctx, _, g, h: g * 2 + h * 3
    )
    x = leaf(torch)
    _, y, z = tried.apply(x)
    z.register_hook(seen.append)
    z.retain_grad()
    found = torch.autograd.grad((y * z).sum(), [x, y, z], retain_graph=True)
    (y * z).sum().backward()
    return found, seen, z.grad


def the_node_called_by_hand(torch):
    tried = function(torch, lambda ctx, x: (x * 2, 3), backward=lambda ctx, g, _: g * 2)
    return tried.apply(leaf(torch))[0].grad_fn.apply(torch.ones(3), None)


def a_later_tensor_changed_in_place(torch):
    tried = function(torch, lambda ctx, x: ("a", x * 2), backward=lambda ctx, _, g: g * 2)
    x = leaf(torch)
    y = tried.apply(x)[1]
    y.mul_(3)
    y.sum().backward()
    return x.grad, y.grad_fn.next_functions[0][1]


def setup_context_beside_it(torch):
    tried = function(
        torch,
        lambda x, k: (x * k, k, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "k", inputs[1]),
        backward=lambda ctx, *g: (g[0] * ctx.k * len(g), None),
    )
    x = leaf(torch)
    tried.apply(x, 3)[0].sum().backward()
    return x.grad


def a_list_is_one_output(torch):
    (found,) = [function(torch, lambda ctx, x: [x * 2, x]).apply(leaf(torch))]
    return type(found).__name__, [t.requires_grad for t in found]


def an_integer_has_no_place(torch):
    y, at = function(torch, lambda ctx, x: (x * 2, x.argmax())).apply(leaf(torch))
    return at.requires_grad, at.grad_fn, [tuple(m.shape) for m in y.grad_fn._input_metadata]


def what_has_no_gradient_is_saved_as_it_is(torch):
    def forward(ctx, x):
        at, other = x.argmax(), x * 3
        ctx.mark_non_differentiable(other)
        ctx.save_for_backward(at, other)
        return x * 2, at, other

    y, at, other = function(torch, forward).apply(leaf(torch))
    saved = y.grad_fn.saved_tensors
    return [t.requires_grad for t in saved], saved[0] is at, saved[1] is other


NOT_TENSORS = {
    each_output_gets_a_gradient: [[3.0, 3.0, 3.0], 0, 3, None],
    a_tensor_behind_others_has_its_own_place: [
        [[None, [1.0, 1.0, 1.0], None, [0.0, 0.0, 0.0]]], 1, 3, [[], [3], [], [3]], [2.0, 2.0, 2.0],
    ],
    without_materializing_all_are_none: [[[1.0, 1.0, 1.0], None, None]],
    hooks_see_all_of_them: [
        ["pre", [[1.0, 1.0, 1.0], None, None]],
        ["post", [[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0], None, None]],
    ],
    a_graph_of_the_gradient: [[2.0, 4.0, 6.0], [[2.0, 2.0, 2.0]]],
    hooks_and_gradients_of_a_later_tensor: [
        [[12.0, 24.0, 36.0], [3.0, 6.0, 9.0], [2.0, 4.0, 6.0]],
        [[2.0, 4.0, 6.0], [2.0, 4.0, 6.0]],
        [4.0, 8.0, 12.0],
    ],
    the_node_called_by_hand: [2.0, 2.0, 2.0],
    a_later_tensor_changed_in_place: [[6.0, 6.0, 6.0], 1],
    setup_context_beside_it: [9.0, 9.0, 9.0],
    a_list_is_one_output: ["list", [False, True]],
    an_integer_has_no_place: [False, None, [[3], []]],
    what_has_no_gradient_is_saved_as_it_is: [[False, False], True, True],
}  # fmt: skip


@each(NOT_TENSORS)
def test_every_output_counts_whatever_it_is(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


# -- inputs, and views of them -----------------------------------------------------------------

FORBIDDEN = (
    " This view was created inside a custom Function (or because an input was returned as-is) and "
    "the autograd logic to handle view+inplace would override the custom backward associated with "
    "the custom Function, leading to incorrect gradients. This behavior is forbidden. You can fix "
    "this by cloning the output of the custom Function."
)
SEVERAL = (
    " This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)
ITSELF = "Output 0 of Tried is a view and is being modified inplace."
ELSEWHERE = (
    "Output 0 of Tried is a view and its base or another view of its base has been modified "
    "inplace."
)


def an_input_is_a_view_of_itself(torch):
    x = leaf(torch)
    y = function(torch, lambda ctx, x: x, backward=lambda ctx, g: g * 2).apply(x)
    y.sum().backward()
    return y is x, y._base is x, y.grad_fn, x.grad


def also_outside_a_graph(torch):
    x = torch.ones(2)
    y = function(torch, lambda ctx, x: x).apply(x)
    return y is x, y._base is x, y.requires_grad


def changed_in_place(torch):
    return function(torch, lambda ctx, x: x).apply(leaf(torch) * 1).mul_(2)


def changed_in_place_by_way_of_the_input(torch):
    x = leaf(torch) * 1
    y = function(torch, lambda ctx, x: x).apply(x)
    x.mul_(2)
    return y * 2


def one_of_several_changed(torch):
    return function(torch, lambda ctx, x: (x, x * 2)).apply(leaf(torch) * 1)[0].mul_(2)


def beside_a_view_others_may_change(torch):
    return function(torch, lambda ctx, x: (x, x * 2)).apply(leaf(torch) * 1)[1].mul_(2)


def a_view_changed(torch):
    return function(torch, lambda ctx, x: x.view(3, 1)).apply(leaf(torch) * 1).mul_(2)


def a_view_of_a_view_changed(torch):
    y = function(torch, lambda ctx, x: x).apply(leaf(torch) * 1).view(3, 1)
    return y._base.requires_grad, y.mul_(2)


def a_view_outside_a_graph_changed(torch):
    x = torch.ones(2)
    function(torch, lambda ctx, x: x.view(2, 1)).apply(x).mul_(2)
    return x


def a_view_of_a_leaf_changed(torch):
    return function(torch, lambda ctx, x: x).apply(leaf(torch)).add_(1)


def without_gradient_it_is_detached(torch):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x

    x = leaf(torch) * 1
    y = function(torch, forward).apply(x)
    return y is x, y._base, y.requires_grad


def with_gradients_off_it_is_detached(torch):
    x = leaf(torch) * 1
    with torch.no_grad():
        y = function(torch, lambda ctx, x: x).apply(x)
    return y is x, y._base, y.requires_grad


INPUTS = {
    an_input_is_a_view_of_itself: [False, True, "TriedBackward", [2.0, 2.0, 2.0]],
    also_outside_a_graph: [False, True, False],
    changed_in_place: Error("RuntimeError", ITSELF + FORBIDDEN),
    changed_in_place_by_way_of_the_input: Error("RuntimeError", ELSEWHERE + FORBIDDEN),
    one_of_several_changed: Error("RuntimeError", ITSELF + SEVERAL),
    beside_a_view_others_may_change: [4.0, 8.0, 12.0],
    a_view_changed: Error("RuntimeError", ITSELF + FORBIDDEN),
    a_view_of_a_view_changed: Error(
        "RuntimeError", "Output 0 of View is a view and is being modified inplace." + FORBIDDEN
    ),
    a_view_outside_a_graph_changed: [2.0, 2.0],
    a_view_of_a_leaf_changed: Error("RuntimeError", ITSELF + FORBIDDEN),
    without_gradient_it_is_detached: [False, None, False],
    with_gradients_off_it_is_detached: [False, None, False],
}


@each(INPUTS)
def test_an_input_that_comes_back_unchanged_is_a_view(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- inputs that forward has changed -----------------------------------------------------------


def doubled(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def it_comes_out_of_the_node(torch):
    a = leaf(torch)
    x = a * 1
    y = function(torch, doubled, backward=lambda ctx, g: g * 2).apply(x)
    y.sum().backward()
    return y is x, x.grad_fn, x._version, a.grad


def two_of_them(torch):
    def forward(ctx, x, y):
        ctx.mark_dirty(x, y)
        return x.mul_(2), y.mul_(3)

    tried = function(torch, forward, backward=lambda ctx, g, h: (g * 2, h * 3))
    a, b = leaf(torch), leaf(torch)
    x, y = a * 1, b * 1
    tried.apply(x, y)
    (x + y).sum().backward()
    return x.grad_fn, y.grad_fn, y.output_nr, a.grad, b.grad


def a_view_alone(torch):
    a = leaf(torch)
    b = a * 1
    function(torch, doubled, backward=lambda ctx, g: g * 2).apply(b[:2])
    b.sum().backward()
    return b.grad_fn, a.grad


def a_view_among_others(torch):
    b = leaf(torch) * 1
    function(torch, lambda ctx, x: (doubled(ctx, x), x * 3)).apply(b[:2])


def one_that_is_not_returned(torch):
    function(torch, lambda ctx, x: doubled(ctx, x) * 1).apply(leaf(torch) * 1)


def a_leaf(torch):
    function(torch, doubled).apply(leaf(torch))


def a_view_made_without_gradients(torch):
    b = leaf(torch) * 1
    with torch.no_grad():
        view = b[:2]
    function(torch, doubled).apply(view)


def saved_by_the_function(torch):
    def forward(ctx, x):
        ctx.save_for_backward(doubled(ctx, x))
        return x

    a = leaf(torch)
    x = a * 1
    y = function(torch, forward, backward=lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    (saved,) = y.grad_fn.saved_tensors
    y.sum().backward()
    return saved is x, saved.grad_fn is y.grad_fn, saved._version == x._version, a.grad


def what_is_no_tensor_marked_dirty(torch):
    function(torch, lambda ctx, x: ctx.mark_dirty(3)).apply(leaf(torch))


def what_is_no_tensor_marked_without_gradient(torch):
    function(torch, lambda ctx, x: ctx.mark_non_differentiable(3)).apply(leaf(torch))


CHANGED = {
    it_comes_out_of_the_node: [True, "TriedBackward", 2, [2.0, 2.0, 2.0]],
    two_of_them: ["TriedBackward", "TriedBackward", 1, [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]],
    a_view_alone: ["torch::autograd::CopySlices", [2.0, 2.0, 1.0]],
    a_view_among_others: Error(
        "RuntimeError",
        "If your Function modifies inplace an input that is a view of another Tensor, your "
        "Function cannot return more than one Tensor.",
    ),
    one_that_is_not_returned: Error(
        "RuntimeError",
        "Some elements marked as dirty during the forward method were not returned as output. The "
        "inputs that are modified inplace must all be outputs of the Function.",
    ),
    a_leaf: Error(
        "RuntimeError", "a leaf Variable that requires grad has been used in an in-place operation."
    ),
    a_view_made_without_gradients: Error(
        "RuntimeError", "a leaf Variable that requires grad has been used in an in-place operation."
    ),
    saved_by_the_function: [False, True, True, [2.0, 4.0, 6.0]],
    what_is_no_tensor_marked_dirty: Error(
        "RuntimeError", "mark_dirty can only accept variables, but argument "
    ),
    what_is_no_tensor_marked_without_gradient: Error(
        "RuntimeError", "mark_non_differentiable only accepts variable arguments, but got "
    ),
}


@each(CHANGED)
def test_an_input_that_was_changed_comes_out_of_the_node(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


def test_what_was_changed_and_is_no_input_is_warned_of(torch: Any) -> None:
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        function(torch, lambda ctx, x: doubled(ctx, x * 1)).apply(leaf(torch))


# -- derivatives -------------------------------------------------------------------------------


def gradient_by(torch, **methods):
    body = {name: staticmethod(method) for name, method in methods.items()}
    tried = type(
        "Tried",
        (torch.autograd.Function,),
        {"forward": staticmethod(lambda ctx, x: x * 2), **body},
    )
    x = leaf(torch)
    tried.apply(x).sum().backward()
    return x.grad


def vjp_stands_for_backward(torch):
    return gradient_by(torch, vjp=lambda ctx, g: g * 2)


def both_of_them(torch):
    return gradient_by(torch, vjp=lambda ctx, g: g * 2, backward=lambda ctx, g: g * 2)


def neither(torch):
    return gradient_by(torch)


def a_list_of_gradients(torch):
    return gradient_by(torch, backward=lambda ctx, g: [g])


def a_gradient_for_a_number(torch):
    tried = function(torch, lambda ctx, x, k: x * k, backward=lambda ctx, g: (g, g))
    tried.apply(leaf(torch), 2).sum().backward()


def an_input_saved_by_setup_context_and_returned(torch):
    tried = function(
        torch,
        lambda x: x,
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    )
    tried.apply(leaf(torch))


DERIVATIVES = {
    vjp_stands_for_backward: [2.0, 2.0, 2.0],
    both_of_them: Error(
        "RuntimeError",
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
        "only implement one of them.",
    ),
    neither: Error(
        "NotImplementedError",
        "You must implement either the backward or vjp method for your custom autograd.Function",
    ),
    a_list_of_gradients: Error("RuntimeError", "expected Variable or None (got list)"),
    a_gradient_for_a_number: Error(
        "RuntimeError",
        "function TriedBackward returned a gradient different than None at position 2, but the "
        "corresponding forward input was not a Variable",
    ),
    an_input_saved_by_setup_context_and_returned: Error(
        "RuntimeError",
        "An input that has been returned as-is as output is being saved for backward. This is not "
        "supported if you override setup_context.",
    ),
}


@each(DERIVATIVES)
def test_a_function_has_one_derivative(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


def tangents(torch, forward, jvp):
    """The tangents of what the function gives for ones with a tangent of twos."""
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2), torch.full((2,), 2.0))
        found = function(torch, forward, jvp=jvp).apply(x)
        outputs = found if isinstance(found, tuple) else (found,)
        return [
            forward_ad.unpack_dual(t).tangent if isinstance(t, torch.Tensor) else t for t in outputs
        ]


def beside_other_things(torch):
    return tangents(torch, lambda ctx, x: ("s", x * 2, None), lambda ctx, t: (None, t * 2, None))


def for_an_integer(torch):
    return tangents(torch, lambda ctx, x: (x * 2, x.argmax()), lambda ctx, t: (t * 2, t))


def a_number(torch):
    return tangents(torch, lambda ctx, x: x * 2, lambda ctx, t: 3.0)


def a_list(torch):
    return tangents(torch, lambda ctx, x: x * 2, lambda ctx, t: [t])


def of_a_view_a_view(torch):
    return tangents(torch, lambda ctx, x: x.view(2, 1), lambda ctx, t: t.view(2, 1))


def of_a_view_a_copy(torch):
    return tangents(torch, lambda ctx, x: x.view(2, 1), lambda ctx, t: t.view(2, 1) * 1)


def of_an_input_the_tangent_itself(torch):
    return tangents(torch, lambda ctx, x: x, lambda ctx, t: t)


def of_a_changed_input_changed_too(torch):
    return tangents(torch, doubled, lambda ctx, t: t.mul_(2))


def of_a_changed_input_unchanged(torch):
    return tangents(torch, doubled, lambda ctx, t: t)


def of_a_changed_input_another(torch):
    return tangents(torch, doubled, lambda ctx, t: t.mul_(2).view_as(t))


NO_VIEW = Error(
    "RuntimeError",
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
    "returning a view.",
)
TANGENTS = {
    beside_other_things: ["s", [4.0, 4.0], None],
    for_an_integer: Error(
        "RuntimeError",
        "Function's jvp returned a gradient at position 1, but  the corresponding forward output "
        "is not a differentiable Tensor.You should return None at that position instead.",
    ),
    a_number: Error("RuntimeError", "expected Variable or None (got float) for grad output 0."),
    a_list: Error("RuntimeError", "expected Variable or None (got list) for grad output 0."),
    of_a_view_a_view: [[[2.0], [2.0]]],
    of_a_view_a_copy: NO_VIEW,
    of_an_input_the_tangent_itself: NO_VIEW,
    of_a_changed_input_changed_too: [[4.0, 4.0]],
    of_a_changed_input_unchanged: Error(
        "RuntimeError",
        "An inplace custom Function is not modifying the forward mode gradients inplace.",
    ),
    of_a_changed_input_another: Error(
        "RuntimeError",
        "An inplace custom Function is not returning the forward mode gradients as-is.",
    ),
}


@each(TANGENTS)
def test_tangents_share_memory_as_the_outputs_do(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)

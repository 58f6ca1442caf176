"""Views by where they were made: what they require, and what a change in place makes of them."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.program.roots import last_scalars
from tests.autograd_core.outcomes import Error, each, expect, outcome


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def made_without_gradients(torch: Any, base: Any) -> Any:
    with torch.no_grad():
        return base[:2]


def made_in_inference_mode(torch: Any, base: Any) -> Any:
    with torch.inference_mode():
        return base[:2]


# -- what they require -------------------------------------------------------------------------


def as_their_base_does(torch):
    views = [make(torch, leaf(torch)) for make in (made_without_gradients, made_in_inference_mode)]
    with torch.no_grad():
        views += leaf(torch).split(2)
    return [(v.requires_grad, v.is_leaf, v.is_inference(), v._base is not None) for v in views]


def what_is_computed_from_them_leads_nowhere(torch):
    x = leaf(torch)
    v = made_without_gradients(torch, x)
    y = (v * 3).sum()
    (node, _), _ = y.grad_fn.next_functions[0][0].next_functions
    y.backward()
    return y.requires_grad, node, v.grad, x.grad


def together_with_others(torch):
    x, y = leaf(torch), torch.ones(2, requires_grad=True)
    v = made_without_gradients(torch, x)
    (v * y + v).sum().backward()
    return x.grad, y.grad


def no_gradient_by_them(torch):
    v = made_without_gradients(torch, leaf(torch))
    return torch.autograd.grad((v * 3).sum(), v, allow_unused=True)


def a_backward_pass_from_them(torch):
    with torch.no_grad():
        v = leaf(torch)[0]
    v.backward()


def a_base_that_comes_to_require_a_gradient(torch):
    x = torch.ones(3)
    v = x[:2]
    w = made_without_gradients(torch, x)
    before = v.requires_grad, w.requires_grad
    x.requires_grad_()
    then = v.requires_grad, w.requires_grad, (v * 2).requires_grad
    x.requires_grad_(False)
    return before, then, v.requires_grad, w.requires_grad


def one_that_requires_its_own(torch):
    x = torch.ones(3)
    v = x[:2].requires_grad_()
    (v * 2).sum().backward()
    return v.grad, x.requires_grad


def not_against_their_base(torch):
    v = made_without_gradients(torch, leaf(torch))
    return v.requires_grad_(False).requires_grad


def parameters_filled_in_part(torch):
    x = torch.zeros(2, 2, requires_grad=True)
    with torch.no_grad():
        x[0].fill_(1.0)
        x[:, 1] = 3.0
        x.view(-1)[2] = 7.0
    return x, x.requires_grad, x.grad_fn


def numpy_outside_of_it(torch):
    made_without_gradients(torch, leaf(torch)).numpy()


def a_tensor_of_inference_mode_has_no_views(torch):
    with torch.inference_mode():
        x = torch.ones(3)
    return x[:2]._base, x[:2].is_inference()


def a_view_in_place_outside_a_graph(torch):
    x = leaf(torch) * 1
    with torch.no_grad():
        x.unsqueeze_(0)
    return tuple(x.shape), x.grad_fn


REQUIRE = {
    as_their_base_does: [[True, True, False, True]] * 4,
    what_is_computed_from_them_leads_nowhere: [True, None, None, None],
    together_with_others: [None, [1.0, 2.0]],
    no_gradient_by_them: [None],
    a_backward_pass_from_them: Error(
        "RuntimeError",
        "element 0 of tensors does not require grad and does not have a grad_fn",
    ),
    a_base_that_comes_to_require_a_gradient: [[False, False], [True, True, True], False, False],
    one_that_requires_its_own: [[2.0, 2.0], False],
    not_against_their_base: True,
    parameters_filled_in_part: [[[1.0, 3.0], [7.0, 3.0]], True, None],
    numpy_outside_of_it: Error("RuntimeError", "Can't call numpy() on Tensor that requires grad."),
    a_tensor_of_inference_mode_has_no_views: [None, True],
    a_view_in_place_outside_a_graph: [[1, 3], "MulBackward0"],
}


@each(REQUIRE)
def test_a_view_outside_a_graph_requires_what_its_base_requires(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- what may change them ----------------------------------------------------------------------


def one_made_in_inference_mode(torch):
    made_in_inference_mode(torch, leaf(torch) * 1).add_(1)


def one_of_a_leaf_made_in_inference_mode(torch):
    made_in_inference_mode(torch, leaf(torch)).add_(1)


def one_of_a_constant_by_a_constant(torch):
    return made_in_inference_mode(torch, torch.ones(3)).add_(1)


def one_of_a_constant_by_what_requires_a_gradient(torch):
    made_in_inference_mode(torch, torch.ones(3)).mul_(leaf(torch)[:2])


def a_view_of_one_made_without_gradients(torch):
    made_without_gradients(torch, leaf(torch) * 1).view(2, 1).add_(1)


def one_made_without_gradients_of_one_of_several(torch):
    first, _ = (leaf(torch) * 1).split(2)
    made_without_gradients(torch, first).add_(1)


def one_of_several_of_one_made_without_gradients(torch):
    made_without_gradients(torch, leaf(torch) * 1).split(1)[0].add_(1)


def one_of_several_of_a_constant(torch):
    x = torch.ones(2)
    x.split(1)[0].add_(1)
    return x


def one_that_requires_its_own_in_place(torch):
    torch.ones(3)[:2].requires_grad_().add_(1)


NO_GRAD = (
    "with grad mode enabled. Given that this use case is ambiguous and error-prone, it is "
    "forbidden. You can clarify your code by moving both the view and the inplace either both "
    "inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if "
    "you want the inplace to be tracked)."
)
INFERENCE = (
    "in normal mode. Given that this use case is ambiguous and error-prone, it is forbidden. You "
    "can clarify your code by moving both the view and the inplace either both inside the "
    "inference_mode block (if you don't want the inplace to be tracked) or both outside (if you "
    "want the inplace to be tracked)."
)
SEVERAL = (
    "This view is the output of a function that returns multiple views. Such functions do not "
    "allow the output views to be modified inplace. You should replace the inplace operation by an "
    "out-of-place one."
)
ITSELF = "is being modified inplace"
ELSEWHERE = "its base or another view of its base has been modified inplace"

CHANGES = {
    one_made_in_inference_mode: Error(
        "RuntimeError", f"A view was created in inference mode and {ITSELF} {INFERENCE}"
    ),
    one_of_a_leaf_made_in_inference_mode: Error(
        "RuntimeError", f"A view was created in inference mode and {ITSELF} {INFERENCE}"
    ),
    one_of_a_constant_by_a_constant: [2.0, 2.0],
    one_of_a_constant_by_what_requires_a_gradient: Error(
        "RuntimeError", f"A view was created in inference mode and {ITSELF} {INFERENCE}"
    ),
    a_view_of_one_made_without_gradients: Error(
        "RuntimeError",
        f"Output 0 of View is a view of a view which was created in no_grad mode and {ITSELF} "
        f"{NO_GRAD}",
    ),
    one_made_without_gradients_of_one_of_several: Error(
        "RuntimeError", f"A view was created in no_grad mode and {ITSELF} {NO_GRAD}"
    ),
    one_of_several_of_one_made_without_gradients: Error(
        "RuntimeError", f"Output 0 of Split is a view and {ITSELF}. {SEVERAL}"
    ),
    one_of_several_of_a_constant: [2.0, 1.0],
    one_that_requires_its_own_in_place: Error(
        "RuntimeError",
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
}


@each(CHANGES)
def test_a_change_is_refused_by_where_the_view_was_made(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- what becomes of them ----------------------------------------------------------------------


def left_behind(torch: Any) -> Any:
    x = leaf(torch) * 1
    v = made_without_gradients(torch, x)
    x.add_(1)
    return v


def its_node(torch):
    return left_behind(torch).grad_fn


def its_node_where_gradients_are_off(torch):
    v = left_behind(torch)
    with torch.no_grad():
        return v.is_leaf


def a_result_of_it(torch):
    return left_behind(torch) * 2


def a_change_of_it(torch):
    left_behind(torch).add_(1)


def a_list_of_it(torch):
    torch.cat([left_behind(torch)] * 2)


def a_hook_on_it(torch):
    left_behind(torch).register_hook(print)


def a_view_of_it(torch):
    return left_behind(torch)[0]


def a_change_by_it(torch):
    torch.ones(2).add_(left_behind(torch))


def a_function_of_it(torch):
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    return Same.apply(left_behind(torch))


def made_in_inference_mode_before(torch):
    x = leaf(torch) * 1
    v = made_in_inference_mode(torch, x)
    x.add_(1)
    return v * 2


def of_a_constant_that_is_one_no_more(torch):
    x = torch.ones(3)
    v = made_without_gradients(torch, x)
    x.mul_(leaf(torch))
    return v * 2


def a_view_of_it_made_before(torch):
    x = leaf(torch) * 1
    w = made_without_gradients(torch, x).view(2, 1)
    x.add_(1)
    return w * 2


def one_of_several(torch):
    x = leaf(torch) * 1
    first, _ = x.split(2)
    x.add_(1)
    return first * 2


def changed_without_gradients(torch):
    x = leaf(torch) * 1
    with torch.no_grad():
        v = x[:2]
        x.add_(1)
    return v * 2


def changed_itself_without_gradients(torch):
    x = leaf(torch) * 1
    with torch.no_grad():
        v = x[:2]
        v.add_(1)
    return v * 2


def one_of_several_changed_without_gradients(torch):
    x = leaf(torch) * 1
    first, _ = x.split(2)
    with torch.no_grad():
        x.add_(1)
    return first * 2


STALE = Error("RuntimeError", f"A view was created in no_grad mode and {ELSEWHERE} {NO_GRAD}")
REFUSED = {
    its_node: STALE,
    its_node_where_gradients_are_off: STALE,
    a_result_of_it: STALE,
    a_change_of_it: Error(
        "RuntimeError", f"A view was created in no_grad mode and {ITSELF} {NO_GRAD}"
    ),
    a_list_of_it: STALE,
    a_hook_on_it: STALE,
    a_view_of_it: STALE,
    a_change_by_it: STALE,
    a_function_of_it: STALE,
    made_in_inference_mode_before: Error(
        "RuntimeError", f"A view was created in inference mode and {ELSEWHERE} {INFERENCE}"
    ),
    of_a_constant_that_is_one_no_more: STALE,
    a_view_of_it_made_before: Error(
        "RuntimeError",
        f"Output 0 of View is a view of a view which was created in no_grad mode and {ELSEWHERE} "
        f"{NO_GRAD}",
    ),
    one_of_several: Error(
        "RuntimeError", f"Output 0 of Split is a view and {ELSEWHERE}. {SEVERAL}"
    ),
    changed_without_gradients: STALE,
    changed_itself_without_gradients: STALE,
    one_of_several_changed_without_gradients: Error(
        "RuntimeError", f"Output 0 of Split is a view and {ELSEWHERE}. {SEVERAL}"
    ),
}


@each(REFUSED)
def test_a_view_that_lost_its_way_is_refused_in_graphs(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


def it_can_be_looked_at(torch):
    v = left_behind(torch)
    return repr(v), v, v.requires_grad, v.grad, v > 2, v.argmax(), v.detach(), v.data, v.long()


def it_can_be_used_outside_graphs(torch):
    v = left_behind(torch)
    with torch.no_grad():
        return v * 2, torch.cat([v, v]), v[0].requires_grad, v.clone().add_(v), v.numpy()


def views_in_a_graph_follow_changes_outside_of_it(torch):
    x = leaf(torch)
    v = x[:2]
    before = v.grad_fn
    with torch.no_grad():
        x.add_(1)
    (v * v).sum().backward()
    return before, v.grad_fn, x.grad


def a_function_that_changes_outside_a_graph(torch):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

    x = leaf(torch) * 1
    v = x[:2]
    with torch.no_grad():
        Doubled.apply(x)
    return v, v.grad_fn


ALLOWED = {
    it_can_be_looked_at: [
        "tensor([2., 3.], grad_fn=<Invalid>)",
        [2.0, 3.0], True, None, [False, True], 1, [2.0, 3.0], [2.0, 3.0], [2, 3],
    ],
    it_can_be_used_outside_graphs: [
        [4.0, 6.0], [2.0, 3.0, 2.0, 3.0], True, [4.0, 6.0], [2.0, 3.0],
    ],
    views_in_a_graph_follow_changes_outside_of_it: [
        "SliceBackward0", "AsStridedBackward0", [4.0, 6.0, 0.0],
    ],
    a_function_that_changes_outside_a_graph: [[2.0, 4.0], "AsStridedBackward0"],
}  # fmt: skip


@each(ALLOWED)
def test_its_values_are_there_all_the_same(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


def test_a_stale_view_among_the_names_of_a_script_is_passed_over(torch: Any) -> None:
    with torch.no_grad():
        x = leaf(torch) * 1
    x.requires_grad_()
    y = (x * 2).sum() * 1
    with torch.no_grad():
        v = y.view(())
    y.add_(1)
    assert list(last_scalars({"v": v, "y": y})) == ["y"]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        v.grad_fn  # noqa: B018

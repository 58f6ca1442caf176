"""Gradients that are not there: who hears of them, and what takes their place."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from tests.autograd_core.outcomes import Error, each, expect, outcome


def leaf(torch: Any, *values: float) -> Any:
    return torch.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def nothing_back(torch: Any, x: Any) -> Any:
    """``x * 2`` by a node that gives no gradient."""

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    return Nothing.apply(x)


def leaf_node(x: Any) -> Any:
    """Where gradients of ``x`` are accumulated; in PyTorch it lives as long as somebody has it."""
    return (x * 1).grad_fn.next_functions[0][0]


# -- hooks -------------------------------------------------------------------------------------


def of_an_output_that_is_not_used(torch):
    seen = []
    x = leaf(torch)
    a, b, _ = x.unbind()
    a.register_hook(seen.append)
    b.register_hook(seen.append)
    b.backward()
    return seen, x.grad


def of_an_output_that_is_captured(torch):
    seen = []
    x = leaf(torch)
    a, b, _ = x.unbind()
    a.register_hook(seen.append)
    return torch.autograd.grad(b, [a, x], allow_unused=True), seen


def that_put_something_in_its_place(torch):
    x = leaf(torch)
    a, b, _ = x.unbind()
    a.register_hook(lambda g: torch.tensor(5.0))
    b.backward()


def of_every_kind_on_the_way(torch):
    seen = []
    x = leaf(torch)
    a = x.sin()
    a.register_hook(lambda g: seen.append(["tensor", g]))
    a.grad_fn.register_prehook(lambda g: seen.append(["pre", g]))
    a.grad_fn.register_hook(lambda sent, got: seen.append(["post", sent, got]))
    x.register_hook(lambda g: seen.append(["leaf", g]))
    x.register_post_accumulate_grad_hook(lambda x: seen.append(["accumulated", x.grad]))
    leaf_node(x).register_prehook(lambda g: seen.append(["leaf pre", g]))
    leaf_node(x).register_hook(lambda sent, got: seen.append(["leaf post", sent, got]))
    nothing_back(torch, a).sum().backward()
    return seen, x.grad


def where_a_graph_is_built(torch):
    seen = []
    a = leaf(torch).sin()
    a.register_hook(seen.append)
    nothing_back(torch, a).sum().backward(create_graph=True)
    return seen


def before_a_function_that_gets_zeros(torch):
    seen = []

    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(g)
            return g

    a = Same.apply(leaf(torch))
    a.register_hook(lambda g: seen.append(g))
    nothing_back(torch, a).sum().backward()
    return seen


def of_several_tensors(torch):
    seen = []
    x, y = leaf(torch), leaf(torch)
    torch.autograd.graph.register_multi_grad_hook((x, y), lambda g: seen.append(list(g)))
    (nothing_back(torch, x).sum() + y.sum()).backward()
    return seen


def that_retain(torch):
    a = leaf(torch).sin()
    a.retain_grad()
    a.sum().backward(retain_graph=True)
    nothing_back(torch, a).sum().backward()
    return a.grad is not None and a.grad.tolist()


HOOKS = {
    of_an_output_that_is_not_used: [[None, 1.0], [0.0, 1.0, 0.0]],
    of_an_output_that_is_captured: [[None, [0.0, 1.0, 0.0]], [None]],
    that_put_something_in_its_place: Error(
        "RuntimeError", "can't replace a None gradient with a non-None value"
    ),
    of_every_kind_on_the_way: [
        [
            ["tensor", None], ["pre", [None]], ["post", [None], [None]], ["leaf", None],
            ["leaf pre", [None]], ["accumulated", None], ["leaf post", [], [None]],
        ],
        None,
    ],
    where_a_graph_is_built: [None],
    before_a_function_that_gets_zeros: [None, [0.0, 0.0, 0.0]],
    of_several_tensors: [[None, [1.0, 1.0, 1.0]]],
    that_retain: [1.0, 1.0, 1.0],
}  # fmt: skip


@each(HOOKS)
def test_hooks_hear_of_gradients_that_are_not_there(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


def a_leaf_hears_what_came(torch):
    seen = []
    x = leaf(torch)
    node = leaf_node(x)
    node.register_prehook(lambda g: (g[0] * 2,))
    node.register_hook(lambda sent, got: seen.append([sent, got]))
    (x * 2).sum().backward()
    return seen, x.grad


def a_leaf_sends_nothing(torch):
    x = leaf(torch)
    node = leaf_node(x)
    node.register_hook(lambda sent, got: got)
    (x * 2).sum().backward()


def a_leaf_sends_no_tuple(torch):
    x = leaf(torch)
    node = leaf_node(x)
    node.register_hook(lambda sent, got: 3)
    (x * 2).sum().backward()


def returning(torch, what):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(what)
    (x * 2).sum().backward()
    return x.grad


def the_leaf_returned(torch):
    return returning(torch, lambda x: x)


def the_gradient_returned(torch):
    return returning(torch, lambda x: x.grad)


def another_shape_returned(torch):
    return returning(torch, lambda x: x.grad.sum())


def another_dtype_returned(torch):
    return returning(torch, lambda x: x.grad.double())


def a_number_returned(torch):
    return returning(torch, lambda x: 3)


def on_what_requires_no_gradient(torch):
    torch.ones(2).register_post_accumulate_grad_hook(print)


def on_what_is_computed(torch):
    (leaf(torch) * 2).register_post_accumulate_grad_hook(print)


LEAVES = {
    a_leaf_hears_what_came: [[[[], [[4.0, 4.0, 4.0]]]], [4.0, 4.0, 4.0]],
    a_leaf_sends_nothing: Error(
        "RuntimeError",
        "hook '<lambda>' has returned an incorrect number of values (got 1, but expected 0)",
    ),
    a_leaf_sends_no_tuple: Error("TypeError", "expected tuple, but hook returned 'int'"),
    the_leaf_returned: [2.0, 2.0, 2.0],
    the_gradient_returned: Error(
        "RuntimeError", "Tensor post accumulate grad hooks should return None."
    ),
    another_shape_returned: Error("RuntimeError", "hook '<lambda>' has changed the size of value"),
    another_dtype_returned: Error(
        "RuntimeError",
        "hook '<lambda>' has changed the type of value (was torch.FloatTensor got "
        "torch.DoubleTensor)",
    ),
    a_number_returned: Error("TypeError", "expected Variable, but hook returned 'int'"),
    on_what_requires_no_gradient: Error(
        "RuntimeError", "cannot register a hook on a tensor that doesn't require gradient"
    ),
    on_what_is_computed: Error(
        "RuntimeError", "post accumulate grad hooks cannot be registered on non-leaf tensors"
    ),
}


@each(LEAVES)
def test_hooks_of_a_leaf_get_its_gradient_and_return_nothing(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


# -- leaves that are none any more -------------------------------------------------------------


def one_that_wants_none(torch):
    seen = []
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda x: seen.append(x.grad))
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    return seen, x.grad


def one_that_was_detached(torch):
    x = leaf(torch)
    y = x.sin()
    x.detach_()
    y.sum().backward()
    return x.grad


def one_that_wants_it_again(torch):
    seen = []
    x = leaf(torch)
    x.register_hook(seen.append)
    y = x * 2
    x.requires_grad_(False)
    x.requires_grad_()
    z = x * 3
    same = y.grad_fn.next_functions[0][0] is z.grad_fn.next_functions[0][0]
    found = torch.autograd.grad(y.sum(), x)
    (x * 2).sum().backward()
    return same, found, seen


def one_that_is_computed_by_now(torch):
    x = leaf(torch)
    y = x * 2
    x.detach_()
    x.mul_(leaf(torch))
    y.sum().backward()


FORMER = {
    one_that_wants_none: [[None], None],
    one_that_was_detached: None,
    one_that_wants_it_again: [True, [[2.0, 2.0, 2.0]], [[2.0, 2.0, 2.0]] * 2],
    one_that_is_computed_by_now: Error(
        "RuntimeError", "leaf variable has been moved into the graph interior"
    ),
}


@each(FORMER)
def test_a_leaf_accumulates_as_long_as_it_wants_to(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


# -- what grad() makes of them -----------------------------------------------------------------


def zeros(torch):
    x, y = leaf(torch), leaf(torch)
    found = torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)
    return found, [g.requires_grad for g in found]


def zeros_with_a_graph(torch):
    x, y = leaf(torch), leaf(torch)
    (g,) = torch.autograd.grad(x.sum(), [y], materialize_grads=True, create_graph=True)
    return g.requires_grad, torch.autograd.grad(g.sum(), [x, y], allow_unused=True)


def zeros_refused(torch):
    x = leaf(torch)
    torch.autograd.grad(x.sum(), x, materialize_grads=True, allow_unused=False)


def zeros_for_a_place(torch):
    x, y = leaf(torch), leaf(torch)
    place = torch.autograd.graph.get_gradient_edge(y)
    torch.autograd.grad(x.sum(), [x, place], materialize_grads=True)


def a_place_that_is_reached(torch):
    x = leaf(torch)
    place = torch.autograd.graph.get_gradient_edge(x)
    return torch.autograd.grad(x.sum(), [place], materialize_grads=True)


def zeros_beside_batches(torch):
    x, y = leaf(torch), leaf(torch)
    return torch.autograd.grad(
        x * 2, [x, y], torch.eye(3), is_grads_batched=True, materialize_grads=True
    )


def by_name(torch):
    x, y = leaf(torch), leaf(torch)
    return list(torch.autograd.grad(x.sum(), {"x": x, "y": y}, materialize_grads=True).items())


def by_another_mapping(torch):
    torch.autograd.grad(leaf(torch).sum(), MappingProxyType({"x": leaf(torch)}))


def by_nothing(torch):
    torch.autograd.grad(leaf(torch).sum(), [])


def by_what_is_no_tensor(torch):
    x = leaf(torch)
    torch.autograd.grad(x.sum(), [x, 3])


def seeds_that_are_no_tensors(torch):
    x = leaf(torch)
    torch.autograd.grad(x.sum(), x, [2.0])


def more_seeds_than_roots(torch):
    x = leaf(torch)
    return torch.autograd.grad(x * 1, x, [torch.ones(3), torch.ones(3)])


def fewer_seeds_than_roots(torch):
    x = leaf(torch)
    torch.autograd.grad([x.sum(), x.sum()], x, [torch.tensor(1.0)])


def batches_of_another_shape(torch):
    x = leaf(torch)
    torch.autograd.grad(x * 2, x, torch.eye(4), is_grads_batched=True)


def batches_of_two_sizes(torch):
    x = leaf(torch)
    batches = [torch.eye(3), torch.ones(2, 3)]
    torch.autograd.grad([x * 2, x * 3], x, batches, is_grads_batched=True)


def backward_by_name(torch):
    x, y = leaf(torch), leaf(torch)
    (x * y).sum().backward(inputs={"x": x})
    return x.grad, y.grad


def backward_by_nothing(torch):
    leaf(torch).sum().backward(inputs=[])


def backward_by_a_constant(torch):
    leaf(torch).sum().backward(inputs=[torch.ones(3)])


def backward_with_the_old_name(torch):
    x = leaf(torch)
    torch.autograd.backward(x.sum(), grad_variables=torch.tensor(2.0))
    return x.grad


def backward_with_both_names(torch):
    one = torch.tensor(1.0)
    torch.autograd.backward(leaf(torch).sum(), one, grad_variables=one)


GRAD = {
    zeros: [[[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], [False, False]],
    zeros_with_a_graph: [True, [None, None]],
    zeros_refused: Error(
        "ValueError",
        "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
        "allow_unused=False.",
    ),
    zeros_for_a_place: Error(
        "RuntimeError", "materialize_grads cannot be used when the given input is a GradientEdge"
    ),
    a_place_that_is_reached: [[1.0, 1.0, 1.0]],
    zeros_beside_batches: [
        [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]],
        [0.0, 0.0, 0.0],
    ],
    by_name: [["x", [1.0, 1.0, 1.0]], ["y", [0.0, 0.0, 0.0]]],
    by_another_mapping: Error(
        "TypeError",
        "`inputs` argument to `grad()` must be a dict, not mappingproxy. Other Mapping types are "
        "not supported.",
    ),
    by_nothing: Error("RuntimeError", "`inputs` argument to `grad()` cannot be empty."),
    by_what_is_no_tensor: Error(
        "RuntimeError", "all inputs have to be Tensors or GradientEdges, but got int"
    ),
    seeds_that_are_no_tensors: Error(
        "TypeError", "gradients can be either Tensors or None, but got float"
    ),
    more_seeds_than_roots: [[1.0, 1.0, 1.0]],
    fewer_seeds_than_roots: Error("RuntimeError", "got 2 tensors and 1 gradients"),
    batches_of_another_shape: Error(
        "RuntimeError",
        "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
        "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
        "corresponding output, but a mismatch was detected: grad_output[0]",
    ),
    batches_of_two_sizes: Error(
        "ValueError",
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        "[3, 2] for the mapped dimension",
    ),
    backward_by_name: [[1.0, 2.0, 3.0], None],
    backward_by_nothing: Error(
        "RuntimeError", "`inputs` argument to `backward()` cannot be empty."
    ),
    backward_by_a_constant: Error(
        "RuntimeError", "can't retain_grad on Tensor that has requires_grad=False"
    ),
    backward_with_the_old_name: [2.0, 2.0, 2.0],
    backward_with_both_names: Error(
        "RuntimeError",
        "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`.",
    ),
}


@each(GRAD)
def test_grad_gives_none_or_zeros_for_them(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


@pytest.mark.filterwarnings("error")
def test_only_inputs_is_deprecated(torch: Any) -> None:
    x = leaf(torch)
    with pytest.raises(FutureWarning, match="only_inputs argument is deprecated"):
        torch.autograd.grad(x.sum(), x, only_inputs=False)

"""Saved values that are gone: detached in place, freed, changed; indices among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core
from gradstep.findings.linting import lint
from tests.autograd_core.outcomes import Error, each, expect, outcome


def leaf(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


DETACHED = Error(
    "RuntimeError",
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is "
    "not supported, please use out-of-place `.detach()` instead",
)
FREED = Error("RuntimeError", "Trying to backward through the graph a second time")


def changed(kind: str, size: int) -> Error:
    return Error(
        "RuntimeError",
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{kind} [{size}]] is at version 1; expected version 0 instead.",
    )


# -- detached in place -------------------------------------------------------------------------


def an_input(torch):
    a = leaf(torch) * 1
    b = a.sin()
    a.detach_()
    b.sum().backward()


def an_input_where_a_graph_is_built(torch):
    x = leaf(torch)
    a = x * 1
    b = a * a
    a.detach_()
    torch.autograd.grad(b.sum(), x, create_graph=True)


def again_after_it_was_computed_anew(torch):
    x = leaf(torch)
    a = x * 1
    a.detach_()
    a.mul_(x)
    b = a * a
    a.detach_()
    b.sum().backward()


def saved_after_it(torch):
    x = leaf(torch)
    a = x * 1
    a.detach_()
    (a * x).sum().backward()
    return x.grad


def saved_after_it_and_changed(torch):
    x = leaf(torch)
    a = x * 1
    a.detach_()
    b = a * x
    a.add_(1)
    b.sum().backward()


def changed_by_an_alias_from_before(torch):
    x = leaf(torch)
    a = x * 1
    alias = a.detach()
    a.detach_()
    b = a * x
    alias.add_(1)
    b.sum().backward()


def an_alias_from_before(torch):
    x = leaf(torch)
    a = x * 1
    b = a.detach() * x
    a.detach_()
    b.sum().backward()
    return x.grad


def its_version(torch):
    x = leaf(torch) * 1
    x.add_(1)
    x.detach_()
    before = x._version
    x.add_(1)
    return before, x._version, repr(x._version)


def a_result(torch):
    x = leaf(torch)
    y = x.exp()
    z = y * 1
    y.detach_()
    z.sum().backward()
    return x.grad


def what_a_function_saved(torch):
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(torch)
    a = x * 1
    b = Doubled.apply(a)
    a.detach_()
    b.sum().backward()
    return x.grad


def looked_at_by_hand(torch):
    a = leaf(torch) * 1
    b = a * a
    a.detach_()
    return b.grad_fn._saved_self


def in_inference_mode(torch):
    a = leaf(torch) * 1
    with torch.inference_mode():
        a.detach_()
    return a.grad_fn


GONE = {
    an_input: DETACHED,
    an_input_where_a_graph_is_built: DETACHED,
    again_after_it_was_computed_anew: DETACHED,
    saved_after_it: [1.0, 2.0, 3.0],
    saved_after_it_and_changed: changed("torch.FloatTensor", 3),
    changed_by_an_alias_from_before: changed("torch.FloatTensor", 3),
    an_alias_from_before: [1.0, 2.0, 3.0],
    its_version: [1, 2, "2"],
    a_result: pytest.approx([np.e, np.e**2, np.e**3]),
    what_a_function_saved: [1.0, 2.0, 3.0],
    looked_at_by_hand: [1.0, 2.0, 3.0],
    in_inference_mode: "MulBackward0",
}


@each(GONE)
def test_a_saved_tensor_may_not_be_detached_in_place(
    torch: Any, program: Any, expected: Any
) -> None:
    expect(outcome(torch, program), expected)


def test_lint_says_that_it_was_detached() -> None:
    a = leaf(autograd_core) * 1
    b = a.sin()
    a.detach_()
    (finding,) = [each for each in lint(b.sum()) if each.code == "changed"]
    assert "saved self, which was detached in place afterwards" in finding.what
    assert "x = x.detach()" in finding.remedy


# -- indices -----------------------------------------------------------------------------------


def read_twice(torch):
    y = leaf(torch)[torch.tensor([0])]
    y.backward(torch.ones(1))
    y.backward(torch.ones(1))


def masked_twice(torch):
    x = leaf(torch)
    y = x[x.detach() > 1]
    y.sum().backward()
    torch.autograd.backward(y, torch.ones(2))


def a_list_twice(torch):
    y = leaf(torch)[[0, 2]]
    y.backward(torch.ones(2))
    y.backward(torch.ones(2))


def written_twice(torch):
    x, v = leaf(torch), torch.tensor([5.0], requires_grad=True)
    y = x * 1
    y[torch.tensor([0])] = v
    y.backward(torch.ones(3), inputs=[v])
    y.backward(torch.ones(3), inputs=[v])


def added_twice(torch):
    v = torch.tensor([5.0], requires_grad=True)
    y = torch.zeros(3).index_put((torch.tensor([0]),), v, accumulate=True)
    y.backward(torch.ones(3))
    y.backward(torch.ones(3))


def retained(torch):
    x = leaf(torch)
    y = x[torch.tensor([0, 0])]
    y.backward(torch.ones(2), retain_graph=True)
    y.backward(torch.ones(2))
    return x.grad


def numbers_changed(torch):
    at = torch.tensor([0, 1])
    y = leaf(torch)[at]
    at.add_(1)
    y.sum().backward()


def a_mask_changed(torch):
    at = torch.tensor([True, False, True])
    y = leaf(torch)[at]
    at.logical_not_()
    y.sum().backward()


def numbers_changed_after_writing(torch):
    v, at = torch.tensor([5.0, 6.0], requires_grad=True), torch.tensor([0, 1])
    y = leaf(torch).index_put((at,), v)
    at.add_(1)
    y.sum().backward()


def a_list_changed(torch):
    x, at = leaf(torch), [0, 1]
    y = x[at]
    at[0] = 2
    y.sum().backward()
    return x.grad


def what_is_saved(torch):
    at = torch.tensor([0, 1])
    node = torch.ones(3, 4, requires_grad=True)[:, at].grad_fn
    return node._saved_indices, node._saved_indices[1] is at


def what_is_saved_for_writing(torch):
    y = leaf(torch) * 1
    y[torch.tensor([0, 1])] = torch.ones(2)
    return y.grad_fn._saved_indices


def looked_at_when_freed(torch):
    y = leaf(torch)[torch.tensor([0, 1])]
    y.sum().backward()
    return y.grad_fn._saved_indices


def handed_to_hooks(torch):
    seen = []

    def pack(t):
        seen.append(t)
        return t.tolist(), t.dtype

    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda p: torch.tensor(p[0], dtype=p[1])):
        y = x[torch.tensor([0, 2])] + x[torch.tensor([True, False, True])]
    y.sum().backward()
    return seen, x.grad


def differentiated_again(torch):
    x, at = leaf(torch), torch.tensor([0, 0, 2])
    (g,) = torch.autograd.grad((x[at] ** 2).sum(), x, create_graph=True)
    return g, torch.autograd.grad(g.sum(), x)


def made_in_inference_mode(torch):
    with torch.inference_mode():
        at = torch.tensor([0, 1])
    return leaf(torch).detach()[at], leaf(torch)[at]


def within_a_checkpoint(torch):
    x, at = leaf(torch), torch.tensor([0, 1])
    checkpoint = torch.utils.checkpoint.checkpoint
    checkpoint(lambda x: (x * 3)[at], x, use_reentrant=False).sum().backward()
    return x.grad


INDICES = {
    read_twice: FREED,
    masked_twice: FREED,
    a_list_twice: FREED,
    written_twice: FREED,
    added_twice: FREED,
    retained: [4.0, 0.0, 0.0],
    numbers_changed: changed("torch.LongTensor", 2),
    a_mask_changed: changed("CPUBoolType", 3),
    numbers_changed_after_writing: changed("torch.LongTensor", 2),
    a_list_changed: [1.0, 1.0, 0.0],
    what_is_saved: [[None, [0, 1]], True],
    what_is_saved_for_writing: [[0, 1]],
    looked_at_when_freed: FREED,
    handed_to_hooks: [[[0, 2], [True, False, True]], [2.0, 0.0, 2.0]],
    differentiated_again: [[4.0, 0.0, 6.0], [[4.0, 0.0, 2.0]]],
    made_in_inference_mode: Error("RuntimeError", "Inference tensors cannot be saved for backward"),
    within_a_checkpoint: [3.0, 3.0, 0.0],
}


@each(INDICES)
def test_indices_are_saved_as_inputs_are(torch: Any, program: Any, expected: Any) -> None:
    expect(outcome(torch, program), expected)


def test_saved_indices_are_shown() -> None:
    torch = autograd_core
    at = torch.tensor([0, 1])
    node = leaf(torch)[at].grad_fn
    assert [(name, value is at, state) for name, value, state in node.saved()] == [
        ("indices[0]", True, "kept")
    ]
    at.add_(1)
    assert [state for *_, state in node.saved()] == ["changed"]
    node.release()
    assert node.is_freed
    assert list(node.saved()) == [("indices", None, "freed")]

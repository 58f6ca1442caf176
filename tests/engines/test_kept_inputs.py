"""What tracing keeps so that rules can be checked and cuts be named: inputs, and ends of graphs."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.autograd import Function
from gradstep import trace
from gradstep.contract.budget import Budget
from gradstep.engines.native.trace import tracing
from gradstep.findings.checking import check_derivatives as check
from gradstep.guest.collector import collector_slowed_by_ops


def kept(t: Any) -> list[Any]:
    """The arrays that the op behind ``t`` ran on."""
    return [each.array.tolist() for each in t.grad_fn.ran_on.arguments]


def test_inputs_are_kept_as_they_were_when_the_op_ran() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        y = x * 2
        z = y * x
        y.add_(1)
        x.array[0] = 7
    assert kept(z) == [[2, 4], [1, 2]]


def test_an_op_in_place_keeps_what_it_overwrote() -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with trace(values=True):
        y = (x + 1).exp_()
    assert kept(y) == [[1, 2]]


def test_a_custom_function_keeps_what_it_changes_in_place() -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: int) -> Any:
            ctx.mark_dirty(x)
            x.array *= factor
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2, None

    x = torch.tensor([1.0, 3.0], requires_grad=True)
    with trace(values=True):
        y = Double.apply(x * 1, 2)
    ran_on = y.grad_fn.ran_on
    assert ran_on.arguments[0].array.tolist() == [1, 3]
    assert ran_on.arguments[1] == 2
    assert ran_on.function is Double


def test_an_unchanged_tensor_is_copied_once_and_a_changed_one_again() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values=True):
        a, b = x * x, x.exp()
        x.array[0] = 5
        c = x.exp()
    (one, other), (third,) = a.grad_fn.ran_on.arguments, b.grad_fn.ran_on.arguments
    assert one is other is third
    assert c.grad_fn.ran_on.arguments[0] is not third
    assert kept(b) == [[1, 2]]
    assert kept(c) == [[5, 2]]


def test_the_budget_is_kept_and_given_back_when_a_graph_dies() -> None:
    x = torch.tensor(np.ones(100), requires_grad=True)  # 800 bytes
    with trace(values=True, budget=1000):
        first = x.exp()
        second = (x + 1).exp()
        assert first.grad_fn.ran_on.arguments is not None
        assert second.grad_fn.ran_on.arguments is None
        assert second.grad_fn.ran_on.limit == 1000
        del first, second
        x = torch.tensor(np.zeros(100), requires_grad=True)
        assert x.exp().grad_fn.ran_on.arguments is not None


def test_without_values_and_without_a_graph_nothing_is_kept() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    with trace():
        assert (x * 2).grad_fn.ran_on is None
    with tracing(values=True) as tracer, torch.no_grad():
        x * 2
        assert tracer._recorder is not None
        assert tracer._recorder._budget.used == 0
    assert (x * 2).grad_fn.ran_on is None


def test_records_hold_no_copies_alive() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with tracing(values=True) as tracer:
        total = torch.tensor(0.0)
        loss = (x * x).sum()
        with torch.no_grad():
            total = total + loss
        del loss
    assert total.record is not None
    assert tracer._recorder is not None
    assert tracer._recorder._budget.used == 0


def test_references_to_results_cost_no_copies_and_tell_all_when_asked() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace(values="core"):
        y = (x * 2).exp()
    record = y.grad_fn.record
    assert record.value() is y.array
    assert record.statistics.maximum == y.array.max()
    assert (record.source.file, record.shapes, record.pointwise) == (__file__, ((2,),), True)
    checked = {each.sentence for each in check(y)}
    assert checked == {"MulBackward0: right (self)", "ExpBackward0: right (self)"}


@pytest.mark.parametrize("how", ["exp_", "through a view", "by NumPy", "by a Function"])
def test_what_was_changed_in_place_is_shown_as_it_was(how: str) -> None:
    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            x.array *= 2
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = torch.tensor([1.0, 3.0], requires_grad=True)
    with trace(values="core"):
        y = x * 2
        made = y.record[0]
        if how == "exp_":
            y.exp_()
        elif how == "through a view":
            y[:1].mul_(5)
        elif how == "by NumPy":
            y.detach().numpy()[:] = 7
        else:
            Doubled.apply(y)
        assert y.tolist() != [2, 6]
    assert made.value().tolist() == [2, 6]
    assert made.statistics.maximum == 6


def test_a_leaf_that_was_changed_since_is_not_shown_as_if_it_was_old() -> None:
    x = torch.tensor([1.0, 3.0], requires_grad=True)
    with trace(values="core"):
        y = x * x
        with torch.no_grad():
            x.add_(1)
    leaf = y.grad_fn.record.inputs[0][0]
    assert leaf.value() is None
    assert leaf.was_changed


def test_references_are_given_up_when_the_graph_is_freed() -> None:
    x = torch.tensor(np.ones(1000), requires_grad=True)
    budget = Budget(20_000)
    with trace(values="core", budget=budget):
        loss = (x * 2).exp().sum()
        assert budget.used == 16_000
        beyond = loss * (x * 2).exp()  # of which only statistics are kept
        assert budget.used == 16_000
        assert beyond.grad_fn.record.statistics.size == 1000
        beyond.sum().backward()
        assert budget.used == 0


def test_looking_for_names_changes_no_variables_of_the_program() -> None:
    def program(x: Any, offset: Any) -> tuple[Any, bool]:
        total = x
        for name, value in locals().items():  # raises if the dictionary changes meanwhile
            total = total + value * offset if name != "total" else total
        return total, "name" in locals()

    with trace():
        _, has_name = program(torch.tensor(1.0, requires_grad=True), torch.tensor(2.0))
    assert has_name


def test_what_was_cut_off_remembers_how_and_the_leaves_behind() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace():
        detached = (w * v).detach()
        data = (w * 2).data
        made = torch.tensor(w)
    for t, how, leaves in (
        (detached, "detach()", {w, v}), (data, ".data", {w}), (made, "tensor()", {w}),
    ):  # fmt: skip
        assert t.record.how == how
        assert {leaf() for leaf in t.record.leaves} == leaves
        assert t.record.source.file == __file__


def test_a_tensor_made_from_an_array_remembers_what_went_to_numpy_before() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with trace():
        before = torch.tensor(np.ones(2))
        array = (w * 2).detach().numpy()
        after = torch.from_numpy(array + 1)
    assert before.record is None
    assert after.record.how == "from_numpy()"
    assert [leaf() for leaf in after.record.departure.leaves] == [w]


def test_tensors_without_a_graph_leave_no_trace_of_cuts() -> None:
    x = torch.tensor([1.0, 2.0])
    with trace():
        assert x.detach().record is None
        assert torch.tensor(x.numpy()).record is None


@pytest.mark.parametrize(
    ("values", "first", "slowed"),
    [
        (True, 700, 14_000),
        ("core", 700, 14_000),
        (False, 700, 700),
        (True, 0, 0),
        (True, 10**5, 10**5),
    ],
)
def test_records_do_not_count_as_objects_of_the_program(
    values: Any, first: int, slowed: int
) -> None:
    before = gc.get_threshold()
    gc.set_threshold(first, *before[1:])
    try:
        with tracing(values=values), tracing(values=values):  # not slowed twice
            assert gc.get_threshold() == (slowed, *before[1:])
        assert gc.get_threshold() == (first, *before[1:])
    finally:
        gc.set_threshold(*before)


def test_traces_that_end_in_another_order_leave_the_collector_as_it_was() -> None:
    before = gc.get_threshold()
    one, other = collector_slowed_by_ops(), collector_slowed_by_ops()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    other.__exit__(None, None, None)
    assert gc.get_threshold() == before

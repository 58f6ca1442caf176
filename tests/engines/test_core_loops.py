"""Python loops over small tensors of the core: what tracing does for each op, and for each value
that leaves, does not grow with their number."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import autograd_core as torch
from gradstep.contract.op_records import MOST_WITHOUT_GRADIENT, LeafRecord
from gradstep.engines.native.trace import tracing
from gradstep.engines.native.trace.origins import origin

MANY = MOST_WITHOUT_GRADIENT + 20


def calls_of(function: Callable[[int], object], count: int) -> int:
    """Count the calls of functions, which is what time goes into, on any machine."""
    calls = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        function(count)
    finally:
        sys.setprofile(None)
    return calls


def filled(count: int) -> Any:
    series = torch.zeros(count)
    for at in range(1, count):
        series[at] = 0.9 * series[at - 1].item() + 1
    return series


def summed(count: int) -> Any:
    w, total = torch.ones(3, requires_grad=True), torch.zeros(())
    for _ in range(count):
        total = total + (w * 2).sum()
        total.item()
    return total


def cut_off(count: int) -> Any:
    w, total = torch.ones(3, requires_grad=True), torch.zeros(())
    for _ in range(count):
        total = total + (w * 2).sum()
        total.detach()
    return total


def without_gradients(count: int) -> Any:
    with torch.no_grad():
        return summed(count)


def parts_of_one(count: int) -> Any:
    w = torch.ones(count, requires_grad=True)
    for _ in range(count):
        w = w + 1
    return [part.item() for part in w * torch.ones(count, requires_grad=True)]


LOOPS = [filled, summed, cut_off, without_gradients, parts_of_one]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("defers", [False, True])
@pytest.mark.parametrize("loop", LOOPS)
def test_values_that_leave_in_a_loop_take_linear_time(
    loop: Callable[..., Any], defers: bool
) -> None:
    with tracing("core", defers=defers):
        _, few, more, most = (calls_of(loop, rounds) for rounds in (10, 40, 80, 160))
    assert most - more < 2.5 * (more - few)


def test_leaves_are_found_past_what_is_known() -> None:
    v, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    with tracing():
        first = (v * 2).detach()
        both = v * 2 + w
        second, again = both.sum().detach(), (both * 3).detach()
        with torch.no_grad():
            third = ((v * 2) + (w * 1)).sum().detach()
    assert [leaf() for leaf in first.record.leaves] == [v]
    for cut in (second, again, third):
        assert {leaf() for leaf in cut.record.leaves} == {v, w}


def test_data_that_is_filled_in_a_loop_is_recorded_at_its_beginning_only() -> None:
    w = torch.ones(3, requires_grad=True)
    with tracing("core"):
        series = torch.zeros(MANY)
        for at in range(1, MANY):
            series[at] = 0.9 * series[at - 1] + 1
        late = series * 2
        loss = (w * series[:3]).sum()
    assert isinstance(origin(late)[0], LeafRecord)
    record, _ = origin(loss)
    ((product, _),) = record.inputs
    assert (record.name, product.name) == ("sum", "mul")


def test_ops_without_a_gradient_beside_others_are_recorded() -> None:
    with tracing():
        value = torch.ones(3, requires_grad=True)
        for _ in range(MANY):
            mask = torch.ones(3) * 2
            value = value * mask
    assert mask.record[0].name == "mul"

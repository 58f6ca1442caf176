"""Loops of Python over small tensors: what is noted of each op does not grow with their number, and
of ops without a gradient nothing more is noted after a while."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep.contract.op_records import LeafRecord  # noqa: E402
from gradstep.engines.pytorch import ops  # noqa: E402
from gradstep.engines.pytorch.noting import noting  # noqa: E402
from gradstep.engines.pytorch.private import dispatch_mode, memory_of  # noqa: E402
from gradstep.findings.linting import lint  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of ops without a gradient that are recorded, made small."""
    monkeypatch.setattr(ops, "MOST_WITHOUT_GRADIENT", 40)
    return 40


def filled(count: int) -> Any:
    series = torch.zeros(count)
    for at in range(1, count):
        series[at] = 0.9 * series[at - 1] + 1
    return series


def calls_of(function: Callable[[], object]) -> int:
    """Count the calls of Python functions, which is what time goes into, on any machine."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    threading.setprofile(note)  # rules run in a thread of their own
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return count


def test_data_that_is_filled_in_a_loop_is_recorded_at_its_beginning_only(short: int) -> None:
    w = torch.ones(3, requires_grad=True)
    with noting(values=True) as known:
        series = filled(100)
        assert known.ops.dozes
        loss = (w * series[:3]).sum()
        assert not known.ops.dozes
        assert isinstance(known.ops.origin(series)[0], LeafRecord)  # changed, nobody knows how
        record, _ = known.ops.origin(loss)
        assert record.name == "sum"
        assert [maker.name for maker, _ in record.inputs] == ["mul"]
        assert not any(finding.code == "untraced" for finding in lint(loss))
        loss.backward()
    assert w.grad.tolist() == filled(3).tolist()
    assert dispatch_mode() is None


def test_numbers_that_leave_do_not_end_the_doze(
    short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    series, woken = torch.zeros(100), []
    with noting(values=True) as known:
        wake = known.ops.wake
        monkeypatch.setattr(known.ops, "wake", lambda: (woken.append(1), wake()))
        for at in range(1, 100):
            series[at] = 0.9 * series[at - 1].item() + series.tolist()[0]
        assert known.ops.dozes
    assert not woken


def test_ops_without_a_gradient_beside_others_are_recorded(short: int) -> None:
    w = torch.ones(3, requires_grad=True)
    with noting(values=True) as known:
        value = w
        for _ in range(short):
            mask = torch.ones(3) * 2
            value = value * mask
            assert known.ops.origin(mask)[0].name == "mul"


@pytest.mark.parametrize("how", ["op", "Function", "module", "create_graph", "optimizer"])
def test_what_has_a_gradient_ends_the_doze(how: str, short: int) -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    layer = torch.nn.Linear(3, 3)
    w = layer.weight
    optimizer = torch.optim.SGD([w], lr=0.1)
    squared = (w * w).sum()
    with noting(values=True) as known:
        filled(100)
        assert known.ops.dozes
        if how == "op":
            made = torch.stack([torch.ones(3, 3), w])
        elif how == "Function":
            made = Double.apply(w)
        elif how == "module":
            made = layer(torch.ones(3))
        elif how == "create_graph":
            (made,) = torch.autograd.grad(squared, w, create_graph=True)
        else:
            version, w.grad = w._version, torch.ones(3, 3)
            optimizer.step()
            assert known.changes.since(memory_of(w), version)
            made = w * 2
        assert not isinstance(known.ops.origin(made)[0], LeafRecord)


def test_a_mode_of_the_programs_is_left_where_it_is(short: int) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, op: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return op(*args, **(kwargs or {}))

    w = torch.ones(3, requires_grad=True)
    with noting(values=True) as known:
        with Mode() as mode:
            filled(100)
            assert dispatch_mode() is mode
            assert not known.ops.dozes
        filled(10)
        assert known.ops.dozes
        with Mode() as mode:
            (w * 2).sum()
            assert dispatch_mode() is mode
        made = w * 2
        assert known.ops.origin(made)[0].name == "mul"
    assert dispatch_mode() is None


def test_what_is_switched_off_is_not_woken(short: int) -> None:
    w = torch.ones(3, requires_grad=True)
    with noting(values=True) as known:
        filled(100)
        assert not known.ops.switch(on=False)
        known.ops.wake()
        assert dispatch_mode() is None
        assert known.ops.switch(on=True)
        assert known.ops.origin(w * 2)[0].name == "mul"


def test_a_cut_in_each_round_of_a_loop_is_found_once_and_in_linear_time() -> None:
    w, v = torch.zeros((), requires_grad=True), torch.ones((), requires_grad=True)

    def finding(rounds: int) -> int:
        with noting(values=True):
            total = v * 1
            for _ in range(rounds):
                total = total + (w * total).detach()
            return calls_of(lambda: findings.extend(lint(total)))

    findings: list[Any] = []
    _, few, more, most = (finding(rounds) for rounds in (10, 100, 200, 400))
    assert [each.code for each in findings if each.code == "cut"] == ["cut"] * 4
    assert most - more < 2.5 * (more - few)

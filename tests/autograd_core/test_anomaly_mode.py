"""Anomaly mode: each fact stated once, on this core and on PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import autograd_core
from gradstep.console.session import Session


def warned(run: Any) -> tuple[list[str], str]:
    """The warnings that ``run`` gives, and what it raises."""
    raised = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except RuntimeError as error:
            raised = str(error)
    return [str(each.message) for each in caught], raised


def test_nan_is_led_back_to_its_forward_line(torch: Any) -> None:
    def run() -> None:
        with torch.autograd.detect_anomaly():
            x = torch.tensor([0.0, 1.0], requires_grad=True)
            y = (x.sqrt() * 0).sum()
            y.backward()

    told, raised = warned(run)
    assert raised == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert told[0].startswith("Anomaly Detection has been enabled.")
    assert told[1].startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n"
    )
    assert "y = (x.sqrt() * 0).sum()" in told[1]
    assert "test_anomaly_mode.py" in told[1]


def test_without_a_traced_forward_pass_it_says_so(torch: Any) -> None:
    def run() -> None:
        y = (torch.tensor([0.0], requires_grad=True).sqrt() * 0).sum()
        with torch.autograd.set_detect_anomaly(True):
            y.backward()

    (told,), raised = warned(run)
    assert told.startswith("Error detected in SqrtBackward0. No forward pass information")
    assert "returned nan values" in raised


def test_the_check_can_be_left_out(torch: Any) -> None:
    x = torch.tensor([0.0], requires_grad=True)

    def run() -> None:
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            (x.sqrt() * 0).sum().backward()

    assert warned(run) == ([], "")
    assert x.grad.isnan().all() if hasattr(x.grad, "isnan") else x.grad != x.grad


def test_an_error_is_reported_and_stays_itself(torch: Any) -> None:
    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            z = (torch.tensor([1.0], requires_grad=True) * 1).exp()
            z.add_(1)
            z.sum().backward()

    (told,), raised = warned(run)
    assert told.startswith("Error detected in ExpBackward0.")
    assert "modified by an inplace operation" in raised
    assert raised.endswith(
        "The variable in question was changed in there or anywhere later. Good luck!"
    )


def test_a_custom_function_is_named_too(torch: Any) -> None:
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * float("nan")

    def run() -> None:
        with torch.autograd.set_detect_anomaly(True):
            Bad.apply(torch.tensor([1.0], requires_grad=True)).sum().backward()

    (told,), raised = warned(run)
    assert told.startswith("Error detected in BadBackward.")
    assert raised == "Function 'BadBackward' returned nan values in its 0th output."


def test_the_mode_ends_with_its_block(torch: Any) -> None:
    with torch.autograd.set_detect_anomaly(True):
        pass
    y = torch.tensor([1.0], requires_grad=True) * 2
    assert "traceback_" not in y.grad_fn.metadata


@pytest.mark.parametrize("records_all", [True, False])
def test_a_pass_that_is_stepped_through_raises_at_the_node(records_all: bool) -> None:
    x = autograd_core.zeros(3, requires_grad=True)
    y = x.sqrt() * 0
    for _ in range(100):
        y = y + 1
    session = Session(y.sum())
    session.cursor.records_all = records_all
    with autograd_core.autograd.set_detect_anomaly(True), warnings.catch_warnings(action="ignore"):
        session.continue_()
        assert session.graph.address(session.position) == "sqrt:1"
        assert session.snapshot.status == "failed"
        session.next()
        assert session.snapshot.error == (
            "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output."
        )
        with pytest.raises(RuntimeError, match="nan values in its 0th output"):
            session.finish()
    assert x.grad is None

"""What happens before a program runs: with every PyTorch, and where it fails."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import gradstep  # noqa: E402

pytestmark = pytest.mark.torch


def test_custom_functions_are_checked_where_their_apply_is_of_c(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it is since PyTorch 2.14."""
    of_c = vars(torch._C._FunctionBase)["apply"]
    monkeypatch.setattr(torch.autograd.Function, "apply", of_c)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient

    with gradstep.trace(values=True):
        loss = Double.apply(torch.ones(3, requires_grad=True)).sum()
        verdicts = {node.op: node.verdict for node in gradstep.check(loss)}
    assert verdicts == {"DoubleBackward": "wrong", "SumBackward0": "right"}
    assert vars(torch.autograd.Function)["apply"] is of_c

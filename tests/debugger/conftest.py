"""What tests of the debugger share."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def once(torch: Any) -> Any:
    class Once(torch.autograd.Function):
        """Doubles; its backward runs a pass of its own."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_(True)
                (inner.tanh() * 2.0 * g).sum().backward()
            return inner.grad

    return Once

"""Dropout."""

from __future__ import annotations

from autograd_core.nn import functional as F
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class Dropout(Module):
    """In training, sets each element to zero with probability ``p`` and scales up the others."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace=False"

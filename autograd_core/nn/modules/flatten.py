"""Changing shapes between layers."""

from __future__ import annotations

from autograd_core import functions
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class Flatten(Module):
    """The dimensions from ``start_dim`` to ``end_dim`` made one; by default all but the first."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return functions.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"

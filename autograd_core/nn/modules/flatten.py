"""Layers that change shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core import functions
from autograd_core.nn.modules.layer import Layer, OfFunction
from autograd_core.nn.modules.module import Module
from autograd_core.tensor import Tensor


class Identity(Module):
    """The identity: it returns its input, whatever the arguments are."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(OfFunction, function=functions.flatten):
    """A layer that joins the dimensions from ``start_dim`` to ``end_dim``; by default all but the
    first."""

    start_dim: int = 1
    end_dim: int = -1
    shown = ("start_dim", "end_dim")


class Unflatten(Layer):
    """A layer that splits the dimension ``dim`` into several of the sizes ``unflattened_size``."""

    dim: int
    unflattened_size: Sequence[int]
    shown = ("dim", "unflattened_size")

    def __post_init__(self) -> None:
        self.unflattened_size = tuple(self.unflattened_size)

    def forward(self, input: Tensor) -> Tensor:
        return functions.unflatten(input, self.dim, self.unflattened_size)

"""What options of windows and sizes mean, and signals as images of one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.ops.shaping import shape
from autograd_core.tensor import Tensor

Sizes = int | Sequence[int]


def sizes(value: Any, dims: int) -> tuple[int, ...]:
    """Return one number for all dimensions, or one for each."""
    if isinstance(value, int):
        return (value,) * dims
    return tuple(value) * (dims if len(value) == 1 else 1)


def flat(x: Tensor) -> Tensor:
    """Return a signal as an image of one row."""
    return shape.unsqueeze(x, -2)


def signal(x: Tensor) -> Tensor:
    """Return the opposite of :func:`flat`."""
    return shape.squeeze_dim(x, -2)

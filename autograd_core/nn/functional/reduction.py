"""Reduce losses to one number, and what they share besides."""

from __future__ import annotations

import numpy as np

from autograd_core import functions
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.ops.shaping import shape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor


def validate_reduction(reduction: str) -> str:
    """Return ``reduction``; raise ValueError if there is none of that name."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Return ``reduction``, or what the older arguments mean."""
    if size_average is None and reduce is None:
        return reduction
    chosen = "none" if reduce is False else "sum" if size_average is False else "mean"
    warn(
        f"size_average and reduce args will be deprecated, please use reduction='{chosen}' instead."
    )
    return chosen


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """Return the mean or the sum of ``losses``, or all of them."""
    if validate_reduction(reduction) == "none":
        return losses
    return functions.mean(losses) if reduction == "mean" else functions.sum(losses)


def held(x: Tensor, least: float) -> Tensor:
    """Return ``x``, but nowhere less than ``least``, with the gradient of what it was."""
    copy = shape.clone(x)
    np.maximum(copy.array, least, out=copy.array)
    return copy


def check_constant(function: str, **values: Tensor | None) -> None:
    """Check that no gradient is needed of ``values``, of which ``function`` has none.

    Raises:
        RuntimeError: one requires a gradient; in PyTorch's words.
    """
    for name, value in values.items():
        if value is not None and value.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )

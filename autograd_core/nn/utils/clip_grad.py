"""Gradients clipped."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from autograd_core.tensor import Tensor

Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: Tensors) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Return the norm of all elements of ``tensors`` together."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return Tensor.from_array(np.zeros((), np.float32))
    norms = np.array([np.linalg.norm(t.array.ravel(), norm_type) for t in given])
    total = np.linalg.norm(norms, norm_type)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return Tensor.from_array(total.astype(given[0].dtype.dtype))


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Tensor) -> None:
    """Scale all gradients, given their total norm, so that it is at most ``max_norm``."""
    factor = np.minimum(max_norm / (total_norm.array + 1e-6), 1)
    for g in _gradients(parameters):
        g.bump()
        g.array *= factor.astype(g.dtype.dtype)


def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients to a total norm of at most ``max_norm``; return the previous norm."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp each element of the gradients to the range from ``-clip_value`` to ``clip_value``."""
    for g in _gradients(parameters):
        g.bump()
        np.clip(g.array, -clip_value, clip_value, out=g.array)

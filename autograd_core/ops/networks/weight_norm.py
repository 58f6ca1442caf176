"""Weights as a length and a direction."""

from __future__ import annotations

from typing import Any

from autograd_core.op import op
from autograd_core.ops.reductions.norms import vector_norm
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.shape import reshape


def _other_dims(ndim: int, dim: int) -> tuple[int, ...]:
    return tuple(each for each in range(ndim) if each != dim)


@op(
    joint=lambda g, v, g_, dim, needs: _slopes(g, v, g_, dim, needs),
    edges="v g_",
    node="WeightNormInterfaceBackward0",
)
def weight_norm(v, g_, /, dim=0):
    """Return ``v`` with its slices of dimension ``dim`` made as long as ``g_`` says."""
    return v * (g_ / vector_norm(v, 2.0, _other_dims(v.ndim, dim), True))


def _slopes(g: Any, v: Any, length: Any, dim: int, needs: tuple[bool, bool]) -> tuple[Any, Any]:
    dims = _other_dims(v.ndim, dim)
    inverse = 1 / vector_norm(v, 2.0, dims, True)
    along = sum_dim(g * v, dims, True) * inverse
    across = (g - v * along * inverse) * (length * inverse) if needs[0] else None
    if tuple(along.shape) != tuple(length.shape):  # one length of all
        along = reshape(along, tuple(length.shape))
    return across, along if needs[1] else None

"""Distances and similarities of vectors."""

from __future__ import annotations

from autograd_core.nn.functional.reduction import held
from autograd_core.op.generic import broadcast_shapes
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.pointwise.select import clamp_min
from autograd_core.ops.reductions import distance, reduce
from autograd_core.ops.reductions.norms import vector_norm
from autograd_core.ops.shaping import shape
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.tensor import Tensor
from autograd_core.tensor.numeric import result_type


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the p-norm of ``x1 - x2 + eps`` along the last dimension."""
    difference = elementwise.add(elementwise.sub(x1, x2), eps)
    return vector_norm(difference, p, difference.ndim - 1, keepdim)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """Return ``input`` divided by its p-norm along ``dim``, or by ``eps`` if that is larger."""
    size = clamp_min(vector_norm(input, p, dim, True), min=eps)
    return elementwise.div(input, shape.expand(size, input._shape))


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """Return the cosine of the angle between vectors along ``dim``, norms at least ``eps``."""
    if not (x1.dtype.is_floating_point and x2.dtype.is_floating_point):
        x1, x2 = _as_numbers(x1, x2)
    if x1._shape != x2._shape:
        size = broadcast_shapes((x1, x2))
        x1, x2 = (x if x._shape == size else shape.expand(x, size) for x in (x1, x2))
    left, right = (elementwise.div(x, held(vector_norm(x, 2, dim, True), eps)) for x in (x1, x2))
    return reduce.sum_dim(elementwise.mul(left, right), dim)


def _as_numbers(x1: Tensor, x2: Tensor) -> tuple[Tensor, ...]:
    """Return both, whole numbers as floating point ones."""
    kind = result_type(x1, x2)
    if not kind.is_floating_point:
        raise RuntimeError(
            "expected common dtype to be floating point, yet common dtype is " + kind.scalar_name
        )
    return tuple(x if x.is_floating_point() else to_dtype(x, kind) for x in (x1, x2))


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the n * (n - 1) / 2 distances between all pairs of the points ``input`` (n, d)."""
    return distance.pdist(input, p)

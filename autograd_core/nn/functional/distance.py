"""Distances and similarities of vectors."""

from __future__ import annotations

from autograd_core import functions
from autograd_core.ops import elementwise, reduce
from autograd_core.tensor import Tensor


def vector_norm(x: Tensor, p: float, dim: int, keepdim: bool = False) -> Tensor:
    """The p-norm along ``dim``; its derivative at 0 is 0."""
    size = elementwise.abs(x)
    if p == 1:
        return reduce.sum_dim(size, dim, keepdim)
    if p == float("inf"):
        return reduce.max_dim(size, dim, keepdim)[0]
    powers = elementwise.mul(x, x) if p == 2 else functions.pow(size, p)
    total = reduce.sum_dim(powers, dim, keepdim)
    zero = elementwise.eq(total, 0)
    positive = elementwise.where(zero, 1, total)
    root = elementwise.sqrt(positive) if p == 2 else functions.pow(positive, 1 / p)
    return elementwise.where(zero, 0, root)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last dimension."""
    difference = elementwise.add(elementwise.sub(x1, x2), eps)
    return vector_norm(difference, p, difference.ndim - 1, keepdim)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input`` over its p-norm along ``dim``, or over ``eps`` where that is larger."""
    size = functions.clamp(vector_norm(input, p, dim, True), min=eps)
    return elementwise.div(input, size)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along ``dim``; no norm counts as less than
    ``eps``."""
    left, right = (normalize(x, 2.0, dim, eps) for x in (x1, x2))
    return reduce.sum_dim(elementwise.mul(left, right), dim)

"""Products of Householder reflectors, as LAPACK stores orthogonal matrices.

Column ``i`` of a matrix holds, below the diagonal, the vector ``v`` of the reflector
``1 - tau[i] * v @ v.T``; on the diagonal ``v`` is 1, above it 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.algebra.linalg import matmul
from autograd_core.ops.algebra.matrices import check_matrices, constant, mT
from autograd_core.ops.indices.index import select
from autograd_core.ops.pointwise.elementwise import zeros_of
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.diagonals import tril
from autograd_core.ops.shaping.joining import cat, stack
from autograd_core.ops.shaping.shape import unsqueeze


@op(
    joint=lambda g, input, tau: householder_backward(g, input, tau),
    edges="input tau",
    node="LinalgHouseholderProductBackward0",
    aliases="linalg.householder_product",
    out="cast",
    layout="columns",
)
def householder_product(input, tau, /):
    """Return the first columns of the product of the reflectors in ``input``."""
    name = "torch.linalg.householder_product"
    check_matrices(name, input)
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    return _sweep(input, tau, _first_columns(input), False)[0]


def householder_backward(g: Any, a: Any, tau: Any) -> tuple[Any, Any]:
    """Return the gradients of vectors and factors."""
    return _backward(g, a, tau, _first_columns(a), False)[:2]


@op(
    joint=lambda g, self, input2, input3, left, transpose: ormqr_backward(
        g, self, input2, input3, left, transpose
    ),
    edges="self input2 input3",
    variants="function method",
    out="expect",
    layout="columns",
)
def ormqr(self, input2, input3, /, left=True, transpose=False):
    """Return ``input3`` times the whole product of reflectors in ``self``, or its transpose."""
    side = -2 if left else -1
    if input3.shape[side] != self.shape[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if left:
        return _sweep(self, input2, input3, transpose)[0]
    return np.swapaxes(_sweep(self, input2, np.swapaxes(input3, -2, -1), not transpose)[0], -2, -1)


def ormqr_backward(
    g: Any, a: Any, tau: Any, other: Any, left: bool, transpose: bool
) -> tuple[Any, Any, Any]:
    """Return the gradients of vectors, factors and the matrix."""
    if left:
        return _backward(g, a, tau, other, transpose)
    g_a, g_tau, g_other = _backward(mT(g), a, tau, mT(other), not transpose)
    return g_a, g_tau, mT(g_other)


def _first_columns(a: Any) -> Any:
    eye = np.eye(*a.shape[-2:])
    return constant(np.broadcast_to(eye, a.shape), a)


def _vectors(a: Any, tau: Any) -> tuple[list[Any], list[Any]]:
    """Return the vectors, as columns, and their factors, shaped to be multiplied with matrices."""
    count = tau.shape[-1]
    columns = tril(a, -1) + constant(np.eye(*a.shape[-2:]), a)
    vectors = [unsqueeze(select(columns, -1, i), -1) for i in range(count)]
    return vectors, [unsqueeze(unsqueeze(select(tau, -1, i), -1), -1) for i in range(count)]


def _sweep(a: Any, tau: Any, x: Any, transpose: bool) -> list[Any]:
    """Return ``x`` after each reflector, the last first, or last if transposed; newest first."""
    vectors, factors = _vectors(a, tau)
    order = range(len(vectors)) if transpose else reversed(range(len(vectors)))
    states = [x]
    for i in order:
        x = x - factors[i] * matmul(vectors[i], matmul(mT(vectors[i]), x))
        states.append(x)
    return states[::-1]


def _backward(g: Any, a: Any, tau: Any, x: Any, transpose: bool) -> tuple[Any, Any, Any]:
    vectors, factors = _vectors(a, tau)
    count = len(vectors)
    g_vectors: list[Any] = [None] * count
    g_factors: list[Any] = [None] * count
    order = reversed(range(count)) if transpose else range(count)
    for i, before in zip(order, _sweep(a, tau, x, transpose)[1:], strict=True):
        v, factor = vectors[i], factors[i]
        into, from_ = matmul(mT(v), g), matmul(mT(v), before)
        g_factors[i] = -sum_dim(into * from_, (-2, -1))
        g_vectors[i] = -factor * (matmul(g, mT(from_)) + matmul(before, mT(into)))
        g = g - factor * matmul(v, into)
    if not count:
        return zeros_of(a), zeros_of(tau), g
    columns = cat(g_vectors, dim=-1)
    missing = a.shape[-1] - count
    if missing:
        zeros = constant(np.zeros((*a.shape[:-1], missing)), a)
        columns = cat([columns, zeros], dim=-1)
    return tril(columns, -1), stack(g_factors, dim=-1), g

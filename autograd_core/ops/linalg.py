"""Matrix products and linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.elementwise import neg
from autograd_core.ops.shape import (
    expand,
    reshape,
    squeeze_dim,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
    view,
)


def _check_inner(name: str, a: Any, b: Any) -> None:
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise RuntimeError(
            f"{name} and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, a.shape))} and {'x'.join(map(str, b.shape))})"
        )


@op(
    a=lambda g, b: mm(g, t(b)),
    b=lambda g, a: mm(t(a), g),
    linear=True,
    samples=(Sample(((2, 3), (3, 4))),),
)
def mm(a, b, /):
    """Product of two matrices, (n, k) by (k, m)."""
    _check_inner("mat1", a, b)
    return np.matmul(a, b)


@op(
    a=lambda g, b: bmm(g, transpose(b, 1, 2)),
    b=lambda g, a: bmm(transpose(a, 1, 2), g),
    linear=True,
    samples=(Sample(((2, 2, 3), (2, 3, 2))),),
)
def bmm(a, b, /):
    """Products of two batches of matrices, (b, n, k) by (b, k, m)."""
    _check_inner("batch1", a, b)
    return np.matmul(a, b)


@op(
    a=lambda g, b: mm(unsqueeze(g, 1), unsqueeze(b, 0)),
    b=lambda g, a: mv(t(a), g),
    linear=True,
    samples=(Sample(((2, 3), (3,))),),
)
def mv(a, b, /):
    """A matrix times a vector."""
    _check_inner("mat", a, b)
    return np.matmul(a, b)


@op(
    a=lambda g, b: g * b,
    b=lambda g, a: g * a,
    linear=True,
    samples=(Sample(((3,), (3,))),),
)
def dot(a, b, /):
    """Inner product of two vectors."""
    if a.shape != b.shape:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"[{a.size}] and src [{b.size}] to have the same number of elements, but got "
            f"{a.size} and {b.size} elements respectively"
        )
    return np.dot(a, b)


@op(
    bias=lambda g, beta: g if beta == 1 else g * beta,
    a=lambda g, b, alpha: scaled(mm(g, t(b)), alpha),
    b=lambda g, a, alpha: scaled(mm(t(a), g), alpha),
    broadcasts="bias",
    samples=(
        Sample(((4,), (2, 3), (3, 4))),
        Sample(((2, 1), (2, 3), (3, 4)), {"beta": 0.5, "alpha": 2}),
    ),
)
def addmm(bias, a, b, /, beta=1, alpha=1):
    """``beta * bias + alpha * (a @ b)`` for matrices ``a`` and ``b``."""
    _check_inner("mat1", a, b)
    product = np.matmul(a, b)
    if alpha != 1:
        product *= alpha
    product += bias if beta == 1 else beta * bias
    return product


def scaled(x: Any, factor: float) -> Any:
    """``x`` itself where the factor is 1."""
    return x if factor == 1 else x * factor


def matmul(x: Any, y: Any) -> Any:
    """Matrix product of anything with at least one dimension, broadcasting over batches.

    Taken apart as PyTorch does it, into dot, mv, mm and bmm with the views between them.
    """
    if isinstance(x, (np.ndarray, np.generic)) and not hasattr(y, "edge"):
        return np.matmul(x, y)
    dims = (x.ndim, y.ndim)
    if 0 in dims:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and "
            f"{dims[1]}D"
        )
    if dims == (1, 1):
        return dot(x, y)
    if dims == (2, 2):
        return mm(x, y)
    if dims == (2, 1):
        return mv(x, y)
    if dims == (1, 2):
        return squeeze_dim(mm(unsqueeze(x, 0), y), 0)
    if y.ndim <= 2:
        return _folded(x, y)
    return _batched(x, y)


def _folded(x: Any, y: Any) -> Any:
    """A batch times one matrix or vector: one product of a tall matrix."""
    shape = x._shape
    tall = view(x, (-1, shape[-1])) if x.array.flags.c_contiguous else reshape(x, (-1, shape[-1]))
    if y.ndim == 1:
        return unsafe_view(mv(tall, y), shape[:-1])
    return unsafe_view(mm(tall, y), (*shape[:-1], y._shape[-1]))


def _batched(x: Any, y: Any) -> Any:
    """Batches of matrices, expanded to one batch each and multiplied pairwise."""
    vector = x.ndim == 1
    if vector:
        x = unsqueeze(x, 0)
    batch = np.broadcast_shapes(x._shape[:-2], y._shape[:-2])
    n, k, m = x._shape[-2], x._shape[-1], y._shape[-1]
    count = int(np.prod(batch, dtype=np.int64))
    left = reshape(expand(x, (*batch, n, k)), (count, n, k))
    right = reshape(expand(y, (*batch, y._shape[-2], m)), (count, y._shape[-2], m))
    result = unsafe_view(bmm(left, right), (*batch, n, m))
    return squeeze_dim(result, -2) if vector else result


@op(
    a=lambda g, a, ans: _outer(neg(solve_matrix(_mT(a), g)), ans),
    b=lambda g, a: solve_matrix(_mT(a), g),
    of="solve",
    node="LinalgSolveExBackward0",
    samples=(Sample(([[2.0, 0.5], [1.0, 3.0]], (2, 2))), Sample(([[2.0, 0.5], [1.0, 3.0]], (2,)))),
)
def solve_matrix(a, b, /):
    """The ``x`` of ``a @ x = b``, for a square matrix and a vector or a matrix of columns."""
    try:
        if b.ndim == a.ndim - 1:
            return np.linalg.solve(a, b[..., None])[..., 0]
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError as error:
        raise RuntimeError(
            "torch.linalg.solve: The solver failed because the input matrix is singular."
        ) from error


def _mT(a: Any) -> Any:
    return transpose(a, -2, -1)


def _outer(g: Any, x: Any) -> Any:
    """The gradient of the matrix: ``g @ x.T``, or the outer product of two vectors."""
    if g.ndim == 1:
        return unsqueeze(g, 1) * unsqueeze(x, 0)
    return matmul(g, _mT(x))

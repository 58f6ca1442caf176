"""Triangular systems, and what builds on them: the solvers that take Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.checks import check_same_dtype
from autograd_core.ops.diagonals import tril, triu
from autograd_core.ops.linalg import matmul
from autograd_core.ops.matrices import (
    check_square,
    each_matrix,
    lapack,
    mT,
    same_batch,
)

_TRIANGLE = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]


@op(
    a=lambda g, a, ans, upper, left, unitriangular: triangular_matrix_gradient(
        g, a, ans, upper, left, unitriangular
    ),
    b=lambda g, a, upper, left, unitriangular: solve_triangular(
        mT(a), g, not upper, left, unitriangular
    ),
    broadcasts="a b",
    node="LinalgSolveTriangularBackward0",
    samples=(
        Sample((_TRIANGLE, (3, 2)), {"upper": True}),
        Sample((_TRIANGLE, (2, 2, 3)), {"upper": False, "left": False}),
        Sample((_TRIANGLE, (3, 2)), {"upper": False, "unitriangular": True}),
    ),
)
def solve_triangular(a, b, /, upper, left=True, unitriangular=False):
    """The ``x`` of ``a @ x = b``, or of ``x @ a = b``, reading one triangle of ``a``."""
    check_square("linalg.solve_triangular", a)
    check_same_dtype(a, b)
    if a.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(
            "linalg.solve_triangular: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({a.shape[-2]}x{a.shape[-1]} and "
            f"{b.shape[-2]}x{b.shape[-1]})"
        )
    a, b = same_batch(a, b)
    if not b.size:
        return np.zeros(b.shape, b.dtype)
    trsm = lapack(a, "trsm")[0]

    def solve(a: Any, b: Any) -> Any:
        return (trsm(1, a, b, side=not left, lower=not upper, diag=unitriangular),)

    return each_matrix(solve, a, b)[0]


def triangular_matrix_gradient(
    g: Any, a: Any, x: Any, is_upper: bool, left: bool, unitriangular: bool
) -> Any:
    """The gradient of the triangle that was read."""
    g_b = solve_triangular(mT(a), g, not is_upper, left, unitriangular)
    whole = -matmul(g_b, mT(x)) if left else -matmul(mT(x), g_b)
    if is_upper:
        return triu(whole, 1 if unitriangular else 0)
    return tril(whole, -1 if unitriangular else 0)


@op(
    b=lambda g, a, upper, transpose, unitriangular: triangular_solve_gradient(
        g[0], a, upper, transpose, unitriangular
    ),
    a=lambda g, a, x, upper, transpose, unitriangular: (
        g[1]
        + transposed_if(
            transpose,
            triangular_matrix_gradient(
                g[0], transposed_if(transpose, a), x, upper != transpose, True, unitriangular
            ),
        )
    ),
    outputs="x coefficient",
    broadcasts="b a",
    samples=(
        Sample(((3, 2), _TRIANGLE)),
        Sample(((3, 2), _TRIANGLE), {"upper": False, "transpose": True}),
    ),
)
def triangular_solve(b, a, /, upper=True, transpose=False, unitriangular=False):
    """:func:`solve_triangular` under its older name: the solution, and a copy of ``a``."""
    solution = solve_triangular(transposed_if(transpose, a), b, upper != transpose,
                                True, unitriangular)  # fmt: skip
    return solution, np.array(np.broadcast_to(a, (*solution.shape[:-2], *a.shape[-2:])))


def triangular_solve_gradient(
    g: Any, a: Any, is_upper: bool, transposed: bool, unitriangular: bool
) -> Any:
    """The gradient of the right-hand sides."""
    matrix = a if transposed else mT(a)
    return solve_triangular(matrix, g, is_upper == transposed, True, unitriangular)


def transposed_if(condition: bool, a: Any) -> Any:
    """Matrices transposed, or not."""
    return mT(a) if condition else a


@op(
    b=lambda g, L, upper: cholesky_solve(g, L, upper),
    L=lambda g, L, ans, upper: cholesky_factor_gradient(
        matmul(cholesky_solve(g, L, upper), mT(ans)), L, upper
    ),
    broadcasts="b L",
    samples=(
        Sample(((3, 2), _TRIANGLE)),
        Sample(((2, 3, 1), _TRIANGLE), {"upper": True}),
    ),
    variants="function method",
)
def cholesky_solve(b, L, /, upper=False):
    """The ``x`` of ``L @ L.mT @ x = b``, reading one triangle of ``L``."""
    for name, matrix in (("b", b), ("u", L)):
        if matrix.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {matrix.ndim} dimensions "
                "instead"
            )
    if upper:
        L = L.swapaxes(-2, -1)
    half = solve_triangular(L, b, False)
    return solve_triangular(L.swapaxes(-2, -1), half, True)


@op(
    L=lambda g, L, ans, upper: cholesky_factor_gradient(matmul(matmul(ans, g), ans), L, upper),
    samples=(Sample((_TRIANGLE,)), Sample(([_TRIANGLE, _TRIANGLE],), {"upper": True})),
    variants="function method",
)
def cholesky_inverse(L, /, upper=False):
    """The inverse of ``L @ L.mT``, reading one triangle of ``L``."""
    check_square("cholesky_inverse", L)
    eye = np.broadcast_to(np.eye(L.shape[-1], dtype=L.dtype), L.shape)
    return cholesky_solve(eye, L, upper)


def cholesky_factor_gradient(outer: Any, L: Any, is_upper: bool) -> Any:
    """The gradient of the triangle that was read, given minus that of ``L @ L.mT``."""
    outer = outer + mT(outer)
    if is_upper:
        return -triu(matmul(triu(L), outer))
    return -tril(matmul(outer, tril(L)))

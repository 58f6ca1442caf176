"""Triangular systems, and what builds on them: the solvers that take Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.op import op
from autograd_core.ops.algebra.linalg import matmul
from autograd_core.ops.algebra.matrices import check_square, each_matrix, lapack, mT, same_batch
from autograd_core.ops.checks import check_same_dtype
from autograd_core.ops.shaping.diagonals import tril, triu


@op(
    self=lambda g, self, result, upper, left, unitriangular: triangular_matrix_gradient(
        g, self, result, upper, left, unitriangular
    ),
    B=lambda g, self, upper, left, unitriangular: solve_triangular(
        mT(self), g, not upper, left, unitriangular
    ),
    broadcasts="self B",
    node="LinalgSolveTriangularBackward0",
    layout="columns",
)
def solve_triangular(self, B, /, upper, left=True, unitriangular=False):
    """Return the ``x`` of ``self @ x = B``, or of ``x @ self = B``, reading one triangle of
    ``self``."""
    check_square("linalg.solve_triangular", self)
    check_same_dtype(self, B)
    if self.shape[-1] != B.shape[-2 if left else -1]:
        raise RuntimeError(
            "linalg.solve_triangular: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({self.shape[-2]}x{self.shape[-1]} and "
            f"{B.shape[-2]}x{B.shape[-1]})"
        )
    self, B = same_batch(self, B)
    if not B.size:
        return np.zeros(B.shape, B.dtype)
    trsm = lapack(self, "trsm")[0]

    def solve(self: Any, B: Any) -> Any:
        return (trsm(1, self, B, side=not left, lower=not upper, diag=unitriangular),)

    return each_matrix(solve, self, B)[0]


def triangular_matrix_gradient(
    g: Any, a: Any, x: Any, is_upper: bool, left: bool, unitriangular: bool
) -> Any:
    """Return the gradient of the triangle that was read."""
    g_b = solve_triangular(mT(a), g, not is_upper, left, unitriangular)
    whole = -matmul(g_b, mT(x)) if left else -matmul(mT(x), g_b)
    if is_upper:
        return triu(whole, 1 if unitriangular else 0)
    return tril(whole, -1 if unitriangular else 0)


@op(
    self=lambda g, A, upper, transpose, unitriangular: triangular_solve_gradient(
        g[0], A, upper, transpose, unitriangular
    ),
    A=lambda g, A, solution, upper, transpose, unitriangular: (
        g[1]
        + transposed_if(
            transpose,
            triangular_matrix_gradient(
                g[0], transposed_if(transpose, A), solution, upper != transpose, True, unitriangular
            ),
        )
    ),
    outputs="solution cloned_coefficient",
    broadcasts="self A",
    layout="columns",
    variants="function method",
    out="expect",
    named=return_types.triangular_solve,
)
def triangular_solve(
    self, A, /, upper: bool = True, transpose: bool = False, unitriangular: bool = False
):
    """:func:`solve_triangular` under its older name: the solution, and a copy of ``A``."""
    solution = solve_triangular(
        transposed_if(transpose, A), self, upper != transpose, True, unitriangular
    )
    return solution, np.array(np.broadcast_to(A, (*solution.shape[:-2], *A.shape[-2:])))


def triangular_solve_gradient(
    g: Any, a: Any, is_upper: bool, transposed: bool, unitriangular: bool
) -> Any:
    """Return the gradient of the right-hand sides."""
    matrix = a if transposed else mT(a)
    return solve_triangular(matrix, g, is_upper == transposed, True, unitriangular)


def transposed_if(condition: bool, a: Any) -> Any:
    """Return matrices transposed, or not."""
    return mT(a) if condition else a


@op(
    self=lambda g, input2, upper: cholesky_solve(g, input2, upper),
    input2=lambda g, input2, result, upper: cholesky_factor_gradient(
        matmul(cholesky_solve(g, input2, upper), mT(result)), input2, upper
    ),
    broadcasts="self input2",
    variants="function method",
    out="cast",
)
def cholesky_solve(self, input2, /, upper=False):
    """Return the ``x`` of ``input2 @ input2.mT @ x = self``, reading one triangle of ``input2``."""
    for name, matrix in (("b", self), ("u", input2)):
        if matrix.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {matrix.ndim} dimensions "
                "instead"
            )
    if upper:
        input2 = input2.swapaxes(-2, -1)
    half = solve_triangular(input2, self, False)
    return solve_triangular(input2.swapaxes(-2, -1), half, True)


@op(
    self=lambda g, self, result, upper: cholesky_factor_gradient(
        matmul(matmul(result, g), result), self, upper
    ),
    variants="function method",
    out="cast",
    layout="columns",
)
def cholesky_inverse(self, /, upper=False):
    """Return the inverse of ``self @ self.mT``, reading one triangle of ``self``."""
    check_square("cholesky_inverse", self)
    eye = np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)
    return cholesky_solve(eye, self, upper)


def cholesky_factor_gradient(outer: Any, L: Any, is_upper: bool) -> Any:
    """Return the gradient of the triangle that was read, given minus that of ``L @ L.mT``."""
    outer = outer + mT(outer)
    if is_upper:
        return -triu(matmul(triu(L), outer))
    return -tril(matmul(outer, tril(L)))

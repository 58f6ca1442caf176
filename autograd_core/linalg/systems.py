"""Inverses, determinants and systems of linear equations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_core import return_types
from autograd_core.op import public
from autograd_core.ops.algebra import inverses, linalg, triangular
from autograd_core.ops.algebra import lu as lu_ops
from autograd_core.ops.algebra.matrices import check_info
from autograd_core.ops.checks import LinAlgError
from autograd_core.ops.shaping import shape
from autograd_core.tensor import Tensor


def _zero_pivot(place: int) -> str:
    return (
        f"The diagonal element {place} is zero, the inversion could not be completed because the "
        "input matrix is singular."
    )


@public("function method", aliases="inverse", name="linalg.inv", out="expect")
def inv(A: Tensor) -> Tensor:
    """Return the inverse of square matrices.

    Raises:
        LinAlgError: a matrix is singular.
    """
    inverse, info = inverses.inv_ex(A)
    check_info("linalg.inv", info.array, _zero_pivot)
    return inverse


@public(name="linalg.inv_ex", out="expect")
def inv_ex(A: Tensor, *, check_errors: bool = False) -> return_types.linalg_inv_ex:
    """Return the result of :func:`inv` and, instead of an error, the number of the diagonal element
    that is 0; 0 if there is none."""
    inverse, info = inverses.inv_ex(A)
    if check_errors:
        check_info("linalg.inv_ex", info.array, _zero_pivot)
    return return_types.linalg_inv_ex(inverse, info)


@public(name="linalg.pinv", out="cast")
def pinv(
    A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Return the Moore-Penrose pseudoinverse; singular values up to ``max(atol, rtol * largest)``
    count as 0."""
    rtol = rcond if rtol is None else rtol
    absolute = None if atol is None else float(atol)
    return inverses.pinv(A, absolute, None if rtol is None else float(rtol), hermitian)


@public(name="linalg.solve", out="expect")
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """Solve ``A @ X = B``, or with ``left=False`` ``X @ A = B``, for square matrices ``A``.

    >>> import autograd_core as torch
    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([1.0, 2.0]))
    tensor([0.5000, 0.5000])

    Raises:
        RuntimeError: ``A`` is not square.
        LinAlgError: ``A`` is singular.
    """
    return linalg.solve_matrix(A, B, left)


@public(name="linalg.solve_ex", out="expect")
def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> return_types.linalg_solve_ex:
    """Return the result of :func:`solve` and, instead of an error, the number of the diagonal
    element that is 0; 0 if there is none."""
    linalg.check_solvable(A.array, B.array, left)
    info = lu_ops.lu_factor_ex(A.detach())[2]
    try:
        return return_types.linalg_solve_ex(linalg.solve_matrix(A, B, left), info)
    except LinAlgError as error:
        if check_errors:
            raise LinAlgError(str(error).replace("solve:", "solve_ex:", 1)) from None
        return return_types.linalg_solve_ex(B * math.nan, info)


@public(name="linalg.solve_triangular", out="expect")
def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """Solve ``A @ X = B``, or with ``left=False`` ``X @ A = B``, for triangular matrices ``A``;
    only one triangle of ``A`` is read."""
    return triangular.solve_triangular(A, B, upper, left, unitriangular)


@public(name="linalg.lu_solve", out="expect")
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """Solve ``A @ X = B``, or with ``left=False`` ``X @ A = B``, given the LU factorization of
    ``A``; ``adjoint=True`` solves for ``A.mT`` in place of ``A``."""
    return lu_ops.lu_solve(LU, pivots, B, left, adjoint)


@public(name="linalg.lstsq", out="cast")
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> return_types.linalg_lstsq:
    """Return the ``X`` of least norm that minimizes the norm of ``A @ X - B``.

    The residuals come with drivers other than "gelsy", if ``A`` has more rows than columns and full
    rank; the singular values come with "gelsd" and "gelss".
    """
    if not B.ndim:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if B.ndim == A.ndim - 1 and B._shape == A._shape[:-1]:  # vectors
        result = inverses.lstsq(A, shape.unsqueeze(B, -1), rcond, driver or "gelsy")
        solution, *rest = result
        return return_types.linalg_lstsq(shape.squeeze_dim(solution, -1), *rest)
    if B.ndim == 1:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-1)")
    return return_types.linalg_lstsq(*inverses.lstsq(A, B, rcond, driver or "gelsy"))


@public(name="linalg.tensorinv", out="cast")
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """Return the inverse for :func:`autograd_core.tensordot` over ``ind`` dimensions."""
    rows, columns = math.prod(A._shape[:ind]), math.prod(A._shape[ind:])
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {columns} != {rows}"
        )
    inverse = inv(shape.reshape(A, (columns, rows)))
    return shape.reshape(inverse, (*A._shape[ind:], *A._shape[:ind]))


@public(name="linalg.tensorsolve", out="cast")
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """Solve ``tensordot(A, X, X.ndim) = B``, the dimensions ``dims`` of ``A`` moved to its end."""
    if dims is not None:
        moved = [d % A.ndim for d in dims]
        A = shape.permute(A, (*(d for d in range(A.ndim) if d not in moved), *moved))
    unknown = A._shape[B.ndim :]
    rows, columns = math.prod(A._shape[: B.ndim]), math.prod(unknown)
    if rows != columns:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {columns} != {rows}"
        )
    solved = solve(shape.reshape(A, (columns, columns)), shape.reshape(B, (-1,)))
    return shape.reshape(solved, unknown)

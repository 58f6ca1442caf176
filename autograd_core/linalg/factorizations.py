"""Matrix factorizations."""

from __future__ import annotations

from typing import Any

from autograd_core import return_types
from autograd_core.op import public
from autograd_core.ops.algebra import decompositions
from autograd_core.ops.algebra import lu as lu_ops
from autograd_core.ops.algebra.matrices import check_info
from autograd_core.tensor import Tensor


def not_positive(minor: int) -> str:
    """Return the message for a matrix at which the Cholesky factorization failed."""
    return (
        "The factorization could not be completed because the input is not positive-definite "
        f"(the leading minor of order {minor} is not positive-definite)."
    )


@public(name="linalg.cholesky", out="cast")
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """Return the Cholesky factor: the lower triangular ``L`` of ``A = L @ L.mT``, or with
    ``upper=True`` the upper triangular ``U`` of ``A = U.mT @ U``.

    Raises:
        LinAlgError: ``A`` is not positive definite. Only one triangle of ``A`` is read.
    """
    L, info = decompositions.cholesky_ex(A, upper)
    check_info("linalg.cholesky", info.array, not_positive)
    return L


@public(name="linalg.cholesky_ex", out="expect")
def cholesky_ex(
    A: Tensor, *, upper: bool = False, check_errors: bool = False
) -> return_types.linalg_cholesky_ex:
    """Return the factor of :func:`cholesky` and, instead of an error, the order of the leading
    minor that is not positive definite; 0 if there is none."""
    L, info = decompositions.cholesky_ex(A, upper)
    if check_errors:
        check_info("torch.linalg.cholesky_ex", info.array, not_positive)
    return return_types.linalg_cholesky_ex(L, info)


@public(name="linalg.eigvalsh", out="expect")
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """Return the eigenvalues of symmetric matrices in ascending order."""
    return decompositions.eigh(A, UPLO)[0]


@public(name="linalg.lu", out="expect")
def lu(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu:
    """Return the LU factorization ``A = P @ L @ U`` with partial pivoting."""
    return return_types.linalg_lu(*lu_ops.lu(A, pivot))


@public(name="linalg.lu_factor", out="expect")
def lu_factor(A: Tensor, *, pivot: bool = True) -> return_types.linalg_lu_factor:
    """Return the factors of :func:`lu` in one matrix, and the pivots, counted from 1.

    Raises:
        RuntimeError: a diagonal element of ``U`` is 0.
    """
    LU, pivots, info = lu_ops.lu_factor_ex(A, pivot)
    _check_solvable(info.array)
    return return_types.linalg_lu_factor(LU, pivots)


def _check_solvable(info: Any) -> None:
    check_info(
        "torch.linalg.lu_factor",
        info,
        lambda place: (
            f"U[{place},{place}] is zero and using it on lu_solve would result in a division by "
            "zero. If you still want to perform the factorization, consider calling "
            "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        ),
    )


@public(name="linalg.lu_factor_ex", out="expect")
def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> return_types.linalg_lu_factor_ex:
    """Return the results of :func:`lu_factor` and, instead of an error, the number of the diagonal
    element of ``U`` that is 0; 0 if there is none."""
    LU, pivots, info = lu_ops.lu_factor_ex(A, pivot)
    if check_errors:
        _check_solvable(info.array)
    return return_types.linalg_lu_factor_ex(LU, pivots, info)


@public(name="linalg.svdvals", out="expect")
def svdvals(A: Tensor) -> Tensor:
    """Return the singular values in descending order."""
    return decompositions.svd(A, False)[1]

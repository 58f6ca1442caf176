"""Matrices taken apart: Cholesky, QR, symmetric eigenvalues, singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.op import op
from autograd_core.ops.algebra.linalg import matmul
from autograd_core.ops.algebra.matrices import (
    ILL_CONDITIONED,
    check_matrices,
    check_square,
    each_matrix,
    factored,
    lapack,
    mirrored,
    mT,
)
from autograd_core.ops.algebra.triangular import solve_triangular
from autograd_core.ops.checks import LinAlgError
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.pointwise.elementwise import where
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.reductions.statistics import any as any_of
from autograd_core.ops.shaping.diagonals import tril
from autograd_core.ops.shaping.joining import cat
from autograd_core.ops.shaping.shape import unsqueeze

# --- Cholesky ----------------------------------------------------------------------------------


@op(
    self=lambda g, L, upper: cholesky_backward(g, L, upper),
    outputs="L info",
    nondiff="info",
    node="LinalgCholeskyExBackward0",
    symmetric=True,
    layout="columns",
)
def cholesky_ex(self, /, upper=False):
    """Return the triangular ``L`` of ``self = L @ L.mT``, and 0, or where the factorization
    stopped.

    ``self`` is symmetric and positive definite; half of it is read.
    """
    check_square("linalg.cholesky", self)
    try:
        result = np.linalg.cholesky(self, upper=upper)
        return result, np.zeros(self.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        (potrf,) = lapack(self, "potrf")
        L, info = each_matrix(lambda a: potrf(a, lower=not upper, clean=True), self)
        return L, info.astype(np.int32)


@op(
    self=lambda g, L, upper: cholesky_backward(g, L, upper),
    outputs="L info",
    nondiff="info",
    node="CholeskyBackward0",
    symmetric=True,
    layout="columns",
)
def cholesky_old(self, /, upper=False):
    """:func:`cholesky_ex`, as PyTorch's older ``cholesky`` records it."""
    check_square("cholesky", self)
    return cholesky_ex(self, upper)


def cholesky_backward(g: Any, L: Any, upper: bool) -> Any:
    """Return the gradient of the matrix, given that of its factor."""
    if upper:
        g, L = mT(g), mT(L)
    inner = mirrored(tril(matmul(mT(L), g))) / 2
    half = solve_triangular(mT(L), inner, True)
    return mT(solve_triangular(mT(L), mT(half), True))


# --- QR ----------------------------------------------------------------------------------------


@op(
    A=lambda g, Q, R, A_shape, mode: qr_backward(g, Q, R, A_shape, mode),
    outputs="Q R",
    node="LinalgQrBackward0",
    layout="columns",
    aliases="linalg.qr",
    out="expect",
    named=return_types.linalg_qr,
)
def qr(A, /, mode="reduced"):
    """Return the QR factorization ``A = Q @ R``: ``Q`` has orthonormal columns, ``R`` is upper
    triangular.

    Args:
        mode: "reduced", "complete" for a square ``Q``, or "r" for ``R`` only, with an empty ``Q``.
    """
    check_matrices("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    if mode == "r":
        return np.zeros(0, A.dtype), np.linalg.qr(A, "r")
    return tuple(np.linalg.qr(A, mode))


def qr_backward(g: Any, Q: Any, R: Any, shape: tuple[int, ...], mode: str) -> Any:
    """Return the gradient of the matrix, given those of ``Q`` and ``R``."""
    rows, columns = shape[-2:]
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use linalg.qr(A, mode='reduced') if you are going to differentiate through "
            "linalg.qr."
        )
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    g_Q, g_R = g
    if rows >= columns:
        return _qr_tall(g_Q, g_R, Q, R)
    # the first columns have a QR decomposition of their own, the others are Q @ R
    U, V = slice_(R, -1, 0, rows, 1), slice_(R, -1, rows, columns, 1)
    g_U, g_V = slice_(g_R, -1, 0, rows, 1), slice_(g_R, -1, rows, columns, 1)
    g_Q = g_Q + matmul(matmul(Q, V), mT(g_V))
    return cat([_qr_tall(g_Q, g_U, Q, U), matmul(Q, g_V)], dim=-1)


def _qr_tall(g_Q: Any, g_R: Any, Q: Any, R: Any) -> Any:
    inner = matmul(R, mT(g_R)) - matmul(mT(g_Q), Q)
    return solve_triangular(mT(R), g_Q + matmul(Q, mirrored(inner)), False, False)


# --- symmetric eigenvalues, singular values ----------------------------------------------------


@op(self=lambda g: sum_dim(g, -2) - sum_dim(g, -1))
def differences(self, /):
    """Return ``self[k] - self[j]`` for all j and k; 1 on the diagonal, to divide by."""
    result = self[..., None, :] - self[..., :, None]
    places = np.arange(self.shape[-1])
    result[..., places, places] = 1
    return result


def _divided(x: Any, values: Any, g: Any) -> Any:
    """Return ``x``, zero on its diagonal, divided by differences of values; 0 where the gradient
    ``g`` of the vectors, from which it was made, is zero everywhere, even if values are equal."""
    apart = differences(values)
    # by no mask on the quotient: this is linear in x, at x = 0 too
    return x / (apart if any_of(g) else where(apart == 0, 1, apart))


@op(
    A=lambda g, eigenvalues, eigenvectors: eigh_backward(g, eigenvalues, eigenvectors),
    outputs="eigenvalues eigenvectors",
    node="LinalgEighBackward0",
    symmetric=True,
    layout="columns",
    aliases="linalg.eigh",
    out="expect",
    named=return_types.linalg_eigh,
)
def eigh(A, /, UPLO="L"):
    """Return eigenvalues, ascending, and eigenvectors of symmetric matrices, of which half is
    read."""
    check_square("linalg.eigh", A)
    if UPLO not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    try:
        return tuple(np.linalg.eigh(A, UPLO))
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"linalg.eigh: {ILL_CONDITIONED}") from error


def eigh_backward(g: Any, values: Any, vectors: Any) -> Any:
    """Return the gradient of the matrix, given those of eigenvalues and eigenvectors."""
    inner = matmul(mT(vectors), g[1])
    turned = _divided((inner - mT(inner)) / 2, values, g[1])
    stretched = vectors * unsqueeze(g[0], -2)
    return matmul(stretched + matmul(vectors, turned), mT(vectors))


@op(
    A=lambda g, U, S, Vh: svd_backward(g, U, S, Vh),
    outputs="U S Vh",
    node="LinalgSvdBackward0",
    layout="columns",
    aliases="linalg.svd",
    out="expect",
    named=return_types.linalg_svd,
)
def svd(A, /, full_matrices=True):
    """Return the singular value decomposition ``A = U @ diag(S) @ Vh``, ``S`` descending."""
    check_matrices("linalg.svd", A)
    return tuple(factored(A, full_matrices))


def svd_backward(g: Any, U: Any, S: Any, Vh: Any) -> Any:
    """Return the gradient of the matrix, given those of its three factors."""
    g_U, g_S, g_Vh = g
    size, rows, columns = S.shape[-1], U.shape[-2], Vh.shape[-1]
    if U.shape[-1] > size:  # of full matrices, the first columns count
        U, g_U = slice_(U, -1, 0, size, 1), slice_(g_U, -1, 0, size, 1)
    if Vh.shape[-2] > size:
        Vh, g_Vh = slice_(Vh, -2, 0, size, 1), slice_(g_Vh, -2, 0, size, 1)
    across, down = unsqueeze(S, -2), unsqueeze(S, -1)
    left, right = matmul(mT(U), g_U), matmul(Vh, mT(g_Vh))
    turned = _divided(left - mT(left), S * S, g_U) * across
    turned = turned + _divided(right - mT(right), S * S, g_Vh) * down
    result = matmul(matmul(U, turned) + U * unsqueeze(g_S, -2), Vh)
    if rows > size and not _vanishes(g_U):  # what of g_U lies outside the space that U spans
        result = result + matmul((g_U - matmul(U, left)) / across, Vh)
    if columns > size and not _vanishes(g_Vh):
        result = result + matmul(U, (g_Vh - matmul(mT(right), Vh)) / down)
    return result


def _vanishes(g: Any) -> bool:
    """Return whether ``g`` is an array of zeros; never of a tensor, or the rule would not be
    linear."""
    return isinstance(g, np.ndarray) and not g.any()

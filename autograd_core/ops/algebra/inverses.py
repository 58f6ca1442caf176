"""Inverses and determinants, the pseudo-inverse, least squares, the matrix exponential."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import op
from autograd_core.ops.algebra.linalg import matmul
from autograd_core.ops.algebra.matrices import (
    check_matrices,
    check_square,
    each_matrix,
    factored,
    lapack,
    mT,
)
from autograd_core.ops.checks import scalar_name
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.pointwise.elementwise import zeros_of
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.scipy_functions import from_scipy
from autograd_core.ops.shaping.joining import cat
from autograd_core.ops.shaping.shape import unsqueeze


@op(
    A=lambda g, inverse: -matmul(mT(inverse), matmul(g, mT(inverse))),
    outputs="inverse info",
    nondiff="info",
    node="LinalgInvExBackward0",
    layout="columns",
)
def inv_ex(A, /):
    """Return the inverse, and 0, or which diagonal element was zero on the way (from 1)."""
    check_square("linalg.inv", A)
    try:
        # laid out by columns, as LAPACK has it: PyTorch reshapes the result accordingly
        result = np.linalg.inv(A.swapaxes(-2, -1)).swapaxes(-2, -1)
        return result, np.zeros(A.shape[:-2], np.int32)
    except np.linalg.LinAlgError:
        getrf, getri = lapack(A, "getrf", "getri")

        def one(a: Any) -> Any:
            factors, pivots, info = getrf(a)
            return (factors if info else getri(factors, pivots)[0]), np.int32(info)

        return each_matrix(one, A)


def inverse(x: Any) -> Any:
    """Return the inverse alone, for rules."""
    return inv_ex(x)[0]


@op(
    A=lambda g, A: _for_matrices(g) * cofactors(A),
    node="LinalgDetBackward0",
    variants="function method",
    aliases="linalg.det",
    out="expect",
)
def det(A, /):
    """Return the determinants of square matrices."""
    check_square("linalg.det", A)
    return np.linalg.det(A)


@op(self=lambda g, self, result: cofactors_backward(g, det(self), result))
def cofactors(self, /):
    """Return the determinant's derivatives by each element, also for singular matrices."""
    check_square("linalg.det", self)
    u, s, vh = factored(self)
    rest = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * ((u * rest[..., None, :]) @ vh)


def cofactors_backward(g: Any, determinant: Any, C: Any) -> Any:
    """Return the gradient of a matrix that is not singular, given that of its cofactors ``C``."""
    total = unsqueeze(unsqueeze(sum_dim(g * C, (-2, -1)), -1), -1)
    return (total * C - matmul(matmul(C, mT(g)), C)) / _for_matrices(determinant)


def _for_matrices(numbers: Any) -> Any:
    """Return one number per matrix, shaped to be multiplied with the matrices."""
    return unsqueeze(unsqueeze(numbers, -1), -1)


@op(
    A=lambda g, A: _for_matrices(g[1]) * mT(inverse(A)),
    outputs="sign logabsdet",
    node="LinalgSlogdetBackward0",
    aliases="linalg.slogdet",
    out="expect",
    named=return_types.linalg_slogdet,
)
def slogdet(A, /):
    """Return the sign of the determinant, and the logarithm of its absolute value."""
    check_square("linalg.slogdet", A)
    sign, logabsdet = np.linalg.slogdet(A)
    return np.where(np.isnan(logabsdet), 0, sign).astype(A.dtype), logabsdet


@op(
    self=lambda g, self, result: pinv_backward(g, result, self),
    node="LinalgPinvBackward0",
    symmetric="hermitian",
)
def pinv(self, /, atol=None, rtol=None, hermitian=False):
    """Return the pseudo-inverse, treating singular values up to ``max(atol, rtol * largest)`` as
    zero."""
    if self.ndim < 2 or self.dtype.kind != "f" or self.dtype == np.float16:
        raise RuntimeError(
            f"linalg.pinv({from_numpy_dtype(self.dtype).scalar_name}{{{list(self.shape)}}}): "
            "expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    u, s, vh = factored(self, full_matrices=False, hermitian=hermitian)
    if rtol is None:
        rtol = 0.0 if atol else max(self.shape[-2:]) * np.finfo(self.dtype).eps
    largest = s.max(-1, keepdims=True, initial=0)
    kept = s > np.maximum(atol or 0.0, rtol * largest)
    s = np.divide(1, s, where=kept, out=np.zeros_like(s))
    return np.matmul(vh.swapaxes(-2, -1) * s[..., None, :], u.swapaxes(-2, -1))


def pinv_backward(g: Any, P: Any, x: Any) -> Any:
    """Return the gradient of a matrix of constant rank, given that of its pseudo-inverse ``P``."""
    Pt, gt = mT(P), mT(g)
    if x.shape[-2] <= x.shape[-1]:
        K = matmul(gt, P)
        KP = matmul(K, Pt)
        outside = matmul(matmul(Pt, P), gt - matmul(K, x))
        return KP - mT(matmul(P, K)) - matmul(matmul(x, P), KP) + outside
    K = matmul(P, gt)
    PK = matmul(Pt, K)
    outside = matmul(matmul(gt - matmul(x, K), P), Pt)
    return PK - mT(matmul(K, P)) + outside - matmul(matmul(PK, P), x)


@op(
    self=lambda g, self, b, solution: lstsq_matrix_gradient(g, self, b, solution),
    b=lambda g, self, b, solution: lstsq_values_gradient(g, self, b, solution),
    outputs="solution residuals rank singular_values",
    nondiff="rank singular_values",
    node="LinalgLstsqBackward0",
    layout="columns",
)
def lstsq(self, b, /, rcond=None, driver="gelsy"):
    """Return the ``x`` of least norm that makes ``self @ x - b`` least, and what is left over.

    The residuals are there for more rows than columns of full rank only, and not with "gelsy";
    ``singular_values`` with the drivers that find them.
    """
    if self.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    check_matrices("torch.linalg.lstsq", self)
    if self.dtype != b.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
            f"dtype {scalar_name(self)} and other's dtype {scalar_name(b)}"
        )
    if self.shape[-2] != b.shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    rows, columns = self.shape[-2:]
    if rcond is None:
        rcond = np.finfo(self.dtype).eps * max(rows, columns)
    singular = factored(self, compute_uv=False)
    rank = np.sum(singular > rcond * singular.max(-1, keepdims=True, initial=0), -1)
    solution = np.matmul(pinv(self, None, rcond, False), b)
    residuals = np.zeros(0, self.dtype)
    if rows > columns and driver != "gelsy" and np.all(rank == columns):
        residuals = np.sum(np.square(np.matmul(self, solution) - b), -2)
    empty = np.zeros(0, self.dtype)
    return (solution, residuals, np.zeros(0, np.int64) if driver == "gels" else rank,
            singular if driver in ("gelsd", "gelss") else empty)  # fmt: skip


def lstsq_matrix_gradient(g: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the gradient of the matrix of a least-squares problem."""
    g_solution, g_residuals = g
    result = pinv_backward(matmul(g_solution, mT(b)), pinv(a), a)
    if not g_residuals.shape[-1]:
        return result
    left_over = matmul(a, x) - b
    return result + 2 * matmul(left_over * unsqueeze(g_residuals, -2), mT(x))


def lstsq_values_gradient(g: Any, a: Any, b: Any, x: Any) -> Any:
    """Return the gradient of the right-hand sides of a least-squares problem."""
    g_solution, g_residuals = g
    result = matmul(mT(pinv(a)), g_solution)
    if not g_residuals.shape[-1]:
        return result
    return result - 2 * (matmul(a, x) - b) * unsqueeze(g_residuals, -2)


@op(
    self=lambda g, self: matrix_exp_backward(g, self),
    node="LinalgMatrixExpBackward0",
    variants="function method",
    aliases="linalg.matrix_exp",
)
def matrix_exp(self, /):
    """Return the matrix exponential, ``1 + self + self @ self / 2 + ...``."""
    if self.dtype != np.float16:
        check_square("linalg.matrix_exp", self)
    if not self.size:
        return np.array(self)
    expm = from_scipy("linalg", "expm")
    wide = self.astype(np.float32) if self.dtype == np.float16 else self
    return each_matrix(lambda a: (expm(a),), wide)[0].astype(self.dtype, copy=False)


def matrix_exp_backward(g: Any, x: Any) -> Any:
    """Return the upper right of the exponential of ``[[x.mT, g], [0, x.mT]]``."""
    n, xt = x.shape[-1], mT(x)
    blocks = cat([cat([xt, g], dim=-1), cat([zeros_of(xt), xt], dim=-1)], dim=-2)
    return slice_(slice_(matrix_exp(blocks), -2, 0, n, 1), -1, n, 2 * n, 1)

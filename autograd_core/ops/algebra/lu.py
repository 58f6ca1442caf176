"""The LU decomposition with partial pivoting, and the solver that uses it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import op
from autograd_core.ops.algebra.linalg import matmul
from autograd_core.ops.algebra.matrices import (
    check_floating,
    check_matrices,
    check_square,
    constant,
    each_matrix,
    lapack,
    mT,
    same_batch,
)
from autograd_core.ops.algebra.triangular import solve_triangular
from autograd_core.ops.indices.index import slice_
from autograd_core.ops.shaping.diagonals import tril, triu
from autograd_core.ops.shaping.joining import cat


@op(
    A=lambda g, LU, P: lu_backward(
        tril(slice_(g, -1, 0, inner(g), 1), -1), triu(slice_(g, -2, 0, inner(g), 1)), *parts(LU), P
    ),
    outputs="LU pivots info P",
    nondiff="pivots info P",
    hidden="P",
    node="LinalgLuFactorExBackward0",
    layout="columns",
)
def lu_factor_ex(A, /, pivot=True):
    """Return both triangles in one matrix, the rows exchanged with each row (from 1), and 0, or
    which diagonal element of ``U`` is zero."""
    check_matrices("torch.linalg.lu_factor", A)
    if not pivot:
        raise NotImplementedError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU"
        )
    (getrf,) = lapack(A, "getrf")

    def one(a: Any) -> Any:
        factors, pivots, info = getrf(a)
        return factors, (pivots + 1).astype(np.int32), np.int32(info)

    if A.size:
        factors, pivots, info = each_matrix(one, A)
    else:
        lead = A.shape[:-2]
        factors, info = A, np.zeros(lead, np.int32)
        pivots = np.zeros((*lead, inner(A)), np.int32)
    return np.array(factors, order="C"), pivots, info, permutation(pivots, A.shape[-2], A.dtype)


def permutation(pivots: Any, rows: int, kind: Any) -> Any:
    """Return the matrices ``P`` of ``P @ L @ U`` that undo the exchanges of rows."""
    lead = pivots.shape[:-1]
    order = np.array(np.broadcast_to(np.arange(rows), (*lead, rows)))
    for row in range(pivots.shape[-1]):
        other = pivots[..., row : row + 1].astype(np.int64) - 1
        here, there = order[..., row : row + 1].copy(), np.take_along_axis(order, other, -1)
        np.put_along_axis(order, other, here, -1)
        order[..., row : row + 1] = there
    result = np.zeros((*lead, rows, rows), kind)
    np.put_along_axis(result, order[..., None, :], 1, -2)
    return result


def inner(x: Any) -> int:
    """Return the number of columns of L and of rows of U."""
    return int(min(x.shape[-2:]))


def parts(LU: Any) -> tuple[Any, Any]:
    """Return ``L`` and ``U``, from both in one matrix."""
    size = inner(LU)
    eye = constant(np.eye(LU.shape[-2], size), LU)
    return tril(slice_(LU, -1, 0, size, 1), -1) + eye, triu(slice_(LU, -2, 0, size, 1))


def lu_backward(g_L: Any, g_U: Any, L: Any, U: Any, P: Any) -> Any:
    """Return the gradient of a matrix, given those of its two triangular factors."""
    size = inner(g_L if g_L.shape[-2] < g_U.shape[-1] else g_U)
    L1, U1 = slice_(L, -2, 0, size, 1), slice_(U, -1, 0, size, 1)
    low = matmul(mT(L1), slice_(g_L, -2, 0, size, 1))
    high = matmul(slice_(g_U, -1, 0, size, 1), mT(U1))
    rows, columns = L.shape[-2], U.shape[-1]
    if columns > size:
        g_U2 = slice_(g_U, -1, size, columns, 1)
        low = low - matmul(g_U2, mT(slice_(U, -1, size, columns, 1)))
    if rows > size:
        g_L2 = slice_(g_L, -2, size, rows, 1)
        high = high - matmul(mT(slice_(L, -2, size, rows, 1)), g_L2)
    middle = solve_triangular(mT(U1), tril(low, -1) + triu(high), False, False)
    result = solve_triangular(mT(L1), middle, True, True, True)
    if columns > size:
        result = cat([result, solve_triangular(mT(L1), g_U2, True, True, True)], dim=-1)
    if rows > size:
        result = cat([result, solve_triangular(mT(U1), g_L2, False, False)], dim=-2)
    return matmul(P, result)


@op(
    A=lambda g, P, L, U: lu_backward(tril(g[0], -1), triu(g[1]), L, U, P),
    outputs="P L U",
    nondiff="P",
    node="LinalgLuBackward0",
)
def lu(A, /, pivot=True):
    """Return a permutation and two triangular matrices, ``A = P @ L @ U``."""
    LU, _, _, P = lu_factor_ex(A, pivot)
    return P, *parts(LU)


@op(
    LU_data=lambda g, LU_data_shape: packed(g[0], g[1], LU_data_shape),
    outputs="P L U",
    nondiff="P",
    variants="function",
    out="expect",
    named=return_types.lu_unpack,
)
def lu_unpack(LU_data, LU_pivots, /, unpack_data: bool = True, unpack_pivots: bool = True):
    """Return ``P``, ``L`` and ``U``, from what :func:`lu_factor_ex` returned."""
    if LU_data.ndim < 2:
        raise RuntimeError(
            "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
            f"{list(LU_data.shape)} instead"
        )
    if unpack_pivots:
        _check_pivots_to_unpack(LU_data, LU_pivots)
    none = np.zeros(0, LU_data.dtype)
    P = permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else none
    return (P, *parts(LU_data)) if unpack_data else (P, none, none)


def _check_pivots_to_unpack(LU: Any, pivots: Any) -> None:
    if pivots.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype."
            "\nNote: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    expected = (*LU.shape[:-2], inner(LU))
    if pivots.shape != expected:  # PyTorch reads beyond the end of what there is
        raise RuntimeError(
            f"torch.lu_unpack: Expected LU_pivots of shape {list(expected)} but got "
            f"{list(pivots.shape)}"
        )
    if pivots.size and not (pivots.min() >= 1 and pivots.max() <= LU.shape[-2]):
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )


def packed(g_L: Any, g_U: Any, shape: tuple[int, ...]) -> Any:
    """Return the gradient of both triangles in one matrix."""
    rows, columns = shape[-2:]
    size = min(rows, columns)
    g_L, g_U = tril(g_L, -1), triu(g_U)
    if columns > size:
        g_L = cat([g_L, constant(np.zeros((*shape[:-1], columns - size)), g_L)], dim=-1)
    if rows > size:
        g_U = cat([g_U, constant(np.zeros((*shape[:-2], rows - size, columns)), g_U)], dim=-2)
    return g_L + g_U


@op(
    LU=lambda g, LU, pivots, result, left, adjoint: lu_solve_factor_gradient(
        lu_solve(LU, pivots, g, left, not adjoint), result, LU, pivots, left, adjoint
    ),
    B=lambda g, LU, pivots, left, adjoint: lu_solve(LU, pivots, g, left, not adjoint),
    broadcasts="LU B",
    node="LinalgLuSolveBackward0",
)
def lu_solve(LU, pivots, B, /, left=True, adjoint=False):
    """Return the ``x`` of ``A @ x = B`` (``x @ A = B``), for the factored ``A``, or ``A.mT``."""
    _check_system(LU, pivots, B, left)
    if not left:
        B, adjoint = B.swapaxes(-2, -1), not adjoint
    LU, exchanges, B = same_batch(LU, pivots[..., None, :], B)
    if not B.size:
        result = np.zeros(B.shape, B.dtype)
    else:
        _check_pivots_to_solve(LU, pivots)
        (getrs,) = lapack(LU, "getrs")

        def solve(factors: Any, exchanges: Any, B: Any) -> Any:
            return (getrs(factors, exchanges[0] - 1, B, trans=int(adjoint))[0],)

        (result,) = each_matrix(solve, LU, exchanges, B)
    return result if left else result.swapaxes(-2, -1)


def _check_system(LU: Any, pivots: Any, b: Any, left: bool) -> None:
    name = "linalg.lu_solve"
    check_floating(f"torch.{name}", LU)
    if LU.dtype != b.dtype:
        names = [from_numpy_dtype(matrix.dtype).scalar_name for matrix in (LU, b)]
        raise RuntimeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {names[0]} "
            f"and B of type {names[1]} instead"
        )
    if pivots.dtype != np.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(f"torch.{name}", LU)
    if b.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if LU.shape[-1] != b.shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({LU.shape[-2]}x{LU.shape[-1]} and "
            f"{b.shape[-2]}x{b.shape[-1]})"
        )
    if not pivots.ndim or LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )


def _check_pivots_to_solve(LU: Any, pivots: Any) -> None:
    """Refuse pivots that name no row: LAPACK would exchange rows with memory beside the matrix."""
    if pivots.min() < 1:
        raise RuntimeError(
            "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass "
            "the result of lu_factor?"
        )
    if pivots.max() > LU.shape[-2]:
        raise RuntimeError(
            "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you "
            "properly pass the result of lu_factor?"
        )


def lu_solve_factor_gradient(
    g_b: Any, x: Any, LU: Any, pivots: Any, left: bool, adjoint: bool
) -> Any:
    """Return the gradient of both triangles, given the solution and the gradient of ``b``."""
    if not left:
        g_b, x, adjoint = mT(g_b), mT(x), not adjoint
    L, U = parts(LU)
    P = constant(permutation(getattr(pivots, "array", pivots), LU.shape[-2], np.float64), LU)
    outer = matmul(x, mT(g_b)) if adjoint else matmul(g_b, mT(x))
    outer = matmul(mT(P), outer)
    return -tril(matmul(outer, mT(U)), -1) - triu(matmul(mT(L), outer))

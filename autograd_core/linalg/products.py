"""Norms, powers and products of vectors and matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from autograd_core.dtype import dtype
from autograd_core.linalg.systems import inv
from autograd_core.op import public
from autograd_core.ops.algebra import decompositions, inverses, linalg
from autograd_core.ops.algebra.matrices import (
    check_floating,
    check_matrices,
    check_square,
    constant,
    factored,
)
from autograd_core.ops.checks import check_one
from autograd_core.ops.indices import index, masking
from autograd_core.ops.pointwise import elementwise, rounding
from autograd_core.ops.reductions import cumulative, norms, reduce, statistics
from autograd_core.ops.reductions.norms import cross as _cross
from autograd_core.ops.reductions.reduce_functions import check_norm_dtype
from autograd_core.ops.shaping import diagonals, joining, shape
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped

Order = float | str | None
_NORMS = (2, -2, 1, -1, math.inf, -math.inf)


@public(name="linalg.vector_norm", out="expect")
def vector_norm(
    x: Tensor,
    ord: float = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return ``sum(abs(x) ** ord) ** (1 / ord)`` over ``dim``, or over all elements.

    An ``ord`` of inf gives the largest absolute value, -inf the smallest, and 0 the number of
    nonzero elements.
    """
    if not isinstance(ord, int | float):
        raise TypeError(
            f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, "
            f"not {type(ord).__name__}"
        )
    check_norm_dtype("linalg.vector_norm", x, dtype)
    return norms.vector_norm(x, ord, _dims(dim), keepdim, dtype)


def _dims(dim: Any) -> Any:
    return dim if dim is None or isinstance(dim, int) else tuple(dim)


@public(name="linalg.matrix_norm", out="expect")
def matrix_norm(
    A: Tensor,
    ord: float | str = "fro",
    dim: Sequence[int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return a norm of matrices.

    Args:
        ord: "fro" (all elements as a vector), "nuc" (sum of singular values), 2 and -2 (the
            largest and smallest singular value), 1 and -1 (sums of columns), inf and -inf (of
            rows).
        dim: the two dimensions that form a matrix.
    """
    check_matrices("linalg.matrix_norm", A.array, half=True)
    check_norm_dtype("linalg.matrix_norm", A, dtype)
    if len(dim) != 2:
        raise RuntimeError(
            f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}"
        )
    row, column = (wrapped(d, A.ndim) for d in dim)
    if row == column:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({row}, {column})")
    if ord == "fro":
        return norms.vector_norm(A, 2, (row, column), keepdim, dtype)
    if ord == "nuc" or ord in (2, -2):
        A = A if dtype is None else to_dtype(A, dtype)
        order = (*(d for d in range(A.ndim) if d not in (row, column)), row, column)
        S = decompositions.svd(shape.permute(A, order), False)[1]
        reduction = reduce.sum_dim if ord == "nuc" else _extreme(ord)
        result = reduction(S, -1, keepdim)
        return _put_back(result, order) if keepdim else result
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord in (math.inf, -math.inf):
        row, column = column, row
    if not keepdim and row < column:
        column -= 1
    return _extreme(ord)(norms.vector_norm(A, 1, row, keepdim, dtype), column, keepdim)


def _extreme(ord: Any) -> Any:
    return _largest if ord > 0 else statistics.amin


def _largest(x: Tensor, dim: int, keepdim: bool) -> Tensor:
    """Return the largest elements along ``dim``; the norm of nothing is 0."""
    if x._shape[dim]:
        return statistics.amax(x, dim, keepdim)
    return Tensor.from_array(np.sum(x.array, dim, keepdims=keepdim))


def _put_back(result: Tensor, order: Sequence[int]) -> Tensor:
    """Return the kept dimensions back in their places."""
    return shape.permute(shape.unsqueeze(result, -1), shape.inverse(order))


@public(name="linalg.norm", out="expect")
def norm(
    A: Tensor,
    ord: Order = None,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return a vector norm or a matrix norm, depending on ``ord`` and ``dim``."""
    if dim is not None and not isinstance(dim, int) and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}"
        )
    if ord is not None and dim is None and A.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D."
        )
    if ord is not None and not isinstance(dim, int):
        if dim is not None and len(dim) == 2:
            return matrix_norm(A, ord, dim, keepdim, dtype=dtype)
        if dim is None and (A.ndim == 2 or isinstance(ord, str)):
            return matrix_norm(A, ord, (-2, -1), keepdim, dtype=dtype)
    order: Any = 2 if ord is None else ord
    return vector_norm(A, order, dim, keepdim, dtype=dtype)


@public(name="linalg.matrix_rank", out="cast")
def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """Return the number of singular values greater than ``max(atol, rtol * largest)``; ``tol`` is
    the older name of ``atol``."""
    if A.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if A.dtype.name not in ("float32", "float64"):
        raise RuntimeError("This function doesn't handle types other than float and double")
    if hermitian:
        check_square("linalg.eigh", A.array)
    check_matrices("linalg.svd", A.array)
    array = A.array
    values = factored(array, compute_uv=False, hermitian=hermitian)
    absolute = _number(tol if atol is None else atol)
    relative = _number(rtol)
    if relative is None:
        relative = max(A.shape[-2:]) * np.finfo(array.dtype).eps if absolute is None else 0
    largest = values.max(-1, keepdims=True, initial=0)
    bound = np.maximum(largest * relative, 0 if absolute is None else absolute)
    return Tensor.from_array(np.asarray(np.add.reduce(values > bound, -1, np.int64)))


def _number(value: Any) -> Any:
    return value.array[..., None] if isinstance(value, Tensor) else value


@public(name="linalg.cond", out="cast")
def cond(A: Tensor, p: Order = None) -> Tensor:
    """Return the condition number: the norm of ``A`` times the norm of its inverse."""
    if not A.array.size and A.ndim > 1 and p in (None, "fro", "nuc", *_NORMS):
        return Tensor.from_array(np.zeros(A._shape[:-2], A.dtype.dtype))
    if p is None or p in (2, -2):
        S = decompositions.svd(A, False)[1]
        last = S._shape[-1]
        largest, smallest = index.slice_(S, -1, 0, 1, 1), index.slice_(S, -1, last - 1, last, 1)
        ratio = smallest / largest if p == -2 else largest / smallest
        return shape.squeeze_dim(ratio, -1)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square("linalg.cond", A.array)
    if p == "nuc":
        S = decompositions.svd(A, False)[1]
        return reduce.sum_dim(S, -1) * reduce.sum_dim(elementwise.reciprocal(S), -1)
    inverse, info = inverses.inv_ex(A)
    singular = Tensor.from_array((info.array != 0)[..., None, None])
    inverse = masking.masked_fill(inverse, singular, value=math.inf)
    product = matrix_norm(A, p) * matrix_norm(inverse, p)
    return rounding.nan_to_num(product, nan=math.inf)


@public("function method", aliases="linalg.matrix_power", out="expect")
def matrix_power(A: Tensor, n: int) -> Tensor:
    """Return the ``n``-th power of ``A``; for a negative ``n``, that of its inverse."""
    if not isinstance(n, int):
        raise TypeError(
            f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}"
        )
    if A.ndim < 2 or A._shape[-1] != A._shape[-2]:
        check_square("linalg.matrix_power", A.array)
    if n == 0:
        eye = np.broadcast_to(np.eye(A._shape[-1]), A._shape)
        return shape.clone(A).copy_(constant(eye, A))
    if n < 0:
        A, n = inv(A), -n
        if n == 1:
            return A
    if n == 1:
        return shape.clone(A)
    if n == 3:
        return linalg.matmul(linalg.matmul(A, A), A)
    square: Any = None
    result: Any = None
    while n:
        square = A if square is None else linalg.matmul(square, square)
        if n % 2:
            result = square if result is None else linalg.matmul(result, square)
        n //= 2
    return result


@public(name="linalg.multi_dot", out="expect")
def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Return the product of two or more matrices, multiplied in the order that takes the least
    work.

    The first and the last may be vectors.
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    matrices = list(tensors)
    size: tuple[int, ...] = ()
    if matrices[0].ndim == 1:
        matrices[0] = shape.unsqueeze(matrices[0], 0)
    else:
        size = matrices[0]._shape[:1]
    if matrices[-1].ndim == 1:
        matrices[-1] = shape.unsqueeze(matrices[-1], -1)
    else:
        size += matrices[-1]._shape[1:]
    for place, (left, right) in enumerate(pairwise(matrices)):
        if left.ndim != 2 or right.ndim != 2:
            raise RuntimeError(
                f"multi_dot(): tensor {place if left.ndim != 2 else place + 1} must be 2D but got "
                f"{(left if left.ndim != 2 else right).ndim}D"
            )
        if left._shape[1] != right._shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes {list(left._shape)} "
                f"and {list(right._shape)} cannot be multiplied"
            )
    return shape.view(_multiplied(matrices), size)


def _multiplied(matrices: Sequence[Tensor]) -> Tensor:
    """Cheapest ways for all stretches of the chain, short ones first; then the products."""
    sizes = [matrices[0]._shape[0], *(m._shape[1] for m in matrices)]
    count = len(matrices)
    cost = [[0] * count for _ in range(count)]
    costs: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            # equal costs: of three matrices the first two go first, of more the first cut wins
            cuts = range(i, j) if count > 3 else reversed(range(i, j))
            price, cut = min(
                (
                    (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                    for k in cuts
                ),
                key=lambda pair: pair[0],
            )
            cost[i][j], costs[i, j] = price, cut
    products: dict[tuple[int, int], Tensor] = {(i, i): m for i, m in enumerate(matrices)}
    needed = [(0, count - 1)]
    for i, j in needed:
        if i < j:
            needed += [(i, costs[i, j]), (costs[i, j] + 1, j)]
    for i, j in reversed(needed):
        if i < j:
            products[i, j] = linalg.mm(products[i, costs[i, j]], products[costs[i, j] + 1, j])
    return products[0, count - 1]


@public(name="linalg.vander")
def vander(self: Tensor, N: int | None = None) -> Tensor:
    """Return Vandermonde matrices: the powers 0 to ``N - 1`` of each element along a new last
    dimension."""
    self = shape.at_least_1d(self)
    count = self._shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    wide = shape.expand(shape.unsqueeze(self, -1), (*self._shape, count - 1))
    ones = constant(np.ones((*self._shape, 1)), self)
    return joining.cat([ones, cumulative.cumprod(wide, -1)], dim=-1)


@public(name="linalg.vecdot", out="expect")
def vecdot(self: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the dot products of vectors along ``dim``."""
    check_one("linalg_vecdot", dim)
    check_floating("linalg.vecdot", self.array, half=True)
    if self.dtype is not other.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{self.dtype.scalar_name} and y of type {other.dtype.scalar_name} instead"
        )
    if self.ndim == 1 and other.ndim == 1:
        return norms.vdot(self, other)
    return reduce.sum_dim(self * other, dim)


@public(name="linalg.cross", out="expect")
def cross(self: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """Return the cross products of three-element vectors along ``dim``."""
    return _cross(self, other, dim)


@public(name="linalg.diagonal")
def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Return the diagonals of matrices as a view."""
    return diagonals.diagonal(A, offset, dim1, dim2)

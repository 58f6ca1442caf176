"""Matrix products and linear systems."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import computed_by, op, public
from autograd_core.op.buffering import short_buffers
from autograd_core.op.refusals import no_common_shape
from autograd_core.ops.algebra.matrices import check_floating, check_square
from autograd_core.ops.checks import (
    LinAlgError,
    check_factors,
    check_implemented,
    check_not_bool,
    check_same_dtype,
    scalar_name,
)
from autograd_core.ops.pointwise.elementwise import neg
from autograd_core.ops.shaping.shape import (
    contiguous_clone,
    expand,
    reshape,
    squeeze_dim,
    squeeze_result,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
)
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped

_LARGE: Final = 1 << 14  # elements
_BOOL: Final = np.dtype(bool)  # the one object, whose identity costs less to test than equality


def _check_inner(a: Any, b: Any) -> None:
    if a.dtype != b.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{from_numpy_dtype(a.dtype).c_name} != {from_numpy_dtype(b.dtype).c_name}"
        )
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied "
            f"({'x'.join(map(str, a.shape))} and {'x'.join(map(str, b.shape))})"
        )


def _product(a: Any, b: Any) -> Any:
    """Return the product of two matrices; ``dot`` takes small ones in two thirds of ``matmul``'s
    time."""
    if a.dtype is _BOOL:
        check_not_bool("addmm_impl_cpu_", a)
    if a.dtype is not b.dtype or a.shape[-1:] != b.shape[:1]:
        _check_inner(a, b)
    if len(a) <= 64 and b.size >= 1 << 14 and b.flags.f_contiguous:
        # a few rows by the transposed weights of a layer: two thirds of the time turned round
        return np.ascontiguousarray(b.T.dot(a.T).T)
    return a.dot(b)


@op(
    self=computed_by(lambda g, mat2: _product(g, mat2.T), lambda g, mat2: mm(g, t(mat2))),
    mat2=computed_by(lambda g, self: _product(self.T, g), lambda g, self: mm(t(self), g)),
    linear=True,
    variants="function method",
    out="expect",
)
def mm(self, mat2, /):
    """Return the product of two matrices, (n, k) by (k, m)."""
    if not self.ndim == mat2.ndim == 2:
        raise RuntimeError(f"{'mat2' if self.ndim == 2 else 'self'} must be a matrix")
    return _product(self, mat2)


@op(
    self=lambda g, mat2: bmm(g, transpose(mat2, 1, 2)),
    mat2=lambda g, self: bmm(transpose(self, 1, 2), g),
    linear=True,
    variants="function method",
    out="expect",
)
def bmm(self, mat2, /):
    """Return products of two batches of matrices, (b, n, k) by (b, k, m)."""
    check_same_dtype(self, mat2)
    check_not_bool("bmm", self)
    check_batches(self, mat2)
    return np.matmul(self, mat2)


def check_batches(a: Any, b: Any) -> None:
    """Two batches of matrices can be multiplied."""
    for name, batch in (("batch1", a), ("batch2", b)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if (a.shape[0], a.shape[2]) != b.shape[:2]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{a.shape[0]}, {a.shape[2]}] but got: [{b.shape[0]}, {b.shape[1]}]."
        )


@op(
    self=lambda g, vec: mm(unsqueeze(g, 1), unsqueeze(vec, 0)),
    vec=lambda g, self: mv(t(self), g),
    linear=True,
    variants="function method",
    out="expect",
)
def mv(self, vec, /):
    """Return a matrix times a vector."""
    if (
        self.ndim != 2
        or self.shape[1:] != vec.shape
        or self.dtype is not vec.dtype
        or self.dtype is _BOOL
    ):
        check_addmv(vec, self, vec, self.shape[:1])
    return np.matmul(self, vec)


def check_addmv(bias: Any, a: Any, b: Any, shape: tuple[int, ...]) -> None:
    """A matrix, a vector, and what is added, of ``shape``, fit and have one dtype."""
    if not a.ndim:
        wrapped(0, 0, of_scalars=False)
    if a.ndim != 2 or b.ndim != 1 or len(shape) > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {len(shape)}, {a.ndim}, {b.ndim}"
        )
    size = math.prod(shape)
    if a.shape[1] != len(b) or size not in (1, len(a)):
        raise RuntimeError(
            f"size mismatch, got input ({size}), mat ({a.shape[0]}x{a.shape[1]}), vec ({len(b)})"
        )
    if not bias.dtype == a.dtype == b.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{scalar_name(bias)}, {scalar_name(a)}, and {scalar_name(b)}"
        )
    check_not_bool("addmv_impl_cpu", a)


@op(
    self=lambda g, tensor: g * tensor,
    tensor=lambda g, self: g * self,
    linear=True,
    variants="function method",
    out="expect",
)
def dot(self, tensor, /):
    """Return the inner product of two vectors."""
    if (
        self.ndim != 1
        or self.shape != tensor.shape
        or self.dtype is not tensor.dtype
        or self.dtype is _BOOL
    ):
        check_factors(self, tensor)
    return np.dot(self, tensor)


@op(
    self=lambda g, beta: g if beta == 1 else g * beta,
    mat1=lambda g, mat2, alpha: mm(g, t(mat2)) if alpha == 1 else mm(g, t(mat2)) * alpha,
    # not as the product of t(a) and g: so the weight of a linear layer, which comes transposed,
    # gets a gradient that lies as the weight does, and need not be copied
    mat2=lambda g, mat1, alpha: t(mm(t(g), mat1)) if alpha == 1 else t(mm(t(g), mat1)) * alpha,
    broadcasts="self",
    variants="function method inplace",
    out="expect",
)
def addmm(self, mat1, mat2, /, beta=1, alpha=1):
    """Return ``beta * self + alpha * (mat1 @ mat2)`` for matrices ``mat1`` and ``mat2``."""
    if self.dtype is not mat2.dtype or mat1.dtype is not mat2.dtype:
        check_addmm(self, mat1, mat2)
    if mat1.ndim != 2 or mat2.ndim != 2:
        name, rank = ("mat2", mat2.ndim) if mat1.ndim == 2 else ("mat1", mat1.ndim)
        raise RuntimeError(f"{name} must be a matrix, got {rank}-D tensor")
    product = _product(mat1, mat2)
    if alpha != 1:
        product *= factor_of(product, alpha)
    bias = self if beta == 1 else factor_of(product, beta) * self
    try:
        if product.size > _LARGE:
            with short_buffers(product.shape[1]):
                product += bias
        else:
            product += bias
    except ValueError:
        expand(self, product.shape)  # says why it cannot be
        raise
    return product


def check_addmm(bias: Any, a: Any, b: Any) -> None:
    """A matrix and two factors have one dtype."""
    for name, operand in (("self", bias), ("mat1", a)):
        if operand.dtype != b.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(operand)} and "
                f"{scalar_name(b)}"
            )


def factor_of(x: Any, number: float) -> Any:
    """Return ``number`` as a factor of ``x``; for whole numbers, a whole one."""
    return number if x.dtype.kind == "f" else int(number)


@public("function method", aliases="linalg.matmul", out="expect")
def matmul(self: Any, other: Any) -> Any:
    """Return the matrix product of tensors with at least one dimension, broadcasting over batches.

    As in PyTorch, it is composed of dot, mv, mm and bmm, with views between them.
    """
    if type(self) is type(other) is Tensor and len(self._shape) == len(other._shape) == 2:
        return mm(self, other)  # at once: what follows takes 0.6 us
    if not hasattr(self, "edge") and not hasattr(other, "edge"):
        return np.matmul(self, other)
    if (
        not hasattr(self, "edge")
        or not hasattr(other, "edge")
        or not self._shape
        or not other._shape
    ):
        raise _no_factors(self, other)
    dims = (len(self._shape), len(other._shape))
    if dims == (1, 1):
        return dot(self, other)
    if dims == (2, 2):
        return mm(self, other)
    if dims == (2, 1):
        return mv(self, other)
    if dims == (1, 2):
        return squeeze_result(mm(unsqueeze(self, 0), other), 0)
    return _product_of_batches(self, other, dims)


def _no_factors(x: Any, y: Any) -> Exception:
    for position, (name, value) in enumerate((("input", x), ("other", y)), 1):
        if not hasattr(value, "edge"):
            return TypeError(
                f"matmul(): argument '{name}' (position {position}) must be Tensor, not "
                f"{type(value).__name__}"
            )
    return RuntimeError(
        f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D"
    )


def _product_of_batches(self: Any, other: Any, ranks: tuple[int, int]) -> Any:
    left, right = ranks
    if left == right == 3 and self._shape[0] != other._shape[0]:
        if self._shape[0] == 1 and self.requires_grad:
            return matmul(squeeze_dim(self, 0), other)
        if other._shape[0] == 1 and other.requires_grad:
            return matmul(self, squeeze_dim(other, 0))
    if left >= 3 and right <= 2:
        return (
            _folded(self, other) if other.requires_grad or _folds(self) else _batched(self, other)
        )
    if right >= 3 and left <= 2 and (self.requires_grad or (left == 1 and _folds(_mT(other)))):
        if left == 1:
            return _folded(_mT(other), self)
        return contiguous_clone(_mT(_folded(_mT(other), t(self))))
    return _batched(self, other)


def _folds(x: Any) -> bool:
    """Return whether all dimensions of ``x`` but the last can be made one without a copy."""
    strides, shape = x.array.strides, x._shape
    return not x.array.size or all(
        strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2)
    )


def _folded(x: Any, y: Any) -> Any:
    """Return a batch times one matrix or vector: one product of a tall matrix."""
    shape = x._shape
    tall = reshape(x, (math.prod(shape[:-1]), shape[-1]))
    if y.ndim == 1:
        return unsafe_view(mv(tall, y), shape[:-1])
    return unsafe_view(mm(tall, y), (*shape[:-1], y._shape[-1]))


def _batched(x: Any, y: Any) -> Any:
    """Return batches of matrices or vectors, expanded to one batch and multiplied pairwise."""
    batch = _common_batch(x._shape[:-2], y._shape[:-2])
    rows, columns = x._shape[-2:-1], y._shape[-1:] if y.ndim > 1 else ()
    count = int(np.prod(batch, dtype=np.int64))
    left = (*(rows or (1,)), x._shape[-1])
    x = reshape(expand(x, (*batch, *left)), (count, *left))
    right = y._shape[-2:]
    y = reshape(expand(y, (*batch, *right)), (count, *right))
    if columns:
        return unsafe_view(bmm(x, y), (*batch, *rows, *columns))
    return unsafe_view(squeeze_dim(bmm(x, unsqueeze(y, 2)), -1), (*batch, *rows))


def _common_batch(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(left, right)
    except ValueError:
        for dim in range(1, min(len(left), len(right)) + 1):
            if left[-dim] != right[-dim] and 1 not in (left[-dim], right[-dim]):
                raise RuntimeError(
                    f"The size of tensor a ({left[-dim]}) must match the size of tensor b "
                    f"({right[-dim]}) at non-singleton dimension "
                    f"{max(len(left), len(right)) - dim}"
                ) from None
        raise


@op(
    A=lambda g, A, B, result, left: _solve_gradient(
        solve_matrix(_mT(A), g, left), result, _are_vectors(A, B), left
    ),
    B=lambda g, A, left: solve_matrix(_mT(A), g, left),
    broadcasts="A B",
    of="solve",
    node="LinalgSolveExBackward0",
    layout="columns",
)
def solve_matrix(A, B, /, left=True):
    """Return the ``x`` of ``A @ x = B``, or of ``x @ A = B``, for a square matrix and a matrix or
    vector.

    Batches broadcast; ``B`` is a batch of vectors if it has the shape of ``A`` without its last
    dimension.
    """
    check_solvable(A, B, left)
    try:
        if _are_vectors(A, B):
            return np.linalg.solve(A, B[..., None])[..., 0]
        if left:
            return np.linalg.solve(A, B)
        return np.linalg.solve(A.swapaxes(-2, -1), B.swapaxes(-2, -1)).swapaxes(-2, -1)
    except np.linalg.LinAlgError as error:
        singular = np.flatnonzero(np.linalg.slogdet(A)[0] == 0)
        batch = f"(Batch element {singular[0]}): " if A.ndim > 2 and len(singular) else ""
        raise LinAlgError(
            f"torch.linalg.solve: {batch}The solver failed because the input matrix is singular."
        ) from error
    except ValueError:
        raise no_common_shape((B.shape[:-2], A.shape[:-2])) from None


def check_solvable(a: Any, b: Any, left: bool) -> None:
    """``a`` is square, and ``b`` fits it, both of a dtype that the solver takes."""
    check_floating("linalg.solve", a, half=True)
    if a.dtype != b.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{scalar_name(a)} and B of type {scalar_name(b)} instead"
        )
    check_implemented("lu_cpu", a, half=False)
    check_square("linalg.solve", a)
    if not b.ndim:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    rows, columns = (b.shape[-1], 1) if _are_vectors(a, b) else b.shape[-2:]
    if (rows if left else columns) != a.shape[-1]:
        raise RuntimeError(
            "linalg.solve: Incompatible shapes of A and B for the equation "
            f"{'AX = B' if left else 'XA = B'} ({a.shape[-2]}x{a.shape[-1]} and {rows}x{columns})"
        )


def _mT(a: Any) -> Any:
    return transpose(a, -2, -1)


def _are_vectors(a: Any, b: Any) -> bool:
    """Return whether the right-hand sides ``b`` are one vector for each matrix, not matrices."""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and tuple(b.shape) == tuple(a.shape[:-1]))


def _solve_gradient(g: Any, x: Any, vectors: bool, left: bool) -> Any:
    """Return the gradient of the matrices, given that of the right-hand sides."""
    if vectors:
        return neg(unsqueeze(g, -1) * unsqueeze(x, -2))
    return neg(matmul(g, _mT(x)) if left else matmul(_mT(x), g))

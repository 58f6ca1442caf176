"""Sums of a tensor and a product of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import op
from autograd_core.ops.algebra.linalg import bmm, check_addmm, check_addmv, check_batches, mv
from autograd_core.ops.checks import check_not_bool, check_same_dtype, promoted
from autograd_core.ops.shaping.shape import expand, t, transpose, unsqueeze
from autograd_core.tensor.size import wrapped


def _plus(bias: Any, product: Any, beta: float, alpha: float) -> Any:
    """Return ``beta * bias + alpha * product``; a bias times 0 is 0, be it NaN."""
    kind = product.dtype
    if kind.kind != "f":
        alpha, beta = int(alpha), int(beta)
    if alpha != 1:
        product = alpha * product
    bias = expand(bias, product.shape)
    if beta:
        product = np.add(product, bias if beta == 1 else beta * bias)
    return product.astype(kind, copy=False)


def _sizes(a: Any, b: Any) -> tuple[int, ...]:
    """Return the shape of the products of two batches, if they are batches of matrices."""
    places = (a, 0), (a, 1), (b, 2)
    return tuple(x.shape[wrapped(dim, x.ndim, of_scalars=False)] for x, dim in places)


def _times(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * factor


def _outer(x: Any, y: Any) -> Any:
    return unsqueeze(x, 1) * unsqueeze(y, 0)


@op(
    self=lambda g, beta: _times(g, beta),
    mat=lambda g, vec, alpha: _times(_outer(g, vec), alpha),
    vec=lambda g, mat, alpha: _times(mv(t(mat), g), alpha),
    broadcasts="self",
    variants="function method inplace",
    out="expect",
)
def addmv(self, mat, vec, /, beta=1, alpha=1):
    """Return ``beta * self + alpha * (mat @ vec)`` for a matrix and a vector."""
    check_addmv(self, mat, vec, self.shape)
    return _plus(self, np.matmul(mat, vec), beta, alpha)


@op(
    self=lambda g, beta: _times(g, beta),
    vec1=lambda g, vec2, alpha: _times(mv(g, vec2), alpha),
    vec2=lambda g, vec1, alpha: _times(mv(t(g), vec1), alpha),
    broadcasts="self",
    variants="function method inplace",
    out="cast",
    layout="preserved",
)
def addr(self, vec1, vec2, /, beta=1, alpha=1):
    """Return ``beta * self + alpha * outer(vec1, vec2)`` for two vectors."""
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    vec1, vec2 = promoted(vec1, vec2)
    product, self = promoted(np.multiply.outer(vec1, vec2), self)
    if product.dtype.kind != "f":
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point "
                    "number."
                )
    return _plus(self, product, beta, alpha)


@op(
    self=lambda g, beta: _times(g, beta),
    batch1=lambda g, batch2, alpha: _times(bmm(g, transpose(batch2, 1, 2)), alpha),
    batch2=lambda g, batch1, alpha: _times(bmm(transpose(batch1, 1, 2), g), alpha),
    broadcasts="self",
    variants="function method inplace",
    out="expect",
)
def baddbmm(self, batch1, batch2, /, beta=1, alpha=1):
    """Return ``beta * self + alpha * bmm(batch1, batch2)`` for batches of matrices."""
    if self.dtype != batch1.dtype:
        names = [from_numpy_dtype(operand.dtype).c_name for operand in (self, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: "
            f"{names[2]}"
        )
    expand(self, _sizes(batch1, batch2))
    check_batches(batch1, batch2)
    check_same_dtype(batch1, batch2)
    check_not_bool("baddbmm", batch1)
    return _plus(self, np.matmul(batch1, batch2), beta, alpha)


@op(
    self=lambda g, beta: _times(g, beta),
    batch1=lambda g, batch1_shape, batch2, alpha: _times(
        bmm(_repeated(g, batch1_shape[0]), transpose(batch2, 1, 2)), alpha
    ),
    batch2=lambda g, batch2_shape, batch1, alpha: _times(
        bmm(transpose(batch1, 1, 2), _repeated(g, batch2_shape[0])), alpha
    ),
    broadcasts="self",
    variants="function method inplace",
    out="expect",
)
def addbmm(self, batch1, batch2, /, beta=1, alpha=1):
    """Return ``beta * self + alpha * bmm(batch1, batch2)``, the products of the batch summed."""
    expand(self, _sizes(batch1, batch2)[1:])
    if len(batch1) != len(batch2):
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches, got "
            f"{len(batch1)} and {len(batch2)}"
        )
    if batch1.shape[2:] != batch2.shape[1:2]:
        sizes = " and ".join("x".join(map(str, batch.shape[1:])) for batch in (batch1, batch2))
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({sizes})")
    check_addmm(self, batch1, batch2)
    check_not_bool("addmm_impl_cpu_", batch1)
    return _plus(self, np.add.reduce(np.matmul(batch1, batch2), 0, dtype=batch1.dtype), beta, alpha)


def _repeated(g: Any, number: int) -> Any:
    return expand(unsqueeze(g, 0), (number, *g.shape))

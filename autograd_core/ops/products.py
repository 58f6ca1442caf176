"""Sums of a tensor and a product of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import Sample, op
from autograd_core.ops.checks import check_not_bool, check_same_dtype, promoted
from autograd_core.ops.linalg import bmm, check_addmm, check_addmv, check_batches, mv
from autograd_core.ops.shape import expand, t, transpose, unsqueeze
from autograd_core.tensor.dimensions import wrapped

_SCALED = {"beta": 0.5, "alpha": 2}


def _plus(bias: Any, product: Any, beta: float, alpha: float) -> Any:
    """``beta * bias + alpha * product``; a bias times 0 is 0, be it NaN."""
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
    """The shape of the products of two batches, if they are batches of matrices."""
    places = (a, 0), (a, 1), (b, 2)
    return tuple(x.shape[wrapped(dim, x.ndim, of_scalars=False)] for x, dim in places)


def _times(x: Any, factor: float) -> Any:
    return x if factor == 1 else x * factor


def _outer(x: Any, y: Any) -> Any:
    return unsqueeze(x, 1) * unsqueeze(y, 0)


@op(
    bias=lambda g, beta: _times(g, beta),
    a=lambda g, b, alpha: _times(_outer(g, b), alpha),
    b=lambda g, a, alpha: _times(mv(t(a), g), alpha),
    broadcasts="bias",
    samples=(Sample(((2,), (2, 3), (3,))), Sample(((1,), (2, 3), (3,)), _SCALED)),
    variants="function method inplace",
)
def addmv(bias, a, b, /, beta=1, alpha=1):
    """``beta * bias + alpha * (a @ b)`` for a matrix and a vector."""
    check_addmv(bias, a, b, bias.shape)
    return _plus(bias, np.matmul(a, b), beta, alpha)


@op(
    bias=lambda g, beta: _times(g, beta),
    a=lambda g, b, alpha: _times(mv(g, b), alpha),
    b=lambda g, a, alpha: _times(mv(t(g), a), alpha),
    broadcasts="bias",
    samples=(Sample(((2, 3), (2,), (3,))), Sample(((3,), (2,), (3,)), _SCALED)),
    variants="function method inplace",
)
def addr(bias, a, b, /, beta=1, alpha=1):
    """``beta * bias + alpha * outer(a, b)`` for two vectors."""
    for name, each in (("vec1", a), ("vec2", b)):
        if each.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {each.ndim}-D")
    a, b = promoted(a, b)
    product, bias = promoted(np.multiply.outer(a, b), bias)
    if product.dtype.kind != "f":
        for name, factor in (("beta", beta), ("alpha", alpha)):
            if isinstance(factor, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point "
                    "number."
                )
    return _plus(bias, product, beta, alpha)


@op(
    bias=lambda g, beta: _times(g, beta),
    a=lambda g, b, alpha: _times(bmm(g, transpose(b, 1, 2)), alpha),
    b=lambda g, a, alpha: _times(bmm(transpose(a, 1, 2), g), alpha),
    broadcasts="bias",
    samples=(
        Sample(((2, 2, 4), (2, 2, 3), (2, 3, 4))),
        Sample(((4,), (2, 2, 3), (2, 3, 4)), _SCALED),
    ),
    variants="function method inplace",
)
def baddbmm(bias, a, b, /, beta=1, alpha=1):
    """``beta * bias + alpha * bmm(a, b)`` for batches of matrices."""
    if bias.dtype != a.dtype:
        names = [from_numpy_dtype(each.dtype).c_name for each in (bias, a, b)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: "
            f"{names[2]}"
        )
    expand(bias, _sizes(a, b))
    check_batches(a, b)
    check_same_dtype(a, b)
    check_not_bool("baddbmm", a)
    return _plus(bias, np.matmul(a, b), beta, alpha)


@op(
    bias=lambda g, beta: _times(g, beta),
    a=lambda g, a_shape, b, alpha: _times(bmm(_repeated(g, a_shape[0]), transpose(b, 1, 2)), alpha),
    b=lambda g, b_shape, a, alpha: _times(bmm(transpose(a, 1, 2), _repeated(g, b_shape[0])), alpha),
    broadcasts="bias",
    samples=(
        Sample(((2, 4), (2, 2, 3), (2, 3, 4))),
        Sample(((4,), (2, 2, 3), (2, 3, 4)), _SCALED),
    ),
    variants="function method inplace",
)
def addbmm(bias, a, b, /, beta=1, alpha=1):
    """``beta * bias + alpha * bmm(a, b)``, the products of the batch summed."""
    expand(bias, _sizes(a, b)[1:])
    if len(a) != len(b):
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {len(a)} and {len(b)}"
        )
    if a.shape[2:] != b.shape[1:2]:
        sizes = " and ".join("x".join(map(str, each.shape[1:])) for each in (a, b))
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({sizes})")
    check_addmm(bias, a, b)
    check_not_bool("addmm_impl_cpu_", a)
    return _plus(bias, np.add.reduce(np.matmul(a, b), 0, dtype=a.dtype), beta, alpha)


def _repeated(g: Any, number: int) -> Any:
    return expand(unsqueeze(g, 0), (number, *g.shape))

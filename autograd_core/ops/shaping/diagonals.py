"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.checks import check_not_bool
from autograd_core.ops.pointwise.elementwise import zeros_of
from autograd_core.ops.shaping.shape import expand
from autograd_core.tensor.size import wrapped


@op(
    self=lambda g, diagonal: tril(g, diagonal),
    linear=True,
    variants="function method inplace",
    out="expect",
)
def tril(self, /, diagonal=0):
    """Return the lower triangle of matrices, with 0 above the ``diagonal``-th diagonal."""
    _check_matrix("tril", self)
    return np.tril(self, diagonal)


@op(
    self=lambda g, diagonal: triu(g, diagonal),
    linear=True,
    variants="function method inplace",
    out="expect",
)
def triu(self, /, diagonal=0):
    """Return the upper triangle of matrices, with 0 below the ``diagonal``-th diagonal."""
    _check_matrix("triu", self)
    return np.triu(self, diagonal)


def _check_matrix(name: str, x: Any) -> None:
    if x.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


@op(
    self=lambda g, self_shape, offset, dim1, dim2: diagonal_backward(
        g, self_shape, offset, dim1, dim2
    ),
    view=True,
    linear=True,
    variants="function method",
)
def diagonal(self, /, offset=0, dim1=0, dim2=1):
    """Return the diagonal of two dimensions as the last dimension."""
    _plane(dim1, dim2, self.ndim)
    return _writable_diagonal(self, offset, dim1, dim2)


def _plane(dim1, dim2, rank):
    """Return the two dimensions of the plane that has a diagonal."""
    plane = wrapped(dim1, rank), wrapped(dim2, rank)
    if plane[0] == plane[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return plane


def _writable_diagonal(x, offset, dim1, dim2):
    result = np.diagonal(x, offset, dim1, dim2)
    result.flags.writeable = x.flags.writeable  # NumPy's is read-only, a view here is not
    return result


@op(grad_output=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2), linear=True)
def diagonal_backward(grad_output, /, shape, offset, dim1, dim2):
    """Return zeros of ``shape`` with ``grad_output`` on that diagonal."""
    result = np.zeros(shape, grad_output.dtype)
    _writable_diagonal(result, offset, dim1, dim2)[...] = grad_output
    return result


@op(
    self=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),
    linear=True,
    variants="function method",
)
def diag_embed(self, /, offset=0, dim1=-2, dim2=-1):
    """Return zero matrices with the last dimension of ``self`` on a diagonal."""
    plane = _plane(dim1, dim2, self.ndim + 1)
    size, shape = self.shape[-1] + abs(offset), list(self.shape[:-1])
    for dim in sorted(plane):
        shape.insert(dim, size)
    result = np.zeros(shape, self.dtype)
    _writable_diagonal(result, offset, dim1, dim2)[...] = self
    return result


@op(
    self=lambda g, offset, dim1, dim2: diagonal_scatter(
        g, zeros_of(diagonal(g, offset, dim1, dim2)), offset, dim1, dim2
    ),
    src=lambda g, offset, dim1, dim2: diagonal(g, offset, dim1, dim2),
    linear=True,
    layout="preserved",
)
def diagonal_scatter(self, src, /, offset=0, dim1=0, dim2=1):
    """Return ``self`` with ``src`` on its diagonal."""
    _plane(dim1, dim2, self.ndim)
    result = np.array(self)
    part = _writable_diagonal(result, offset, dim1, dim2)
    if part.shape != src.shape:
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(part.shape)}"
        )
    part[...] = src
    return result


@op(
    self=lambda g, self_shape: trace_backward(g, self_shape),
    linear=True,
    variants="function method",
)
def trace(self, /):
    """Return the sum of a matrix's diagonal."""
    if self.ndim != 2:
        raise RuntimeError("trace: expected a matrix")
    check_not_bool("trace", self)
    return np.trace(self, dtype=np.int64 if self.dtype.kind in "biu" else None)


def trace_backward(g, shape):
    """Return ``g`` all along the diagonal of zeros of ``shape``."""
    return diagonal_backward(expand(g, (min(shape),)), shape, 0, 0, 1)

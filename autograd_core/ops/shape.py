"""Shapes: views, which share memory with their input."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import Sample, op, public
from autograd_core.tensor.dimensions import wrapped


@op(
    x=lambda g, x_shape: reshape(g, x_shape),
    view=True,
    linear=True,
    samples=(Sample(((2, 3),), {"size": (3, 2)}),),
)
def view(x, /, size):
    """The same elements in order under another shape, without a copy.

    Raises:
        RuntimeError: ``x`` is laid out in memory such that this needs a copy.
    """
    result = x.reshape(infer_size(x.shape, size))
    if not np.may_share_memory(result, x) and x.size:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return result


@op(
    x=lambda g, x_shape: reshape(g, x_shape),
    linear=True,
    node="UnsafeViewBackward0",
    samples=(Sample(((2, 3),), {"size": (6,)}),),
)
def unsafe_view(x, /, size):
    """A reshape of a temporary nobody else will see."""
    return x.reshape(infer_size(x.shape, size))


@op(x=lambda g: g, linear=True, samples=(Sample(((2, 3),)),), variants="function method")
def clone(x, /):
    """A copy that gradients flow through."""
    return np.array(x, order="C")


@op(
    x=lambda g, x_shape: reshape(g, x_shape),
    view=True,
    linear=True,
    of="reshape",
    samples=(Sample(((2, 3),), {"size": (3, 2)}),),
)
def reshape_alias(x, /, size):
    """What :func:`reshape` makes of a tensor that is not contiguous, where no copy is needed."""
    result = x.reshape(size)
    if not np.may_share_memory(result, x):
        raise RuntimeError("this needs a copy")
    return result


@public()
def reshape(x: Any, shape: Sequence[int]) -> Any:
    """A view where that is possible, else a copy."""
    if isinstance(x, (np.ndarray, np.generic)):
        return np.reshape(x, shape)
    size = infer_size(x._shape, shape)
    if x.array.flags.c_contiguous:
        return view(x, size)
    try:
        return reshape_alias(x, size)
    except RuntimeError:
        return unsafe_view(clone(x), size)


def infer_size(shape: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """``wanted`` with its -1, if there is one, worked out.

    Raises:
        RuntimeError: the number of elements would differ, or nothing determines it.
    """
    numel = prod(shape)
    size = tuple(map(int, wanted))
    unknown = size.count(-1)
    known = -prod(size) if unknown == 1 else prod(size)
    if unknown > 1:
        raise RuntimeError("only one dimension can be inferred")
    if unknown and not known and not numel:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous"
        )
    if unknown and known and numel % known == 0:
        return tuple(numel // known if n == -1 else n for n in size)
    if known != numel:
        raise RuntimeError(f"shape '{list(size)}' is invalid for input of size {numel}")
    return size


@op(
    x=lambda g, dim0, dim1: transpose(g, dim0, dim1),
    view=True,
    linear=True,
    samples=(Sample(((2, 3, 4),), {"dim0": 0, "dim1": -1}),),
    variants="function method inplace_view",
)
def transpose(x, /, dim0, dim1):
    """Two dimensions exchanged."""
    if not x.ndim:
        wrapped(dim0, 0)
        wrapped(dim1, 0)
        return x[...]
    return x.swapaxes(dim0, dim1)


@op(
    x=lambda g: t(g),
    view=True,
    linear=True,
    samples=(Sample(((2, 3),)),),
    variants="function method inplace_view",
)
def t(x, /):
    """A matrix transposed."""
    if x.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return x.T


@op(
    x=lambda g, dims: permute(g, inverse(dims)),
    view=True,
    linear=True,
    samples=(Sample(((2, 3, 4),), {"dims": (2, 0, 1)}),),
    variants="function",
)
def permute(x, /, dims):
    """All dimensions in a new order."""
    if len({d % max(x.ndim, 1) for d in dims}) < len(dims) == x.ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if len(dims) != x.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. input.dim() = "
            f"{x.ndim} is not equal to len(dims) = {len(dims)}"
        )
    return x.transpose(dims)


def inverse(dims: Sequence[int]) -> tuple[int, ...]:
    """The order of dimensions that undoes ``dims``."""
    count = len(dims)
    return tuple(int(i) for i in np.argsort([d % count for d in dims]))


@op(
    x=lambda g, x_shape: sum_to(g, x_shape),
    view=True,
    linear=True,
    samples=(Sample(((3, 1),), {"size": (2, 3, 4)}),),
)
def expand(x, /, size):
    """Dimensions of size 1 stretched, without a copy."""
    ahead = len(size) - x.ndim
    if ahead < 0:
        kind = from_numpy_dtype(x.dtype).scalar_name
        raise RuntimeError(
            f"expand(torch.{kind}Tensor{{{list(x.shape)}}}, size={list(size)}): the number of "
            f"sizes provided ({len(size)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({x.ndim})"
        )
    if -1 in size[:ahead]:
        raise RuntimeError(
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
            f"dimension {size.index(-1)}"
        )
    if ahead == len(size):  # a scalar, as the gradient of every loss is
        return _stretched(x, size)
    full = (
        *size[:ahead],
        *(have if want == -1 else want for have, want in zip(x.shape, size[ahead:], strict=True)),
    )
    for axis in range(len(full) - 1, ahead - 1, -1):
        want, have = full[axis], x.shape[axis - ahead]
        if have not in (1, want):
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) "
                f"at non-singleton dimension {axis}.  "
                f"Target sizes: {list(size)}.  Tensor sizes: {list(x.shape)}"
            )
    return _stretched(x, full)


def _stretched(x: Any, size: tuple[int, ...]) -> Any:
    """As ``np.broadcast_to``, which costs small arrays ten times as much."""
    if not x.flags.c_contiguous:
        return np.broadcast_to(x, size)
    steps = (0,) * (len(size) - x.ndim)
    if x.ndim:
        steps += tuple(0 if n == 1 else step for n, step in zip(x.shape, x.strides, strict=True))
    result = np.ndarray(size, x.dtype, x, 0, steps)
    result.flags.writeable = False
    return result


@op(
    x=lambda g, x_shape: expand(g, x_shape),
    linear=True,
    node="SumBackward1",
    samples=(Sample(((2, 3, 4),), {"shape": (3, 1)}),),
)
def sum_to(x, /, shape):
    """Summed back to ``shape``, from which it could have been broadcast."""
    added = x.ndim - len(shape)
    axes = tuple(range(added)) + tuple(
        added + axis for axis, n in enumerate(shape) if n == 1 and x.shape[added + axis] != 1
    )
    return np.add.reduce(x, axis=axes, keepdims=True).reshape(shape) if axes else x


@op(
    x=lambda g, dim: squeeze_dim(g, dim),
    view=True,
    linear=True,
    samples=(Sample(((2, 3),), {"dim": 1}),),
)
def unsqueeze(x, /, dim):
    """A new dimension of size 1 at ``dim``."""
    return np.expand_dims(x, dim)


@op(
    x=lambda g, dim, x_shape: reshape(g, x_shape),
    view=True,
    linear=True,
    of="squeeze",
    node="SqueezeBackward1",
    samples=(Sample(((2, 1, 3),), {"dim": 1}), Sample(((2, 3),), {"dim": 0})),
)
def squeeze_dim(x, /, dim):
    """Dimension ``dim`` dropped if its size is 1."""
    if not x.ndim:
        wrapped(dim, 0)
        return x[...]
    return np.squeeze(x, dim) if x.shape[dim] == 1 else x[...]


@op(
    x=lambda g, x_shape: reshape(g, x_shape),
    linear=True,
    of="squeeze",
    node="SqueezeBackward4",
    samples=(Sample(((2, 1, 3),), {"dim": 1}),),
)
def squeeze_result(x, /, dim):
    """:func:`squeeze_dim` of a temporary nobody else will see, which PyTorch does in place."""
    return np.squeeze(x, dim)


@op(
    x=lambda g, x_shape: reshape(g, x_shape),
    view=True,
    linear=True,
    of="squeeze",
    node="SqueezeBackward0",
    samples=(Sample(((2, 1, 3, 1),)),),
)
def squeeze_all(x, /):
    """All dimensions of size 1 dropped."""
    return np.squeeze(x)


def at_least_1d(x: Any) -> Any:
    """``x``, or a vector of one element if it has no dimensions."""
    return x if x.ndim else reshape(x, (1,))

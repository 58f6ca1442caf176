"""Shapes: views, which share memory with their input."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import op, public
from autograd_core.tensor.size import wrapped


@op(self=lambda g, self_shape: reshape(g, self_shape), view=True, linear=True)
def view(self, /, size):
    """Return the same elements with another shape, without a copy.

    Raises:
        RuntimeError: the memory layout of ``self`` requires a copy.
    """
    result = self.reshape(infer_size(self.shape, size))
    if not np.may_share_memory(result, self) and self.size:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return result


@op(self=lambda g, self_shape: reshape(g, self_shape), linear=True, node="UnsafeViewBackward0")
def unsafe_view(self, /, size):
    """Return a reshape of a temporary tensor."""
    return self.reshape(infer_size(self.shape, size))


@op(self=lambda g: g, linear=True, layout="preserved")
def clone(self, /):
    """Return a copy that gradients flow through."""
    return self.copy("K") if type(self) is np.ndarray else np.array(self)


@op(self=lambda g: g, linear=True, of="clone", node="CloneBackward0")
def contiguous_clone(self, /):
    """Return a :func:`clone` whose elements lie in order."""
    return np.array(self, order="C")


@op(self=lambda g, self_shape: reshape(g, self_shape), view=True, linear=True, of="reshape")
def reshape_alias(self, /, size):
    """Return the :func:`reshape` of a non-contiguous tensor that needs no copy."""
    result = self.reshape(size)
    if not np.may_share_memory(result, self):
        raise RuntimeError("this needs a copy")
    return result


@public()
def reshape(self: Any, shape: Sequence[int]) -> Any:
    """Return ``self`` in another shape: a view if possible, else a copy."""
    if isinstance(self, (np.ndarray, np.generic)):
        return np.reshape(self, shape)
    size = infer_size(self._shape, shape)
    if self.array.flags.c_contiguous:
        return view(self, size)
    try:
        return reshape_alias(self, size)
    except RuntimeError:
        return unsafe_view(contiguous_clone(self), size)


def infer_size(shape: tuple[int, ...], wanted: Sequence[int]) -> tuple[int, ...]:
    """Return ``wanted`` with its -1, if there is one, worked out.

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
    self=lambda g, dim0, dim1: transpose(g, dim0, dim1),
    view=True,
    linear=True,
    variants="function method inplace_view",
    inplace_node="TransposeBackward1",
)
def transpose(self, /, dim0, dim1):
    """Return ``self`` with two dimensions exchanged."""
    if not self.ndim:
        wrapped(dim0, 0)
        wrapped(dim1, 0)
        return self[...]
    return self.swapaxes(dim0, dim1)


@op(
    self=lambda g: t(g),
    view=True,
    linear=True,
    variants="function method inplace_view",
    inplace_node="TBackward1",
)
def t(self, /):
    """Return the transpose of a matrix."""
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")
    return self.T


@op(self=lambda g, dims: permute(g, inverse(dims)), view=True, linear=True, variants="function")
def permute(self, /, dims):
    """Return ``self`` with its dimensions in a new order."""
    if len({d % max(self.ndim, 1) for d in dims}) < len(dims) == self.ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. input.dim() = "
            f"{self.ndim} is not equal to len(dims) = {len(dims)}"
        )
    return self.transpose(dims)


def inverse(dims: Sequence[int]) -> tuple[int, ...]:
    """Return the order of dimensions that undoes ``dims``."""
    count = len(dims)
    return tuple(int(i) for i in np.argsort([d % count for d in dims]))


@op(self=lambda g, self_shape: sum_to(g, self_shape), view=True, linear=True)
def expand(self, /, size):
    """Return ``self`` with dimensions of size 1 expanded, without a copy."""
    ahead = len(size) - self.ndim
    if ahead < 0:
        kind = from_numpy_dtype(self.dtype).scalar_name
        raise RuntimeError(
            f"expand(torch.{kind}Tensor{{{list(self.shape)}}}, size={list(size)}): the number of "
            f"sizes provided ({len(size)}) must be greater or equal to the number of dimensions "
            f"in the tensor ({self.ndim})"
        )
    if -1 in size[:ahead]:
        raise RuntimeError(
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing "
            f"dimension {size.index(-1)}"
        )
    if ahead == len(size):  # a scalar, as the gradient of every loss is
        return stretched(self, size)
    full = (
        *size[:ahead],
        *(
            have if want == -1 else want
            for have, want in zip(self.shape, size[ahead:], strict=True)
        ),
    )
    for axis in range(len(full) - 1, ahead - 1, -1):
        want, have = full[axis], self.shape[axis - ahead]
        if have not in (1, want):
            raise RuntimeError(
                f"The expanded size of the tensor ({want}) must match the existing size ({have}) "
                f"at non-singleton dimension {axis}.  "
                f"Target sizes: {list(size)}.  Tensor sizes: {list(self.shape)}"
            )
    return stretched(self, full)


def stretched(x: Any, size: tuple[int, ...]) -> Any:
    """As ``np.broadcast_to``, which costs small arrays ten times as much."""
    if not x.flags.c_contiguous:
        return np.broadcast_to(x, size)
    steps = (0,) * (len(size) - x.ndim)
    if x.ndim:
        steps += tuple(0 if n == 1 else step for n, step in zip(x.shape, x.strides, strict=True))
    result = np.ndarray(size, x.dtype, x, 0, steps)
    result.flags.writeable = False
    return result


@op(self=lambda g, self_shape: expand(g, self_shape), linear=True, node="SumBackward1")
def sum_to(self, /, shape):
    """Sum back to ``shape``, from which it could have been broadcast."""
    added = self.ndim - len(shape)
    axes = tuple(range(added)) + tuple(
        added + axis for axis, n in enumerate(shape) if n == 1 and self.shape[added + axis] != 1
    )
    return np.add.reduce(self, axis=axes, keepdims=True).reshape(shape) if axes else self


@op(
    self=lambda g, dim: squeeze_dim(g, dim),
    view=True,
    linear=True,
    inplace_node="UnsqueezeBackward1",
    variants="function method inplace_view",
)
def unsqueeze(self, /, dim: int):
    """Return ``self`` with a new dimension of size 1 at ``dim``."""
    return np.expand_dims(self, dim)


@op(
    self=lambda g, dim, self_shape: reshape(g, self_shape),
    view=True,
    linear=True,
    of="squeeze",
    node="SqueezeBackward1",
    inplace_node="SqueezeBackward4",
)
def squeeze_dim(self, /, dim):
    """Return ``self`` without dimension ``dim``, if its size is 1."""
    if not self.ndim:
        wrapped(dim, 0)
        return self[...]
    return np.squeeze(self, dim) if self.shape[dim] == 1 else self[...]


@op(
    self=lambda g, self_shape: reshape(g, self_shape),
    linear=True,
    of="squeeze",
    node="SqueezeBackward4",
)
def squeeze_result(self, /, dim):
    """Return the :func:`squeeze_dim` of a temporary tensor, which PyTorch does in place."""
    return np.squeeze(self, dim)


@op(
    self=lambda g, self_shape: reshape(g, self_shape),
    view=True,
    linear=True,
    of="squeeze",
    node="SqueezeBackward0",
    inplace_node="SqueezeBackward3",
)
def squeeze_all(self, /):
    """Return ``self`` without its dimensions of size 1."""
    return np.squeeze(self)


def at_least_1d(x: Any) -> Any:
    """Return ``x``, or a vector of one element if it has no dimensions."""
    return x if x.ndim else reshape(x, (1,))

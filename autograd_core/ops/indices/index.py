"""Indexing, taken apart as PyTorch does: a number selects, a slice slices, the rest indexes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from autograd_core.autograd.memory import iteration_order
from autograd_core.dtype import from_numpy_dtype
from autograd_core.op import op
from autograd_core.tensor.size import wrapped


@op(self=lambda g: g, view=True, linear=True)
def alias(self, /):
    """Return a view of all of ``self``: ``self[:]``."""
    return self[...]


@op(
    self=lambda g, self_shape, dim, index: select_backward(g, self_shape, dim, index),
    view=True,
    linear=True,
)
def select(self, /, dim, index):
    """Return the slice at ``index`` of dimension ``dim``, without that dimension."""
    if not -self.shape[dim] <= index < self.shape[dim]:
        raise IndexError(
            f"index {index} is out of bounds for dimension {dim} with size {self.shape[dim]}"
        )
    return self[(slice(None),) * (dim % self.ndim) + (index, ...)]


def check_select(shape: tuple[int, ...], dim: int, index: int) -> None:
    """``index`` is there in dimension ``dim`` of a tensor of ``shape``."""
    if not shape:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place = wrapped(dim, len(shape))
    if not -shape[place] <= index < shape[place]:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension "
            f"{place}"
        )


@op(grad_output=lambda g, dim, index: select(g, dim, index), linear=True)
def select_backward(grad_output, /, shape, dim, index):
    """Return zeros of ``shape`` with ``grad_output`` at ``index`` of dimension ``dim``."""
    result = np.zeros(shape, grad_output.dtype)
    result[(slice(None),) * (dim % len(shape)) + (index, ...)] = grad_output
    return result


@op(
    self=lambda g, self_shape, dim, start, end, step: slice_backward(
        g, self_shape, dim, start, end, step
    ),
    view=True,
    linear=True,
    node="SliceBackward0",
)
def slice_(self, /, dim, start, end, step):
    """Return every ``step``-th slice of dimension ``dim`` from ``start`` to ``end``."""
    if step < 1:
        raise ValueError("step must be greater than zero")
    return self[(slice(None),) * (dim % self.ndim) + (slice(start, end, step),)]


@op(grad_output=lambda g, dim, start, end, step: slice_(g, dim, start, end, step), linear=True)
def slice_backward(grad_output, /, shape, dim, start, end, step):
    """Return zeros of ``shape`` with ``grad_output`` in that slice."""
    result = np.zeros(shape, grad_output.dtype)
    result[(slice(None),) * (dim % len(shape)) + (slice(start, end, step),)] = grad_output
    return result


@op(
    self=lambda g, self_shape, indices: index_put(g, self_shape, indices),
    linear=True,
    holds="indices",
)
def index(self, /, indices):
    """Return the elements that integer or boolean arrays select, as in NumPy."""
    try:
        result = self[indices]
    except IndexError as error:
        raise refused_indices(error, self.shape, indices) from None
    if result.ndim < 2 or (self.flags.c_contiguous and result.flags.c_contiguous):
        return result
    return _laid_out(self, indices, result)


def _laid_out(x: Any, indices: tuple[Any, ...], result: Any) -> Any:
    """Return ``result`` with its dimensions in that order in memory which PyTorch gives them: those
    of ``x`` in their own order, none of which changes places with one of the indices."""
    taken = [place for place, part in enumerate(indices) if isinstance(part, np.ndarray)]
    covered = [indices[place].ndim if indices[place].dtype == bool else 1 for place in taken]
    starts = [place + sum(covered[:n]) - n for n, place in enumerate(taken)]
    axes = [start + n for start, count in zip(starts, covered, strict=True) for n in range(count)]
    rest = [step for axis, step in enumerate(x.strides) if axis not in axes]
    apart = axes != list(range(axes[0], axes[0] + len(axes)))
    first, count = 0 if apart else axes[0], result.ndim - len(rest)
    steps = [*rest[:first], *[0] * count, *rest[first:]]
    order = iteration_order(result.shape, steps)
    lying = result.transpose(order)
    return result if lying.flags.c_contiguous else lying.copy().transpose(np.argsort(order))


def refused_indices(
    error: IndexError, shape: tuple[int, ...], indices: tuple[Any, ...]
) -> IndexError:
    """Return what NumPy says of indices into an array of ``shape``, in PyTorch's words."""
    if (wrong := misfitting_mask(shape, indices)) is not None:
        return wrong
    text, number = str(error), len(indices)
    if text.startswith("too many indices"):
        return IndexError(f"too many indices for tensor of dimension {len(shape)} (got {number})")
    if text.startswith("shape mismatch"):
        arrays: list[Any] = []
        for part in indices:
            if isinstance(part, np.ndarray):
                arrays += part.nonzero() if _is_mask(part) else [part]
        sizes = ", ".join(str(list(array.shape)) for array in arrays)
        text = "shape mismatch: indexing tensors could not be broadcast together with shapes "
        return IndexError(text + sizes)
    return IndexError(text.replace("axis", "dimension"))


def misfitting_mask(shape: tuple[int, ...], indices: Iterable[Any]) -> IndexError | None:
    """Return the error of a mask that does not fit what it masks in an array of ``shape``."""
    dim = 0
    for part in indices:
        if not _is_mask(part):
            dim += 1
            continue
        for number, (size, wanted) in enumerate(zip(part.shape, shape[dim:], strict=False)):
            if size != wanted:
                return IndexError(
                    f"The shape of the mask {list(part.shape)} at index {number} does not match "
                    f"the shape of the indexed tensor {list(shape)} at index {dim + number}"
                )
        dim += part.ndim
    return None


def _is_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype == np.bool_ and part.ndim > 0


@op(self=lambda g, indices: index(g, indices), linear=True, holds="indices", layout="preserved")
def index_put(self, /, shape, indices):
    """Return zeros of ``shape`` with ``self`` added at ``indices``, including repeated ones."""
    result = np.zeros(shape, self.dtype)
    first = indices[0] if len(indices) == 1 else None
    if _is_mask(first):  # no place twice, so there is nothing to add up
        result[indices] = self
    elif isinstance(first, np.ndarray):
        add_rows(result, first, self)
    else:
        np.add.at(result, indices, self)
    return result


def add_rows(result: Any, rows: Any, x: Any) -> None:
    """``np.add.at(result, rows, x)``; wide rows one by one in its order, in a fifth of the time."""
    shape = result.shape[1:]
    if math.prod(shape) < _WIDE or x.shape != rows.shape + shape:
        np.add.at(result, rows, x)
        return
    add = np.add
    for row, values in zip(rows.reshape(-1).tolist(), x.reshape(-1, *shape), strict=True):
        place = result[row]
        add(place, values, place)


_WIDE: Final = 32  # elements


@op(
    weight=lambda g, indices, weight_shape, padding_idx: embedding_backward(
        g, indices, weight_shape, padding_idx
    ),
    linear=True,
)
def embedding(weight, indices, /, padding_idx=-1):
    """Return the rows of ``weight`` (n, d) at ``indices``; row ``padding_idx`` gets no gradient."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.dtype.kind != "i" or indices.dtype.itemsize < 4:
        kind = from_numpy_dtype(indices.dtype).scalar_name
        kind = "CPUBoolType" if kind == "Bool" else f"torch.{kind}Tensor"
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got {kind} instead (while checking arguments for embedding)"
        )
    if indices.size and not len(weight):
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if indices.size and not 0 <= indices.min() <= indices.max() < len(weight):
        raise IndexError("index out of range in self")
    return weight[indices]


@op(self=lambda g, indices, padding_idx: embedding_rows(g, indices, padding_idx), linear=True)
def embedding_backward(self, indices, /, shape, padding_idx=-1):
    """Return zeros of ``shape`` with the rows ``self`` added at ``indices``, except at
    ``padding_idx``."""
    result = np.zeros(shape, self.dtype)
    add_rows(result, indices, self)
    if padding_idx >= 0:
        result[padding_idx] = 0
    return result


@op(
    self=lambda g, indices, self_shape, padding_idx: embedding_backward(
        g, indices, self_shape, padding_idx
    ),
    linear=True,
)
def embedding_rows(self, indices, /, padding_idx=-1):
    """Return the rows of ``self`` at ``indices``, with zeros for ``padding_idx``."""
    return np.where((indices == padding_idx)[..., None], self.dtype.type(0), self[indices])

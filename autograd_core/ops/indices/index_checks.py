"""What an index along a dimension, and what is put where it points, must be; in PyTorch's words."""

from __future__ import annotations

from typing import Final

import numpy as np

from autograd_core.dtype import int32, int64
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped

# where the arguments stand
_POSITION: Final = {"index": 3, "src": 4, "source": 4, "indices": 2}


def _check_tensors(name: str, **values: object) -> None:
    for word, value in values.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}(): argument '{word}' (position {_POSITION[word]}) must be Tensor, not "
                + type(value).__name__
            )


def checked_index(name: str, index: Tensor) -> Tensor:
    """Return the index of :func:`gather` and :func:`scatter`; an empty one may be of any dtype."""
    _check_tensors(name, index=index)
    if index.dtype is int64 or index.dtype is int32:
        return index
    if index.numel():
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    return Tensor.from_array(index.array.astype(np.int64))


def check_source(x: Tensor, src: Tensor) -> None:
    """What is scattered has the dtype of what it is scattered into."""
    _check_tensors("scatter", src=src)
    if src.dtype is not x.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")


def check_selected(index: Tensor) -> None:
    """What :func:`index_select` selects by."""
    _check_tensors("index_select", index=index)
    if index.dtype is not int64 and index.dtype is not int32:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")


def check_added(name: str, x: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """What :func:`index_add` and :func:`index_reduce` add and reduce, and where."""
    _check_tensors(name, index=index, source=source)
    size, axis = source._shape, wrapped(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{index.dtype.scalar_name} and size: {list(index._shape)}"
        )
    if index.dtype is not int64 and index.dtype is not int32:
        raise RuntimeError(
            f"{name}_(): Expected dtype int32/int64 for index but got: {index.dtype.scalar_name}"
        )
    if source.dtype is not x.dtype:
        raise RuntimeError(
            f"{name}_(): self ({x.dtype.scalar_name}) and source ({source.dtype.scalar_name}) "
            "must have the same scalar type"
        )
    if size and axis >= len(size):
        raise RuntimeError(
            f"{name}_(): Indexing dim {axis} is out of bounds of the source tensor with dim "
            f"{len(size)}"
        )
    if index.numel() != (size[axis] if size else 1):
        raise RuntimeError(
            f"{name}_(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
            f"({size[axis] if size else 1}), for dim: {axis}"
        )
    if _others(size, axis) != _others(x._shape, axis) or len(size) != x.ndim:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(x._shape)} source.shape = {list(size)}"
        )


def check_copied(x: Tensor, dim: int, index: Tensor, source: Tensor) -> None:
    """What :func:`index_copy` copies, and where to."""
    _check_tensors("index_copy", index=index, source=source)
    size, axis = source._shape, wrapped(dim, x.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not size and index.numel() != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element (got "
            f"{index.numel()})"
        )
    if size and x.ndim and len(size) != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({len(size)}), destination dimensionality ({x.ndim})"
        )
    if index.dtype is not int64:
        raise RuntimeError(
            "index_copy_(): Expected a long tensor for index, but got " + index.dtype.scalar_name
        )
    if source.dtype is not x.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{x.dtype.scalar_name} and (source) {source.dtype.scalar_name}"
        )
    mine, theirs = _others(x._shape, axis), _others(size, axis)
    if mine != theirs:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, mine))} at dimension {axis} and source slice shape: "
            f"{' '.join(map(str, theirs))} at dimension 0."
        )
    if size and index.numel() != size[axis]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to "
            f"source.size(dim) ({size[axis]})"
        )


def _others(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return shape[:axis] + shape[axis + 1 :]


def check_filled(index: Tensor, value: object) -> None:
    """Where :func:`index_fill` fills, and with what."""
    _check_tensors("index_fill", index=index)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if index.dtype is not int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )


def check_taken(name: str, x: Tensor, index: Tensor) -> None:
    """By what :func:`take` and :func:`put` find places."""
    if not isinstance(index, Tensor):
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    if index.dtype is not int64:
        raise RuntimeError(
            f"{name}(): Expected a long tensor for index, but got {index.dtype.scalar_name}"
        )
    if not x.numel() and index.numel():
        raise IndexError(f"{name}(): tried to {name.rstrip('_')} from an empty tensor")


def check_put(x: Tensor, index: Tensor, source: Tensor) -> None:
    """What :func:`put` puts."""
    _check_tensors("put_", source=source)
    if source.dtype is not x.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{x.dtype.scalar_name} and source.dtype = {source.dtype.scalar_name}"
        )
    if source.numel() != index.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )


def check_taken_along(x: Tensor, indices: Tensor, dim: int | None) -> None:
    """By what :func:`take_along_dim` finds places."""
    _check_tensors("take_along_dim", indices=indices)
    if dim is not None and x.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {x.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if indices.dtype is not int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            + indices.dtype.scalar_name
        )

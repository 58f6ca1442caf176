"""Queries about a tensor and its memory, and what changes its size in place."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.dtype import Number
from autograd_core.tensor import Tensor
from autograd_core.tensor.dimensions import wrapped
from autograd_core.tensor.views import root_of


def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours along each dimension, or along one."""
    steps = tuple(n // self.array.itemsize for n in self.array.strides)
    return steps if dim is None else steps[wrapped(dim, self.ndim, of_scalars=False)]


def storage_offset(self: Tensor) -> int:
    """How many elements of the memory lie before the first of these."""
    return (data_ptr(self) - data_ptr(root_of(self))) // self.array.itemsize


def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return self.array.__array_interface__["data"][0]


def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in order."""
    return self.array.flags.c_contiguous


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor with the dtype of ``other``."""
    return self.to(other.dtype)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""
    return self._shape == other._shape


def is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not zero."""
    return bool(self)


def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give the tensor another size; elements that it had stay in their order, others are zero.

    Raises:
        RuntimeError: the tensor requires a gradient.
    """
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    size = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    count = math.prod(size)
    flat = self.array.reshape(-1)
    if count > flat.size:
        flat = np.concatenate([flat, np.zeros(count - flat.size, flat.dtype)])
    self.bump()
    self.array = flat[:count].reshape(size)
    self._shape = size
    return self


def resize_as_(self: Tensor, other: Tensor, memory_format: Any = None) -> Tensor:
    """Give the tensor the size of ``other``."""
    return resize_(self, other._shape)


def contains(self: Tensor, element: Any) -> bool:
    """Whether one of the elements equals ``element``."""
    if not isinstance(element, (Tensor, Number, np.generic)):
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(element)}."
        )
    return bool((self == element).any())


def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Put one number on the main diagonal; with ``wrap``, of a tall matrix, on those below, too.

    Raises:
        RuntimeError: it has less than two dimensions, or more, and they are of several sizes.
    """
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self._shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    steps = stride(self)
    height, width = self._shape[:2]
    self.as_strided((min(self._shape),), (sum(steps),)).fill_(fill_value)
    if wrap and self.ndim == 2 and height > width + 1:
        start = steps[0] * (width + 1)
        count = -(-(height * width - width * (width + 1)) // (width + 1))
        offset = storage_offset(self) + start
        self.as_strided((count,), (sum(steps),), offset).fill_(fill_value)
    return self


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return self.array.dtype.kind in "if"


def reversed_(self: Tensor) -> Tensor:
    """The first dimension in reverse order."""
    return self.flip(0) if self._shape else self


def get_device(self: Tensor) -> int:
    """The number of the GPU: there is none."""
    return -1


def _yes(self: Tensor) -> bool:
    return True


def _no(self: Tensor) -> bool:
    return False


QUERIES: Final[dict[str, Any]] = {
    "stride": stride,
    "storage_offset": storage_offset,
    "data_ptr": data_ptr,
    "is_contiguous": is_contiguous,
    "type_as": type_as,
    "is_same_size": is_same_size,
    "is_nonzero": is_nonzero,
    "fill_diagonal_": fill_diagonal_,
    "resize_": resize_,
    "resize_as_": resize_as_,
    "ndimension": Tensor.dim,
    "get_device": get_device,
    "is_complex": _no,
    "is_conj": _no,
    "is_neg": _no,
    "is_signed": is_signed,
    "__reversed__": reversed_,
    "__contains__": contains,
    "itemsize": property(Tensor.element_size),
    "is_cpu": property(_yes),
    **dict.fromkeys(
        (
            "is_cuda",
            "is_ipu",
            "is_meta",
            "is_mkldnn",
            "is_mps",
            "is_nested",
            "is_quantized",
            "is_sparse",
            "is_xla",
            "is_xpu",
        ),
        property(_no),
    ),
    "_is_view": lambda self: self._base is not None,
}

"""The arguments of PyTorch's legacy constructors: ``Tensor(2, 3)``, ``FloatTensor([1, 2])``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.dtype import dtype
from autograd_core.tensor.base import TensorBase
from autograd_core.tensor.sequences import holds_tensors, without_tensors
from autograd_core.tensor.size import Size


def legacy_array(kind: dtype, data: tuple[Any, ...]) -> NDArray[Any]:
    """Return zeros, if ``data`` are sizes (PyTorch leaves the elements as they are in memory); else
    the one tensor, whose memory is shared, or the array or sequence, which is copied.

    Raises:
        RuntimeError: a size is negative.
        TypeError: it is something else; both in PyTorch's words.
    """
    values = data[0] if len(data) == 1 else None
    if values is None or isinstance(values, (int, np.integer, Size)):
        sizes = values if isinstance(values, Size) else data or (0,)
        if any(size < 0 for size in sizes):
            negative = next(size for size in sizes if size < 0)
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {negative}: {list(sizes)}"
            )
        return np.zeros(sizes, kind.dtype)
    if isinstance(values, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(values, TensorBase):
        return values.array
    if not hasattr(values, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(values).__name__})")
    if holds_tensors(values):
        values, _ = without_tensors(values)
    return np.array(values, dtype=kind.dtype)

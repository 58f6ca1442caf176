"""Other dtypes and layouts of a tensor."""

from __future__ import annotations

from typing import Any

from autograd_core.dtype import dtype
from autograd_core.ops import convert, shape
from autograd_core.tensor import Tensor

__all__: list[str] = []


def to_dtype(x: Tensor, kind: dtype) -> Tensor:
    """``x`` itself if it has this dtype, else a copy that has."""
    return x if x.dtype is kind else convert.cast(x, kind.dtype, x.dtype.dtype)


def to(x: Tensor, target: Any = None, **kwargs: Any) -> Tensor:
    """``x`` with another dtype; a device, of which there is one, changes nothing."""
    target = kwargs.get("dtype", target)
    if isinstance(target, Tensor):
        target = target.dtype
    return to_dtype(x, target) if isinstance(target, dtype) else x


def contiguous(x: Tensor) -> Tensor:
    """``x``, copied if its elements do not lie in order."""
    return x if x.array.flags.c_contiguous else shape.clone(x)

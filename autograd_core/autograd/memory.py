"""The memory behind an array: who owns it, and whether it may be written to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def memory_of(array: Any) -> Array | None:
    """Return the array that owns the memory ``array`` looks at; None for a scalar of NumPy."""
    if not isinstance(array, np.ndarray):
        return None
    found, base = array, array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            found = base
        base = getattr(base, "base", None)  # stride tricks put an object of their own between
    return found


def make_writeable(array: Any) -> None:
    """Let a part of an expanded tensor be written to, which NumPy refuses to be safe.

    Raises:
        RuntimeError: one place in memory stands for several elements; in PyTorch's words.
    """
    if array.flags.writeable:
        return
    if any(size > 1 and not step for size, step in zip(array.shape, array.strides, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    array.flags.writeable = True

"""Functions of several passes, on large arrays a block at a time.

What one pass leaves behind is then still in the cache when the next one reads it, and no pass asks
the system for fresh memory: three to six times as fast.  Memory for what a pass leaves behind
begins where a line of the cache does, which NumPy's does not: a sum of two arrays into a third
takes half of the time there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Final, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
BLOCK: Final = 1 << 15  # elements; some blocks of doubles fit into a cache of half a megabyte
LARGE: Final = 4 * BLOCK  # elements from which on rules are run in blocks


def in_blocks(function: F) -> F:
    """Return ``function``, which computes each element from the same element of its arguments, so
    that it is called with a block of large arrays at a time.

    Arrays must be in order and of one shape, save 0-d ones; with anything else it is called as it
    is.
    """

    @wraps(function)
    def blocked(x: Any, *args: Any, **options: Any) -> Any:
        if type(x) is not np.ndarray or x.size <= BLOCK or not x.flags.c_contiguous:
            return function(x, *args, **options)
        rows = {}  # the arguments that are cut into blocks, by place
        for place, arg in enumerate(args, 1):
            if type(arg) is np.ndarray and arg.ndim:
                if arg.shape != x.shape or not arg.flags.c_contiguous:
                    return function(x, *args, **options)
                rows[place] = arg.reshape(-1)
        rows[0] = x.reshape(-1)
        given = [x, *args]
        result: Any = None
        for start in range(0, x.size, BLOCK):
            part = slice(start, start + BLOCK)
            for place, row in rows.items():
                given[place] = row[part]
            block = function(*given, **options)
            if result is None:
                result = np.empty(x.size, block.dtype)
            result[part] = block
        return result.reshape(x.shape)

    return blocked  # type: ignore[return-value]


def in_passes(spare: int) -> Callable[[Callable[..., None]], Callable[..., Any]]:
    """Turn ``function(out, *spares, x, *others, **options)``, which computes ``out`` from ``x`` and
    arrays of its shape and dtype in passes, as :func:`in_blocks` does, into one that returns it.

    ``spares`` are as many arrays like ``out``, for what passes leave behind.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., Any]:
        @wraps(function)
        def passes(x: Any, *others: Any, **options: Any) -> Any:
            if (
                type(x) is not np.ndarray
                or x.size <= BLOCK
                or (not x.flags.c_contiguous and any(x.strides))
            ):
                out = np.empty_like(x)
                function(out, *[np.empty_like(x) for _ in range(spare)], x, *others, **options)
                return out
            given = [_row(other, x.shape) for other in (x, *others)]
            result = np.empty(x.size, x.dtype)
            with memory(spare, (BLOCK,), x.dtype) as spares:
                for start in range(0, x.size, BLOCK):
                    part = slice(start, start + BLOCK)
                    out = result[part]
                    arrays = [array[part] if array.ndim else array for array in given]
                    function(out, *[spare[: out.size] for spare in spares], *arrays, **options)
            return result.reshape(x.shape)

        return passes

    return decorate


def row_blocks(rows: Any) -> list[slice]:
    """Return which rows of a matrix to take together: some such blocks stay in the cache."""
    height = max(1, _BYTES // max(1, rows.shape[1] * rows.itemsize))
    return [slice(start, start + height) for start in range(0, len(rows), height)]


class memory:
    """``count`` arrays, lent for a while, whose contents do not matter before and after."""

    __slots__ = ("_count", "_dtype", "_kept", "_shape")

    def __init__(self, count: int, shape: tuple[int, ...], dtype: Any) -> None:
        self._count, self._shape, self._dtype = count, shape, dtype
        self._kept: list[Any] = []

    def __enter__(self) -> list[Any]:
        size, kind = math.prod(self._shape), self._dtype
        if not _SMALL < size * kind.itemsize <= _BYTES:
            return [np.empty(self._shape, kind) for _ in range(self._count)]
        kept = self._kept = [_spares.pop() if _spares else _aligned() for _ in range(self._count)]
        return [buffer.view(kind)[:size].reshape(self._shape) for buffer in kept]

    def __exit__(self, error: object, *others: object) -> None:
        if error is None:  # or somebody may still read them
            _spares.extend(self._kept)


_SMALL: Final = 1 << 14  # bytes, of which new ones cost less
_BYTES: Final = 8 * BLOCK
_spares: Final[list[Any]] = []  # as many as were in use at once, in all threads


def _aligned() -> Any:
    """Return memory for a block of doubles."""
    memory = np.empty(_BYTES + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + _BYTES]


@lru_cache(maxsize=64)
def ones(size: int, dtype: Any) -> Any:
    """Return ones, only to be read, for sums that are products: BLAS takes a third of the time."""
    return np.ones(size, dtype)


def _row(x: Any, shape: tuple[int, ...]) -> Any:
    """Return ``x`` flattened, or, where it is one element over and over, as the gradient of a sum
    is, that alone."""
    if not x.ndim:
        return x
    if not any(x.strides):
        return x[(0,) * x.ndim + (...,)]
    return (x if x.shape == shape else np.broadcast_to(x, shape)).reshape(-1)


@lru_cache(maxsize=256)
def numbers(dtype: Any, *values: float) -> tuple[Any, ...]:
    """Return ``values`` as arrays, which NumPy computes with sooner than with numbers."""
    return tuple([np.array(value, dtype) for value in values])

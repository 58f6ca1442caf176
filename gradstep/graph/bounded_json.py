"""JSON that anybody may have written: what it takes when it is read is bounded.

Of a few bytes on disk, more so of compressed ones, Python can make a thousand times as many.
"""

from __future__ import annotations

import json
from typing import Any, Final

ALWAYS: Final = 90_000_000
"""Bytes that the values of a text may take, however small the file is that it comes from."""
_FOR_EACH: Final = 14  # more, for each byte of the file
_LIST, _OBJECT, _ELEMENT, _KEY = 90, 260, 60, 200  # bytes that each takes in Python
_FEW: Final = 12  # keys that an object has room for


def allowed(nbytes: int) -> int:
    """Return how many bytes the values of a text may take that comes from a file of ``nbytes``."""
    return ALWAYS + _FOR_EACH * nbytes


def size_of(text: str) -> int:
    """Return about how many bytes the values of a text take, rather more than fewer.

    >>> size_of("[[],[],[]]")
    490
    """
    objects, keys = text.count("{"), text.count(":")
    return (
        _LIST * text.count("[")
        + _OBJECT * objects
        + _ELEMENT * text.count(",")
        + _KEY * max(0, keys - _FEW * objects)
        + len(text) * (1 if text.isascii() else 4)
    )


def parsed(text: str, most: int = ALWAYS) -> Any:
    """Return the values of a text.

    Raises:
        ValueError: it is no JSON, or its values would take more than ``most`` bytes.
    """
    if size_of(text) > most:
        raise ValueError("it has more values than a file of this size can have")
    return json.loads(text)

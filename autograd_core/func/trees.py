"""Values in lists, tuples and dictionaries, one in another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


def leaves_of(value: Any) -> list[Any]:
    """Return what lies in ``value`` and is no list, tuple or dictionary itself."""
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves_of(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves_of(part)]
    return [value]


def rebuilt(like: Any, leaves: Sequence[Any]) -> Any:
    """Return ``like`` with ``leaves`` in the places of its own."""
    return _take(like, iter(leaves))


def structure_of(value: Any) -> str:
    """Return ``value`` with a star for each leaf: what two of one structure have in common."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {structure_of(value[key])}' for key in value)}}}"
    if isinstance(value, (list, tuple)):
        inside = ", ".join(map(structure_of, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return "*"


def _take(like: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(like, dict):
        return type(like)((key, _take(value, leaves)) for key, value in like.items())
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*(_take(part, leaves) for part in like))
    if isinstance(like, (list, tuple)):
        return type(like)(_take(part, leaves) for part in like)
    return next(leaves)

"""Dimensions as users number them, checked and counted from the front."""

from __future__ import annotations

from collections.abc import Iterable


def wrapped(dim: int, rank: int, *, of_scalars: bool = True) -> int:
    """Return ``dim`` of a tensor with ``rank`` dimensions, counted from the front.

    A tensor without dimensions is taken as a vector of one element, if ``of_scalars``.

    Raises:
        IndexError: there is no such dimension.
    """
    if not (rank or of_scalars):
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    count = rank or 1
    if -count <= dim < count:
        return dim + count if dim < 0 else dim
    raise IndexError(
        f"Dimension out of range (expected to be in range of [{-count}, {count - 1}], but got "
        f"{dim})"
    )


def wrapped_all(dims: Iterable[int], rank: int, *, of_scalars: bool = True) -> tuple[int, ...]:
    """:func:`wrapped` of several dimensions.

    Raises:
        IndexError: there is no such dimension.
        RuntimeError: one is given twice.
    """
    found: list[int] = []
    for dim in dims:
        place = wrapped(dim, rank, of_scalars=of_scalars)
        if place in found:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims")
        found.append(place)
    return tuple(found)

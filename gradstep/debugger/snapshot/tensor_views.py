"""Views of a tensor that does not fit on a screen: a histogram, a heat map, a slice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_PART = re.compile(r"(-?\d+)|(-?\d*):(-?\d*)(?::(-?\d*))?|(\.\.\.)")


class Histogram(NamedTuple):
    """The numbers of finite elements from ``edges[k]`` to ``edges[k + 1]``, and of NaNs and
    infinities."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    nans: int
    infs: int


def widened(array: Array) -> NDArray[np.float64]:
    """Return ``array`` in double precision, signalling NaNs included."""
    with np.errstate(all="ignore"):
        return np.asarray(array, np.float64)


def histogram(array: Array, bins: int = 20) -> Histogram:
    """Count the elements of ``array`` in ``bins`` intervals of equal width.

    >>> histogram(np.array([0.0, 1.0, 1.0, np.nan]), 2)
    Histogram(edges=(0.0, 0.5, 1.0), counts=(1, 2), nans=1, infs=0)
    """
    values = widened(array).ravel()
    finite = values[np.isfinite(values)]
    nans = int(np.isnan(values).sum())
    infs = values.size - finite.size - nans
    if not finite.size:
        return Histogram((), (), nans, infs)
    low, high = float(finite.min()), float(finite.max())
    if low == high or not np.isfinite(high - low):
        return Histogram((low, high), (finite.size,), nans, infs)
    counts, edges = np.histogram(finite, bins)
    return Histogram(tuple(edges.tolist()), tuple(counts.tolist()), nans, infs)


class HeatMap(NamedTuple):
    """A tensor as a picture: the mean of the finite elements in each cell (NaN if there are none),
    and whether the cell contains others."""

    means: NDArray[np.float64]
    trouble: NDArray[np.bool_]


def heat_map(array: Array, rows: int, columns: int) -> HeatMap:
    """Shrink ``array`` to at most ``rows`` by ``columns`` cells.

    The last dimension runs along the columns, all others one after the other along the rows.

    >>> heat_map(np.arange(8.0).reshape(2, 4), 2, 2).means.tolist()
    [[0.5, 2.5], [4.5, 6.5]]
    """
    values = widened(array)
    width = values.shape[-1] if values.ndim else 1
    flat = values.reshape(values.size // width if width else 0, width)
    if not flat.size:
        return HeatMap(np.zeros((0, 0)), np.zeros((0, 0), bool))
    good = np.isfinite(flat)
    sums = _shrunk(np.where(good, flat, 0.0), rows, columns)
    counts = _shrunk(good.astype(np.float64), rows, columns)
    cells = _shrunk(np.ones(flat.shape), rows, columns)
    with np.errstate(all="ignore"):
        return HeatMap(sums / counts, counts < cells)


def _shrunk(flat: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    for axis, most in ((0, rows), (1, columns)):
        size = flat.shape[axis]
        starts = (np.arange(min(size, most)) * size) // min(size, most)
        flat = np.add.reduceat(flat, starts, axis=axis)
    return flat


def slice_of(array: Array, text: str) -> Array:
    """Return the part of ``array`` that ``text`` names, as between NumPy's brackets: ``0, :, 2:5``.

    Raises:
        ValueError: the text is no slice, or names what the tensor does not have.
    """
    parts: list[int | slice | EllipsisType] = []
    for word in text.strip().strip("[]").split(","):
        match = _PART.fullmatch(word.strip())
        if match is None:
            raise ValueError(
                f"'{word.strip()}' is not part of a slice: write numbers, ranges such as 2:5, :, "
                "or ..., separated by commas"
            )
        parts.append(_part(match))
    return part_of(array, parts, text.strip().strip("[]"))


def part_of(array: Array, parts: Sequence[int | slice | EllipsisType | None], text: str) -> Array:
    """Return a part of ``array``, which was written as ``text``.

    Raises:
        ValueError: it has no such part.
    """
    try:
        return np.asarray(array[tuple(parts)])
    except IndexError:
        shape = f"the shape {list(array.shape)}" if array.ndim else "one number"
        raise ValueError(f"there is no part [{text}] in {shape}") from None
    except ValueError as error:  # a step of zero
        raise ValueError(f"'{text}' is not a slice: {error}") from None


def _part(match: re.Match[str]) -> int | slice | EllipsisType:
    index, start, stop, step, dots = match.groups()
    if dots:
        return ...
    if index is not None:
        return int(index)
    return slice(*(int(bound) if bound else None for bound in (start, stop, step)))

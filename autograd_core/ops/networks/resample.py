"""Images of another size, or with other borders: each element a weighted sum of some elements.

All of these are linear and go one dimension after the other.  What one dimension becomes is a
table, :class:`Taps`; its transpose is the derivative.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from autograd_core.op import Second, op
from autograd_core.ops.checks import check_implemented


class Taps(NamedTuple):
    """A sparse matrix: entries by row, where each ``target`` is a row and ``source`` a column."""

    targets: Any
    sources: Any
    weights: Any
    length: int
    source_length: int

    def transposed(self) -> Taps:
        """Return the same matrix by columns."""
        order = np.argsort(self.sources, kind="stable")
        return Taps(self.sources[order], self.targets[order], self.weights[order],
                    self.source_length, self.length)  # fmt: skip

    def along(self, x: Any, axis: int) -> Any:
        """Return ``x`` multiplied with the matrix along ``axis``.

        By gathering, not as a dense product: a NaN must stay where it is.
        """
        picked = np.take(x, self.sources, axis)
        if (self.weights != 1).any():
            picked *= self.weights.astype(x.dtype).reshape(-1, *(1,) * (x.ndim - 1 - axis))
        starts = np.flatnonzero(np.diff(self.targets, prepend=-1))
        if len(starts) != len(self.targets):
            picked = np.add.reduceat(picked, starts, axis)
        if len(starts) == self.length:
            return picked
        shape = list(x.shape)
        shape[axis] = self.length
        result = np.zeros(shape, x.dtype)
        result[(slice(None),) * axis + (self.targets[starts],)] = picked
        return result

    def __repr__(self) -> str:
        return f"<{self.source_length} to {self.length}>"


Maps = tuple[Taps, ...]


def _taps(targets: Any, sources: Any, weights: Any, length: int, source_length: int) -> Taps:
    """Entries in order; those of weight 0 left out."""
    kept = np.asarray(weights) != 0
    targets, sources, weights = (
        np.broadcast_to(np.asarray(column, kind), kept.shape)[kept]
        for column, kind in ((targets, np.int64), (sources, np.int64), (weights, None))
    )
    order = np.argsort(targets, kind="stable")
    return Taps(targets[order], sources[order], weights[order], length, source_length)


@op(self=lambda g, maps: resampled(g, transposed(maps)), linear=True)
def resampled(self, /, maps):
    """Return the last dimensions of ``self`` multiplied with the matrices ``maps``, one each."""
    for axis, taps in enumerate(maps, self.ndim - len(maps)):
        self = taps.along(self, axis)
    return np.ascontiguousarray(self)


def transposed(maps: Maps) -> Maps:
    """Return the maps of the derivative."""
    return tuple(taps.transposed() for taps in maps)


_rule = lambda g, maps: resampled(g, transposed(maps))  # noqa: E731  # the text of a formula
_rule_with_input = lambda g, self, maps: resampled(g, transposed(maps))  # noqa: E731


def _entry(
    name: str, node: str, doc: str, implementation: str, *others: Any, keeps: bool = False
) -> Any:
    """Return an op of its own in the table, as PyTorch has a node of its own for each kind and
    number of dimensions.

    Args:
        implementation: PyTorch's name of its kernel.
        others: dtypes it is for besides floating point numbers.
        keeps: whether its node keeps the input.
    """

    def kernel(self, /, maps):
        if self.dtype not in others:
            check_implemented(implementation, self)
        if self.dtype == np.uint8 and any((taps.weights != 1).any() for taps in maps):
            return _of_bytes(self, maps)
        return resampled(self, maps)

    kernel.__name__ = name
    kernel.__doc__ = doc
    rule = _rule_with_input if keeps else _rule
    second = Second(f"{node[:-1]}Backward0", lambda g, maps: resampled(g, maps)) if keeps else None
    declare = op(self=rule, second=second, linear=True, node=node)
    return declare(kernel)


def _of_bytes(x: Any, maps: Maps) -> Any:
    """Return the same for bytes, rounded after each dimension, the last of which comes first."""
    for axis in reversed(range(x.ndim - len(maps), x.ndim)):
        sums = maps[axis - x.ndim].along(x.astype(np.float64), axis)
        x = np.clip(np.floor(sums + 0.5), 0, 255)
    return x.astype(np.uint8)


# --- what one dimension becomes ----------------------------------------------------------------


@lru_cache(maxsize=256)
def mean_of_windows(size: int, count: int) -> Taps:
    """Return the means of ``count`` windows that cover all elements."""
    if not count:
        return _taps([], [], [], 0, size)
    starts = [i * size // count for i in range(count)]
    ends = [-(-(i + 1) * size // count) for i in range(count)]
    lengths = [end - start for start, end in zip(starts, ends, strict=True)]
    sources = [s for start, end in zip(starts, ends, strict=True) for s in range(start, end)]
    weights = np.repeat([1 / n for n in lengths], lengths)
    return _taps(np.repeat(np.arange(count), lengths), np.array(sources), weights, count, size)


@lru_cache(maxsize=256)
def nearest(size: int, count: int, scale: float | None = None, exact: bool = False) -> Taps:
    """Return each element repeated, or left out."""
    ratio = 1 / scale if scale else size / count
    places = (np.arange(count) + (0.5 if exact else 0.0)) * np.float32(ratio).astype(np.float64)
    sources = np.minimum(np.floor(places).astype(np.int64), size - 1)
    return _taps(np.arange(count), sources, np.ones(count), count, size)


def _positions(size: int, count: int, scale: float | None, align_corners: bool) -> Any:
    """Return where in the source each element of the result lies."""
    if align_corners:
        return np.arange(count) * ((size - 1) / (count - 1) if count > 1 else 0.0)
    return (np.arange(count) + 0.5) * (1 / scale if scale else size / count) - 0.5


@lru_cache(maxsize=256)
def linear(size: int, count: int, scale: float | None = None, align_corners: bool = False) -> Taps:
    """Between two neighbours, in the ratio of the distances."""
    places = np.maximum(_positions(size, count, scale, align_corners), 0)
    first = np.minimum(np.floor(places).astype(np.int64), size - 1)
    second = np.minimum(first + 1, size - 1)
    part = np.clip(places - first, 0, 1)
    targets = np.repeat(np.arange(count), 2)
    sources, weights = np.stack([first, second], 1).ravel(), np.stack([1 - part, part], 1).ravel()
    return _taps(targets, sources, weights, count, size)


def cubic_weights(part: Any, a: float = -0.75) -> list[Any]:
    """Return the weights of four neighbours, the second of which lies ``part`` before."""

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(part + 1), near(part), near(1 - part), far(2 - part)]


@lru_cache(maxsize=256)
def cubic(size: int, count: int, scale: float | None = None, align_corners: bool = False) -> Taps:
    """From four neighbours, by a polynomial of degree three."""
    places = _positions(size, count, scale, align_corners)
    first = np.floor(places)
    weights = np.stack(cubic_weights(places - first), 1).ravel()
    sources = np.clip(first[:, None] + np.arange(-1, 3), 0, size - 1).astype(np.int64).ravel()
    return _taps(np.repeat(np.arange(count), 4), sources, weights, count, size)


@lru_cache(maxsize=256)
def antialiased(
    size: int, count: int, scale: float | None = None, align_corners: bool = False, degree: int = 1
) -> Taps:
    """Return a filter as wide as an element of the result is, when that is smaller."""
    ratio = (size - 1) / (count - 1) if align_corners and count > 1 else (
        0.0 if align_corners else 1 / scale if scale else size / count)  # fmt: skip
    width = max(ratio, 1.0)
    reach = width * (1 if degree == 1 else 2)
    targets: list[int] = []
    sources: list[int] = []
    weights: list[float] = []
    for i in range(count):
        centre = ratio * (i + 0.5)
        start = max(int(centre - reach + 0.5), 0)
        end = min(int(centre + reach + 0.5), size)
        taps = [_filter((j - centre + 0.5) / width, degree) for j in range(start, end)]
        total = math.fsum(taps) or 1.0
        targets += [i] * len(taps)
        sources += range(start, end)
        weights += [w / total for w in taps]
    return _taps(np.array(targets), np.array(sources), np.array(weights), count, size)


def _filter(x: float, degree: int) -> float:
    x = abs(x)
    if degree == 1:
        return max(1 - x, 0.0)
    a = -0.5
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


@lru_cache(maxsize=256)
def border(size: int, before: int, after: int, mode: str) -> Taps:
    """Return elements of the source again before and after it: mirrored, those at the ends, or
    those at the other end; negative numbers cut off."""
    places = np.arange(-before, size + after)
    if mode == "reflect":
        period = 2 * (size - 1) or 1
        places = np.abs(places) % period
        places = np.where(places >= size, period - places, places)
    elif mode == "replicate":
        places = np.clip(places, 0, size - 1)
    else:  # of what is left after cutting
        start = max(-before, 0)
        rest = size - start - max(-after, 0)
        places = start + np.arange(-max(before, 0), rest + max(after, 0)) % max(rest, 1)
    return _taps(np.arange(len(places)), places, np.ones(len(places)), len(places), size)


# --- the entries -------------------------------------------------------------------------------


_COUNTS = (np.uint8, np.int8, np.int16, np.int32, np.int64)
# fmt: off
ADAPTIVE_MEAN = {
    n: _entry(f"adaptive_avg_pool{n}d", f"AdaptiveAvgPool{n}DBackward0",
              "The means of as many windows as are asked for.",
              f"adaptive_avg_pool{n}d{suffix}", keeps=True)
    for n, suffix in ((2, ""), (3, "_cpu"))
}
NEAREST = {
    n: _entry(f"upsample_nearest{n}d", f"UpsampleNearest{n}DBackward0",
              "Elements repeated, or left out.",
              "compute_indices_weights_nearest",
              np.uint8)
    for n in (1, 2, 3)
}
NEAREST_EXACT = {
    n: _entry(f"upsample_nearest_exact{n}d", f"UpsampleNearestExact{n}DBackward0",
              "Elements repeated, or left out, by the distance of their middles.",
              "compute_indices_weights_nearest", np.uint8)
    for n in (1, 2, 3)
}
LINEAR = {
    n: _entry(f"upsample_{kind}{n}d", f"Upsample{kind.capitalize()}{n}DBackward0",
              "Between neighbours, in the ratio of the distances.",
              "compute_indices_weights_linear", *others)
    for n, kind, *others in ((1, "linear"), (2, "bilinear", np.uint8), (3, "trilinear"))
}
BICUBIC = _entry("upsample_bicubic2d", "UpsampleBicubic2DBackward0",
                 "From four by four neighbours, by polynomials.",
              "compute_indices_weights_cubic", np.uint8)
BILINEAR_AA = _entry(
    "upsample_bilinear2d_aa",
    "UpsampleBilinear2DAaBackward0",
    "Between neighbours, filtered where the image shrinks.",
    "compute_index_ranges_weights",
    np.uint8,
)
BICUBIC_AA = _entry("upsample_bicubic2d_aa", "UpsampleBicubic2DAaBackward0",
                    "By polynomials, filtered where the image shrinks.",
              "compute_index_ranges_weights", np.uint8)
REFLECTION = {
    n: _entry(f"reflection_pad{n}d", f"ReflectionPad{n}DBackward0",
              "A border that mirrors the image.",
              f"reflection_pad{n}d", *_COUNTS,
              keeps=True)
    for n in (1, 2, 3)
}
REPLICATION = {
    n: _entry(f"replication_pad{n}d", f"ReplicationPad{n}DBackward0",
              "A border that repeats the edge of the image.",
              f"replication_pad{n}d",
              *_COUNTS, keeps=True)
    for n in (1, 2, 3)
}
# fmt: on


@op(self=lambda g, maps: resampled(g, transposed(maps)), linear=True)
def circular_pad(self, /, maps):
    """Return a border that continues at the other end of the image."""
    return resampled(self, maps)

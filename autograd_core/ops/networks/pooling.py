"""Pooling over windows of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from autograd_core.op import Second, op
from autograd_core.op.blocks import BLOCK, numbers
from autograd_core.ops.checks import check_not_bool
from autograd_core.ops.networks.windows import Windows
from autograd_core.ops.pointwise.elementwise import masked


def _maxima(dims: int) -> Any:
    """Return the rules of maxima in windows of so many dimensions."""
    return op(
        self=lambda g, self, result1, kernel_size, stride, padding, dilation: max_pool_backward(
            g, result1, self.shape, kernel_size, stride, padding, dilation
        ),
        second=Second(
            f"MaxPool{dims}DWithIndicesBackwardBackward0",
            lambda g, result1, kernel_size, stride, padding, dilation: max_pool_gather(
                g, result1, kernel_size, stride, padding, dilation
            ),
        ),
        outputs="result result1",
        nondiff="result1",
        hidden="result1",
        node=f"MaxPool{dims}DWithIndicesBackward0",
    )


@_maxima(2)
def max_pool2d(self, /, kernel_size, stride, padding=(0, 0), dilation=(1, 1), ceil_mode=False):
    """Return the largest element in each window of images (..., H, W), the first of equal ones.

    ``result1`` says where in its window each was found, counting row by row.
    """
    check_not_bool("max_pool2d", self)
    return _largest(self, Windows(kernel_size, stride, padding, dilation), ceil_mode)


@_maxima(3)
def max_pool3d(
    self, /, kernel_size, stride, padding=(0, 0, 0), dilation=(1, 1, 1), ceil_mode=False
):
    """Return the largest element in each window of volumes (..., D, H, W), the first of equals."""
    check_not_bool("max_pool3d", self)
    return _largest(self, Windows(kernel_size, stride, padding, dilation), ceil_mode)


def _largest(x: Any, windows: Windows, ceil_mode: bool) -> tuple[Any, Any]:
    size = x.shape[x.ndim - len(windows.kernel) :]
    output = pooled_size(x, windows, ceil_mode)
    padded = x
    if windows.padded_size(size, output) != size:
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        padded = padded_image(x.shape, windows, output, x.dtype, lowest)
        padded[(..., *windows.inside(size))] = x
    if 0 < x.size <= _SMALL and windows.tile(size):
        rows = _tiles(x, windows, output).reshape(-1, math.prod(windows.kernel))
        places = rows.argmax(1)
        # picked by their places: a maximum of rows of four takes three times as long
        result = rows.reshape(-1).take(places + _starts(*rows.shape))
        # a product, which takes a quarter of the time of looking for NaN
        if not _is_nan(result.dot(result)):
            shape = (*x.shape[: x.ndim - len(size)], *output)
            return result.reshape(shape), places.astype(np.int16).reshape(shape)
    patches = [patch for _, patch in windows.offsets(padded, output, axis=x.ndim - len(size))]
    result = patches[0].copy()
    for patch in patches[1:]:
        np.maximum(result, patch, out=result)  # to it, as to PyTorch, NaN is the largest
    return result, _first_places(patches, result)


_SMALL: Final = 1 << 12  # elements of images for which calls of NumPy count, not what they do


def _tiles(x: Any, windows: Windows, output: tuple[int, ...]) -> Any:
    """Return what lies in each window of images that windows tile, as the last dimension."""
    lead, count = x.shape[: x.ndim - len(output)], len(output)
    pairs = [n for pair in zip(output, windows.kernel, strict=True) for n in pair]
    tiles = x.reshape(*lead, *pairs).transpose(_tile_order(len(lead), count))
    return tiles.reshape(*lead, *output, -1)


def _from_tiles(rows: Any, windows: Windows, shape: tuple[int, ...]) -> Any:
    """Return images of ``shape`` from what :func:`_tiles` makes of them."""
    count = len(windows.kernel)
    tiles = rows.reshape(*rows.shape[:-1], *windows.kernel)
    return tiles.transpose(_image_order(len(shape) - count, count)).reshape(shape)


@lru_cache(maxsize=64)
def _tile_order(lead: int, count: int) -> tuple[int, ...]:
    """Return the dimensions of images cut into tiles, those within tiles last."""
    inner = range(lead, lead + 2 * count)
    return (*range(lead), *inner[::2], *inner[1::2])


@lru_cache(maxsize=64)
def _image_order(lead: int, count: int) -> tuple[int, ...]:
    """Return the order that undoes :func:`_tile_order`."""
    order = _tile_order(lead, count)
    return tuple(order.index(n) for n in range(len(order)))


@lru_cache(maxsize=64)
def _starts(count: int, length: int) -> Any:
    """Return where each of so many rows begins, only to be read."""
    return np.arange(count) * length


def _is_nan(number: Any) -> bool:
    return bool(number != number)


def pooled_size(x: Any, windows: Windows, ceil_mode: bool) -> tuple[int, ...]:
    """Return how many windows there are in images along each dimension.

    Raises:
        RuntimeError: there are none.
    """
    axis = x.ndim - len(windows.kernel)
    output = windows.output_size(x.shape[axis:], ceil_mode)
    if min(output) < 1:
        before, after = (
            "x".join(map(str, (x.shape[axis - 1], *size))) for size in (x.shape[axis:], output)
        )
        raise RuntimeError(
            f"Given input size: ({before}). Calculated output size: ({after}). Output size is too "
            "small"
        )
    return output


def _first_places(patches: Sequence[Any], largest: Any) -> Any:
    """Return the number of the first of ``patches`` to have each of the elements ``largest``; of
    NaN the last, as PyTorch has it.

    From the back, one more than before, or 0 where it is there: four times as fast as storing
    where a comparison holds.
    """
    places = np.zeros(largest.shape, np.int16)
    for patch in patches[-2::-1]:
        places += 1
        places *= patch != largest
    if largest.size and _is_nan(np.maximum.reduce(largest, None)):
        for place, patch in enumerate(patches):
            places[np.isnan(patch)] = place
    return places


def best_places(rows: Any) -> Any:
    """Return where in each row the largest element is, the first of equals; of NaN the last."""
    places = np.argmax(rows, -1)
    if rows.dtype.kind == "f":
        strange = np.isnan(rows)
        last = rows.shape[-1] - 1 - np.argmax(strange[..., ::-1], -1)
        places = np.where(np.any(strange, -1), last, places)
    return places


def indices_of(places: Any, windows: Windows, size: tuple[int, ...]) -> Any:
    """Return where in the whole image each place in a window is, counting row by row."""
    within = np.unravel_index(places.astype(np.int64), windows.kernel)
    result: Any = 0
    for axis, offset in enumerate(within):
        shape = [1] * len(size)
        shape[axis] = -1
        count = places.shape[places.ndim - len(size) + axis]
        start = np.arange(count) * windows.stride[axis] - windows.padding[axis]
        coordinate = start.reshape(shape) + offset * windows.dilation[axis]
        result = result * size[axis] + coordinate
    return result


@op(
    self=lambda g, places, kernel_size, stride, padding, dilation: max_pool_gather(
        g, places, kernel_size, stride, padding, dilation
    ),
    linear=True,
)
def max_pool_backward(self, places, /, shape, kernel_size, stride, padding, dilation):
    """Return zeros of ``shape`` with ``self`` added at ``places`` of the windows."""
    windows = Windows(kernel_size, stride, padding, dilation)
    axis = len(shape) - len(kernel_size)
    output = self.shape[axis:]
    if math.prod(shape) <= _SMALL and windows.tile(shape[axis:]):
        here = places[..., None] == _numbers_of(math.prod(kernel_size))
        (zero,) = numbers(self.dtype, 0)
        return _from_tiles(np.where(here, self[..., None], zero), windows, shape)
    padded = padded_image(shape, windows, output, self.dtype, 0)
    overlap = windows.overlap
    for part in _some_images(self):  # so that what passes leave behind stays in the cache
        for place, (_, patch) in enumerate(windows.offsets(padded[part], output, axis)):
            if overlap:
                patch += masked(self[part], places[part] == place)
            else:  # half of the time
                patch[...] = masked(self[part], places[part] == place)
    if padded.shape == tuple(shape):  # no view, and so nobody else's
        return padded
    return padded[(..., *windows.inside(shape[axis:]))]


def _some_images(x: Any) -> list[slice]:
    """Return which of a batch of images, or of channels, to take together."""
    some = max(1, BLOCK * len(x) // max(1, x.size))
    return [slice(start, start + some) for start in range(0, len(x), some)]


@lru_cache(maxsize=64)
def _numbers_of(count: int) -> Any:
    """Return the numbers of places in a window, only to be read."""
    return np.arange(count, dtype=np.int16)


@op(
    self=lambda g, places, self_shape, kernel_size, stride, padding, dilation: max_pool_backward(
        g, places, self_shape, kernel_size, stride, padding, dilation
    ),
    linear=True,
)
def max_pool_gather(self, places, /, kernel_size, stride, padding, dilation):
    """Return the elements of ``self`` at ``places`` of the windows."""
    windows = Windows(kernel_size, stride, padding, dilation)
    axis = self.ndim - len(kernel_size)
    output = places.shape[axis:]
    padded = padded_image(self.shape, windows, output, self.dtype, 0)
    padded[(..., *windows.inside(self.shape[axis:]))] = self
    result = np.empty(places.shape, self.dtype)
    for place, (_, patch) in enumerate(windows.offsets(padded, output, axis)):
        np.copyto(result, patch, where=places == place)
    return result


def padded_image(
    shape: tuple[int, ...], windows: Windows, output: tuple[int, ...], kind: Any, value: Any
) -> Any:
    """Return an array for images of ``shape`` with their padding, filled with ``value``."""
    axis = len(shape) - len(windows.kernel)
    return np.full((*shape[:axis], *windows.padded_size(shape[axis:], output)), value, kind)

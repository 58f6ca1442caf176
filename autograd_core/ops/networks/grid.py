"""Images looked up at places between their elements, and the places of affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from autograd_core.op import op
from autograd_core.ops.checks import check_implemented, check_same_dtype
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.joining import stack

# By mode: how far before the element below a place its neighbours begin, and how much each of
# them counts, as polynomials of the distance from that element, lowest power first.
_A = -0.75
_WEIGHTS: dict[str, tuple[int, list[list[float]]]] = {
    "nearest": (0, [[1.0]]),
    "bilinear": (0, [[1.0, -1.0], [0.0, 1.0]]),
    "bicubic": (
        -1,
        [
            [0.0, _A, -2 * _A, _A],
            [1.0, 0.0, -(_A + 3), _A + 2],
            [0.0, -_A, 2 * _A + 3, -(_A + 2)],
            [0.0, 0.0, _A, -_A],
        ],
    ),
}


def _reflected(places: Any, low: float, high: float) -> tuple[Any, Any]:
    """Return places mirrored until they lie between ``low`` and ``high``, and in which direction
    they then move."""
    span = high - low
    if span == 0:
        return np.zeros_like(places), np.zeros_like(places)
    away = np.abs(places - low)
    turns = np.floor(away / span)
    rest = away - turns * span
    even = turns % 2 == 0
    sign = np.where(places < low, -1.0, 1.0) * np.where(even, 1.0, -1.0)
    return np.where(even, rest, span - rest) + low, sign


def _padded(places: Any, size: int, padding: str, align_corners: bool) -> tuple[Any, Any]:
    """Return places brought inside as ``padding`` says, and their slope there."""
    if padding == "zeros":
        return places, np.ones_like(places)
    slope: Any = 1.0
    if padding == "reflection":
        ends = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
        places, slope = _reflected(places, *ends)
    inside = (places > 0) & (places < size - 1)
    return np.clip(places, 0, size - 1), np.where(inside, slope, 0.0)


def _neighbours(
    coordinates: Any, size: int, mode: str, padding: str, align_corners: bool, order: int
) -> list[tuple[Any, Any]]:
    """For each neighbour along one dimension: its number, and its weight, or the derivative of
    that of the given order; those outside weigh nothing."""
    ratio = (size - 1) / 2 if align_corners else size / 2
    places = coordinates * ratio + (size - 1) / 2
    slope: Any = np.ones_like(places)
    if mode != "bicubic":
        places, slope = _padded(places, size, padding, align_corners)
    below = np.rint(places) if mode == "nearest" else np.floor(places)
    part, factor = places - below, (slope * ratio) ** order
    first, weights = _WEIGHTS[mode]
    pairs = []
    for offset, weight in enumerate(weights, first):
        number = below + offset
        if mode == "bicubic":
            number = _padded(number, size, padding, align_corners)[0]
        inside = (number >= 0) & (number < size)
        amount = polyval(part, polyder(weight, order)) * factor
        index = np.where(inside, number, 0).astype(np.int64)
        pairs.append((index, np.where(inside, amount, 0).astype(coordinates.dtype)))
    return pairs


def _taps(
    grid: Any, size: Sequence[int], mode: str, padding: str, align: bool, orders: Sequence[int]
) -> list[tuple[Any, Any]]:
    """For each neighbour of each place of ``grid`` (N, ..., dims): its number in the flattened
    image of ``size``, and its weight, both (N, 1, places)."""
    flat = grid.reshape(grid.shape[0], 1, prod(grid.shape[1:-1]), grid.shape[-1])
    along = [
        _neighbours(flat[..., len(size) - 1 - axis], n, mode, padding, align, orders[axis])
        for axis, n in enumerate(size)
    ]
    taps = []
    for corner in product(*along):
        number, weight = corner[0]
        for (place, amount), n in zip(corner[1:], size[1:], strict=True):
            number, weight = number * n + place, weight * amount
        taps.append((number, weight))
    return taps


def _slopes(g: Any, x: Any, grid: Any, options: tuple[str, str, bool], orders: Any) -> Any:
    """Return the gradient of ``grid``: one more derivative along each dimension, weighed by
    ``g``."""
    return stack(
        [
            sum_dim(g * sampled_at(x, grid, *options, tuple(raised)), 1)
            for raised in (
                [order + (axis == along) for axis, order in enumerate(orders)]
                for along in reversed(range(len(orders)))
            )
        ],
        dim=-1,
    )


_GRID_RULES: dict[str, Any] = {
    "input": lambda g, grid, input_shape, mode, padding_mode, align_corners: spread_from(
        g, grid, input_shape, mode, padding_mode, align_corners, (0,) * (len(input_shape) - 2)
    ),
    "grid": lambda g, input, grid, input_shape, mode, padding_mode, align_corners: _slopes(
        g, input, grid, (mode, padding_mode, align_corners), (0,) * (len(input_shape) - 2)
    ),
}


@op(**_GRID_RULES, node="GridSampler2DBackward0")
def grid_sampler_2d(input, grid, /, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Return the images ``input`` (N, C, H, W) at the places ``grid`` (N, h, w, 2): x and y from -1
    to 1.

    Args:
        mode: "nearest", "bilinear" or "bicubic".
        padding_mode: the values outside: "zeros", the "border", or a "reflection".
        align_corners: whether -1 and 1 are the middles of the outermost elements, or their edges.
    """
    _check_dtypes("grid_sampler_2d_cpu_kernel_impl", input, grid)
    return _sampled(input, grid, mode, padding_mode, align_corners, (0, 0))


@op(**_GRID_RULES, node="GridSampler3DBackward0")
def grid_sampler_3d(input, grid, /, mode="bilinear", padding_mode="zeros", align_corners=False):
    """Return the volumes ``input`` (N, C, D, H, W) at the places ``grid`` (N, d, h, w, 3)."""
    _check_dtypes("grid_sampler_3d_cpu", input, grid)
    return _sampled(input, grid, mode, padding_mode, align_corners, (0, 0, 0))


def _check_dtypes(kernel: str, x: Any, grid: Any) -> None:
    check_implemented(kernel, x)
    check_same_dtype(x, grid)


def _sampled(x: Any, grid: Any, mode: str, padding: str, align: bool, orders: Sequence[int]) -> Any:
    batch, channels, *size = x.shape
    flat = x.reshape(batch, channels, prod(size))
    rows, columns = np.arange(batch)[:, None, None], np.arange(channels)[None, :, None]
    result = np.zeros((batch, channels, prod(grid.shape[1:-1])), x.dtype)
    for number, weight in _taps(grid, size, mode, padding, align, orders):
        result += flat[rows, columns, number] * weight
    return result.reshape(batch, channels, *grid.shape[1:-1])


@op(
    self=lambda g, grid, self_shape, mode, padding_mode, align_corners, orders: spread_from(
        g, grid, self_shape, mode, padding_mode, align_corners, orders
    ),
    grid=lambda g, self, grid, mode, padding_mode, align_corners, orders: _slopes(
        g, self, grid, (mode, padding_mode, align_corners), orders
    ),
)
def sampled_at(self, grid, /, mode, padding_mode, align_corners, orders):
    """Return the derivative of :func:`grid_sampler_2d` by the places, ``orders`` times along each
    dimension of the image."""
    return _sampled(self, grid, mode, padding_mode, align_corners, orders)


@op(
    self=lambda g, grid, mode, padding_mode, align_corners, orders: sampled_at(
        g, grid, mode, padding_mode, align_corners, orders
    ),
    grid=lambda g, self, grid, mode, padding_mode, align_corners, orders: _slopes(
        self, g, grid, (mode, padding_mode, align_corners), orders
    ),
)
def spread_from(self, grid, /, shape, mode, padding_mode, align_corners, orders):
    """Return images of ``shape`` to which ``self`` was added in the places and by the weights with
    which :func:`sampled_at` looks them up."""
    batch, channels, *size = shape
    result = np.zeros((batch, channels, prod(size)), self.dtype)
    rows, columns = np.arange(batch)[:, None, None], np.arange(channels)[None, :, None]
    values = self.reshape(batch, channels, prod(self.shape[2:]))
    for number, weight in _taps(grid, size, mode, padding_mode, align_corners, orders):
        np.add.at(result, (rows, columns, number), values * weight)
    return result.reshape(shape)


def _base(size: Sequence[int], align_corners: bool, kind: Any) -> Any:
    """Return the places of all elements, from -1 to 1, and a one: (elements, dims + 1)."""
    sides = []
    for n in size:
        side = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
        sides.append(side if align_corners else side * (n - 1) / n)
    axes = np.meshgrid(*sides, indexing="ij")[::-1]
    return np.stack([*axes, np.ones(tuple(size))], -1).reshape(-1, len(size) + 1).astype(kind)


@op(theta=lambda g, size, align_corners: affine_grid_sums(g, size, align_corners), linear=True)
def affine_grid_generator(theta, /, size, align_corners=False):
    """Return where the affine maps ``theta`` (N, dims, dims + 1) take the places of images of
    ``size`` (N, C, ...)."""
    base = _base(size[2:], align_corners, theta.dtype)
    return (base @ theta.swapaxes(1, 2)).reshape(size[0], *size[2:], len(size) - 2)


@op(self=lambda g, size, align_corners: affine_grid_generator(g, size, align_corners), linear=True)
def affine_grid_sums(self, /, size, align_corners):
    """Return the gradient of the maps from that of the places."""
    flat = self.reshape(size[0], prod(size[2:]), len(size) - 2)
    return flat.swapaxes(1, 2) @ _base(size[2:], align_corners, self.dtype)

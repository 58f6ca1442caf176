"""Resizing, padding, windows as columns, and other functions of images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_core.nn.functional.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
)
from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.nn.functional.window_checks import check_columns, check_unfolded, folded
from autograd_core.ops.networks import im2col, resample
from autograd_core.ops.shaping import shuffle
from autograd_core.ops.shaping.rearrange import constant_pad_nd
from autograd_core.tensor import Tensor


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Return ``input`` padded or, with negative numbers, cropped.

    Args:
        pad: the widths before and after, starting with the last dimension.
        mode: "constant" (``value``), "reflect", "replicate" (repeat the edge) or "circular".
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            f"padding length {len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad_nd(input, tuple(pad), 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pad) // 2
    _check_padded(mode, dims, input)
    around = [(pad[2 * i], pad[2 * i + 1]) for i in reversed(range(dims))]
    size = input._shape[input.ndim - dims :]
    for n, widths in zip(size, around, strict=True):
        _check_border(mode, n, widths, input, pad)
    requested = [n + sum(widths) for n, widths in zip(size, around, strict=True)]
    if mode == "circular" and min(requested) < 0:
        raise RuntimeError("Negative padding value is resulting in an empty dimension")
    if mode != "circular" and min(requested) < (dims != 2):
        names = "DHW"[-dims:]
        given = ", ".join(f"{name}: {n}" for name, n in zip(names, size, strict=True))
        got = " ".join(f"{name}: {n}" for name, n in zip(names, requested, strict=True))
        raise RuntimeError(f"input ({given}) is too small. Calculated output {got}")
    maps = tuple(resample.border(n, *widths, mode) for n, widths in zip(size, around, strict=True))
    if mode == "circular":
        return resample.circular_pad(input, maps)
    return (resample.REFLECTION if mode == "reflect" else resample.REPLICATION)[dims](input, maps)


def _check_padded(mode: str, dims: int, x: Tensor) -> None:
    if not dims or x.ndim not in (dims + 1, dims + 2):
        raise NotImplementedError(
            f"Padding size {2 * dims} is not supported for {x.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode != "circular" and 0 in x._shape[x.ndim - dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size "
            f"and other non-zero dimensions for input, but got: {list(x.shape)}"
        )


def _check_border(mode: str, n: int, widths: tuple[int, int], x: Tensor, pad: Any) -> None:
    if mode == "reflect" and max(widths) >= n:
        dim = x.ndim - 1 - next(i for i in range(len(pad) // 2) if max(pad[2 * i : 2 * i + 2]) >= n)
        raise RuntimeError(
            "Argument #4: Padding size should be less than the corresponding input dimension, "
            f"but got: padding ({widths[0]}, {widths[1]}) at dimension {dim} of input "
            f"{list(x.shape)}"
        )
    if mode == "circular" and max(widths) > max(n + sum(min(width, 0) for width in widths), 0):
        raise RuntimeError("Padding value causes wrapping around more than once.")


_ANY = ("nearest", "nearest-exact", "area")
_NONE = (("bicubic", 1), ("bicubic", 3))
_DIMS = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def interpolate(
    input: Tensor,
    size: Sizes | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize images (N, C, ...) to ``size``, or by ``scale_factor``.

    Args:
        mode: "nearest", "nearest-exact", "linear" (signals), "bilinear" and "bicubic" (images),
            "trilinear" (volumes), or "area" (means).
        align_corners: whether the outermost elements stay where they are; if not, the outer
            edges do.
        antialias: whether images are filtered when they shrink ("bilinear" and "bicubic").
    """
    dims = input.ndim - 2
    requested, scales = _target(input, dims, size, scale_factor, recompute_scale_factor)
    if mode in _ANY and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            "| bicubic | trilinear"
        )
    if (mode not in _DIMS and mode not in _ANY) or dims not in (1, 2, 3) or (mode, dims) in _NONE:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.ndim}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | "
            f"lanczos | area | nearest-exact (got {mode})"
        )
    if mode in _DIMS and _DIMS[mode] != dims:
        raise NotImplementedError(
            f"Got {input.ndim}D input, but {mode} mode needs {_DIMS[mode] + 2}D input"
        )
    if mode == "area":
        pools = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)
        return pools[dims - 1](input, requested)
    _check_resized(input, requested)
    return _resized(input, mode, requested, scales, bool(align_corners), antialias)


def _resized(
    x: Tensor, mode: str, requested: tuple[int, ...], scales: Any, align: bool, antialias: bool
) -> Tensor:
    dims = len(requested)
    sides = list(zip(x._shape[2:], requested, scales, strict=True))
    if mode.startswith("nearest"):
        exact = mode == "nearest-exact"
        maps = tuple(resample.nearest(n, w, s, exact) for n, w, s in sides)
        return (resample.NEAREST_EXACT if exact else resample.NEAREST)[dims](x, maps)
    if antialias:
        degree = 3 if mode == "bicubic" else 1
        maps = tuple(resample.antialiased(n, w, s, align, degree) for n, w, s in sides)
        return (resample.BICUBIC_AA if degree == 3 else resample.BILINEAR_AA)(x, maps)
    if mode == "bicubic":
        return resample.BICUBIC(x, tuple(resample.cubic(n, w, s, align) for n, w, s in sides))
    maps = tuple(resample.linear(n, w, s, align) for n, w, s in sides)
    return resample.LINEAR[dims](x, maps)


def _target(
    x: Tensor, dims: int, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Return the size of the result, and the factors where they were given and count."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if not isinstance(size, int) and len(size) != dims:
            raise ValueError(_other_rank("size", x, size))
        return sizes(size, dims), (None,) * dims
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if not isinstance(scale_factor, int | float) and len(scale_factor) != dims:
        raise ValueError(_other_rank("scale_factor", x, scale_factor))
    factors = (scale_factor,) * dims if isinstance(scale_factor, int | float) else scale_factor
    requested = tuple(math.floor(n * f) for n, f in zip(x._shape[2:], factors, strict=True))
    return requested, (None,) * dims if recompute else tuple(map(float, factors))


def _other_rank(option: str, x: Tensor, given: Sequence[float]) -> str:
    form = "(o_1, o_2, ...,o_K)" if option == "size" else "(s_1, s_2, ...,s_K)"
    name, what = ("output", "size") if option == "size" else ("scale_factor", "")
    return (
        f"Input and {name} must have the same number of spatial dimensions, but got input with "
        f"spatial dimensions of {list(x._shape[2:])} and {(name + ' ' + what).strip()} of "
        f"{given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
        f"{(name + ' ' + what).strip()} in {form} format."
    )


def _check_resized(x: Tensor, requested: Sequence[int]) -> None:
    size = x._shape[2:]
    if min(*size, *requested) <= 0:
        names = "DHW"[-len(size) :]
        before, after = (
            ", ".join(f"{name}: {n}" for name, n in zip(names, numbers, strict=True))
            for numbers in (size, requested)
        )
        joint = " and output" if len(size) == 1 else " output"
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({before}){joint} "
            f"({after})"
        )
    if not math.prod(x._shape[1:]):
        raise RuntimeError(
            f"Non-empty {x.ndim}D data tensor expected but got a tensor with sizes {list(x.shape)}"
        )


def unfold(
    input: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
) -> Tensor:
    """Return the elements in each window of images (N, C, H, W), as columns (N, C * h * w,
    windows)."""
    options = folded(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    check_unfolded(input)
    return im2col.im2col(input, **options)


def fold(
    input: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """Combine columns from :func:`unfold` into images; elements of overlapping windows are
    added."""
    options = folded(
        output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding,
        stride=stride,
    )  # fmt: skip
    check_columns(input)
    return im2col.col2im(input, **options)


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Rearrange channels (..., C * r * r, H, W) into larger images (..., C, H * r, W * r)."""
    return shuffle.pixel_shuffle(input, upscale_factor)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Invert :func:`pixel_shuffle`."""
    return shuffle.pixel_unshuffle(input, downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Reorder the channels of (N, C, ...): one from each group in turn."""
    return shuffle.channel_shuffle(input, groups)

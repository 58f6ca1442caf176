"""Convolution of pictures whose windows move by one row at a time, as a matrix product for each row
of the kernel.

What lies in the windows is copied once for each column of the kernel, not for each of its places:
a row further down is the same memory further on.  Three times as fast as columns of whole patches
for a kernel of 3x3 on sixteen channels.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_core.ops.networks.windows import Windows

_SUMMED: Final = 32  # terms of each sum from which on products are as fast for one row as for all
_PLACES: Final = 64  # windows in a picture from which on they are, for the gradient of the kernels
_COPIES: Final = 1 << 17  # elements of copies that are made at a time, and stay in the cache


def goes_by_rows(x: Any, weight: Any, windows: Windows, groups: int) -> bool:
    """Return whether :func:`by_rows` can convolve ``x``, and fast."""
    return _fits(x, weight.shape, windows, groups) and min(windows.output_size(x.shape[2:])) > 0


def _fits(x: Any, kernels: tuple[int, ...], windows: Windows, groups: int) -> bool:
    return (
        len(kernels) == 4
        and windows.stride == (1, 1)
        and x.shape[1] // groups * kernels[3] >= _SUMMED
        and x.dtype.kind == "f"
        and x.itemsize > 2
        and x.size > 0
    )


def by_rows(x: Any, weight: Any, bias: Any, windows: Windows, groups: int) -> Any:
    """Return the convolution of ``x``, (N, C, H, W)."""
    height, width = windows.output_size(x.shape[2:])
    kernel_rows = _kernel_rows(weight, groups)
    outputs = len(weight)
    result = np.empty((len(x), outputs, height, width), x.dtype)
    rows = result.reshape(len(x), groups, outputs // groups, height * width)
    some, copies = _some_copies(x, windows, width)
    product = np.empty((some, *rows.shape[1:]), x.dtype)
    added = None if bias is None else bias.reshape(groups, -1, 1)
    for start in range(0, len(x), some):
        part = rows[start : start + some]
        columns = _columns(x[start : start + some], windows, copies, groups)
        first, *others = _shifted(columns, windows, height * width)
        np.matmul(kernel_rows[0], first, out=part)
        for kernel_row, column in zip(kernel_rows[1:], others, strict=True):
            part += np.matmul(kernel_row, column, out=product[: len(part)])
        if added is not None:
            part += added
    return result


def input_gradient_by_rows(
    g: Any, weight: Any, shape: tuple[int, ...], windows: Windows, groups: int
) -> Any:
    """Return the gradient of the pictures: ``g`` under the kernels turned round.

    None, if that is not the same, or takes longer: for where little of the kernels lies within.
    """
    whole = [d * (k - 1) for k, d in zip(windows.kernel, windows.dilation, strict=True)]
    padding = tuple(n - p for n, p in zip(whole, windows.padding, strict=True))
    back = windows._replace(padding=padding)
    if (
        not _fits(g, weight.shape, windows, groups)
        or min(padding) < 0
        or back.output_size(g.shape[2:]) != shape[2:]
        or 2 * shape[2] * shape[3] > 3 * g.shape[2] * g.shape[3]
    ):
        return None
    outputs, channels, *kernel = weight.shape
    turned = weight.reshape(groups, outputs // groups, channels, *kernel)[..., ::-1, ::-1]
    turned = turned.swapaxes(1, 2).reshape(groups * channels, outputs // groups, *kernel)
    return by_rows(g, turned, None, back, groups)


def weight_gradient_by_rows(
    g: Any, x: Any, shape: tuple[int, ...], windows: Windows, groups: int
) -> Any:
    """Return the gradient of the kernels; None, if that takes longer so."""
    if not _fits(x, shape, windows, groups) or g.shape[2] * g.shape[3] < _PLACES:
        return None
    height, width = g.shape[2:]
    rows = g.reshape(len(g), groups, shape[0] // groups, height * width)
    result = np.zeros((shape[2], *rows.shape[1:3], shape[1] * shape[3]), x.dtype)
    some, copies = _some_copies(x, windows, width)
    for start in range(0, len(x), some):
        part = rows[start : start + some]
        columns = _columns(x[start : start + some], windows, copies, groups)
        for total, column in zip(result, _shifted(columns, windows, height * width), strict=True):
            total += np.add.reduce(np.matmul(part, column.swapaxes(-1, -2)), 0)
    result = result.reshape(shape[2], shape[0], shape[1], shape[3])
    return np.ascontiguousarray(result.transpose(1, 2, 0, 3))


def _kernel_rows(weight: Any, groups: int) -> Any:
    """Return the weights of each row of the kernels, (kH, groups, O / groups, C / groups * kW)."""
    outputs, channels, height, width = weight.shape
    rows = np.ascontiguousarray(weight.transpose(2, 0, 1, 3))
    return rows.reshape(height, groups, outputs // groups, channels * width)


def _some_copies(x: Any, windows: Windows, width: int) -> tuple[int, Any]:
    """Return how many pictures to take together, and memory for copies of them."""
    count, channels, height = x.shape[:3]
    shape = (channels, windows.kernel[1], height + 2 * windows.padding[0], width)
    some = max(1, min(count, _COPIES // max(1, channels * shape[1] * shape[2] * width)))
    return some, np.empty((some, *shape), x.dtype)


def _columns(x: Any, windows: Windows, copies: Any, groups: int) -> Any:
    """Return the pictures ``x`` as each column of the kernel meets them, (N, groups, C / groups *
    kW, rows with padding * output width)."""
    around, before = windows.padding
    copies = copies[: len(x)]
    count, channels, kernel, height, width = copies.shape
    if around:
        copies[..., :around, :] = 0
        copies[..., height - around :, :] = 0
    inside = copies[..., around : height - around, :]
    for number in range(kernel):
        start = number * windows.dilation[1] - before
        low = min(max(0, -start), width)
        high = max(low, min(width, x.shape[3] - start))
        column = inside[:, :, number]
        column[..., :low] = 0
        column[..., high:] = 0
        column[..., low:high] = x[..., start + low : start + high]
    return copies.reshape(count, groups, channels // groups * kernel, height * width)


def _shifted(columns: Any, windows: Windows, size: int) -> list[Any]:
    """Return what each row of the kernel meets, of ``size`` windows."""
    kernel = windows.kernel[0]
    step = (columns.shape[-1] - size) // max(1, kernel - 1)
    return [columns[..., step * row : step * row + size] for row in range(kernel)]

"""Windows of images as columns, and columns as images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.networks.pooling import padded_image
from autograd_core.ops.networks.windows import Windows


@op(
    self=lambda g, self_shape, kernel_size, dilation, padding, stride: col2im(
        g, tuple(self_shape[-2:]), kernel_size, dilation, padding, stride
    ),
    linear=True,
    node="Im2ColBackward0",
)
def im2col(self, /, kernel_size, dilation, padding, stride):
    """Return the elements in each window of images (N, C, H, W), as columns (N, C * h * w,
    windows)."""
    if self.dtype != np.bool_:
        check_implemented("im2col_out_cpu", self)
    if self.ndim == 3:
        return im2col(self[None], kernel_size, dilation, padding, stride)[0]
    windows = Windows(kernel_size, stride, padding, dilation)
    size = self.shape[2:]
    output = windows.output_size(size)
    if min(output) < 1:
        raise RuntimeError(
            f"Given input with spatial size ({_listed(size)}), "
            f"kernel_size=({_listed(kernel_size)}), dilation=({_listed(dilation)}), "
            f"padding=({_listed(padding)}), calculated shape of the array of sliding blocks as "
            f"({_listed(output)}), but its components must be at least one."
        )
    padded = padded_image(self.shape, windows, output, self.dtype, 0)
    padded[(..., *windows.inside(size))] = self
    columns: Any = np.empty((*self.shape[:2], *kernel_size, *output), self.dtype)
    everything = (slice(None),) * 2
    for offset, patch in windows.offsets(padded, output, axis=2):
        columns[(*everything, *offset)] = patch
    return columns.reshape(len(self), math.prod(columns.shape[1:4]), math.prod(output))


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


@op(
    self=lambda g, kernel_size, dilation, padding, stride: im2col(
        g, kernel_size, dilation, padding, stride
    ),
    linear=True,
    node="Col2ImBackward0",
)
def col2im(self, /, output_size, kernel_size, dilation, padding, stride):
    """Return columns as :func:`im2col` makes them, added up where windows overlap."""
    if self.dtype != np.bool_:
        check_implemented("col2im_out_cpu", self)
    if self.ndim == 2:
        return col2im(self[None], output_size, kernel_size, dilation, padding, stride)[0]
    windows = Windows(kernel_size, stride, padding, dilation)
    output = windows.output_size(output_size)
    area = math.prod(kernel_size)
    if self.shape[1] % area:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={self.shape[1]} and kernel_size=({kernel_size[0]}, "
            f"{kernel_size[1]})."
        )
    if self.shape[2] != math.prod(output):
        raise RuntimeError(
            f"Given output_size=({output_size[0]}, {output_size[1]}), kernel_size="
            f"({kernel_size[0]}, {kernel_size[1]}), dilation=({dilation[0]}, {dilation[1]}), "
            f"padding=({padding[0]}, {padding[1]}), stride=({stride[0]}, {stride[1]}), expected "
            f"size of input's dimension 2 to match the calculated number of sliding blocks "
            f"{output[0]} * {output[1]} = {math.prod(output)}, but got input.size(2)="
            f"{self.shape[2]}."
        )
    channels = self.shape[1] // area
    columns = self.reshape(len(self), channels, *kernel_size, *output)
    shape = (len(self), channels, *output_size)
    padded = padded_image(shape, windows, output, self.dtype, 0)
    for offset, patch in windows.offsets(padded, output, axis=2):
        patch += columns[(slice(None), slice(None), *offset)]
    return np.ascontiguousarray(padded[(..., *windows.inside(output_size))])

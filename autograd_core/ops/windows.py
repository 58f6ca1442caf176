"""Windows that slide over images: what convolution and pooling share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Pair = tuple[int, int]


class Windows(NamedTuple):
    """How a kernel moves over the height and width of an image."""

    kernel: Pair
    stride: Pair
    padding: Pair
    dilation: Pair

    def output_size(self, size: Pair) -> Pair:
        """How many places the kernel has, down and across."""
        height, width = (
            (n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
            for n, kernel, stride, padding, dilation in zip(size, *self, strict=True)
        )
        if height < 1 or width < 1:
            padded = " x ".join(str(n + 2 * p) for n, p in zip(size, self.padding, strict=True))
            raise RuntimeError(
                f"Calculated padded input size per channel: ({padded}). Kernel size: "
                f"({self.kernel[0]} x {self.kernel[1]}). "
                "Kernel size can't be greater than actual input size"
            )
        return height, width

    def inside(self, size: Pair) -> tuple[slice, slice]:
        """Where in a padded image the image of ``size`` itself lies."""
        (top, left), (height, width) = self.padding, size
        return slice(top, top + height), slice(left, left + width)

    def offsets(self, padded: Any, output: Pair, axis: int) -> Iterator[tuple[int, int, Any]]:
        """For each offset (i, j) within the kernel: what lies there in every window, a view of
        the padded image, whose height and width are axes ``axis`` and ``axis + 1``."""
        before = (slice(None),) * axis
        for i in range(self.kernel[0]):
            for j in range(self.kernel[1]):
                rows, columns = (
                    slice(o * dilation, o * dilation + (count - 1) * stride + 1, stride)
                    for o, count, stride, dilation in zip(
                        (i, j), output, self.stride, self.dilation, strict=True
                    )
                )
                yield i, j, padded[(*before, rows, columns)]

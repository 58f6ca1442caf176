"""Windows that slide over images: what convolution and pooling share.

Images have any number of dimensions: one for a signal, two for a picture, three for a volume.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

Sizes = tuple[int, ...]


class Windows(NamedTuple):
    """How a kernel moves over the dimensions of an image."""

    kernel: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes

    @property
    def overlap(self) -> bool:
        """Whether two places of the kernel may have an element in common."""
        return any(
            stride <= dilation * (kernel - 1)
            for kernel, stride, _, dilation in zip(*self, strict=True)
        )

    def output_size(self, size: Sequence[int], ceil_mode: bool = False) -> Sizes:
        """Return how many places the kernel has along each dimension; less than 1, if it does not
        fit.

        With ``ceil_mode``, also places that reach beyond the padding, if they begin before it.
        """
        return _output_size(self, tuple(size), ceil_mode)

    def padded_size(self, size: Sequence[int], output: Sequence[int] = ()) -> Sizes:
        """Return the size of an image with its padding, and with what windows reach beyond it."""
        return _padded_size(self, tuple(size), tuple(output))

    def inside(self, size: Sequence[int]) -> tuple[slice, ...]:
        """Return where in a padded image the image of ``size`` itself lies."""
        return tuple(slice(p, p + n) for p, n in zip(self.padding, size, strict=True))

    def offsets(self, padded: Any, output: Sizes, axis: int) -> Iterator[tuple[Sizes, Any]]:
        """Yield each offset within the kernel, and the view of ``padded`` at that offset in all
        windows; the dimensions of the image begin at ``axis``."""
        for offset, place in _offsets(self, output, axis):
            yield offset, padded[place]

    def tile(self, size: Sequence[int]) -> bool:
        """Return whether windows cover images of ``size`` side by side, and nothing twice."""
        return _tile(self, tuple(size))

    def places(self, output: Sizes, axis: int) -> list[tuple[slice, ...]]:
        """List the slices behind :meth:`offsets`."""
        return [place for _, place in _offsets(self, output, axis)]


# Cached: of a small image they take as long as the pixels, and there are few kinds of windows.


@lru_cache(maxsize=1024)
def _output_size(windows: Windows, size: Sizes, ceil_mode: bool) -> Sizes:
    output = []
    for n, kernel, stride, padding, dilation in zip(size, *windows, strict=True):
        room = n + 2 * padding - dilation * (kernel - 1) - 1
        count = (-(-room // stride) if ceil_mode else room // stride) + 1
        if ceil_mode and (count - 1) * stride >= n + padding:
            count -= 1
        output.append(count)
    return tuple(output)


@lru_cache(maxsize=1024)
def _tile(windows: Windows, size: Sizes) -> bool:
    return (
        windows.kernel == windows.stride
        and not any(windows.padding)
        and not windows.overlap
        and not any(n % kernel for n, kernel in zip(size, windows.kernel, strict=True))
    )


@lru_cache(maxsize=1024)
def _padded_size(windows: Windows, size: Sizes, output: Sizes) -> Sizes:
    reached = output and [
        (count - 1) * stride + dilation * (kernel - 1) + 1
        for count, kernel, stride, dilation in zip(
            output, windows.kernel, windows.stride, windows.dilation, strict=True
        )
    ]
    padded = [n + 2 * padding for n, padding in zip(size, windows.padding, strict=True)]
    return tuple(max(pair) for pair in zip(padded, reached or padded, strict=True))


@lru_cache(maxsize=256)
def _offsets(windows: Windows, output: Sizes, axis: int) -> list[tuple[Sizes, tuple[slice, ...]]]:
    before = (slice(None),) * axis
    sides = [
        [
            slice(o * dilation, o * dilation + (count - 1) * stride + 1, stride)
            for o in range(kernel)
        ]
        for count, kernel, stride, dilation in zip(
            output, windows.kernel, windows.stride, windows.dilation, strict=True
        )
    ]
    places = ((*before, *slices) for slices in product(*sides))
    return list(zip(product(*map(range, windows.kernel)), places, strict=True))

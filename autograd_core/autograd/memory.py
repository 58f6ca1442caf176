"""The memory behind an array: who owns it, where in it elements lie, and whether it may be written
to."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def memory_of(array: Any) -> Array | None:
    """Return the array that owns the memory ``array`` looks at; None for a scalar of NumPy."""
    if not isinstance(array, np.ndarray):
        return None
    owner, base = array, array.base
    while base is not None:
        if isinstance(base, np.ndarray):
            owner = base
        base = getattr(base, "base", None)  # stride tricks put an object of their own between
    return owner


def make_writeable(array: Any) -> None:
    """Let a part of an expanded tensor be written to, which NumPy refuses to be safe.

    Raises:
        RuntimeError: one place in memory stands for several elements; in PyTorch's words.
    """
    if array.flags.writeable:
        return
    if spreads(array):
        raise written_twice()
    array.flags.writeable = True


def written_twice() -> RuntimeError:
    """Return PyTorch's error for a write to an expanded tensor."""
    return RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )


def spreads(array: Array) -> bool:
    """Return whether it is expanded: one place in memory stands for several elements."""
    if 0 not in array.strides or not array.size:
        return False
    return any(n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True))


def check_overlap(array: Array, read: Array, strictly: bool) -> None:
    """Refuse to write to ``array`` from ``read``, which is of the same memory, where they meet and
    are not the same; ``strictly``, also where they are.

    Raises:
        RuntimeError: they do; in PyTorch's words.
    """
    if not array.size or not read.size or (read is array and not strictly):
        return
    own, other = layout_of(array), layout_of(read)
    if not (own.is_dense and other.is_dense):  # PyTorch does not look closer
        return
    begin, start = address(array), address(read)
    if begin >= start + read.nbytes or start >= begin + array.nbytes:
        return
    axes = [axis for axis, n in enumerate(array.shape) if n > 1]
    same = begin == start and own.size == other.size
    same = same and all(own.stride[axis] == other.stride[axis] for axis in axes)
    if strictly or not same:
        raise RuntimeError(
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation."
        )


def copied_with_memory(array: Array, memo: dict[int, Any]) -> Array:
    """Return ``array`` in a copy of its memory, which by ``memo``, of :func:`copy.deepcopy`, is the
    same for all arrays there."""
    whole = memory_of(array)
    assert whole is not None
    copied = deepcopy(whole, memo)
    if copied.strides != whole.strides:  # it is a part of something that is no array
        return array.copy("K")
    copy = layout_of(array, address(whole)).of(flat(copied).view(array.dtype))
    copy.flags.writeable = array.flags.writeable
    return copy


def flat(whole: Array) -> Array:
    """Return the elements of an array that owns its memory, in the order in which they lie."""
    return np.lib.stride_tricks.as_strided(whole, (whole.size,), (whole.itemsize,))


class Layout(NamedTuple):
    """Where elements lie in a memory: all numbers count elements."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0

    @property
    def end(self) -> int:
        """How long the memory has to be."""
        if 0 in self.size:
            return self.offset
        steps = zip(self.size, self.stride, strict=True)
        return self.offset + sum([(n - 1) * step for n, step in steps]) + 1

    @property
    def overlaps(self) -> bool:
        """Whether two elements may share a place."""
        reach = 0
        for step, n in sorted(zip(self.stride, self.size, strict=True)):
            if n > 1:
                if step <= reach:
                    return True
                reach += (n - 1) * step
        return False

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie side by side, each in a place of its own."""
        return self.end == self.offset + prod(self.size) and not self.overlaps

    @property
    def places(self) -> Array:
        """Where each element is."""
        offsets = np.full(self.size, self.offset, np.int64)
        for axis, step in zip(np.indices(self.size, sparse=True), self.stride, strict=True):
            offsets += axis * step
        return offsets

    def of(self, memory: Array) -> Array:
        """Return the elements, as a view of ``memory``, which is flat."""
        itemsize = memory.itemsize
        steps = [n * itemsize for n in self.stride]
        start = 0 if 0 in self.size else self.offset * itemsize
        return np.ndarray(self.size, memory.dtype, memory, start, steps)


def in_order(size: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of contiguous elements."""
    steps, step = [], 1
    for n in reversed(size):
        steps.append(step)
        step *= max(n, 1)
    return tuple(reversed(steps))


def layout_of(array: Array, start: int | None = None) -> Layout:
    """Return where the elements of ``array`` lie, counted from the address ``start``, or from the
    first of them."""
    itemsize = array.itemsize
    offset = 0 if start is None else (address(array) - start) // itemsize
    return Layout(array.shape, tuple([n // itemsize for n in array.strides]), offset)


def address(array: Array) -> int:
    """Return the address of the first element."""
    number: int = array.__array_interface__["data"][0]
    return number


def laid_out_like(array: Array, result: Array) -> Array:
    """Return ``result`` with its dimensions in the order in which those of ``array`` lie in memory,
    and without gaps; contiguous where that has another number of them, or is expanded."""
    steps = array.strides
    if array.ndim != result.ndim or 0 in steps:
        return result if result.flags.c_contiguous else result.copy()
    order = sorted(range(array.ndim), key=lambda axis: -steps[axis])
    lying = result.transpose(order)
    return result if lying.flags.c_contiguous else lying.copy().transpose(np.argsort(order))


def columns(result: Array) -> Array:
    """Return matrices whose columns are contiguous."""
    if result.ndim < 2:
        return result
    return np.ascontiguousarray(result.swapaxes(-1, -2)).swapaxes(-1, -2)


def iteration_order(shape: Sequence[int], steps: Sequence[int]) -> list[int]:
    """Return the order, outermost first, in which PyTorch lets the dimensions of a result lie that
    is read in ``steps``: a step of 0 leaves two dimensions as they are."""
    order = list(range(len(shape)))[::-1]  # innermost first
    for start in range(1, len(order)):
        place = start
        for other in range(start - 1, -1, -1):
            inner, outer = order[other], order[place]
            if not steps[inner] or not steps[outer]:
                continue
            if (steps[inner], shape[inner]) <= (steps[outer], shape[outer]):
                break
            order[other], order[place] = outer, inner
            place = other
    return order[::-1]

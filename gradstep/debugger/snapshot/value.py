"""A tensor as the debugger shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.lookup import engine_of, numbers_of
from gradstep.debugger.snapshot.tensor_views import (
    HeatMap,
    Histogram,
    heat_map,
    histogram,
    slice_of,
)
from gradstep.graph.model import Shape
from gradstep.graph.statistics import Statistics, format_number, statistics
from gradstep.records import Extent

Gradient = Any
NOT_RECORDED: Final = "elements not recorded"
NOT_HERE: Final = "not in memory: freed, or not there yet"
"""Of a tensor whose numbers cannot be read."""
THIS_PART: Final = "this rank's part"


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor as the debugger shows it: read-only, with statistics on demand.

    Two values are equal if they are bit-identical, including NaNs; where the numbers of one were
    not recorded, if their descriptions are.

    Attributes:
        held: an array that never changes, or a tensor of another engine.
    """

    held: Any

    @property
    def array(self) -> NDArray[np.generic]:
        """Its numbers, dense and on the CPU; empty where they cannot be read.

        Raises:
            NotRecorded: only its description was recorded.
        """
        if isinstance(self.held, np.ndarray | np.generic):
            return np.asarray(self.held)
        array = array_of(self.held) if self._is_recorded else self._array
        return np.zeros(0) if array is None else array

    @cached_property
    def _array(self) -> NDArray[np.generic] | None:
        return array_of(self.held)

    @cached_property
    def is_here(self) -> bool:
        """Whether its numbers can be read, or were when it was recorded."""
        if isinstance(self.held, np.ndarray | np.generic) or self._is_recorded:
            return True
        known = numbers_of(self.held).statistics(self.held)
        return known is not None or self._array is not None

    @cached_property
    def _part(self) -> Shape | None:
        known = isinstance(self.held, np.ndarray | np.generic)
        return None if known else numbers_of(self.held).part(self.held)

    @property
    def is_part(self) -> bool:
        """Whether it is what this process has of a tensor of which several have a part each."""
        return self._part is not None

    @property
    def _is_recorded(self) -> bool:
        """Whether it lies in a recording, whose values may be larger than memory together."""
        return hasattr(type(self.held), "has_numbers")

    @property
    def has_numbers(self) -> bool:
        """Whether its numbers are known, not only its statistics."""
        return bool(self.held.has_numbers) if self._is_recorded else self.is_here

    @cached_property
    def statistics(self) -> Statistics:
        if isinstance(self.held, np.ndarray | np.generic):
            return statistics(self.array)
        # on the device where it lies
        return numbers_of(self.held).statistics(self.held) or statistics(self.array)

    @cached_property
    def _extent(self) -> Extent | None:
        return engine_of((self.held,)).reading.extent(self.held)

    @property
    def shape(self) -> Shape:
        if isinstance(self.held, np.ndarray | np.generic) or self._extent is None:
            return self.array.shape
        return self._extent.shape or () if self._part is None else self._part

    @property
    def whole_shape(self) -> Shape:
        """The shape of the tensor of which it is a part, else its own."""
        return self.shape if self._extent is None else self._extent.shape or ()

    @property
    def dtype(self) -> str:
        if isinstance(self.held, np.ndarray | np.generic) or self._extent is None:
            return self.array.dtype.name
        return self._extent.dtype

    @property
    def size(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The memory that its elements take, in bytes."""
        if isinstance(self.held, np.ndarray | np.generic) or self._extent is None:
            return self.array.nbytes
        return self._extent.nbytes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Value):
            return NotImplemented
        if self.held is other.held:
            return True
        if not (self.has_numbers and other.has_numbers):
            return self._description == other._description
        mine, theirs = self.array, other.array
        return (
            mine.shape == theirs.shape
            and mine.dtype == theirs.dtype
            and mine.tobytes() == theirs.tobytes()
        )

    @property
    def _description(self) -> tuple[Shape, str, str]:
        return self.shape, self.dtype, str(self.statistics)  # in which one NaN equals another

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def histogram(self, bins: int = 20) -> Histogram:
        """Count the elements by size."""
        return histogram(self.array, bins)

    def heat_map(self, rows: int, columns: int) -> HeatMap:
        """Return the tensor as a picture of at most ``rows`` by ``columns`` cells."""
        return heat_map(self.array, rows, columns)

    def slice(self, text: str) -> Value:
        """Return a part, given as in NumPy's brackets: ``value.slice("0, :, 2:5")``.

        Raises:
            ValueError: there is no such part.
        """
        return Value(slice_of(self.array, text))

    def text(self, limit: int = 8) -> str:
        """Return the first elements with three digits: ``[36, 0.5, ...]`` or ``36``; a note where
        they were not recorded."""
        if not self.has_numbers:
            return NOT_RECORDED if self.is_here else NOT_HERE
        if self.array.ndim == 0:
            return format_number(float(self.array))
        flat = self.array.ravel()
        shown = ", ".join(format_number(float(element)) for element in flat[:limit])
        return f"[{shown}{', ...' if flat.size > limit else ''}]"


class Values:
    """The Value of each gradient, made once, so that its statistics are computed once.

    The last few thousand are kept, so that this does not become a recording of its own; and as long
    as ``version`` gives the same number, which it does until a gradient may have been changed in
    place.
    """

    MOST = 4096

    def __init__(self, version: Callable[[], int]) -> None:
        self._made: dict[int, tuple[Gradient, Value | None]] = {}
        self._version = version
        self._known = version()

    def of(self, gradient: Gradient) -> Value | None:
        """Return the Value of a gradient that the recording keeps."""
        if gradient is None:
            return None
        if (version := self._version()) != self._known:
            self._made.clear()
            self._known = version
        known = self._made.get(id(gradient))
        if known is None:
            if len(self._made) >= self.MOST:
                for old in list(self._made)[: self.MOST // 2]:
                    del self._made[old]
            # kept beside its Value, because an id is only good while its object lives
            known = self._made[id(gradient)] = (gradient, value(gradient))
        return known[1]


def value(gradient: Gradient) -> Value | None:
    """Return a gradient, or a tensor, as the debugger shows it."""
    if gradient is None:
        return None
    return Value(numbers_of(gradient).shown(gradient))


def current_value(tensor: Any) -> Value | None:
    """Return a tensor of the program as it is now, whatever the program makes of it later; None
    where the program has freed its memory."""
    copy = numbers_of(tensor).copy(tensor)
    return None if copy is None else Value(copy)


def array_of(gradient: Gradient) -> NDArray[Any] | None:
    """Return the numbers of a gradient; None of one whose numbers cannot be read here: one without
    data, or whose memory the program has freed."""
    return numbers_of(gradient).array(gradient)


def whole_array_of(tensor: Any) -> NDArray[Any] | None:
    """Return the same, None too where this process has a part of the tensor only: what is true of
    that need not be true of the whole."""
    return array_of(tensor) if numbers_of(tensor).part(tensor) is None else None

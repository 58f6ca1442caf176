"""A tensor as the debugger shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.memory import memory_of
from autograd_core.dag.model import Shape
from autograd_core.dag.statistics import Statistics, format_number, statistics
from autograd_core.debug.snapshot.tensor_views import (
    HeatMap,
    Histogram,
    heat_map,
    histogram,
    slice_of,
)
from autograd_core.tensor import Tensor

Gradient = Any


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor as the debugger shows it: read-only, described on request.

    Two values are equal when they agree bit for bit, NaN included.
    """

    array: NDArray[np.generic]

    @cached_property
    def statistics(self) -> Statistics:
        return statistics(self.array)

    @property
    def shape(self) -> Shape:
        return self.array.shape

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Value):
            return NotImplemented
        mine, theirs = self.array, other.array
        return (
            mine.shape == theirs.shape
            and mine.dtype == theirs.dtype
            and mine.tobytes() == theirs.tobytes()
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def histogram(self, bins: int = 20) -> Histogram:
        """Count the elements by size."""
        return histogram(self.array, bins)

    def heat_map(self, rows: int, columns: int) -> HeatMap:
        """The tensor as a picture of at most ``rows`` by ``columns`` cells."""
        return heat_map(self.array, rows, columns)

    def slice(self, text: str) -> Value:
        """A part of it, as between NumPy's brackets: ``value.slice("0, :, 2:5")``.

        Raises:
            ValueError: it has no such part.
        """
        return Value(slice_of(self.array, text))

    def text(self, limit: int = 8) -> str:
        """The first elements, in three digits: ``[36, 0.5, ...]`` or ``36``."""
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
        """The Value of a gradient that the recording keeps."""
        if gradient is None:
            return None
        if (version := self._version()) != self._known:
            self._made.clear()
            self._known = version
        found = self._made.get(id(gradient))
        if found is None:
            if len(self._made) >= self.MOST:
                for old in list(self._made)[: self.MOST // 2]:
                    del self._made[old]
            # kept beside its Value, because an id is only good while its object lives
            found = self._made[id(gradient)] = (gradient, value(gradient))
        return found[1]


def value(gradient: Gradient) -> Value | None:
    """A gradient, or a tensor, as the debugger shows it."""
    if gradient is None:
        return None
    if is_shared(gradient):
        return current_value(gradient)
    shown = array_of(gradient).view()
    shown.flags.writeable = False
    return Value(shown)


def share(gradient: Gradient) -> None:
    """Take note that code of the program may hold ``gradient`` and change it later, so that what is
    shown of it has to be a copy."""
    memory = memory_of(array_of(gradient))
    if memory is not None and id(memory) not in _shared:
        _shared[id(memory)] = memory


def is_shared(gradient: Gradient) -> bool:
    """Return whether code of the program may hold ``gradient``."""
    return id(memory_of(array_of(gradient))) in _shared


_shared: Final[WeakValueDictionary[int, NDArray[Any]]] = WeakValueDictionary()


def current_value(tensor: Any) -> Value:
    """A tensor of the program as it is now, whatever the program makes of it later."""
    array = array_of(tensor)
    distinct = array[tuple(slice(None if step else 1) for step in array.strides)]
    return Value(np.broadcast_to(distinct.copy(), array.shape))  # which is read-only


def array_of(gradient: Gradient) -> NDArray[Any]:
    """The array of a gradient, be it one, a NumPy scalar or a tensor."""
    return np.asarray(gradient.array if isinstance(gradient, Tensor) else gradient)

"""The values of a recorded call: gradients, sums, and results of the forward pass."""

from __future__ import annotations

import re
from math import prod
from typing import Any, ClassVar, Final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.model import Shape
from gradstep.graph.statistics import Statistics
from gradstep.recording.errors import NotRecorded
from gradstep.recording.facts import Values

LIBRARY: Final = "gradstep.recording"
"""By which the engine of recorded tensors is found."""


class RecordedValue:
    """Value ``number`` of a call: its description, and its numbers where these were kept.

    Numbers are read when somebody asks, and kept by whoever does: a call may have more of them than
    there is memory.
    """

    __slots__ = ("_read", "_values", "number")
    gradstep_library: ClassVar[str] = LIBRARY

    def __init__(self, values: Values, number: int) -> None:
        self._values, self.number = values, number
        self._read: ref[NDArray[np.generic]] | None = None

    @property
    def shape(self) -> Shape | None:
        return self._values.shapes[self.number]

    @property
    def dtype(self) -> str:
        """Its dtype, as PyTorch spells it."""
        return self._values.dtypes[self.number]

    @property
    def nbytes(self) -> int:
        """The bytes of its elements, where it was computed."""
        return prod(self.shape or ()) * element_bytes(self.dtype)

    @property
    def statistics(self) -> Statistics | None:
        """Its description, None of a value without data."""
        return self._values.of(self.number)

    @property
    def has_numbers(self) -> bool:
        """Whether its numbers are known, not only its description."""
        return self._numbers() is not None

    def array(self) -> NDArray[np.generic] | None:
        """Return its numbers, None of a value without data.

        Raises:
            NotRecorded: only its description was kept.
        """
        numbers = self._numbers()
        if numbers is None and self.statistics is not None:
            raise NotRecorded(
                "the numbers of this tensor were not recorded, only what describes them",
                remedy="record the call with --values all",
            )
        return numbers

    def _numbers(self) -> NDArray[np.generic] | None:
        numbers = None if self._read is None else self._read()
        if numbers is None:
            numbers = self._values.array(self.number)
            if numbers is None:
                return self._single()
            self._read = ref(numbers)
        return numbers

    def _single(self) -> NDArray[np.generic] | None:
        """Return a single number, which its description tells whole."""
        known, kind = self.statistics, numpy_dtype(self.dtype)
        if known is None or known.size != 1 or prod(self.shape or ()) != 1 or kind.kind == "c":
            return None
        if kind.kind in "iub" and not -_EXACT < known.minimum < _EXACT:
            return None
        return np.full(self.shape or (), known.minimum, kind)

    def tobytes(self) -> bytes:
        """Return bytes that differ for different values of a call."""
        return self.number.to_bytes(8, "little")

    def __add__(self, other: RecordedValue) -> NDArray[Any]:
        one: Any = self.array()
        return np.asarray(one + other.array())


_EXACT: Final = 2**53
"""Beyond it, a description does not tell every integer."""


def element_bytes(dtype: str) -> int:
    """Return the bytes of an element of a dtype of PyTorch.

    >>> [element_bytes(each) for each in ("float32", "bfloat16", "float8_e4m3fn", "bool", "")]
    [4, 2, 1, 1, 0]
    """
    if dtype == "bool":
        return 1
    bits = re.search(r"\d+", dtype)
    return 0 if bits is None else max(int(bits[0]) // 8, 1)


def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return the nearest dtype that NumPy has: float32 for the short ones that it lacks.

    >>> numpy_dtype("float16").name, numpy_dtype("bfloat16").name
    ('float16', 'float32')
    """
    try:
        return np.dtype(dtype)
    except TypeError:
        return np.dtype(np.float32)

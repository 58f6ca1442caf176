"""Gradients that code of the user's may change in place, under a recording that must not change.

Gradients are handed on, not copied: an addition sends one array to both its inputs.  What a hook
does to it in place, it does for all who wait for that memory, in a plain pass as here.  But the
steps before, and what was shown of them, hold that memory too.  So the user's code is lent a copy
of it; if that was changed, those who wait for the same memory are given the copy as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.memory import memory_of
from autograd_core.debug.history.driver_protocol import Pending, Place, Swap
from autograd_core.tensor import Tensor

Array = NDArray[Any]


class _Loan(NamedTuple):
    """What waits at ``place``, and a copy of it on memory of its own."""

    place: Place
    original: Any
    copy: Any


class CopyOnWrite:
    """The copies that one node is given instead of what waits at ``places``."""

    def __init__(self, pending: Pending, places: Iterable[Place]) -> None:
        self._pending = pending
        self._memories: dict[int, tuple[Array, Array]] = {}  # and their copies, by identity
        self._copies = [
            _Loan(p, g, self._lent(g)) for p in places if _is_shareable(g := pending[p])
        ]
        for loan in self._copies:
            pending[loan.place] = loan.copy

    def _lent(self, gradient: Any) -> Any:
        memory = _memory(gradient)
        if id(memory) not in self._memories:
            self._memories[id(memory)] = (memory, memory.ravel("K").copy())
        return self._moved(gradient)

    def _moved(self, gradient: Any) -> Any:
        """``gradient`` on the copy of its memory."""
        if isinstance(gradient, Tensor):
            moved = Tensor.from_array(self._moved(gradient.array))
            moved.edge = gradient.edge
            return moved
        memory, copy = self._memories[id(_memory(gradient))]
        offset = _address(gradient) - _address(memory)
        place = np.ndarray(gradient.shape, gradient.dtype, copy.data, offset, gradient.strides)
        place.flags.writeable = gradient.flags.writeable
        return place

    @property
    def copies(self) -> list[Array]:
        """The arrays that the node is given."""
        lent = (loan.copy for loan in self._copies)
        return [copy.array if isinstance(copy, Tensor) else copy for copy in lent]

    def put_back(self) -> None:
        """The node has raised, and all waits as before."""
        for loan in self._copies:
            self._pending[loan.place] = loan.original

    def originals(self, incoming: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the node was given, as it was before it ran."""
        known = {id(loan.copy): loan.original for loan in self._copies}
        return tuple(known.get(id(g), g) for g in incoming)

    def settle(self) -> tuple[Swap, ...]:
        """Give the copies that were changed to all who wait for the same memory."""
        changed = set(self._changed())
        swaps = [
            Swap(place, g, self._moved(g))
            for place, g in self._pending.items()
            if _is_shareable(g) and id(_memory(g)) in changed
        ]
        for swap in swaps:
            self._pending[swap.place] = swap.after
        return tuple(swaps)

    @property
    def were_changed(self) -> bool:
        """Whether the user's code has changed a gradient in place."""
        return any(True for _ in self._changed())

    def _changed(self) -> Iterator[int]:
        for number, (memory, copy) in self._memories.items():
            if memory.ravel("K").tobytes() != copy.tobytes():
                yield number


def _is_shareable(gradient: Any) -> bool:
    array = gradient.array if isinstance(gradient, Tensor) else gradient
    if not isinstance(array, np.ndarray):
        return False
    memory = _memory(array)
    return memory.flags.c_contiguous or memory.flags.f_contiguous


def _memory(gradient: Any) -> Array:
    """The array that owns what ``gradient`` shows."""
    found = memory_of(gradient.array if isinstance(gradient, Tensor) else gradient)
    assert found is not None
    return found


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address

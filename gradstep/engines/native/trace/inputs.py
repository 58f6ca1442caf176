"""Inputs as they were when an op ran, kept so that it can be run again and its rule checked.

They are copies: what is changed in place afterwards, by an op or by NumPy, leaves them as they
were.  A tensor that several ops read, and that nobody changed in between, is copied once.  So
keeping them costs at most one copy of every tensor that an op with a gradient read, about as
much memory again as the forward pass took; a budget bounds it.  The copies hang on the nodes
and die with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from autograd_core.tensor import Tensor
from gradstep.contract.budget import Budget, Copy

Array = NDArray[Any]


class Known(NamedTuple):
    """An array that is as it was."""

    array: Array


class SavedInputs(NamedTuple):
    """The inputs that an op ran on: ``function`` is its entry in the op table, or the custom
    Function; ``arguments`` has a :class:`Copy`, or a :class:`Known`, for each tensor.  They are
    None where the budget was used up, and ``limit`` says what it was."""

    function: Any
    arguments: tuple[Any, ...] | None
    attributes: Mapping[str, Any]
    limit: int


class InputRecorder:
    """Makes the copies of one tracing."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget

    def keep(
        self, function: Any, arguments: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> SavedInputs:
        """Return the inputs of ``function`` as they are now."""
        kept: list[Any] = []
        for argument in arguments:
            if not isinstance(argument, Tensor):
                kept.append(argument)
                continue
            copy = self._copy(argument)
            if copy is None:
                return SavedInputs(function, None, attributes, self._budget.limit)
            kept.append(copy)
        return SavedInputs(function, tuple(kept), attributes, self._budget.limit)

    def _copy(self, tensor: Tensor) -> Copy | None:
        """Return a copy of ``tensor``, made before or now; None where the budget does not allow
        it."""
        array, known = tensor.array, _copy_of(tensor)
        if known is not None and _same(known.array, array):
            return known
        if self._budget.used + array.nbytes > self._budget.limit:
            return None
        copy = Copy(array, self._budget)
        if isinstance(tensor.record, tuple):
            record, nr = tensor.record
            record.copies[nr] = ref(copy)
        return copy


def _copy_of(tensor: Tensor) -> Copy | None:
    if not isinstance(tensor.record, tuple):
        return None
    record, nr = tensor.record
    known: Copy | None = record.copies.get(nr, lambda: None)()
    return known


def _same(kept: Array, array: Array) -> bool:
    return kept.shape == array.shape and kept.dtype == array.dtype and bool(np.all(kept == array))

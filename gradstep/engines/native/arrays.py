"""Gradients of the core as arrays, and which of them code of the program may hold."""

from __future__ import annotations

from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.memory import memory_of
from autograd_core.tensor import Tensor
from gradstep.records import Gradient


def array_of(gradient: Gradient) -> NDArray[Any]:
    """Return the array of a gradient, be it one, a NumPy scalar or a tensor."""
    return gradient.array if isinstance(gradient, Tensor) else np.asarray(gradient)


def copy_of(gradient: Gradient) -> NDArray[Any]:
    """Return a read-only copy, in which what is broadcast stays so."""
    array = array_of(gradient)
    distinct = array[tuple(slice(None if step else 1) for step in array.strides)]
    return np.broadcast_to(distinct.copy(), array.shape)


def shown(gradient: Gradient) -> NDArray[Any]:
    """Return an array that never changes: a copy, if code of the program may change this one."""
    if is_shared(gradient):
        return copy_of(gradient)
    view = array_of(gradient).view()
    view.flags.writeable = False
    return view


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

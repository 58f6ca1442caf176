"""The change that an edit makes to a gradient, and its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.node import Port
from autograd_core.dag.addresses import step_number
from autograd_core.debug.errors import EditError
from autograd_core.debug.history.driver_protocol import Driver, Place
from autograd_core.tensor import Tensor

Change = Callable[[Any], Any]


def setting(value: Any, shape: tuple[int, ...], dtype: Any, graph: bool) -> Change:
    """Replace the gradient by ``value``, a number, array or tensor that broadcasts to its shape.

    Raises:
        EditError: it does not.
    """
    given = np.asarray(value.array if isinstance(value, Tensor) else value)
    try:
        array = np.array(np.broadcast_to(given, shape), dtype)
    except ValueError:
        raise EditError(
            f"a value of shape {list(given.shape)} does not fit a gradient of shape {list(shape)}"
        ) from None
    return lambda g: Tensor.from_array(array.copy()) if graph else array.copy()


def computing(function: Callable[[Any], Any]) -> Change:
    """Put the gradient's array through ``function``; an undefined gradient stays undefined."""

    def change(g: Any) -> Any:
        if g is None:  # it had arrived when the change was made, and an edge was muted since
            return None
        tensor = isinstance(g, Tensor)
        array = np.asarray(g.array if tensor else g)
        with np.errstate(all="ignore"):
            changed = np.asarray(function(array)).astype(array.dtype)
        return Tensor.from_array(changed) if tensor else changed

    return change


def place_of(driver: Driver, index: int, input_nr: int) -> Place:
    """The buffer at input ``input_nr`` of plan node ``index``.

    Raises:
        EditError: there is none.
    """
    node = driver.order[index]
    places: Sequence[Place] = driver.places(node)
    for place in places:
        if (place.nr if isinstance(place, Port) else 0) == input_nr:
            return place
    raise EditError(f"node {step_number(index)} has no input {input_nr}")

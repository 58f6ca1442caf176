"""The change that an edit makes to a gradient, and its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradstep.debugger.errors import EditError
from gradstep.engines.driver import Driver
from gradstep.engines.lookup import is_tensor
from gradstep.graph.addresses import step_number
from gradstep.records import PORT, Place

Change = Callable[[Any], Any]


class Kind(NamedTuple):
    """What kind of gradient is changed: that of an input of node ``index``, or of its leaf."""

    driver: Driver
    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    input_nr: int = 0
    grad: bool = False

    def of(self, array: Any) -> Any:
        """Return a gradient of these numbers."""
        return self.driver.gradient(array, self.index, self.input_nr, grad=self.grad)


def setting(value: Any, shape: tuple[int, ...], kind: Kind) -> Change:
    """Replace the gradient by ``value``, a number, array or tensor that broadcasts to its shape.

    Raises:
        EditError: it does not.
    """
    given = kind.driver.numbers(value) if is_tensor(value) else np.asarray(value)
    try:
        array = np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise EditError(
            f"a value of shape {list(given.shape)} does not fit a gradient of shape {list(shape)}"
        ) from None
    return lambda g: kind.of(array)


def computing(function: Callable[[Any], Any], kind: Kind) -> Change:
    """Put the gradient's array through ``function``; an undefined gradient stays undefined."""

    def change(g: Any) -> Any:
        if g is None:  # it had arrived when the change was made, and an edge was muted since
            return None
        array = kind.driver.numbers(g)
        with np.errstate(all="ignore"):
            return kind.of(np.asarray(function(array)).astype(array.dtype))

    return change


def place_of(driver: Driver, index: int, input_nr: int) -> Place:
    """Return the buffer at input ``input_nr`` of plan node ``index``.

    Raises:
        EditError: there is none.
    """
    node = driver.order[index]
    places: Sequence[Place] = driver.places(node)
    for place in places:
        if (place.nr if place.kind == PORT else 0) == input_nr:
            return place
    raise EditError(f"node {step_number(index)} has no input {input_nr}")

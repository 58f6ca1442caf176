"""What an observed node tells: what it got, gave, and changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple, cast

from autograd_core.autograd.node import Edge, Node, Port
from autograd_core.autograd.reduce import Gradient


class Delivery(NamedTuple):
    """One gradient on its way: along edge ``output_nr`` of a node into the buffer ``edge``,
    which held ``before`` and holds ``after``.  ``edge`` None is an edge to nowhere."""

    output_nr: int
    edge: Edge
    gradient: Gradient
    before: Gradient
    after: Gradient


class Step(NamedTuple):
    """What one node did.

    ``incoming`` is what its buffers held, one entry per output of the forward op, and
    ``hooked`` the same after its hooks; ``before`` and ``after`` are a leaf's ``.grad``
    around the accumulation (copies, None where there was none).  ``captured`` is what ``grad``
    takes away here, by place; a node that runs for nothing else has no deliveries.
    """

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    node: Node
    incoming: tuple[Gradient, ...]
    hooked: tuple[Gradient, ...]
    deliveries: tuple[Delivery, ...]
    before: Gradient = None
    after: Gradient = None
    captured: tuple[tuple[Node | Port, Gradient], ...] = ()


# made in a third of the time that their names take: a pass of a million nodes makes as many
new_delivery: Final = cast("Callable[[Any], Delivery]", partial(tuple.__new__, Delivery))
new_step: Final = cast("Callable[[Any], Step]", partial(tuple.__new__, Step))

"""Where to stop or to run to: what a person types, as indices of the plan."""

from __future__ import annotations

from autograd_core.dag.addresses import UnknownAddress, find_nodes
from autograd_core.dag.model import Graph

UnknownLocation = UnknownAddress
"""What commands raise for a place that the plan does not have."""


def locate(graph: Graph, text: str, length: int) -> tuple[int, ...]:
    """The plan indices that ``text`` means, in execution order: ``#12`` is an index, all else as
    :func:`~autograd_core.dag.addresses.find_nodes` reads it.

    Raises:
        UnknownLocation: none of these, with what was likely meant.
    """
    return (_index(text, length),) if text.startswith("#") else find_nodes(graph, text, length)


def _index(text: str, length: int) -> int:
    try:
        index = int(text[1:])
    except ValueError:
        raise UnknownLocation(
            f"'{text}' is no position", "write # and a number, as in #3"
        ) from None
    if not 0 <= index < length:
        raise UnknownLocation(f"there is no node {text}", f"the plan has #0 to #{length - 1}")
    return index

"""Where to stop or to run to: what a person types, as indices of the plan."""

from __future__ import annotations

from autograd_core.dag.addresses import all_step_numbers, find_nodes, step_index
from autograd_core.dag.errors import UnknownAddress
from autograd_core.dag.model import Graph

UnknownLocation = UnknownAddress
"""What commands raise for a place that the plan does not have."""


def locate(graph: Graph, text: str, length: int) -> tuple[int, ...]:
    """The plan indices that ``text`` means, in execution order: ``#12`` is the twelfth node to run,
    all else as :func:`~autograd_core.dag.addresses.find_nodes` reads it.

    Raises:
        UnknownLocation: none of these, with what was likely meant.
    """
    if not text.startswith("#"):
        return find_nodes(graph, text, length)
    index = step_index(text)
    if index is None or index >= length:
        raise UnknownLocation(f"there is no node {text}", all_step_numbers(length))
    return (index,)

"""What is folded in the boxes of a picture, by name, so that a page can find it."""

from __future__ import annotations

from typing import Final

from autograd_core.dag.model import Graph
from autograd_core.text import printable
from viz.picture.model import Picture

MOST_CHARACTERS: Final = 2_000_000
"""Beyond so many, names of ops are left out; modules and parameters are there in any case."""


def contents_of(small: Graph | None, graph: Graph, picture: Picture) -> dict[int, list[str]]:
    """Return the names of parameters, modules and ops in each box of the forward half, or of the
    only one, that is a group of ``small``; ``graph`` is what that was folded from."""
    if small is None or small is graph:
        return {}
    first = picture.halves[0]
    named: dict[int, list[str]] = {}
    ops: dict[int, list[str]] = {}
    for number, (node, half) in enumerate(picture.boxes.rows("node", "half")):
        group = small.groups.get(node)
        if group is None or half != first:
            continue
        members = group.members
        scopes = {graph.scopes[id]: None for id in members}
        leaves = (graph.variables.get(id, "") for id in members if graph.kinds[id] != "op")
        named[number] = [printable(name) for name in (*scopes, *leaves) if name]
        ops[number] = [printable(graph.address(id)) for id in members if graph.kinds[id] == "op"]
    size = sum(len(name) for names in ops.values() for name in names)
    if size > MOST_CHARACTERS:
        ops = {}
    return {number: [*names, *ops.get(number, ())] for number, names in named.items()}

"""What is folded in the boxes of a picture, by name, so that a page can find it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gradstep.graph.model import Graph
from gradstep.text import printable
from gradstep_viz.picture.formatting import place
from gradstep_viz.picture.model import Picture

MOST_RUNS: Final = 300_000
"""Beyond so many runs of ops, which take 15 bytes each, ops are left out, and the page says so;
modules and parameters are there in any case."""


class Run(NamedTuple):
    """Ops of one kind in one module, by their addresses: ``first`` to ``last`` of ``stem``; the
    module is a place in the names of the same box, -1 for none."""

    module: int
    stem: str
    first: int
    last: int


class Contents(NamedTuple):
    """The modules, parameters and other leaves in a box, the lines of the program that made what is
    in it, and its ops, None where these are left out."""

    names: Sequence[str]
    ops: Sequence[Run] | None


def contents_of(small: Graph | None, graph: Graph, picture: Picture) -> dict[int, Contents]:
    """Return what is in each box of the forward half, or of the only one, that is a group of
    ``small``; ``graph`` is what that was folded from.  Where these are too many, it has no ops."""
    if small is None or small is graph:
        return {}
    first = picture.halves[0]
    contents: dict[int, Contents] = {}
    for number, (node, half) in enumerate(picture.boxes.rows("node", "half")):
        group = small.groups.get(node)
        if group is not None and half == first:
            contents[number] = _contents(graph, group.members)
    if sum(len(one.ops or ()) for one in contents.values()) > MOST_RUNS:
        contents = {number: one._replace(ops=None) for number, one in contents.items()}
    return contents


def modules_in_order(graph: Graph) -> list[str]:
    """Return the modules in the order in which the program runs them first: that in which the
    backward pass leaves them last, where it tells."""
    last: dict[str, int] = {}
    for id, scope in enumerate(graph.scopes):
        if scope:
            order = graph.orders.get(graph.pairs.get(id, id), -1)
            last[scope] = max(order, last.get(scope, -1))
    if not any(order >= 0 for order in last.values()):
        return list(last)
    return sorted(last, key=lambda scope: -last[scope])


def _contents(graph: Graph, members: Sequence[int]) -> Contents:
    modules: dict[str, int] = {}
    for id in members:
        if scope := graph.scopes[id]:
            modules.setdefault(scope, len(modules))
    leaves = (graph.variables.get(id, "") for id in members if graph.kinds[id] != "op")
    runs: dict[tuple[str, str], list[list[int]]] = {}
    for id in members:
        if graph.kinds[id] == "op":
            count, ids = graph.counts[id], runs.setdefault((graph.scopes[id], graph.stem(id)), [])
            if ids and ids[-1][1] == count - 1:
                ids[-1][1] = count
            else:
                ids.append([count, count])
    sources = (graph.sources.get(id) for id in members)
    lines = dict.fromkeys(place(source) for source in sources if source is not None)
    return Contents(
        [printable(name) for name in (*modules, *leaves, *lines) if name],
        [
            Run(modules.get(scope, -1), printable(stem), *run)
            for (scope, stem), ids in runs.items()
            for run in ids
        ],
    )

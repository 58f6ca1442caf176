"""Frames around what is open of several things alike: each round of a loop, and each instance of a
repeat, that a picture shows in more boxes than one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradstep.graph.columns import Ints
from gradstep.graph.folding.chains import Heads
from gradstep.graph.folding.choose import Item
from gradstep.graph.folding.tree import Fold, heads_below
from gradstep.graph.folding.units import Units
from gradstep.graph.model import Graph, OpenGroup


def frames_of(
    graph: Graph,
    folds: Sequence[Fold],
    items: Sequence[Item],
    units: Units,
    heads: Heads,
    new_ids: Ints,
) -> tuple[OpenGroup, ...]:
    """Return the frames of ``graph``, which shows ``items`` of ``folds``; ``new_ids`` are its nodes
    by those of the graph that was folded.

    The frames of a module hold all that is in it by its address, and nothing else.
    """
    rounds: list[OpenGroup] = []
    modules: dict[str, list[frozenset[int]]] = {}
    for fold in _open_instances(folds, items):
        nodes = (
            node
            for head in heads_below(fold)
            for unit in heads.members(head.unit)
            for node in units.nodes(unit)
        )
        members = frozenset(new_ids[list(nodes)].tolist()) - {-1}
        if len(members) < 2:
            continue
        if fold.kind == "scope" and fold.scope == fold.label:
            modules.setdefault(fold.label, []).append(members)
        else:
            rounds.append(OpenGroup(fold.label, members))
    return (*rounds, *_of_modules(graph, modules))


def _open_instances(folds: Sequence[Fold], items: Sequence[Item]) -> Iterator[Fold]:
    """Yield the instances of repeats and loops that are open, from the outside in."""
    closed = {id(part) for item in items for part in item.parts}
    stack = list(folds)
    while stack:
        fold = stack.pop()
        if id(fold) in closed:
            continue
        for child in reversed(fold.children):
            if child.children:
                stack.append(child)
        for one in fold.children:
            is_framed = one.kind == "iteration" or fold.kind in ("repeat", "loop")
            if is_framed and one.children and id(one) not in closed:
                yield one


def _of_modules(graph: Graph, modules: dict[str, list[frozenset[int]]]) -> Iterator[OpenGroup]:
    """Yield the frames of each module, one for each time that it ran; with several, another one is
    around what it has besides, such as parameters with boxes of their own."""
    addresses = [graph.address(id) for id in range(len(graph))] if modules else []
    for id in graph.groups if modules else ():  # the name of a round says no module
        addresses[id] = graph.scopes[id] or addresses[id]
    for label, parts in modules.items():
        inside = {id for id, address in enumerate(addresses) if is_inside(address, label)}
        inside.update([graph.pairs[id] for id in inside if id in graph.pairs])
        if len(parts) == 1:
            yield OpenGroup(label, frozenset(inside))
            continue
        for members in parts:
            yield OpenGroup(label, members & inside)
        if rest := inside.difference(*parts):
            yield OpenGroup(label, frozenset(rest))


def is_inside(address: str, module: str) -> bool:
    """Return whether what has this address is in a module.

    >>> is_inside("h.1.attn/add:1", "h.1"), is_inside("h.1 … 3", "h.1"), is_inside("h.11", "h.1")
    (True, False, False)
    """
    return address == module or address.startswith((f"{module}.", f"{module}/"))

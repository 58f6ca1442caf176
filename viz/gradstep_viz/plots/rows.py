"""The rows of a plot: the leaves in the order in which the forward pass comes to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from math import ceil
from typing import Final, NamedTuple

from gradstep.recording.facts import Leaf
from gradstep.recording.run import Run
from gradstep.text import did_you_mean, printable
from gradstep_viz.errors import UnknownNode

MOST_ROWS: Final = 400


class Row(NamedTuple):
    """One leaf, or several neighbours where there are too many for a row each."""

    name: str
    leaves: tuple[int, ...]


def matching(leaves: Sequence[Leaf], patterns: Sequence[str]) -> list[int]:
    """Return the numbers of the leaves that match one of ``patterns``, all without any: a name, the
    name of a module, or such with ``*`` and ``?``.

    Raises:
        UnknownNode: there is none.
    """
    for pattern in patterns:
        if not any(is_match(leaf.name, pattern) for leaf in leaves):
            modules = {leaf.name.rpartition(".")[0] for leaf in leaves} - {""}
            raise UnknownNode(
                f"no leaf matches '{pattern}'",
                remedy=did_you_mean(
                    pattern,
                    [*(leaf.name for leaf in leaves), *sorted(modules)],
                    otherwise="give the name of a leaf or of a module, with * for any text",
                ),
            )
    return [
        leaf.number
        for leaf in leaves
        if not patterns or any(is_match(leaf.name, pattern) for pattern in patterns)
    ]


def is_match(name: str, pattern: str) -> bool:
    """Return whether a leaf is one of those that a pattern names.

    >>> is_match("encoder.0.weight", "encoder"), is_match("encoder.0.weight", "*.weight")
    (True, True)
    """
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def forward_order(run: Run, calls: Sequence[int], leaves: Iterable[int]) -> list[int]:
    """Return some ``leaves`` in the order in which the forward passes came to them, as far as
    graphs of ``calls`` tell; others by their numbers, the order in which the program made them.

    A backward pass is done with them in the opposite order. A leaf that only some calls come to
    stands behind the one that it follows there.
    """
    wanted = sorted(leaves)
    numbers = {run.leaves[leaf].name: leaf for leaf in wanted}
    order: list[int] = []
    for structure in islice(dict.fromkeys(run.call(index).structure for index in calls), _GRAPHS):
        graph = run.graph(structure)
        done = [
            (graph.orders[id], numbers[graph.variables[id]])
            for id, half in enumerate(graph.halves)
            if half == "backward" and id in graph.orders and graph.variables.get(id) in numbers
        ]
        _merge(order, [leaf for _, leaf in sorted(done, reverse=True)])
    _merge(order, wanted)
    return order


_GRAPHS: Final = 8
"""So many different graphs are asked at most."""


def _merge(order: list[int], leaves: Iterable[int]) -> None:
    """Put those of ``leaves`` that are not in ``order`` there, each behind the one before it."""
    place = 0
    for leaf in leaves:
        if leaf in order:
            place = order.index(leaf) + 1
        else:
            order.insert(place, leaf)
            place += 1


def rows_of(leaves: Sequence[Leaf], order: Sequence[int], most: int = MOST_ROWS) -> list[Row]:
    """Return a row for each leaf of ``order``, or for several that follow each other where there
    are more than ``most``."""
    size = max(ceil(len(order) / most), 1)
    parts = [tuple(order[start : start + size]) for start in range(0, len(order), size)]
    return [Row(_name([printable(leaves[number].name) for number in part]), part) for part in parts]


def _name(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"

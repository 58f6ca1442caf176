"""The rows of a plot: the leaves in the order in which the forward pass comes to them."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from math import ceil
from typing import Final, NamedTuple

from gradstep.recording.facts import Leaf
from gradstep.text import did_you_mean, printable
from gradstep_viz.errors import UnknownNode
from gradstep_viz.plots.sizes import Sizes, equal_neighbours

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
        if not patterns or any(is_match(leaf.name, each) for each in patterns)
    ]


def is_match(name: str, pattern: str) -> bool:
    """Return whether a leaf is one of those that a pattern names.

    >>> is_match("encoder.0.weight", "encoder"), is_match("encoder.0.weight", "*.weight")
    (True, True)
    """
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def forward_order(sizes: Sizes) -> list[int]:
    """Return the numbers of the leaves in the order in which the forward passes came to them.

    A backward pass is done with them in the opposite order; a leaf that only some calls come to
    stands behind the one that it follows there.
    """
    order: list[int] = []
    seen: set[int] = set()
    for part in equal_neighbours(sizes.calls):
        leaves = sizes.leaves[part][::-1].tolist()
        if seen.issuperset(leaves):
            continue
        place = 0
        for leaf in leaves:
            if leaf in seen:
                place = order.index(leaf) + 1
            else:
                order.insert(place, leaf)
                seen.add(leaf)
                place += 1
    return order


def rows_of(leaves: Sequence[Leaf], order: Sequence[int], most: int = MOST_ROWS) -> list[Row]:
    """Return a row for each leaf of ``order``, or for several that follow each other where there
    are more than ``most``."""
    each = max(ceil(len(order) / most), 1)
    parts = [tuple(order[start : start + each]) for start in range(0, len(order), each)]
    return [Row(_name([printable(leaves[number].name) for number in part]), part) for part in parts]


def _name(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"

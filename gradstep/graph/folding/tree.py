"""The fold tree: scopes within scopes, repeats of scopes, rounds of loops.

A leaf of the tree is a *head*: a unit with the shape ops that stand in its box.  Every inner
node covers an interval of heads in the order in which they ran, so that whatever is shown closed
is entered and left like one op, and no picture gets a cycle by folding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

FoldKind = Literal["head", "scope", "repeat", "loop", "iteration", "sibling", "band", "data"]


class Fold(NamedTuple):
    """A node of the tree.

    ``label`` is what a person calls it: the path of a scope, "i = 3" for a round of a loop, the
    address of its first op for one of several siblings, the first and the last one for a band;
    ``scope`` is the scope whose ops it has.
    ``heads`` and ``boxes`` count the leaves below it and the boxes these take; ``width`` is the
    boxes that it takes itself when closed, or, too small for a group, all that it takes.  Two with
    the same ``signature`` are built alike.
    """

    kind: FoldKind
    label: str
    scope: str
    unit: int
    children: tuple[Fold, ...]
    signature: int
    heads: int
    boxes: int
    width: int


BOTH_HALVES: Final = 2
"""So many boxes has one op, at most."""

LEAST_GROUP: Final = 3
"""Fewer heads are no group: its title says less than they do."""


def fold_of(
    kind: FoldKind, label: str, scope: str, children: Sequence[Fold], signature: int
) -> Fold:
    """Make the fold that covers ``children``."""
    heads = boxes = width = 0
    for child in children:
        heads += child.heads
        boxes += child.boxes
        width = max(width, min(child.width, BOTH_HALVES))
    if heads < LEAST_GROUP and kind not in ("repeat", "loop"):
        width = boxes
    return Fold(kind, label, scope, -1, tuple(children), signature, heads, boxes, width)


def heads_of(fold: Fold) -> list[Fold]:
    """Return what is drawn of ``fold`` where there is room for all: its heads, in order, and what
    prepares data as a whole."""
    heads: list[Fold] = []
    stack = [fold]
    while stack:
        one = stack.pop()
        if one.kind in ("head", "data"):
            heads.append(one)
        else:
            stack.extend(reversed(one.children))
    return heads


def heads_below(fold: Fold) -> Iterator[Fold]:
    """Yield the heads that ``fold`` covers, in order."""
    if not fold.children:
        yield fold
        return
    stack = [fold]
    while stack:
        one = stack.pop()
        if one.children:
            stack.extend(reversed(one.children))
        else:
            yield one

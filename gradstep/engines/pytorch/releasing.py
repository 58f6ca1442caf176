"""Long graphs of which Python has seen the nodes, let go without a recursion of their length.

PyTorch frees a graph in a loop.  But the object that stands for a node in Python goes with it, and
lets go of what that node leads to: one call within another for each node, and a stack overflow at
tens of thousands.  Where what is kept beside a node holds the objects that come next, Python frees
these afterwards, from a list of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gradstep.engines.pytorch.private import kept_beside

_KEY: Final = "gradstep: next"
_BLOCK: Final = 1000
"""Nodes that are let go of within each other at most."""


def let_go_in_parts(nodes: Sequence[Any], edges: Iterable[Any]) -> None:
    """Let ``nodes`` be freed in parts; ``edges`` are the ``next_functions`` of each."""
    if len(nodes) <= _BLOCK:
        return
    first: list[tuple[Any, list[Any]]] = []  # of each part, and what comes next
    block = {node: number // _BLOCK for number, node in enumerate(nodes)}
    for (node, own), following in zip(block.items(), edges, strict=True):
        others = [to for to, _ in following if to is not None and block.get(to) != own]
        if others:
            first.append((node, others))
    kept = kept_beside(node for node, _ in first)
    for beside, (_, others) in zip(kept, first, strict=True):
        beside[_KEY] = others

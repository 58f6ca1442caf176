"""Long graphs of which Python has seen the nodes, let go without a recursion of their length.

PyTorch frees a graph in a loop.  But the object that stands for a node in Python goes with it, and
lets go of what that node leads to: one call within another for each node, and a stack overflow at
tens of thousands.  Where one node's object holds the objects that come next, as its metadata does,
Python frees these afterwards, from a list of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

_KEY: Final = "gradstep: next"
_BLOCK: Final = 1000
"""Nodes that are let go of within each other at most."""


def let_go_in_parts(nodes: Sequence[Any], edges: Iterable[Any]) -> None:
    """Let ``nodes`` be freed in parts; ``edges`` are the ``next_functions`` of each."""
    if len(nodes) <= _BLOCK:
        return
    block = {node: number // _BLOCK for number, node in enumerate(nodes)}
    for (node, own), following in zip(block.items(), edges, strict=True):
        others = [to for to, _ in following if to is not None and block.get(to) != own]
        if others:
            node.metadata[_KEY] = others

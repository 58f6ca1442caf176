"""Hooks of the program's around a node, as far as PyTorch tells of them: those on tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradstep.engines.pytorch.nodes import TorchLeaf, TorchNode
from gradstep.engines.pytorch.private import hook_tables


def hooks_of(node: TorchNode) -> Iterator[Mapping[int, Any]]:
    """Return the tables of hooks of each tensor that ``node`` made, and of a leaf."""
    if isinstance(node, TorchLeaf):
        tables = hook_tables(node.tensor.origin)
    else:
        noted = node.graph.origins.hooks.get(node.sequence_nr, ())
        tables = [table for each in noted if (table := each()) is not None]
    yield from tables

"""Folding: a graph that is too large to read becomes a graph that says the same in few nodes."""

from autograd_core.dag.folding.choose import Item
from autograd_core.dag.folding.contract import Folded
from autograd_core.dag.folding.fold import Folding, fold
from autograd_core.dag.folding.parts import neighbourhood, part_between

__all__ = ["Folded", "Folding", "Item", "fold", "neighbourhood", "part_between"]

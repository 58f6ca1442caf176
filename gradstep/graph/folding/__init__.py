"""Folding: a graph that is too large to read becomes a graph that says the same in few nodes."""

from gradstep.graph.folding.choose import Item
from gradstep.graph.folding.contract import Folded
from gradstep.graph.folding.fold import Folding, fold
from gradstep.graph.folding.parts import neighbourhood, part_between

__all__ = ["Folded", "Folding", "Item", "fold", "neighbourhood", "part_between"]

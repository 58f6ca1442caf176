"""From a graph to one that fits a screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np

from gradstep.graph.common_module import common_module
from gradstep.graph.folding import labels
from gradstep.graph.folding.bands import FEW_SIBLINGS, MOST_SIBLINGS
from gradstep.graph.folding.building import TreeBuilder
from gradstep.graph.folding.chains import Heads, find_heads
from gradstep.graph.folding.choose import Item, Options, choose, choose_inside
from gradstep.graph.folding.columns import FoldingColumns, Truths, columns_of
from gradstep.graph.folding.contract import Folded, contract
from gradstep.graph.folding.frames import frames_of
from gradstep.graph.folding.parts import subgraph
from gradstep.graph.folding.totals import totals
from gradstep.graph.folding.tree import Fold, heads_below
from gradstep.graph.folding.units import Units, make_units
from gradstep.graph.model import Graph, Half, Totals

MOST_NEIGHBOURS: Final = 24
"""So many ops around a group are drawn with its inside."""

BOTH: tuple[Half, Half] = ("forward", "backward")


def fold(
    graph: Graph,
    halves: Sequence[Half] = BOTH,
    *,
    max_boxes: int = 60,
    depth: int | None = None,
    expand: Sequence[str] = (),
) -> Graph:
    """Return ``graph`` with at most ``max_boxes`` nodes for its ops, where scopes and repeats allow
    it.

    Shape ops join the op that they serve.  Then the finest level is chosen that fits; both
    halves fold alike.  Only scopes, repeats and shape ops are folded: a graph without them stays
    as large as it is.  The time is that of a few passes over the graph.

    Args:
        halves: those that are shown, and count.
        depth: open scopes down to this depth and no further, whatever it costs.
        expand: what opens in any case: scopes by their path, rounds of a loop by ``i=3``.

    Raises:
        UnknownAddress: nothing that is folded goes by a name in ``expand``.
    """
    return Folding(graph, halves).fold(max_boxes, depth, expand)


class Folding:
    """A graph made ready to be folded, several times if need be: what is alike in it is found once.

    Attributes:
        graph: the whole graph.
    """

    def __init__(
        self, graph: Graph, halves: Sequence[Half] = BOTH, most: int = MOST_SIBLINGS
    ) -> None:
        self.graph = graph
        self._most = most
        self._halves = halves
        self._columns = columns_of(graph, halves)
        self._ends = int((self._columns.is_end & self._columns.shown).sum())

    def for_little_room(self) -> Folding:
        """Return the same for a picture with few boxes: what is less than a screen is cut, too,
        into bands that bear the names of their lines."""
        return Folding(self.graph, self._halves, FEW_SIBLINGS)

    @cached_property
    def module(self) -> str:
        """The long name of the module that all of it is in; "" where there is none."""
        return common_module(self.graph)

    @cached_property
    def _totals(self) -> Totals:
        return totals(self.graph)

    @cached_property
    def _parts(self) -> tuple[Units, Heads, Fold] | None:
        """Its ops, which op each serves, and the tree of its folds; None where there are no ops."""
        units = make_units(self.graph, self._columns)
        if units is None or not len(units):
            return None
        heads = find_heads(self.graph, units)
        return units, heads, TreeBuilder(self.graph, units, heads, self._most).build()

    @cached_property
    def _arrays(self) -> tuple[Any, Any]:
        """Units and heads with arrays for lists: so that a part of them is soon taken."""
        assert self._parts is not None
        units, heads, _ = self._parts
        columns = (units.forward, units.backward, units.of, heads.mains)
        forward, backward, of, mains = (np.array(column, np.int64) for column in columns)
        own = replace(units, forward=forward, backward=backward, of=of)  # type: ignore[arg-type]
        return own, replace(heads, mains=mains)  # type: ignore[arg-type]

    def fold(
        self, max_boxes: int = 60, depth: int | None = None, expand: Sequence[str] = ()
    ) -> Graph:
        """Fold it; arguments and errors as for :func:`fold`."""
        return self.folded(max_boxes, depth, expand).graph

    def folded(
        self,
        max_boxes: int = 60,
        depth: int | None = None,
        expand: Sequence[str] = (),
        shut: Sequence[str] = (),
    ) -> Folded:
        """The same, with what its groups stand for; ``shut`` are names or classes of modules that
        do not open."""
        if self._parts is None:
            return Folded(self.graph, {})
        units, heads, root = self._parts
        closed = labels.shut(root, shut, self.graph.modules)
        if root.boxes > max_boxes - self._ends and depth is None:
            closed |= labels.norms(root, self.graph.modules, expand)
        items = choose(root, Options(max_boxes - self._ends, depth, tuple(expand), closed))
        if len(items) == len(units):
            same = np.arange(len(self.graph))
            frames = frames_of(self.graph, [root], items, units, heads, same)
            return Folded(replace(self.graph, frames=frames) if frames else self.graph, {})
        return contract(self.graph, self._columns, units, heads, [root], items, self._halves)

    def inside(self, item: Item, name: str, max_boxes: int = 60) -> Folded:
        """Fold what is inside ``item``, which a box called ``name`` stands for, with the leaves
        that it uses and the ops next to it."""
        units, heads = self._arrays
        columns, graph, of = self._columns, self.graph, units.of
        mains: Any = heads.mains
        number_of = (np.cumsum(mains == np.arange(len(mains))) - 1)[mains]  # of heads, by unit
        first = int(number_of[next(heads_below(item.parts[0])).unit])
        stop = first + sum(part.heads for part in item.parts)
        number = np.where(of >= 0, number_of[of], -1)
        inside = (number >= first) & (number < stop)
        chosen = inside | _around(columns, inside)
        ids = np.flatnonzero(chosen)
        edges = np.flatnonzero(chosen[columns.sources] & chosen[columns.targets])
        part = subgraph(graph, ids.tolist(), edges.tolist(), f"inside {name}", self._totals)
        new_id = np.full(len(graph) + 1, -1, np.int64)  # the last one stands for none
        new_id[ids] = np.arange(len(ids))
        own = replace(
            units,
            forward=new_id[units.forward],
            backward=new_id[units.backward],
            of=np.where(inside, of, -1)[ids],
        )
        items = choose_inside(item, max_boxes)
        return contract(
            part, columns_of(part, self._halves), own, heads, item.parts, items, self._halves,
            first, name,
        )  # fmt: skip


def _around(columns: FoldingColumns, inside: Truths) -> Truths:
    """Mark what the nodes ``inside`` read and are read by; where these are too many ops, leaves
    only; each with its partner in the other half."""
    around = np.zeros(len(inside), np.bool_)
    flows = columns.flows
    around[columns.sources[flows & inside[columns.targets]]] = True
    around[columns.targets[flows & inside[columns.sources]]] = True
    around &= ~inside
    others = np.flatnonzero(around & ~columns.is_leaf)
    if len(others) > MOST_NEIGHBOURS:
        around[others] = False
    partners = columns.partners[around]
    around[partners[partners >= 0]] = True
    return around & ~inside

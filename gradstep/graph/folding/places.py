"""The box that each node of the graph belongs to, and its part there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from gradstep.graph.columns import grouped
from gradstep.graph.folding.chains import Heads
from gradstep.graph.folding.choose import Item
from gradstep.graph.folding.columns import FoldingColumns, Truths
from gradstep.graph.folding.totals import saved_bytes_by, zero_gradients_by
from gradstep.graph.folding.units import Units
from gradstep.graph.infinities import troubled
from gradstep.graph.model import PARAMETER_KINDS, Graph, Half
from gradstep.graph.saved_columns import SavedColumns


class Places:
    """``item`` is the box of each node, -1 outside all boxes; ``members`` are the nodes of each box
    by half.

    ``main`` marks the nodes whose facts a box of one op shows; ``ports`` are the numbers that the
    ends of edges get where a shape op stood between; ``saved`` are the bytes that each box keeps.
    ``packed`` counts what each has put away, ``backward`` is the node of each unit in the backward
    half.
    ``troubled`` are the nodes whose values have NaN or Inf, ``changed`` those that keep what was
    changed since.
    """

    def __init__(
        self,
        graph: Graph,
        columns: FoldingColumns,
        units: Units,
        heads: Heads,
        items: Sequence[Item],
        first: int,
    ) -> None:
        self.graph, self.items, self._columns = graph, items, columns
        self.closed = np.array([item.fold.kind != "head" for item in items], np.bool_)
        # every item covers an interval of the heads, in their order, from number ``first`` on
        sizes = [sum(part.heads for part in item.parts) for item in items]
        mains = np.asarray(heads.mains, np.int64)
        is_head = mains == np.arange(len(mains))
        of_head = np.full(np.count_nonzero(is_head), -1, np.int64)
        of_head[first : first + sum(sizes)] = np.repeat(np.arange(len(items)), sizes)
        of_unit = of_head[(np.cumsum(is_head) - 1)[mains]]
        unit_of = np.asarray(units.of, np.int64)
        self.item = np.where(unit_of >= 0, of_unit[unit_of], -1)
        inside = self.item >= 0
        self.main = inside & is_head[unit_of] & ~self.closed[self.item]
        saved = SavedColumns.of(graph.saved)
        states = list(zip(saved.nodes, saved.states, strict=True))
        self.changed = frozenset(id for id, state in states if state == "changed")
        self.packed = Counter(int(self.item[id]) for id, state in states if state == "packed")
        self.backward = units.backward
        self.troubled = troubled(graph)
        self._swallow_leaves()
        self.members = self._members()
        self.saved = saved_bytes_by(graph, self.item)
        self.zeros = zero_gradients_by(graph, self.item)
        self.ports = self._ports(units) if heads.joint else {}

    @property
    def leads(self) -> Truths:
        """Mark the nodes that stand for their box: any of a closed one, else the main op."""
        leads: Truths = (self.item < 0) | self.closed[self.item] | self.main
        return leads

    def _members(self) -> list[dict[Half, tuple[int, ...]]]:
        inside = np.flatnonzero(self.item >= 0)
        row = 2 * self.item[inside] + self._columns.is_backward[inside]
        nodes = grouped(row, inside, 2 * len(self.items))
        return [
            {"forward": nodes[number], "backward": nodes[number + 1]}
            for number in range(0, len(nodes), 2)
        ]

    def _ports(self, units: Units) -> dict[int, int]:
        """By which input or output of the main op a shape op beside it is reached."""
        graph, of, columns = self.graph, units.of, self._columns
        item = self.item[columns.sources]
        within = columns.flows & (item >= 0) & (item == self.item[columns.targets])
        hops: dict[int, tuple[int, int]] = {}  # one step closer to the main op
        for id in np.flatnonzero(within & ~self.closed[item]).tolist():
            source, target = int(columns.producers[id]), int(columns.readers[id])
            nrs = graph.edge_input_nrs[id], graph.edge_output_nrs[id]
            if columns.is_gradient[id]:
                nrs = nrs[::-1]
            if of[source] < self.items[self.item[source]].fold.unit:
                hops[source] = (target, nrs[0])
            else:
                hops[target] = (source, nrs[1])
        ports = {}
        for id in hops:
            place, nr = id, 0
            while place in hops and not self.main[place]:
                place, nr = hops[place]
            ports[id] = nr
        return ports

    def _swallow_leaves(self) -> None:
        """Put leaves that only one closed box reads into it, and their gradients alike; but not
        what all instances of a repeat share."""
        graph, columns = self.graph, self._columns
        reader: dict[int, int] = {}
        several: set[int] = set()
        uses: dict[int, int] = {}
        of_leaves = columns.flows & (columns.is_leaf & columns.shown)[columns.producers]
        for leaf, number in zip(
            columns.producers[of_leaves].tolist(),
            self.item[columns.readers[of_leaves]].tolist(),
            strict=True,
        ):
            if number < 0 or reader.setdefault(leaf, number) != number:
                several.add(leaf)
            uses[leaf] = uses.get(leaf, 0) + 1
        for leaf, number in reader.items():
            partner = graph.pairs.get(leaf, leaf)
            alone = leaf not in several and partner not in several
            if alone and reader.get(partner, number) == number and self.closed[number]:
                instances = self.items[number].instances
                shared = instances > 1 and max(uses[leaf], uses.get(partner, 0)) >= instances
                if not shared and self._is_detail(leaf, number):
                    self.item[leaf] = number

    def _is_detail(self, leaf: int, number: int) -> bool:
        """Return whether a leaf is of no interest outside the box: a parameter, or without a
        name."""
        graph = self.graph
        if graph.kinds[leaf] in PARAMETER_KINDS or leaf not in graph.variables:
            return True
        return self.items[number].instances > 1

"""Statistics by the ids of nodes or edges, made when somebody asks for them."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from gradstep.graph.columns import SmallInts
from gradstep.graph.entries import Entries
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable

D = TypeVar("D")


class StatisticsColumns(Entries[Statistics]):
    """The statistics of some nodes, or edges, by their ids: ``rows`` leads to that of a ``table``
    for each of the first ids, -1 for none; those of other ids can be set.

    >>> described = StatisticsColumns(StatisticsTable(0), np.array([-1, -1]))
    >>> described[2] = Statistics(1, 5.0, -5.0, -5.0, 0, 0, 0)
    >>> described.get(1), described[2].rms, len(described)
    (None, 5.0, 1)
    """

    def __init__(self, table: StatisticsTable | None = None, rows: SmallInts | None = None) -> None:
        self._table = StatisticsTable(0) if table is None else table
        self._rows: SmallInts = np.zeros(0, np.int32) if rows is None else rows
        if len(self._table):
            unknown = self._table.columns[0, self._rows] < 0
            self._rows = np.where(unknown, -1, self._rows)
        self._count = int(np.count_nonzero(self._rows >= 0))
        self._made: dict[int, Statistics] = {}  # of these, those that were read
        self._set: dict[int, Statistics] = {}

    @classmethod
    def of(cls, statistics: Mapping[int, Statistics]) -> StatisticsColumns:
        """Return ``statistics`` as columns."""
        if isinstance(statistics, cls):
            return statistics
        columns = cls()
        columns._set.update(statistics)
        return columns

    def table(self, ids: Sequence[int]) -> StatisticsTable:
        """Return the statistics of ``ids``, which are in order."""
        places = np.asarray(ids, np.int64)
        first = int(np.searchsorted(places, len(self._rows)))
        table = StatisticsTable(len(places))
        rows = self._rows[places[:first]]
        known = np.flatnonzero(rows >= 0)
        table.columns[:, known] = self._table.columns[:, rows[known]]
        for at in range(first, len(places)) if self._set else ():
            if (one := self._set.get(ids[at])) is not None:
                table[at] = one
        return table

    def troubled(self) -> Iterator[int]:
        """Yield the ids of those with NaN or infinite elements."""
        inside = np.zeros(len(self._table) + 1, np.bool_)  # the last one stands for none
        inside[self._table.troubled()] = True
        yield from np.flatnonzero(inside[self._rows]).tolist()
        yield from (id for id, stats in self._set.items() if stats.trouble)

    def __setitem__(self, id: int, statistics: Statistics) -> None:
        assert id >= len(self._rows)
        self._set[id] = statistics

    def _find(self, id: int) -> Statistics | None:
        if id >= len(self._rows):
            return self._set.get(id)
        known = self._made.get(id)
        if known is None and (row := int(self._rows[id])) >= 0:
            known = self._made[id] = self._table[row]  # type: ignore[assignment]
        return known

    def items(self) -> ItemsView[int, Statistics]:
        """Return all, made at once: one by one takes three times as long."""
        if len(self._made) < self._count:
            ids = np.flatnonzero(self._rows >= 0)
            chosen: Any = StatisticsTable(0, self._table.columns[:, self._rows[ids]])
            self._made = dict(zip(ids.tolist(), chosen, strict=True))
        return {**self._made, **self._set}.items()

    def __iter__(self) -> Iterator[int]:
        return iter([id for id, _ in self.items()])

    def __len__(self) -> int:
        return self._count + len(self._set)

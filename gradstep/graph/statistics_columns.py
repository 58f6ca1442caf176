"""Statistics by the ids of nodes or edges, made when somebody asks for them."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Sequence
from typing import Any

import numpy as np

from gradstep.graph.columns import SmallInts
from gradstep.graph.entries import NumberedEntries
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable


class StatisticsColumns(NumberedEntries[Statistics]):
    """The statistics of some nodes, or edges, by their ids: ``rows`` leads to that of a ``table``
    for each of the first ids, -1 for none; those of other ids can be set.

    >>> described = StatisticsColumns(StatisticsTable(0), np.array([-1, -1]))
    >>> described[2] = Statistics(1, 5.0, -5.0, -5.0, 0, 0, 0)
    >>> described.get(1), described[2].rms, len(described)
    (None, 5.0, 1)
    """

    def __init__(self, table: StatisticsTable | None = None, rows: SmallInts | None = None) -> None:
        self._table = StatisticsTable(0) if table is None else table
        if rows is not None and len(self._table):
            rows = np.where(self._table.columns[0, rows] < 0, -1, rows)
        super().__init__(rows)
        self._made: dict[int, Statistics] = {}  # that were read in the table, or set behind it
        self._length = len(self._table)

    def _entry(self, number: int) -> Statistics:
        if number not in self._made:
            self._made[number] = self._table[number]  # type: ignore[assignment]  # it is known
        return self._made[number]

    def _number(self, entry: Statistics) -> int:
        number, self._length = self._length, self._length + 1
        self._made[number] = entry
        return number

    def _added(self) -> list[Statistics]:
        return [self._made[number] for number in range(len(self._table), self._length)]

    def table(self, ids: Sequence[int]) -> StatisticsTable:
        """Return the statistics of ``ids``."""
        added, none = StatisticsTable.of(self._added()).columns, StatisticsTable(1).columns
        every = np.concatenate([self._table.columns, added, none], axis=1)
        places = np.asarray(ids, np.int64)
        numbers = self.column(max(len(self._numbers), int(places.max(initial=-1)) + 1))
        return StatisticsTable(0, every[:, numbers[places]])

    def troubled(self) -> Iterator[int]:
        """Yield the ids of those with NaN or infinite elements."""
        inside = np.zeros(self._length + 1, np.bool_)  # the last one stands for none
        inside[self._table.troubled()] = True
        inside[len(self._table) : -1] = [bool(one.trouble) for one in self._added()]
        yield from np.flatnonzero(inside[np.array(self._numbers)]).tolist()

    def items(self) -> ItemsView[int, Statistics]:
        """Return all, made at once: one by one takes three times as long."""
        numbers = np.array(self._numbers)
        ids = np.flatnonzero(numbers >= 0)
        numbers = numbers[ids]
        if len(self._made) < len(ids):
            of_table = numbers[numbers < len(self._table)]
            chosen: Any = StatisticsTable(0, self._table.columns[:, of_table])
            self._made |= zip(of_table.tolist(), chosen, strict=True)
        made = map(self._made.__getitem__, numbers.tolist())
        return dict(zip(ids.tolist(), made, strict=True)).items()

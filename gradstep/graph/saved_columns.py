"""What nodes keep for the backward pass, value by value: a graph may keep a million of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gradstep.graph.model import Memory, SavedState, SavedValue, Shape, Source


class SavedColumns(Mapping[int, tuple[SavedValue, ...]]):
    """The saved values of each node that keeps some; value ``k`` is one of node ``nodes[k]``, and
    those of a node stand side by side.

    >>> saved = SavedColumns()
    >>> saved[3] = (SavedValue("self", (2,), "float32", 8), SavedValue("other", (2,), "float32", 8))
    >>> saved.nodes, saved.names, [value.name for value in saved[3]], saved.get(4)
    ([3, 3], ['self', 'other'], ['self', 'other'], None)
    """

    def __init__(self) -> None:
        self.nodes: list[int] = []
        self.names: list[str] = []
        self.shapes: list[Shape | None] = []
        self.dtypes: list[str] = []
        self.nbytes: list[int] = []
        self.states: list[SavedState] = []
        self.storages: list[int | None] = []
        self.lines: list[tuple[Source, ...]] = []
        self.memories: list[Memory | None] = []
        self.columns: tuple[list[Any], ...] = (  # in the order of the fields of a value
            self.names, self.shapes, self.dtypes, self.nbytes, self.states, self.storages,
            self.lines, self.memories,
        )  # fmt: skip
        self._first: dict[int, int] = {}

    @classmethod
    def of(cls, saved: Mapping[int, tuple[SavedValue, ...]]) -> SavedColumns:
        """Return ``saved`` as columns."""
        if isinstance(saved, cls):
            return saved
        columns = cls()
        for node, values in saved.items():
            columns[node] = values
        return columns

    def add(
        self,
        node: int,
        name: str,
        shape: Shape | None,
        dtype: str,
        nbytes: int,
        state: SavedState,
        storage: int | None,
        lines: tuple[Source, ...] = (),
        memory: Memory | None = None,
    ) -> None:
        """Add a value of ``node``, which is the last one so far or a new one."""
        at = len(self.nodes)
        if not at or self.nodes[-1] != node:
            self._first[node] = at
        self.nodes.append(node)
        self.names.append(name)
        self.shapes.append(shape)
        self.dtypes.append(dtype)
        self.nbytes.append(nbytes)
        self.states.append(state)
        self.storages.append(storage)
        self.lines.append(lines)
        self.memories.append(memory)

    def first(self, node: int) -> int:
        """Return the place of the first value of ``node``, that behind all if it has none."""
        return self._first.get(node, len(self.nodes))

    def places(self, node: int) -> range:
        """Return the places of the values of ``node``."""
        start = stop = self._first.get(node, -1)
        if start < 0:
            return range(0)
        nodes, last = self.nodes, len(self.nodes)
        while stop < last and nodes[stop] == node:
            stop += 1
        return range(start, stop)

    def value(self, at: int) -> SavedValue:
        """Return the value at place ``at``."""
        return SavedValue(*[column[at] for column in self.columns])

    def part(self, new_ids: Mapping[int, int]) -> SavedColumns:
        """Return the values of some nodes, which go by ``new_ids``, in the order of these."""
        part = SavedColumns()
        chosen: list[int] = []
        for old, new in new_ids.items():
            if places := self.places(old):
                part._first[new] = len(chosen)
                part.nodes += [new] * len(places)
                chosen += places
        for column, of_part in zip(self.columns, part.columns, strict=True):
            of_part += [column[at] for at in chosen]
        return part

    def with_lines(self, named: Callable[[Source], Source]) -> SavedColumns:
        """Return the same values, whose lines ``named`` has named anew."""
        if not any(self.lines):
            return self
        columns = self.part({node: node for node in self})
        columns.lines[:] = [tuple(map(named, lines)) for lines in columns.lines]
        return columns

    def __setitem__(self, node: int, values: tuple[SavedValue, ...]) -> None:
        for value in values:
            self.add(node, *value)

    def __getitem__(self, node: int) -> tuple[SavedValue, ...]:
        if node not in self._first:
            raise KeyError(node)
        return tuple(map(self.value, self.places(node)))

    def __contains__(self, node: object) -> bool:
        return node in self._first

    def __iter__(self) -> Iterator[int]:
        return iter(self._first)

    def __len__(self) -> int:
        return len(self._first)

"""What nodes keep for the backward pass, value by value: a graph may keep a million of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gradstep.graph.model import Memory, SavedState, SavedValue, Shape, Source

_COLUMNS: Final = ("names", "shapes", "dtypes", "nbytes", "states", "storages", "memories")


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
        self.memories: list[Memory | None] = []
        self.lines: dict[int, tuple[Source, ...]] = {}
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
        if lines:
            self.lines[at] = lines
        self.nodes.append(node)
        self.names.append(name)
        self.shapes.append(shape)
        self.dtypes.append(dtype)
        self.nbytes.append(nbytes)
        self.states.append(state)
        self.storages.append(storage)
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

    def described(
        self, at: int
    ) -> tuple[str, Shape | None, str, int, SavedState, tuple[Source, ...]]:
        """Return what :meth:`value` does, without storage and memory."""
        return (
            self.names[at], self.shapes[at], self.dtypes[at], self.nbytes[at], self.states[at],
            self.lines.get(at, ()),
        )  # fmt: skip

    def value(self, at: int) -> SavedValue:
        """Return the value at place ``at``."""
        return SavedValue(
            self.names[at], self.shapes[at], self.dtypes[at], self.nbytes[at], self.states[at],
            self.storages[at], self.lines.get(at, ()), self.memories[at],
        )  # fmt: skip

    def part(self, new_ids: Mapping[int, int]) -> SavedColumns:
        """Return the values of some nodes, which go by ``new_ids``, in the order of these."""
        part = SavedColumns()
        nodes, last = self.nodes, len(self.nodes)
        chosen: list[int] = []
        for old, new in new_ids.items():
            if (at := self._first.get(old)) is not None:
                part._first[new] = len(chosen)
                while at < last and nodes[at] == old:
                    part.nodes.append(new)
                    chosen.append(at)
                    at += 1
        for name in _COLUMNS:
            column = getattr(self, name)
            getattr(part, name).extend(column[at] for at in chosen)
        if self.lines:
            lines = ((new, self.lines.get(at)) for new, at in enumerate(chosen))
            part.lines = {new: sources for new, sources in lines if sources}
        return part

    def with_lines(self, named: Callable[[Source], Source]) -> SavedColumns:
        """Return the same values, whose lines ``named`` has named anew."""
        if not self.lines:
            return self
        columns = SavedColumns()
        for node, values in self.items():
            columns[node] = tuple(
                value._replace(lines=tuple(map(named, value.lines))) for value in values
            )
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

"""The data of a program: its variables that hold numbers and need no gradient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gradstep.findings.facts import Fact
from gradstep.graph.model import Graph
from gradstep.recording.look import Look
from gradstep.recording.run import Run, with_flow

_MOST: Final = 1 << 20


class Data(NamedTuple):
    """A variable: its dtype, its shape (None for a size that is not always the same), and its
    smallest and its largest number, None where these are not known."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    smallest: float | None
    largest: float | None

    @property
    def size(self) -> float:
        """The largest absolute value, 0 where it is not known."""
        return max(abs(self.smallest or 0.0), abs(self.largest or 0.0))

    def merged(self, other: Data) -> Data:
        """Return the same with the numbers of another look at it."""
        if self.dtype != other.dtype or len(self.shape) != len(other.shape):
            return self
        pairs = zip(self.shape, other.shape, strict=True)
        low = [each for each in (self.smallest, other.smallest) if each is not None]
        high = [each for each in (self.largest, other.largest) if each is not None]
        return self._replace(
            shape=tuple([one if one == two else None for one, two in pairs]),
            smallest=min(low, default=None), largest=max(high, default=None),
        )  # fmt: skip


def data_of(look: Look) -> list[Data]:
    """Return the data that the program has when it makes a call."""
    if "data" not in look.kept:
        numbers, names = look.engine.numbers, look.names
        tensors = [
            tensor
            for tensor in names.tensors()
            if not tensor.requires_grad and 1 < tensor.numel() <= _MOST
        ]
        described = numbers.all_statistics(tensors) if numbers else ()
        look.kept["data"] = [
            Data(names.of(tensor), seen.dtype.name, seen._shape, known.minimum, known.maximum)
            for tensor, seen, known in zip(
                tensors, look.engine.reading.tensors(tensors), described, strict=False
            )
            if known is not None and seen._shape is not None
        ]
    data: list[Data] = look.kept["data"]
    return data


def data_in(graph: Graph) -> Iterator[Data]:
    """Yield the data that enter a graph in which it is known what flowed."""
    for node in graph.nodes():
        if node.kind == "constant" and node.variable and node.shape:
            known = node.statistics
            ends = (None, None) if known is None else (known.minimum, known.maximum)
            yield Data(node.variable, node.dtype, node.shape, *ends)


class SeenData(Fact):
    """The data of the calls that were looked at, by name; of a recording, of two of them."""

    needs = ()

    def __init__(self) -> None:
        self.by_name: dict[str, Data] = {}

    def read(self, run: Run) -> None:
        for index in dict.fromkeys([*run.full[:1], *run.full[-1:]]):
            flow = run.flow(index, steps=False)
            if flow is not None:
                self._take(data_in(with_flow(run.graph(run.call(index).structure), flow)))

    def closely(self, look: Look) -> None:
        if not look.call.is_grad:
            self._take(data_of(look))

    def _take(self, data: Iterable[Data]) -> None:
        for each in data:
            self.by_name[each.name] = self.by_name.get(each.name, each).merged(each)

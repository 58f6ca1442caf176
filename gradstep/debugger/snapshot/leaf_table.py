"""The ``.grad`` of all leaves of a pass, of which a large model has thousands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

from gradstep.debugger.snapshot.value import Value
from gradstep.graph.model import Shape


@dataclass(frozen=True, slots=True)
class LeafGradient:
    """The ``.grad`` of one leaf: before this backward pass, and now.

    ``arrived`` of ``expected`` contributions have arrived so far; ``pending`` is the sum of those
    not yet added to ``.grad``.
    """

    index: int
    name: str
    shape: Shape | None
    before: Value | None
    now: Value | None
    pending: Value | None
    arrived: int
    expected: int


class LeafTable(Sequence[LeafGradient]):
    """The ``.grad`` of every leaf at one position, in the order in which they are done.

    ``indices`` are the plan indices of the leaves.  Leaves that the pass has not come to are as
    before it, whatever comes later, and so are made when they are read.
    """

    __slots__ = ("_reached", "_untouched", "indices")

    def __init__(
        self,
        indices: Sequence[int],
        reached: Sequence[LeafGradient | None],
        untouched: Callable[[int], LeafGradient],
    ) -> None:
        """``reached`` has None in the place of a leaf that ``untouched`` makes, of its index."""
        self.indices, self._reached, self._untouched = indices, reached, untouched

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, place: int) -> LeafGradient: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[LeafGradient]: ...
    def __getitem__(self, place: int | slice) -> LeafGradient | Sequence[LeafGradient]:
        if isinstance(place, slice):
            return [self[index] for index in range(len(self))[place]]
        return self._reached[place] or self._untouched(self.indices[place])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    def __hash__(self) -> int:
        return hash(tuple(self))

    def of(self, index: int) -> LeafGradient | None:
        """Return the leaf whose AccumulateGrad has the plan index ``index``, None if none has."""
        place = self.before(index)
        is_there = place < len(self) and self.indices[place] == index
        return self[place] if is_there else None

    def before(self, index: int) -> int:
        """Count the leaves that the pass is done with before plan node ``index`` runs."""
        return bisect_left(self.indices, index)

    @property
    def reached(self) -> list[LeafGradient]:
        """Those that the pass has come to."""
        return [leaf for leaf in self._reached if leaf is not None]

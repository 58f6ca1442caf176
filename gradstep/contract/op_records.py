"""Records that tracing leaves on nodes and tensors; they lead to those of the inputs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from types import CodeType
from typing import Any, Final, NamedTuple
from weakref import ref

from numpy.typing import NDArray

from gradstep.contract.budget import Copy, Share
from gradstep.contract.loops import LoopRound
from gradstep.contract.module_paths import OUTSIDE, ScopePath
from gradstep.graph.model import Source
from gradstep.graph.statistics import Statistics, statistics
from gradstep.graph.statistics_table import statistics_of_each

Array = NDArray[Any]
_numbers = count()
next_number = _numbers.__next__
IN_PLACE: Final = ("in place", "in place through a view")
"""Attributes of records that no op knows."""


MOST_WITHOUT_GRADIENT: Final = 1000
FOR_EACH_GRADIENT: Final = 4
"""Of ops without a gradient, as where data is filled in a loop, so many are recorded in a row, and
so many for each op that has one: what their results are made into are constants."""
WITHOUT_GRAPH: Final = "autograd.grad() without create_graph=True"
Leaves = tuple["ref[Any]", ...]


class Departure(NamedTuple):
    """A value that became a NumPy array or a number: when in the count of records, by a call of
    what, where, and the leaves that it was computed from."""

    number: int
    how: str
    source: Source | None
    leaves: Leaves


class Cut(NamedTuple):
    """The reason why a tensor has no graph: ``how`` and where it was taken out of one, and the
    leaves that lie behind.  One made from an array has, in ``departure``, what had gone to NumPy
    last; one that shares the memory of a result has the record of that behind ``maker``."""

    how: str
    source: Source | None
    leaves: Leaves
    departure: Departure | None = None
    maker: Callable[[], Any] | None = None  # gives what it came from, while that lives


class LeafRecord:
    """A tensor with which a graph begins: a leaf, a parameter, or a constant.

    It belongs to no scope and no line.  ``cut`` says where it was taken out of a graph,
    ``departure`` where a value that was computed from it last became a NumPy array or a number.
    ``called`` is what the program called it where it was first used, None before that is known.
    """

    __slots__ = (
        "__weakref__", "called", "copies", "cut", "departure", "dtype", "kept", "number",
        "requires_grad", "shape", "statistics", "tensor",
    )  # fmt: skip

    scope: Final = OUTSIDE
    source: Final = None

    def __init__(
        self,
        tensor: Callable[[], Any],
        shape: tuple[int, ...],
        dtype: str,
        requires_grad: bool,
        statistics: Statistics | None,
        cut: Cut | None = None,
    ) -> None:
        self.number = next_number()
        self.cut = cut
        self.called: str | None = None
        self.departure: Departure | None = None
        self.copies: dict[int, ref[Copy]] = {}
        self.kept: Reference | None = None
        self.tensor = tensor
        self.shape = shape
        self.dtype = dtype
        self.requires_grad = requires_grad
        self.statistics = statistics

    def value(self, nr: int = 0) -> Array | None:
        """Return the numbers that ops were given last; see :meth:`OpRecord.value`."""
        return as_referred(self.kept)

    @property
    def was_changed(self) -> bool:
        """Whether it is known that these were changed in place since."""
        return self.kept is not None and as_referred(self.kept) is None


def ops_so_far() -> int:
    """Return about how many ops have run while they were traced; another thread may ask."""
    return int(repr(_numbers).strip("count()"))


class OpRecord:
    """An op that ran: name, inputs, attributes, where in the modules, where in the source.

    ``inputs`` holds, per input, the record it came from and which of that op's outputs it
    was; a Python number stands for itself.  ``grad_mode`` says whether gradients were on,
    ``pointwise`` whether it works element by element.  ``gaps`` are the places, among all inputs,
    of those that were left out.

    What takes time to find out is found out when it is asked for: ``place`` leads to the line,
    ``kept`` to the numbers of each output, as far as these are kept.  ``unwritten`` says that these
    depend on memory that nobody has written.  ``called`` is what the
    program calls it, where that is a function whose name does not follow from the op's: "dropout"
    multiplies.
    """

    __slots__ = (
        "__weakref__", "attributes", "bytes_kept", "called", "copies", "dtype", "gaps",
        "grad_mode", "inputs", "kept", "name", "number", "place", "pointwise", "requires_grad",
        "round", "scope", "shapes", "source", "statistics", "unwritten",
    )  # fmt: skip

    bytes_kept: Share | None
    called: str
    copies: dict[int, ref[Copy]]
    gaps: tuple[int, ...]
    pointwise: bool
    round: LoopRound | None
    source: Source | None
    statistics: Statistics | None
    unwritten: bool

    def __init__(
        self,
        name: str,
        inputs: tuple[Any, ...],
        attributes: Mapping[str, Any],
        scope: ScopePath = OUTSIDE,
        place: tuple[CodeType, int] | None = None,
        requires_grad: bool = False,
        grad_mode: bool = True,
    ) -> None:
        self.number = next_number()
        self.name = name
        self.inputs = inputs
        self.attributes = attributes
        self.scope = scope
        self.place = place
        self.requires_grad = requires_grad
        self.grad_mode = grad_mode
        self.shapes: tuple[tuple[int, ...], ...] = ()
        self.dtype = ""
        self.kept: tuple[Reference | None, ...] = ()

    def __getattr__(self, name: str) -> Any:
        """Fill a slot that was not filled so far."""
        value = _LATER[name](self) if name in _LATER else object.__getattribute__(self, name)
        setattr(self, name, value)
        return value

    def value(self, nr: int = 0) -> Array | None:
        """Return the numbers of an output as they were when it was made; None where they are not
        kept, or were changed since."""
        return as_referred(self.kept[nr]) if nr < len(self.kept) else None

    def copy(self, nr: int) -> None:
        """Keep a copy of the numbers of an output, which are about to change."""
        array = self.value(nr)
        if array is not None:
            self.keep(nr, array.copy())

    def keep(self, nr: int, array: Array) -> None:
        """Keep ``array``, which nobody changes, as the numbers of an output."""
        kept = list(self.kept)
        kept[nr] = (array, [0], 0)
        self.kept = tuple(kept)

    def forget(self) -> None:
        """Keep no numbers any more."""
        if self.kept:
            self.kept, self.bytes_kept = (), None


_LATER: Final[Mapping[str, Callable[[OpRecord], Any]]] = {
    "source": lambda record: None if record.place is None else source_at(*record.place),
    "pointwise": lambda record: False,
    "statistics": lambda record: None if (a := record.value()) is None else statistics(a),
    "called": lambda record: "",
    "copies": lambda record: {},
    "gaps": lambda record: (),
    "round": lambda record: None,
    "bytes_kept": lambda record: None,
    "unwritten": lambda record: False,
}

Reference = tuple[Array, list[int], int]
"""An array; the version counter of its memory, and what that was."""


def statistics_of_records(records: Sequence[OpRecord | LeafRecord]) -> list[Statistics | None]:
    """Return the statistics of each of many records, described together."""
    numbers = {
        record: array
        for record in records
        if not _has_statistics(record) and (array := record.value()) is not None
    }
    statistics = statistics_of_each(list(numbers.values()))
    for record, part in zip(numbers, statistics, strict=True):
        record.statistics = part
    return [record.statistics for record in records]


def _has_statistics(record: OpRecord | LeafRecord) -> bool:
    """Return whether statistics were told, or found out."""
    try:
        object.__getattribute__(record, "statistics")
    except AttributeError:
        return False
    return True


def as_referred(reference: Reference | None) -> Array | None:
    """Return the array of a reference, None where it was changed since."""
    if reference is None:
        return None
    array, versions, since = reference
    return array if versions[0] == since else None


def source_at(code: CodeType, instruction: int) -> Source:
    """Return the line of an instruction of ``code``."""
    cached = _sources.get((id(code), instruction))
    if cached is None or cached[0] is not code:
        if len(_sources) > _MOST:
            _sources.clear()
        cached = _sources[id(code), instruction] = code, _source_at(code, instruction)
    return cached[1]


def _source_at(code: CodeType, instruction: int) -> Source:
    cached = _lines.get(id(code))
    if cached is None or cached[0] is not code:
        if len(_lines) > _MOST:
            _lines.clear()
        starts, lines = [], []
        for start, _, line in code.co_lines():
            if line is not None:
                starts.append(start)
                lines.append(line)
        cached = _lines[id(code)] = (code, starts, lines)
    _, starts, lines = cached
    return _source(code.co_filename, lines[max(0, bisect_right(starts, instruction) - 1)])


def sources_of(records: Sequence[Any]) -> list[Source | None]:
    """Return the line of each of many records, or what stands for one."""
    return [
        # past the attribute, which takes three times as long
        source_at(*record.place)
        if type(record) is OpRecord and record.place is not None
        else getattr(record, "source", None)
        for record in records
    ]


_MOST: Final = 1 << 14
_sources: Final[dict[tuple[int, int], tuple[CodeType, Source]]] = {}
"""Of places that were asked for: their line, by the identity of the code, as hashing it takes
long."""
_lines: Final[dict[int, tuple[CodeType, list[int], list[int]]]] = {}
"""Of the code that was asked for: where its lines begin, by its identity, as hashing it takes long;
a frame takes as long as its code to tell the line."""


@lru_cache(maxsize=1 << 16)
def _source(file: str, line: int) -> Source:
    return Source(file, line)  # one for all ops of a line


Record = OpRecord | LeafRecord
Origin = tuple[Record, int]


def frozen_among(records: Iterable[Record]) -> str:
    """Say how many parameters require no gradient; "" for none, and where some leaf does."""
    leaves = [record for record in records if isinstance(record, LeafRecord)]
    frozen = {id(leaf) for leaf in leaves if is_frozen(leaf)}
    count = len(frozen)
    if any(leaf.requires_grad and id(leaf) not in frozen for leaf in leaves):
        return ""
    return "" if not count else f"all {count} parameters" if count > 1 else "its only parameter"


def is_frozen(record: Record) -> bool:
    """Return whether a parameter requires no gradient, whether or not it did when it was made."""
    tensor: Any = record.tensor() if isinstance(record, LeafRecord) else None
    if not getattr(tensor, "is_parameter", False):
        return False
    return not getattr(tensor, "origin", tensor).requires_grad


def reachable(roots: Iterable[Record], stopping: Container[str] = ()) -> list[Record]:
    """Return everything the roots lead to, in the order of creation; nothing past an op whose name
    is in ``stopping``."""
    seen: dict[Record, None] = dict.fromkeys(roots)
    stack = list(seen)
    while stack:
        record = stack.pop()
        if isinstance(record, OpRecord) and record.name not in stopping:
            for origin in record.inputs:
                if isinstance(origin, tuple) and origin[0] not in seen:
                    seen[origin[0]] = None
                    stack.append(origin[0])
    return sorted(seen, key=lambda record: record.number)

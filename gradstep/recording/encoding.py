"""Facts as rows of a recording's file, and back."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Final, cast, get_args

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.bounded_json import parsed
from gradstep.graph.model import HookChange, Shape, Source
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.recording.facts import (
    LEVELS,
    CallFacts,
    DeliveryFacts,
    Flow,
    HookFacts,
    Leaf,
    LeafFacts,
    Level,
    ParameterGroup,
    StepFacts,
    Training,
    Values,
)
from gradstep.records import CallKind, HookKind

Row = tuple[Any, ...]
_LONGEST_SHAPE: Final = 4096  # characters
_STATISTICS: Final = Statistics._fields[:7]
"""What a file has of a description: not the sign of what is infinite."""
_NOTHING: Final = (None,) * len(_STATISTICS)


def packed(value: object) -> bytes:
    """Return a value of numbers, texts and lists as compressed JSON."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), 1)


def unpacked(data: bytes, most: int) -> Any:
    """Return what :func:`packed` was given; it takes at most ``most`` bytes."""
    return parsed(text_of(data, most), most)


def compressed(text: str) -> bytes:
    """Return a text compressed."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 6)


def text_of(data: bytes, most: int) -> str:
    """Return what was compressed; it takes at most ``most`` bytes.

    Raises:
        ValueError: it is not such a text, or takes more.
    """
    unpack = zlib.decompressobj()
    text = unpack.decompress(data, most // 4)  # a character takes four bytes at most
    if unpack.unconsumed_tail or not unpack.eof:
        raise ValueError("a text is cut off, or too long for a file of this size")
    return text.decode("utf-8", "surrogatepass")


# --- numbers: SQLite has no NaN -----------------------------------------------------------------


def number_row(value: float | None) -> float | str | None:
    """Return a number as a column has it: NaN is the text ``nan``, unknown is NULL."""
    return value if value == value else "nan"


def number_of(value: Any) -> float | None:
    """Return the number of a column."""
    if value == "nan":
        return math.nan
    if value is None:
        return None
    return float(_typed(value, (int, float)))


def statistics_row(part: Statistics | None) -> Row:
    """Return a description in seven columns, all of them NULL where there is none."""
    if part is None:
        return _NOTHING
    size, rms, low, high, zeros, nans, infs, _ = part
    return size, number_row(rms), number_row(low), number_row(high), zeros, nans, infs


def statistics_of(row: Sequence[Any]) -> Statistics | None:
    """Return the description in seven columns."""
    if row[0] is None:
        return None
    size, *others, zeros, nans, infs = row
    rms, low, high = (math.nan if (n := number_of(other)) is None else n for other in others)
    return Statistics(
        _count(size), rms, low, high, _count(zeros), _count(nans), _count(infs)
    )  # fmt: skip


def signed(checksum: int | None) -> int | None:
    """Return 64 bits as the column has them, which has a sign."""
    return checksum if checksum is None or checksum < 1 << 63 else checksum - (1 << 64)


def unsigned(value: Any) -> int | None:
    """Return the 64 bits of a column."""
    return None if value is None else int(_typed(value, int)) & 0xFFFFFFFFFFFFFFFF


@lru_cache(maxsize=4096)
def shape_row(shape: Shape | None) -> str | None:
    """Return a shape as text, ``[2,3]``; NULL of an unknown one."""
    return None if shape is None else "[" + ",".join(map(str, shape)) + "]"


@lru_cache(maxsize=4096)
def shape_of(text: Any) -> Shape | None:
    """Return the shape of a text."""
    if text is None:
        return None
    if len(_text(text)) > _LONGEST_SHAPE:
        raise ValueError("no tensor has as many dimensions")
    return tuple([_count(number) for number in _list(json.loads(text))])


# --- rows of the tables -------------------------------------------------------------------------


def leaf_of(row: Row) -> Leaf:
    """Return the leaf of a row of ``leaves``."""
    number, name, shape, dtype, is_parameter, module = row
    return Leaf(
        _count(number), _text(name), shape_of(shape), _text(dtype), bool(is_parameter),
        _text(module),
    )  # fmt: skip


def leaf_row(leaf: Leaf) -> Row:
    """Return the row of ``leaves`` for a leaf."""
    return (
        leaf.number, leaf.name, shape_row(leaf.shape), leaf.dtype, int(leaf.is_parameter),
        leaf.module,
    )  # fmt: skip


def counts_of(row: Any) -> list[int]:
    """Return the numbers of calls, or of leaves, in an entry of ``meta``, parsed."""
    return [_count(number) for number in _list(row)]


def training_text(training: Training) -> str:
    """Return the entry of ``meta`` for what changes the leaves: lists, without the names of
    fields."""
    return json.dumps(training)


def training_of(row: Any) -> Training:
    """Return what changes the leaves from that entry, parsed."""
    groups, scalers, idle = (*_list(row), None)[:3]  # version 1 lacks the last one
    return Training(
        tuple([
            ParameterGroup(
                _text(name), _text(kind),
                {name: float(_typed(number, (int, float))) for name, number in options.items()},
                tuple([_count(number) for number in _list(leaves)]),
            )
            for name, kind, options, leaves in map(_list, _list(groups))
        ]),
        tuple([_text(scaler) for scaler in _list(scalers)]),
        None if idle is None else tuple(counts_of(idle)),
    )  # fmt: skip


CALL_COLUMNS: Final = (
    "call", "kind", "number", "file", "line", "step", "level", "structure", "roots", "loss",
    "nodes", "began", "seconds", "memory", "is_finished", "error", "is_troubled",
)  # fmt: skip


def call_row(call: CallFacts, structure: int | None) -> Row:
    """Return the row of ``calls`` for a call."""
    file, line = (None, None) if call.line is None else call.line
    return (
        call.index, call.kind, call.number, file, line, call.step, call.level, structure,
        json.dumps(call.roots), number_row(call.loss), call.nodes, call.began, call.seconds,
        call.memory, int(call.is_finished), call.error, int(call.is_troubled),
    )  # fmt: skip


def call_of(row: Row, structure: str) -> CallFacts:
    """Return the call of a row of ``calls``."""
    index, kind, number, file, line, step, level, _, roots, loss, nodes, *rest = row
    began, seconds, memory, is_finished, error, is_troubled = rest
    if kind not in get_args(CallKind) or level not in LEVELS:
        raise ValueError(f"there is no kind {kind!r}, or no level {level!r}")
    return CallFacts(
        _count(index), cast("CallKind", kind), _count(number), source_of(file, line),
        cast("Level", level), structure, tuple([_text(text) for text in _list(parsed(roots))]),
        number_of(loss), None if nodes is None else _count(nodes), _count(step),
        number_of(began) or 0.0, number_of(seconds), None if memory is None else _count(memory),
        bool(is_finished), _text(error), bool(is_troubled),
    )  # fmt: skip


def leaf_call_row(index: int, facts: LeafFacts) -> Row:
    """Return the row of ``leaf_calls`` for a leaf in a call."""
    return (
        index, facts.leaf, *statistics_row(facts.after), signed(facts.after_checksum),
        *statistics_row(facts.before), signed(facts.before_checksum),
        number_row(facts.parameter_rms), number_row(facts.update_rms), facts.optimizer,
        facts.training, facts.arrived,
    )  # fmt: skip


def leaf_call_of(row: Row) -> tuple[int, LeafFacts]:
    """Return the call, and the leaf in it, of a row of ``leaf_calls``."""
    index, leaf, *rest = row
    after, checksum, before, before_checksum = rest[:7], rest[7], rest[8:15], rest[15]
    size, update, optimizer, training, arrived = rest[16:]
    return _count(index), LeafFacts(
        _count(leaf), statistics_of(before), statistics_of(after), unsigned(before_checksum),
        unsigned(checksum), number_of(size), number_of(update),
        None if optimizer is None else _text(optimizer),
        None if training is None else bool(training), None if arrived is None else bool(arrived),
    )  # fmt: skip


# --- what flowed --------------------------------------------------------------------------------


def flow_facts(flow: Flow) -> bytes:
    """Return what ``flows`` has of a call: all but its tensors."""
    return packed({
        "undefined": sorted(flow.undefined),
        "edge_undefined": sorted(flow.edge_undefined),
        "details": {str(id): text for id, text in flow.details.items()},
        "hooks": {str(id): [*map(_change_row, hook)] for id, hook in flow.hooks.items()},
        "edge_hooks": {str(id): _change_row(hook) for id, hook in flow.edge_hooks.items()},
        "steps": flow.steps,
    })  # fmt: skip


def flow_of(
    facts: Any, values: Values, nodes: Mapping[int, int], edges: Mapping[int, int], steps: bool
) -> Flow:
    """Return what flowed in a call, with the ``steps`` or without."""
    count = len(values)
    rows = _list(facts["steps"]) if steps else []
    return Flow(
        values,
        nodes,
        edges,
        frozenset([_count(number) for number in _list(facts["undefined"])]),
        frozenset([_count(number) for number in _list(facts["edge_undefined"])]),
        {int(id): _text(text) for id, text in facts["details"].items()},
        {int(id): tuple(map(_change_of, fact)) for id, fact in facts["hooks"].items()},
        {int(id): _change_of(fact) for id, fact in facts["edge_hooks"].items()},
        tuple([_step_of(row, count) for row in rows]),
    )


def _step_of(row: Any, count: int) -> StepFacts:
    def numbers(row: Any) -> tuple[int, ...]:
        return tuple([_below(number, count) for number in _list(row)])

    index, incoming, hooked, deliveries, before, after, captured, hooks = _list(row)
    return StepFacts(
        _count(index),
        numbers(incoming),
        numbers(hooked),
        tuple([
            DeliveryFacts(
                _count(nr), int(_typed(target, int)), _count(input_nr),
                *numbers([gradient, earlier, later]),
            )
            for nr, target, input_nr, gradient, earlier, later in map(_list, _list(deliveries))
        ]),
        _below(before, count),
        _below(after, count),
        numbers(captured),
        tuple([
            HookFacts(
                _hook_kind(kind), _text(name), _count(nr), numbers(earlier), numbers(later),
                bool(changed),
            )
            for kind, name, nr, earlier, later, changed in map(_list, _list(hooks))
        ]),
    )  # fmt: skip


def tensor_rows(index: int, values: Values) -> list[Row]:
    """Return the rows of ``tensors`` for what flowed in a call; by whole columns, as a call may
    have thousands."""
    shapes = list(map(shape_row, values.shapes))
    stored = []
    for number, shape in enumerate(values.shapes):
        array = values.array(number)
        is_kept = array is not None and array.shape == shape
        stored.append(dtype_text(array.dtype) if array is not None and is_kept else None)
    described = values.statistics.columns[: len(_STATISTICS)]
    columns: list[list[Any]] = [column.tolist() for column in described]
    for at, name in enumerate(_STATISTICS):
        of_numbers = name in ("rms", "minimum", "maximum")
        columns[at] = list(map(number_row if of_numbers else int, columns[at]))
    for number in values.statistics.unknown().tolist():
        for column in columns:
            column[number] = None
    count = len(shapes)
    rows = zip(repeat(index), range(count), shapes, values.dtypes, *columns, stored, strict=False)
    return list(rows)


def values_of(rows: Sequence[Row], arrays: Any) -> Values:
    """Return the values of rows of ``tensors``, in the order of their numbers."""
    if [row[1] for row in rows] != [*range(len(rows))]:
        raise ValueError("tensors of a call are missing")
    table = StatisticsTable.of([statistics_of(row[4:11]) for row in rows])
    shapes = [shape_of(row[2]) for row in rows]
    return Values(table, shapes, [_text(row[3]) for row in rows], arrays)


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype that an array is stored as: ``<f4``."""
    return dtype.newbyteorder("<").str


def bytes_of(array: NDArray[Any]) -> bytes:
    """Return the elements of an array, little-endian, in their order."""
    plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return plain.tobytes()


STORED: Final = frozenset(
    f"{order}{kind}{size}"
    for order, kind, sizes in [
        ("<", "f", (2, 4, 8)), ("<", "c", (8, 16)), ("<", "i", (2, 4, 8)), ("<", "u", (2, 4, 8)),
        ("|", "i", (1,)), ("|", "u", (1,)), ("|", "b", (1,)),
    ]
    for size in sizes
)  # fmt: skip
"""The dtypes that an array is stored as."""


def array_of(data: bytes | bytearray, stored: Any, shape: Any) -> NDArray[np.generic]:
    """Return an array of its bytes; its memory is its own.

    Raises:
        ValueError: bytes, shape and dtype do not go together.
    """
    if stored not in STORED:
        raise ValueError(f"no array is stored as {stored!r}")
    sizes = shape_of(shape) or ()
    return np.frombuffer(bytearray(data), np.dtype(stored)).reshape(sizes)


# --- what is read is checked --------------------------------------------------------------------


def _change_row(change: HookChange) -> list[Any]:
    return [
        list(change.hooks), list(statistics_row(change.before)), list(statistics_row(change.after))
    ]  # fmt: skip


def _change_of(row: Any) -> HookChange:
    names, before, after = _list(row)
    hooks = tuple([_text(name) for name in _list(names)])
    return HookChange(hooks, statistics_of(_list(before)), statistics_of(_list(after)))


def _hook_kind(kind: Any) -> HookKind:
    if kind not in get_args(HookKind):
        raise ValueError(f"there is no kind of hooks {kind!r}")
    return cast("HookKind", kind)


def _typed(value: Any, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"a {type(value).__name__} stands where none is meant to be")
    return value


def _text(value: Any) -> str:
    return cast("str", _typed(value, str))


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", _typed(value, list))


def _count(value: Any) -> int:
    number: int = _typed(value, int)
    if number < 0:
        raise ValueError(f"{number} stands where something is counted")
    return number


def _below(value: Any, count: int) -> int:
    number: int = _typed(value, int)
    if not -1 <= number < count:
        raise ValueError(f"there is no tensor {number}")
    return number


def source_of(file: Any, line: Any) -> Source | None:
    """Return the line that two columns tell of."""
    return None if file is None else Source(_text(file), _count(line))

"""Facts as rows of a recording's file, and back."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.bounded_json import parsed
from gradstep.graph.model import HookChange, Shape
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.graph.typed_json import reader
from gradstep.recording.facts import Flow, Values
from gradstep.recording.rows import (
    DESCRIBED,
    Row,
    number_row,
    shape_row,
    statistics_row,
)

CHUNK: Final = 1 << 24
"""Bytes of a tensor in one row."""


class TensorRow(NamedTuple):
    """A tensor that flowed in a call, as a row: its number, its description, and the dtype that its
    elements are stored as, None where they are not."""

    tensor: int
    shape: Shape | None
    dtype: str
    statistics: Statistics | None
    stored: str | None


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


# --- what flowed --------------------------------------------------------------------------------


def flow_rows(index: int, flow: Flow) -> Iterator[tuple[str, Sequence[Row]]]:
    """Yield the rows of what flowed in call ``index``, each time those of a table."""
    yield "flows", [(index, flow_facts(flow))]
    rows = tensor_rows(index, flow.values)
    yield "tensors", rows
    for table, tensors in (("node_tensors", flow.nodes), ("edge_tensors", flow.edges)):
        yield table, [(index, *entry) for entry in tensors.items()]
    chunks: list[Row] = []
    room = CHUNK  # some wait for each other: to write each takes as long as its row
    for number in [row[1] for row in rows if row[-1] is not None]:
        array = flow.values.array(number)
        data = memoryview(b"" if array is None else bytes_of(array))
        for chunk, start in enumerate(range(0, len(data), CHUNK)):
            chunks.append((index, number, chunk, data[start : start + CHUNK]))
        if (room := room - len(data)) < 0:
            yield "chunks", chunks
            chunks, room = [], CHUNK
    yield "chunks", chunks


def flow_facts(flow: Flow) -> bytes:
    """Return what ``flows`` has of a call: all but its tensors."""
    facts: dict[str, Any] = {
        "undefined": sorted(flow.undefined),
        "edge_undefined": sorted(flow.edge_undefined),
        "details": dict(flow.details),
        "hooks": {id: [*map(_change_row, changes)] for id, changes in flow.hooks.items()},
        "edge_hooks": {id: _change_row(change) for id, change in flow.edge_hooks.items()},
        "steps": flow.steps,
    }
    return packed(facts)


def _change_row(change: HookChange) -> Row:
    return change.hooks, statistics_row(change.before), statistics_row(change.after)


_FACTS: Final = {
    name: reader(kind)
    for name, kind in get_type_hints(Flow, include_extras=True).items()
    if name not in ("values", "nodes", "edges")
}
"""What reads them."""


def flow_of(
    facts: Any, values: Values, nodes: Mapping[int, int], edges: Mapping[int, int], steps: bool
) -> Flow:
    """Return what flowed in a call, with the ``steps`` or without."""
    read = {name: read(facts[name]) for name, read in _FACTS.items() if steps or name != "steps"}
    return Flow(values, nodes, edges, **read)


def tensor_rows(index: int, values: Values) -> list[Row]:
    """Return the rows of ``tensors`` for what flowed in a call; by whole columns, as a call may
    have thousands."""
    shapes = list(map(shape_row, values.shapes))
    stored = []
    for number, shape in enumerate(values.shapes):
        array = values.array(number)
        is_kept = array is not None and array.shape == shape
        stored.append(dtype_text(array.dtype) if array is not None and is_kept else None)
    described = values.statistics.columns[: len(DESCRIBED)]
    columns: list[list[Any]] = [column.tolist() for column in described]
    for at, name in enumerate(DESCRIBED):
        of_numbers = name in ("rms", "minimum", "maximum")
        columns[at] = list(map(number_row if of_numbers else int, columns[at]))
    for number in values.statistics.unknown().tolist():
        for column in columns:
            column[number] = None
    count = len(shapes)
    rows = zip(repeat(index), range(count), shapes, values.dtypes, *columns, stored, strict=False)
    return list(rows)


def values_of(rows: Sequence[TensorRow], arrays: Any) -> Values:
    """Return the values of rows of ``tensors``, in the order of their numbers."""
    if [row.tensor for row in rows] != [*range(len(rows))]:
        raise ValueError("tensors of a call are missing")
    table = StatisticsTable.of([row.statistics for row in rows])
    return Values(table, [row.shape for row in rows], [row.dtype for row in rows], arrays)


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype that an array is stored as: ``<f4``."""
    return dtype.newbyteorder("<").str


def bytes_of(array: NDArray[Any]) -> bytes:
    """Return the elements of an array, little-endian, in their order."""
    plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return plain.tobytes()


def array_of(data: bytearray, stored: str, shape: Shape | None) -> NDArray[np.generic]:
    """Return an array of its bytes; its memory is its own.

    Raises:
        ValueError: bytes, shape and dtype do not go together.
    """
    dtype = np.dtype(stored)
    if dtype.kind not in "biufc":
        raise ValueError(f"no array is stored as {stored!r}")
    return np.frombuffer(data, dtype).reshape(shape or ())

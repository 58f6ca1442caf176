"""Places, stops and tensors as text, for a terminal of 80 columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

import numpy as np

from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.passes.inspector import source_line
from gradstep.debugger.snapshot import Snapshot, Value
from gradstep.debugger.snapshot.tensor_views import widened
from gradstep.debugger.snapshot.value import NOT_RECORDED, THIS_PART
from gradstep.debugger.snapshot.wording import counts, extremes, summary
from gradstep.graph.addresses import node_text, step_number
from gradstep.graph.model import Graph, Source
from gradstep.graph.statistics import format_number, format_shape
from gradstep.guest.own_files import is_user_file
from gradstep.text import WIDTH, printable

Row = tuple[str, str]
_MOST_ON_A_PATH = 8  # nodes that are named


def row_lines(rows: Iterable[Row], width: int = WIDTH) -> list[str]:
    """Return rows with their texts in one column, in lines that fit; source lines stay whole."""
    rows = list(dict.fromkeys(rows))
    column = max((len(label) for label, _ in rows), default=0)
    lines = []
    for label, text in rows:
        first = f"  {label:<{column}}  "
        if label in ("line", ""):
            lines.append(first + text)
            continue
        later = " " * len(first)
        lines += wrap(
            text, width, initial_indent=first, subsequent_indent=later,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return lines


def path_text(graph: Graph, path: Sequence[int]) -> str:
    """Return the way of a gradient, from the loss on: ``#1 sum:1 -> #2 mul:1 -> #3 log:1``."""
    named = [node_text(graph, index) for index in path]
    if len(named) > _MOST_ON_A_PATH:
        half = _MOST_ON_A_PATH // 2
        named[half:-half] = [f"... {len(named) - 2 * half} more ..."]
    return " -> ".join(named)


_BARS, _BINS = "▁▂▃▄▅▆▇█", 32
_CODE, _NO_BREAK = re.compile("`[^`]*`"), "\N{NO-BREAK SPACE}"
_MOST_ROWS, _MOST_COLUMNS = 8, 8


def here(session: PassSession) -> str:
    """Say where the session stands, in one line."""
    snapshot = session.snapshot
    if snapshot.error:
        text = f"{step_number(snapshot.position)} raised {snapshot.error}"
        source = raised_at(session.cursor.error)
        return text if source is None else f"{text}\n  line  {line_text(source)}"
    if snapshot.position == snapshot.length:
        return "end of the backward pass"
    line = node_line(session.graph, snapshot.position)
    if snapshot.phase:
        return f"inside {line}\n  after {phase_text(snapshot)}"
    return f"interrupted at {line}" if snapshot.reason == "interrupted" else line


def raised_at(error: BaseException | None) -> Source | None:
    """Return the innermost line of the program in the traceback of ``error``."""
    line, traceback = None, None if error is None else error.__traceback__
    while traceback is not None:
        if is_user_file(traceback.tb_frame.f_code.co_filename):
            line = Source(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def line_text(source: Source) -> str:
    """Return a line of the program with its text: ``train.py:12  h = torch.tanh(x)``."""
    return f"{source.place}  {source_line(source)}".rstrip()


def phase_text(snapshot: Snapshot) -> str:
    """Return the phase that is just over, with what it made."""
    assert snapshot.current is not None
    phases = snapshot.current.phases
    if not phases:
        return snapshot.reason
    after = ", ".join(summary(value) for value in phases[-1].after)
    return f"{phases[-1].text}: {after}"


def node_line(graph: Graph, index: int) -> str:
    """Return a node in one line: step number, address, name, formula, forward line."""
    node = graph.node(index)
    name = "" if node.name == node.address else node.name
    parts = (f"{step_number(index)} {node.address}", name, node.formula, source_place(graph, index))
    return "  ".join(part for part in parts if part)


def wrapped(text: str) -> str:
    """Return a sentence in lines that fit, the later ones indented; code in it stays in one
    line."""
    text = _CODE.sub(lambda code: code[0].replace(" ", _NO_BREAK), text)
    lines = wrap(text, WIDTH, subsequent_indent="  ", break_long_words=False)
    return "\n".join(lines).replace(_NO_BREAK, " ")


def source_place(graph: Graph, index: int) -> str:
    """Return the forward line of a node, as ``train.py:12``; "" when unknown."""
    source = graph.sources.get(index)
    return "" if source is None else source.place


def table_text(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows in aligned columns, two spaces between them; a cell that is far too long stands
    out instead of moving the others.

    >>> table_text([("two\\nlines", "1"), ("n" * 99, "2")]).splitlines()[0].replace(" ", ".")
    'two⏎lines.........................................................................1'
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [min(max(map(len, column)), WIDTH) for column in zip(*cells)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in cells
    )


def tensor_text(name: str, value: Value | None) -> str:
    """Return a tensor with its shape, statistics, distribution and first elements."""
    if value is None:
        nothing = "None" if name.endswith(".grad") else "undefined"
        return f"{name} is {nothing}: no gradient, which is not a gradient of 0"
    stats = value.statistics
    head = f"{name}  {format_shape(value.shape)} {value.dtype}"
    if not value.is_here or stats.size <= 1:
        return f"{head}  {summary(value)}"
    part = f"  {THIS_PART} of {format_shape(value.whole_shape)}" if value.is_part else ""
    lines = [f"{head}{part}", f"  {extremes(value)}", f"  {counts(value)}"]
    if not value.has_numbers:
        return "\n".join([*lines, f"  {NOT_RECORDED}"])
    if stats.size >= _BINS:
        lines.append(f"  {histogram(value)}")
    return "\n".join([*lines, *_elements(value.array)])


def histogram(value: Value) -> str:
    """Draw how the finite elements are distributed, as a line of bars between their extrema."""
    array = widened(value.array).ravel()
    finite = array[np.isfinite(array)]
    if not finite.size:
        return "no finite element"
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        return f"all {format_number(low)}"
    # scaled first: the width of the range of huge values may overflow
    scaled = finite / max(abs(low), abs(high))
    counts, _ = np.histogram(scaled, bins=_BINS)
    heights = np.ceil(counts / counts.max() * len(_BARS)).astype(int)
    bars = "".join(_BARS[height - 1] if height else " " for height in heights)
    return f"{format_number(low)} |{bars}| {format_number(high)}"


def _elements(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> list[str]:
    """Return the first elements, in rows; of more than two dimensions, the first matrix."""
    label = ""
    if array.ndim > 2:
        label = f"  [{', '.join('0' for _ in array.shape[:-2])}, :, :]"
        array = array[(0,) * (array.ndim - 2)]
    if array.ndim == 1:
        array = array.reshape(1, -1)
    rows = [
        [format_number(float(element)) for element in row[:_MOST_COLUMNS]]
        for row in array[:_MOST_ROWS]
    ]
    width = max((len(cell) for row in rows for cell in row), default=0)
    more = " ..." if array.shape[1] > _MOST_COLUMNS else ""
    lines = ["  " + " ".join(f"{cell:>{width}}" for cell in row) + more for row in rows]
    if array.shape[0] > _MOST_ROWS:
        lines.append("  ...")
    return [label, *lines] if label else lines

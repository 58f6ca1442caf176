"""The text of one row of the execution list, and the widths of its columns."""

from __future__ import annotations

from typing import NamedTuple

from autograd_core.dag.model import Graph
from autograd_core.dag.statistics import format_shape, format_statistics
from autograd_core.debug.snapshot import NodeDetail, Snapshot
from autograd_core.text import printable
from tui.app.plan.lanes import MAX_LANES
from tui.app.widgets.text import Line, Part, StyleName, fit, is_accumulate

VALUE_WIDTH = 12
FLAG_WIDTH = 8
SHORT_SCOPE = 14  # of a scope the end is shown, and more of it where there is room
# how many names are looked at to find out how wide a column must be
SAMPLED_ROWS = 20_000


class Cells(NamedTuple):
    """The text of a row about the gradient of its node; ``trouble`` is "N", "I" or both."""

    value: str
    trouble: str
    flags: str


class Columns(NamedTuple):
    """Widths of the columns; 0 leaves a column out."""

    lanes: int
    number: int
    name: int
    scope: int
    shape: int
    source: int


def natural_columns(snapshot: Snapshot) -> Columns:
    """The widths that would show everything, from the first rows of the graph."""
    graph = snapshot.graph
    rows = range(min(snapshot.length, SAMPLED_ROWS))
    names = {graph.stem(row) for row in rows if not is_accumulate(graph.names[row])}
    leaves = (len(graph.variables.get(row, "")) for row in rows if is_accumulate(graph.names[row]))
    widest_leaf = max(leaves, default=0) + len("acc ")
    scopes = {graph.scopes[row] for row in rows}
    shapes = {graph.shapes[row] for row in rows}
    count = max((graph.counts[row] for row in rows), default=1)
    ops = max((len(name) for name in names), default=8)
    name = min(24, ops + len(str(count)) + 1)
    return Columns(
        lanes=MAX_LANES,
        number=len(str(snapshot.length)) + 1,
        name=name,
        scope=min(24, max(*map(len, scopes), widest_leaf - name - 1, 0)),
        shape=min(18, max((len(format_shape(shape)) for shape in shapes), default=0)),
        source=max((len(source_text(graph, row)) + 1 for row in rows), default=0),
    )


def fit_columns(natural: Columns, lanes_used: int, width: int) -> Columns:
    """The columns for a list of ``width`` cells: what is least important gives way first."""
    lanes = min(lanes_used, MAX_LANES, max(2, (width - 44) // 5))
    all_lanes = min(lanes_used, MAX_LANES)
    if 2 * all_lanes <= 2 * lanes + overflow_width(lanes_used, lanes, natural.number):
        lanes = all_lanes  # which takes no more room than saying how many are hidden
    left = width - 4 - 2 * lanes - overflow_width(lanes_used, lanes, natural.number)
    left -= natural.number + 1 + VALUE_WIDTH + 1 + FLAG_WIDTH
    name = max(6, min(natural.name, left - 1))
    left -= name + 1
    taken = {}
    for column, most in (("scope", SHORT_SCOPE), ("shape", 18), ("source", 40)):
        wanted = min(getattr(natural, column), most)
        narrow = min(wanted, 9)
        room = left - 1
        taken[column] = wanted if wanted <= room else room if 0 < narrow <= room else 0
        left -= taken[column] + 1 if taken[column] else 0
    if taken["scope"]:
        taken["scope"] += max(0, min(left, natural.scope - taken["scope"]))
    return Columns(lanes, natural.number, name, taken["scope"], taken["shape"], taken["source"])


def overflow_width(lanes_used: int, lanes: int, digits: int) -> int:
    """The cells after the lanes where ``⋯+28`` or ``→#1234+5`` stands."""
    hidden = len(str(lanes_used - lanes))
    return 0 if lanes_used <= lanes else 4 + hidden + digits


def heading(columns: Columns, lanes_used: int) -> Line:
    """The line over the list that names its columns."""
    lanes = 2 * columns.lanes + overflow_width(lanes_used, columns.lanes, columns.number)
    cells = [
        " " * (4 + lanes) + fit("#", columns.number, right=True),
        fit("node", columns.name),
        *([fit("module" if columns.scope > 5 else "", columns.scope)] if columns.scope else []),
        *([fit("shape" if columns.shape > 4 else "", columns.shape)] if columns.shape else []),
        fit("gradient", VALUE_WIDTH, right=True),
        fit("sum", FLAG_WIDTH),
        *([fit("line", columns.source - 1, right=True)] if columns.source else []),
    ]
    return [Part(" ".join(cells), "muted")]


def name_parts(graph: Graph, row: int, columns: Columns, done: bool) -> Line:
    """The op with its count and its scope, or ``acc`` with the name of the leaf."""
    name = graph.names[row]
    width = columns.name
    if is_accumulate(name):
        whole = width + columns.scope + bool(columns.scope)
        text = "acc " + fit(graph.variables.get(row, ""), whole - 4, keep_end=True)
        return [Part(text + " ", "leaf")]
    scope: Line = []
    if columns.scope:
        scope = [Part(fit(graph.scopes[row], columns.scope, keep_end=True) + " ", "muted")]
    short = printable(graph.stem(row))
    count = f":{graph.counts[row]}"
    rest = width - len(count)
    if len(short) > rest:
        return [Part(fit(short, rest), "strong"), Part(count + " ", "muted"), *scope]
    style: StyleName = "text" if done else "strong"
    return [Part(short, style), Part(fit(count, width - len(short)) + " ", "muted"), *scope]


def source_text(graph: Graph, row: int) -> str:
    """File name and line of the forward op, without the folder."""
    source = graph.sources.get(row)
    if source is None:
        return ""
    return f"{source.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{source.line}"


def describe(detail: NodeDetail, snapshot: Snapshot, row: int) -> Cells:
    """The value that arrived at a node, in short, and its flags: how many parts its sum has,
    ``H`` for hooks, ``E`` for what the user changed, ``0`` for all zero.

    Of several inputs the first one that received a gradient speaks for the node.
    """
    arrived = sum(incoming.arrived for incoming in detail.incoming)
    expected = sum(incoming.expected for incoming in detail.incoming)
    accumulate = is_accumulate(snapshot.graph.names[row])
    edited = any(edit.index == row for edit in snapshot.edits)
    flags = [fan_in_text(arrived, expected, accumulate), "H" * bool(detail.hooks), "E" * edited]
    marks = " ".join(filter(None, flags))
    totals = [incoming.total for incoming in detail.incoming if incoming.total is not None]
    if not totals:
        undefined = arrived > 0 and arrived >= expected
        return Cells("∅" if undefined else "", "", marks)
    stats = totals[0].statistics
    trouble = ("N" if stats.nans else "") + ("I" if stats.infs else "")
    zero = "0 " if stats.size and stats.zeros == stats.size else ""
    return Cells(format_statistics(stats), trouble, zero + marks)


def fan_in_text(arrived: int, expected: int, accumulate: bool) -> str:
    """``Σ3`` for a sum of three, ``Σ1/3`` while two are missing, ``+=3`` into a ``.grad``."""
    sign = "+=" if accumulate else "Σ"
    if 0 < arrived < expected:
        return f"{sign}{arrived}/{expected}"
    if accumulate or expected > 1:
        return f"{sign}{expected}"
    return ""

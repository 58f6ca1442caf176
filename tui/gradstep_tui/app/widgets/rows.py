"""The text of one row of the execution list, and the widths of its columns."""

from __future__ import annotations

import math
from typing import NamedTuple

from gradstep.debugger.snapshot import NodeDetail, Snapshot, Value
from gradstep.debugger.snapshot.wording import is_constant, short
from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics, format_number, format_statistics
from gradstep.text import printable
from gradstep_tui.app.plan.lanes import MAX_LANES
from gradstep_tui.app.plan.listing import Order
from gradstep_tui.app.sections.page import Shown
from gradstep_tui.app.widgets.text import (
    Line,
    Part,
    StyleName,
    common_prefix,
    fit,
    is_accumulate,
    shape_text,
    without_prefix,
)

VALUE_WIDTH = 12
EXTREMES_WIDTH = 17  # of a gradient's minimum and maximum, where there is room
FLAG_WIDTH = 8
GUTTER_WIDTH = 4
# cells of columns that have to give way; of a scope the end is shown
SHORT_NAME, SHORT_SHAPE, SHORT_SCOPE = 12, 11, 12
# how many names are looked at to find out how wide a column must be
SAMPLED_ROWS = 20_000


class Cells(NamedTuple):
    """The text of a row about the gradient of its node; ``trouble`` is "N", "I" or both. With
    ``extremes`` beside it, where there is room, the value is ``wide``."""

    value: str
    trouble: str
    flags: str
    forward: str = ""
    wide: str = ""
    extremes: str = ""


class RowWidths(NamedTuple):
    """Widths of the columns; 0 leaves a column out. ``prefix`` is what names are shown without."""

    lanes: int
    number: int
    name: int
    scope: int
    shape: int
    source: int
    gradient: int = VALUE_WIDTH
    value: int = 0
    line: int = 0  # of the source in short: that of ``:51`` alone, 0 where there are several files
    prefix: str = ""

    @property
    def before_name(self) -> int:
        """The cells of the gutter, the lanes at their widest, and the number."""
        return GUTTER_WIDTH + 2 * self.lanes + self.number + 1

    @property
    def total(self) -> int:
        """The cells of a row, with the blanks between the columns."""
        columns = (self.name, self.scope, self.shape, self.value, self.gradient, self.source)
        return self.before_name + sum(cells + 1 for cells in columns if cells) + FLAG_WIDTH


def natural_columns(snapshot: Snapshot) -> RowWidths:
    """Return the widths that would show everything, from the first rows of the graph."""
    graph = snapshot.graph
    rows = range(min(snapshot.length, SAMPLED_ROWS))
    names = {graph.stem(row) for row in rows if not is_accumulate(graph.names[row])}
    scopes = {graph.scopes[row] for row in rows}
    leaves = {graph.variables.get(row, "") for row in rows if is_accumulate(graph.names[row])}
    prefix = common_prefix([*scopes, *leaves])
    widest_scope = max((len(without_prefix(scope, prefix)) for scope in scopes), default=0)
    widest_leaf = max((len(without_prefix(leaf, prefix)) for leaf in leaves), default=0) + 3
    sources = [source for row in rows if (source := graph.sources.get(row)) is not None]
    lines = max((source.line for source in sources), default=0)
    shapes = {graph.shapes[row] for row in rows}
    count = max((graph.counts[row] for row in rows), default=1)
    ops = max((len(name) for name in names), default=8)
    name = min(32, ops + len(str(count)) + 2)  # a blank more, for a module may be called 2
    scope = max(widest_scope, widest_leaf - name - 1) if widest_scope else 0
    return RowWidths(
        lanes=MAX_LANES,
        number=len(str(snapshot.length)) + 1,
        name=name if scope else max(name, min(32, widest_leaf)),
        scope=min(32, max(scope, len("module"))) if scope else 0,
        shape=min(18, max((len(shape_text(shape)) for shape in shapes), default=0)),
        source=max((len(source_text(graph, row)) + 1 for row in rows), default=0),
        gradient=VALUE_WIDTH + (EXTREMES_WIDTH if any(shapes) else 0),  # not of scalars alone
        line=max(5, len(f" :{lines}")) if len({source.file for source in sources}) == 1 else 0,
        prefix=prefix,
    )


def fit_columns(
    natural: RowWidths, lanes_used: int, width: int, shown: Shown = "gradient"
) -> RowWidths:
    """Return the columns for a list of ``width`` cells: what is least important gives way first,
    the shape last."""
    gradient = 0 if shown == "value" else VALUE_WIDTH
    value = 0 if shown == "gradient" else VALUE_WIDTH
    lanes = min(lanes_used, MAX_LANES, max(2, (width - 44) // 5))
    all_lanes = min(lanes_used, MAX_LANES)
    if 2 * all_lanes <= 2 * lanes + overflow_width(lanes_used, lanes, natural.number):
        lanes = all_lanes  # which takes no more room than saying how many are hidden
    left = width - GUTTER_WIDTH - 2 * lanes - overflow_width(lanes_used, lanes, natural.number)
    left -= natural.number + 1 + FLAG_WIDTH
    left -= sum(cells + 1 for cells in (gradient, value) if cells)
    taken = dict.fromkeys(("name", "scope", "shape", "source"), 0)
    taken["name"] = max(6, min(natural.name, SHORT_NAME, left - 1))
    left -= taken["name"] + 1
    # one after the other has more room; a column that is not there yet begins with that much
    wishes = (
        ("shape", SHORT_SHAPE), ("scope", SHORT_SCOPE), ("source", natural.line), ("name", 16),
        ("scope", 18), ("shape", 18), ("source", natural.source), ("name", 32), ("scope", 32),
    )  # fmt: skip
    for column, most in wishes:
        now = taken[column]
        wanted = min(getattr(natural, column), most)
        more = wanted - now + (not now)
        if wanted <= now:
            continue
        if left < more and (not now or column == "source"):
            break  # or a wider list would take this room from another column
        more = min(more, left)
        taken[column] += more - (not now)
        left -= more
    if gradient and natural.gradient > VALUE_WIDTH and left >= EXTREMES_WIDTH:
        gradient += EXTREMES_WIDTH
    return natural._replace(
        lanes=lanes, name=taken["name"], shape=taken["shape"], scope=taken["scope"],
        source=taken["source"], gradient=gradient, value=value,
        line=natural.line if taken["source"] < natural.source else 0,
    )  # fmt: skip


def overflow_width(lanes_used: int, lanes: int, digits: int) -> int:
    """Return the cells after the lanes where ``⋯+28`` or ``→#1234+5`` stands."""
    hidden = len(str(lanes_used - lanes))
    return 0 if lanes_used <= lanes else 4 + hidden + digits


class Heading(NamedTuple):
    """A cell of the line over the list; a click on it sorts by ``order``."""

    text: str
    order: Order


def headings(columns: RowWidths, lanes_used: int, order: Order) -> list[Heading]:
    """Return the cells of the line over the list, which name its columns, what names are shown
    without, and by which column the list is sorted."""
    lanes = 2 * columns.lanes + overflow_width(lanes_used, columns.lanes, columns.number)
    before = GUTTER_WIDTH + lanes
    number = fit("#", before + columns.number, right=True)
    if columns.prefix:
        prefix = f"~={columns.prefix}"  # in place of the mark, if need be: each row has it
        at_end = len(prefix) >= before
        number = (
            fit(prefix, before + columns.number, keep_end=True)
            if at_end
            else (prefix + number[len(prefix) :])
        )
    size = {"size": "gradient▼", "small": "gradient▲"}.get(order, "gradient")
    flags = "sends▼" if order == "jump" else "arrived"
    return [
        Heading(number, "plan"),
        Heading(fit("node", columns.name), "plan"),
        *([Heading(fit("module", columns.scope), "plan")] if columns.scope else []),
        *([Heading(fit("shape" if columns.shape > 4 else "", columns.shape), "plan")]
          if columns.shape else []),
        *([Heading(fit("value", columns.value, right=True), "plan")] if columns.value else []),
        *([Heading(_gradient_heading(size, columns.gradient), "size")] if columns.gradient else []),
        Heading(fit(flags if columns.gradient else "", FLAG_WIDTH), "jump"),
        *([Heading(fit("line", columns.source - 1, right=True), "plan")] if columns.source else []),
    ]  # fmt: skip


def _gradient_heading(name: str, width: int) -> str:
    named = fit(name, VALUE_WIDTH, right=True)
    return named if width == VALUE_WIDTH else fit(f"{named} least…largest", width)


def name_parts(graph: Graph, row: int, columns: RowWidths, done: bool) -> Line:
    """Return the op with its count and its scope, or ``+=`` with the name of the leaf."""
    name = graph.names[row]
    width = columns.name
    if is_accumulate(name):
        whole = width + columns.scope + bool(columns.scope)
        leaf = without_prefix(graph.variables.get(row) or graph.address(row), columns.prefix)
        text = "+= " + fit(leaf, whole - 3, keep_end=True)
        return [Part(text + " ", "leaf")]
    scope: Line = []
    if columns.scope:
        shown = without_prefix(graph.scopes[row], columns.prefix)
        scope = [Part(fit(shown, columns.scope, keep_end=True) + " ", "muted")]
    short = printable(graph.stem(row))
    count = f":{graph.counts[row]}"
    rest = width - len(count)
    if len(short) > rest:
        return [Part(fit(short, rest), "strong"), Part(count + " ", "muted"), *scope]
    style: StyleName = "text" if done else "strong"
    return [Part(short, style), Part(fit(count, width - len(short)) + " ", "muted"), *scope]


def source_text(graph: Graph, row: int, *, line_only: bool = False) -> str:
    """File name and line of the forward op, without the folder."""
    source = graph.sources.get(row)
    if source is None:
        return ""
    if line_only:
        return f":{source.line}"
    return f"{source.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{source.line}"


def describe(detail: NodeDetail, snapshot: Snapshot, row: int) -> Cells:
    """Return the value that arrived at a node, in short, and its flags: how many parts of its sum
    have arrived, ``H`` for hooks, ``E`` for what the user changed, ``>`` for a pass that ran
    inside, ``0`` for all zero.

    Of several inputs the first one that received a gradient speaks for the node.
    """
    arrived = sum(incoming.arrived for incoming in detail.incoming)
    expected = sum(incoming.expected for incoming in detail.incoming)
    edited = any(edit.index == row for edit in snapshot.edits)
    letters = "H" * bool(detail.hooks) + "E" * edited + ">" * bool(detail.nested)
    marks = " ".join(filter(None, (fan_in_text(arrived, expected), letters)))
    totals = [incoming.total for incoming in detail.incoming if incoming.total is not None]
    if not totals:
        undefined = arrived > 0 and arrived >= expected
        return Cells("∅" if undefined else "", "", marks)
    stats = totals[0].statistics
    trouble = ("N" if stats.nans else "") + ("I" if stats.infs else "")
    zero = "0 " if stats.is_zero else ""
    wide, extremes = _wide(stats)
    return Cells(short(stats), trouble, zero + marks, wide=wide, extremes=extremes)


def _wide(stats: Statistics) -> tuple[str, str]:
    """Return a value, and what the root mean square hides: many zeros, or how far the elements
    reach."""
    if is_constant(stats):
        return format_number(stats.minimum), "everywhere"
    return format_statistics(stats), _extremes(stats)


def _extremes(stats: Statistics) -> str:
    if stats.size < 2 or math.isnan(stats.minimum):
        return ""
    if stats.zeros * 4 >= stats.size:
        return f"{100 * stats.zeros / stats.size:.0f} % are 0"
    return f"{format_number(stats.minimum)}…{format_number(stats.maximum)}"


def forward_text(value: Value | Statistics | None) -> str:
    """Return what the forward op of a node made, in short; "" where that is not known."""
    if value is None:
        return ""
    return short(value.statistics if isinstance(value, Value) else value)


def fan_in_text(arrived: int, expected: int) -> str:
    """Return how many of the parts of a sum have arrived: ``1 of 3``; nothing where there is one.

    >>> fan_in_text(1, 3), fan_in_text(0, 1), fan_in_text(1_000, 20_000)
    ('1 of 3', '', '1000/20000')
    """
    if expected < 2:
        return ""
    text = f"{arrived} of {expected}"
    return text if len(text) <= FLAG_WIDTH else f"{arrived}/{expected}"

"""The ``.grad`` of every leaf: before this pass, now, and over the calls of the program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from gradstep.debugger.snapshot import LeafGradient, Snapshot, Value
from gradstep.graph.columns import lazy_column
from gradstep_tui.app.sections.page import NodeTarget, Page, ScreenView, Target
from gradstep_tui.app.widgets.charts import sparkline
from gradstep_tui.app.widgets.text import (
    Line,
    Part,
    changed,
    common_prefix,
    fit,
    right_aligned,
    shape_text,
    value_part,
    without_prefix,
)

VALUE_WIDTH = 12
BAR_WIDTH = 6
CALLS = 12  # the last calls, of which the sparkline tells
SAMPLED = 2_000  # leaves that are looked at to find out how wide a column must be


class LeafWidths(NamedTuple):
    """Widths of the columns; 0 leaves a column out."""

    name: int
    shape: int
    calls: int
    prefix: str = ""  # what names are shown without


def page(view: ScreenView) -> Page:
    """Return one line per leaf."""
    leaves = view.snapshot.leaves
    columns = _columns(view.snapshot, view.width)
    done = leaves.before(view.snapshot.position)

    def target(line: int, column: int) -> Target | None:
        return NodeTarget(leaves.indices[line])

    added = _added_by_calls(view)

    def line(place: int) -> Line:
        leaf = leaves[place]
        selected = leaf.index == view.node
        return _leaf_line(
            leaf, columns, added.get(leaf.name, ()), selected=selected,
            grew=leaf.index in view.changed, accumulated=leaf.index in view.last_move,
        )  # fmt: skip

    # those that change around now are in view
    focus = min(len(leaves) - 1, done + view.height // 2)
    lines = lazy_column(len(leaves), line)  # a model has thousands of leaves
    return Page(lines, _heading(view.snapshot, columns), max(0, focus), target)


def _columns(snapshot: Snapshot, width: int) -> LeafWidths:
    leaves = snapshot.leaves[:SAMPLED]
    prefix = common_prefix(leaf.name for leaf in leaves)
    longest = max((len(without_prefix(leaf.name, prefix)) for leaf in leaves), default=0)
    name = max(8, min(24, longest))
    shape = min(16, max((len(shape_text(leaf.shape)) for leaf in leaves), default=0))
    calls = max(5, min(CALLS, len(snapshot.calls))) if snapshot.calls else 0
    room = width - 1 - name - 1 - 2 * VALUE_WIDTH - 3 - 2 - BAR_WIDTH - 4
    shape = shape if shape + 2 <= room else 0
    room -= shape + 2 if shape else 0
    calls = calls if calls + 2 <= room else 0
    room -= calls + 2 if calls else 0
    return LeafWidths(name + max(0, min(longest - name, room)), shape, calls, prefix)


def _heading(snapshot: Snapshot, columns: LeafWidths) -> Line:
    count = len(snapshot.leaves)
    title = f" {count:,} {'leaf' if count == 1 else 'leaves'}"
    title += f"  ~={columns.prefix}" if columns.prefix else ""
    shape = columns.shape + 2 if columns.shape else 0
    parts = [
        fit(title, columns.name + shape + 2),
        fit("calls", columns.calls + 2) if columns.calls else "",
        fit(".grad before", VALUE_WIDTH, right=True),
        fit("now", VALUE_WIDTH + 3, right=True),
        "  contributions",
    ]
    return [Part("".join(parts), "muted")]


def _leaf_line(
    leaf: LeafGradient, columns: LeafWidths, added: Sequence[float | None], *,
    selected: bool, grew: bool, accumulated: bool,
) -> Line:  # fmt: skip
    """Return the line of a leaf; the last move may have changed the sum that waits for it, or its
    ``.grad``."""
    done = leaf.arrived >= leaf.expected
    line: Line = [
        Part("▌" if selected else " ", "strong"),
        Part(
            fit(without_prefix(leaf.name, columns.prefix), columns.name, keep_end=True) + " ",
            "leaf",
        ),
    ]
    if columns.shape:
        line.append(Part(fit(shape_text(leaf.shape), columns.shape) + "  ", "muted"))
    if columns.calls:
        blank = " " * (columns.calls - len(added))
        line += [Part(blank), *sparkline(added[-columns.calls :]), Part("  ")]
    line += [
        *_value(leaf.before, "None"),
        Part(" → ", "muted"),
        *_value(leaf.now, "None" if done else "None yet", is_new=accumulated),
        Part("  " + arrival_bar(leaf.arrived, leaf.expected), "leaf"),
        Part(" "),
        Part(f"{leaf.arrived}/{leaf.expected}", "changed" if grew else "text" if done else "muted"),
    ]
    if leaf.pending is not None:
        pending = value_part(leaf.pending)
        line += [Part("  pending ", "muted"), changed(pending, grew)]
    return line


def _added_by_calls(view: ScreenView) -> dict[str, list[float | None]]:
    """Collect what each of the last calls added to each leaf, by name; nan where that was no
    number."""
    calls, notes = view.snapshot.calls, view.notes
    if notes.added_at != len(calls):
        sizes: dict[str, list[float | None]] = {}
        for number, call in enumerate(calls[-CALLS:]):
            for leaf in call.leaves:
                bad = leaf.added is not None and leaf.added.trouble
                size = None if leaf.added is None else math.nan if bad else leaf.added.rms
                row = sizes.setdefault(leaf.name, [])
                row += [None] * (number - len(row)) + [size]
        notes.added, notes.added_at = sizes, len(calls)
    return notes.added


def arrival_bar(arrived: int, expected: int) -> str:
    """Return one box per contribution, or a bar of fixed width when there are many.

    >>> arrival_bar(1, 3), arrival_bar(50, 100)
    ('■□□', '■■■□□□')
    """
    boxes = min(expected, BAR_WIDTH)
    filled = arrived * boxes // expected if expected else 0
    return "■" * filled + "□" * (boxes - filled)


def _value(value: Value | None, absent: str, *, is_new: bool = False) -> Line:
    part = changed(Part(absent, "muted") if value is None else value_part(value), is_new)
    return right_aligned(part.text, VALUE_WIDTH, part.style)

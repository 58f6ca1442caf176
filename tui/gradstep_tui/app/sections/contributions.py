"""The contributions to a sum, in order of arrival, with the running sum."""

from __future__ import annotations

import math

from gradstep.debugger.snapshot import Incoming, LedgerEntry
from gradstep_tui.app.sections.gradient import edge_label, title_line
from gradstep_tui.app.sections.page import NodeTarget, Page, ScreenView, Target
from gradstep_tui.app.widgets.text import (
    UNDEFINED,
    Line,
    Part,
    changed,
    fit,
    right_aligned,
    shape_text,
    value_part,
)

MOST = 500  # contributions; more are for the console
VALUE_WIDTH = 12
LABEL_WIDTH = 30


def page(view: ScreenView) -> Page:
    """Producer, value, running sum and what cancelled, for each input of the selected node; in the
    order of arrival, or the largest first where the list has it so."""
    detail = view.facts.detail(view.node)
    lines: list[Line] = [title_line(detail, view.snapshot)]
    nodes: dict[int, int] = {}
    largest_first = view.listing.order == "size"
    for incoming in detail.incoming:
        lines.append(_heading(incoming, view))
        if incoming.arrived > MOST:
            lines.append([Part("  too many for this page: info contributions lists them", "muted")])
            continue
        entries = view.facts.contributions(view.node, incoming.input_nr)
        for entry in sorted(entries, key=_size) if largest_first else entries:
            if entry.producer is not None:
                nodes[len(lines)] = entry.producer
            lines.append(_line(entry, view))
        waiting = incoming.expected - incoming.arrived
        if waiting:
            lines.append([Part(f"    {waiting:,} to come", "muted")])

    def target(line: int, column: int) -> Target | None:
        return NodeTarget(nodes[line]) if line in nodes else None

    return Page(lines, target=target, focus=0 if largest_first else len(lines) - 1)


def _size(entry: LedgerEntry) -> float:
    """Return how large a contribution is, negative; one that is no number is the largest."""
    if entry.value is None:
        return 0.0
    stats = entry.value.statistics
    return -math.inf if stats.trouble else -stats.rms


def _label_width(view: ScreenView) -> int:
    return max(12, min(LABEL_WIDTH, view.width - 4 - 2 * (VALUE_WIDTH + 2) - 10))


def _heading(incoming: Incoming, view: ScreenView) -> Line:
    name = "in" if not incoming.input_nr else f"in {incoming.input_nr}"
    title = f"{name}  {shape_text(incoming.shape)}"
    columns = f"{'adds':>{VALUE_WIDTH}}  {'sum so far':>{VALUE_WIDTH}}  cancelled"
    return [Part(fit(title, _label_width(view) + 4), "backward"), Part(columns, "muted")]


def _line(entry: LedgerEntry, view: ScreenView) -> Line:
    value = Part(UNDEFINED, "muted") if entry.value is None else value_part(entry.value)
    total = Part(UNDEFINED, "muted") if entry.total is None else value_part(entry.total)
    label = entry.edit or edge_label(view.snapshot, entry.producer, entry.output_nr)
    is_new = entry.producer in view.last_move
    if entry.edit:  # the user's, which adds nothing of its own
        value = Part("", "muted")
    return [
        Part("  = " if entry.edit else "  + ", "muted"),
        Part(fit(label, _label_width(view))),
        *_aligned(changed(value, is_new)),
        Part("  "),
        *_aligned(changed(total, is_new)),
        _cancelled(entry.remaining),
    ]


def _aligned(part: Part) -> Line:
    return right_aligned(part.text, VALUE_WIDTH, part.style)


def _cancelled(remaining: float) -> Part:
    """Say how much of the parts is lost in their sum, in percent."""
    if remaining != remaining:
        return Part("  unknown", "muted")
    lost = 100 * (1 - remaining)
    if lost < 0.5:
        return Part("  -", "muted")
    return Part(f"  {lost:.0f} %{' !' if lost > 99 else ''}", "trouble" if lost > 99 else "text")

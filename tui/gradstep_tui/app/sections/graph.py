"""The neighbourhood of a node in boxes: who sends to it, and whom it sends to."""

from __future__ import annotations

from typing import NamedTuple

from gradstep.debugger.snapshot import NodeDetail, Value
from gradstep_tui.app.sections.page import NodeTarget, Page, ScreenView, Target
from gradstep_tui.app.widgets.text import (
    UNDEFINED,
    Line,
    Part,
    StyleName,
    changed,
    fit,
    node_label,
    value_part,
)

WIDEST = 26
NARROWEST = 13


class Box(NamedTuple):
    """A box: a title, a second line, and the plan node that it stands for."""

    title: str
    below: Part
    node: int | None


def page(view: ScreenView) -> Page:
    """Return producers above, consumers below; each box shows the gradient on its edge."""
    detail = view.facts.detail(view.node)
    above = _producers(detail, view)
    below = _consumers(detail, view)
    lines: list[Line] = []
    places: dict[int, list[tuple[int, int, int | None]]] = {}
    here = _here(detail, view)
    for row, joint in ((above, "below"), ([here], ""), (below, "above")):
        if not row:
            continue
        drawn, columns = _row(row, view.width, bold=row == [here])
        if joint == "above":
            lines.append(_joined(columns, view.width, "above"))
        for offset in range(len(drawn)):
            places[len(lines) + offset] = columns
        lines += drawn
        if joint == "below":
            lines.append(_joined(columns, view.width, "below"))

    def target(line: int, column: int) -> Target | None:
        for left, right, node in places.get(line, []):
            if left <= column < right and node is not None:
                return NodeTarget(node)
        return None

    return Page(lines, target=target)


def _shown(value: Value | None, *, known: bool, is_new: bool = False) -> Part:
    if not known:
        return changed(Part("not yet", "muted"), is_new)
    return changed(Part(UNDEFINED, "muted") if value is None else value_part(value), is_new)


def _producers(detail: NodeDetail, view: ScreenView) -> list[Box]:
    snapshot = view.snapshot
    boxes = [
        Box(
            "seed" if one.producer is None else node_label(snapshot, one.producer, WIDEST - 8),
            _shown(one.value, known=True, is_new=one.producer in view.last_move),
            one.producer,
        )
        for incoming in detail.incoming
        for one in incoming.contributions
    ]
    graph = snapshot.graph
    for edge in view.edges.producers_of(detail.index)[: len(boxes) + 16]:
        source = graph.edge_sources[edge]
        if source >= snapshot.position and not any(box.node == source for box in boxes):
            label = node_label(snapshot, source, WIDEST - 8)
            shown = _shown(None, known=False, is_new=source in view.last_move)
            boxes.append(Box(label, shown, source))
    return boxes


def _consumers(detail: NodeDetail, view: ScreenView) -> list[Box]:
    is_new = detail.index in view.last_move
    return [
        Box(
            node_label(view.snapshot, outgoing.target, WIDEST - 8),
            _shown(outgoing.value, known=outgoing.sent, is_new=is_new),
            outgoing.target,
        )
        for outgoing in detail.outgoing
        if outgoing.target is not None
    ]


def _here(detail: NodeDetail, view: ScreenView) -> Box:
    arrived = sum(incoming.arrived for incoming in detail.incoming)
    expected = sum(incoming.expected for incoming in detail.incoming)
    total = next(
        (incoming.total for incoming in detail.incoming if incoming.total is not None), None
    )
    part = _shown(total, known=bool(arrived), is_new=detail.index in view.changed)
    note = f"Σ{arrived}/{expected} " if expected > 1 else ""
    return Box(
        node_label(view.snapshot, detail.index, WIDEST),
        Part(note + part.text, part.style),
        detail.index,
    )


def _row(
    boxes: list[Box], width: int, *, bold: bool
) -> tuple[list[Line], list[tuple[int, int, int | None]]]:
    """Return boxes side by side, as many as there is room for, and the columns that each takes."""
    fitting = max(1, (width + 1) // (NARROWEST + 1))
    shown = boxes if len(boxes) <= fitting else boxes[: fitting - 1] or boxes[:1]
    hidden = len(boxes) - len(shown)
    room = width - (NARROWEST if hidden else 0)
    size = max(NARROWEST, min(WIDEST, (room + 1) // len(shown) - 1))
    corners = "┏━┓┃┗┛" if bold else "╭─╮│╰╯"
    style: StyleName = "strong" if bold else "faint"
    lines: list[Line] = [[], [], [], []]
    columns = []
    for number, box in enumerate(shown):
        gap = " " if number else ""
        inner = size - 2
        lines[0].append(Part(f"{gap}{corners[0]}{corners[1] * inner}{corners[2]}", style))
        texts = (Part(box.title, "strong" if bold else "text"), box.below)
        for line, text in zip(lines[1:3], texts, strict=True):
            line += [
                Part(f"{gap}{corners[3]}", style),
                Part(fit(text.text, inner), text.style),
                Part(corners[3], style),
            ]
        lines[3].append(Part(f"{gap}{corners[4]}{corners[1] * inner}{corners[5]}", style))
        left = number * (size + 1)
        columns.append((left, left + size, box.node))
    if hidden:
        lines[1].append(Part(f" +{hidden} more", "muted"))
    return lines, columns


def _joined(columns: list[tuple[int, int, int | None]], width: int, side: str) -> Line:
    """Return the line between a row of boxes and the box of the node itself, which stands at the
    left."""
    middles = [(left + right) // 2 for left, right, _ in columns]
    own = min(WIDEST, width) // 2
    first, last = min([*middles, own]), max([*middles, own])
    text = ""
    for column in range(last + 1):
        ends, comes = column in middles, column == own
        left, right = column > first, column < last
        text += _junction(ends, comes, left, right, side) if column >= first else " "
    return [Part(text, "backward")]


def _junction(boxes: bool, own: bool, left: bool, right: bool, side: str) -> str:
    """Return the character where a line goes to boxes, to the node itself, to the left, to the
    right."""
    up, down = (boxes, own) if side == "below" else (own, boxes)
    if not (up or down):
        return "─"
    arms = (up, down, left, right)
    return {
        (True, True, False, False): "│",
        (True, False, True, True): "┴",
        (True, False, True, False): "╯",
        (True, False, False, True): "╰",
        (False, True, True, True): "┬",
        (False, True, True, False): "╮",
        (False, True, False, True): "╭",
        (True, True, True, True): "┼",
        (True, True, True, False): "┤",
        (True, True, False, True): "├",
    }.get(arms, "│")

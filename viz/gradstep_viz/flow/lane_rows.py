"""A row of lanes in characters, as in a git log: in the debugger's list, and in rows as text."""

from __future__ import annotations

from typing import Final, NamedTuple

from gradstep.graph.addresses import step_number

HIDDEN: Final = -1
"""The lane of a node that has none."""


class LaneRow(NamedTuple):
    """One row, before it is drawn.

    ``column`` is the lane of the row's own node and ``joins`` are the lanes of ``targets``, the
    nodes that it sends to (both may be past the cap).  ``before`` and ``after`` hold the node
    that owns each of the first lanes above and below the row; ``hidden`` counts the lanes past
    the cap.
    """

    node: int
    column: int
    joins: tuple[int, ...]
    targets: tuple[int, ...]
    before: tuple[int | None, ...]
    after: tuple[int | None, ...]
    hidden: int


class LaneCell(NamedTuple):
    """One character of the drawing, or several that belong together; ``owner`` is the plan index
    that they belong to."""

    text: str
    owner: int | None


def draw_row(row: LaneRow, cap: int, glyph: str) -> list[LaneCell]:
    """Return the characters of one row: two for each of the first ``cap`` lanes, then the overflow.

    A line that passes under a lane leaves the lane whole (``─│─``); one that joins it touches
    it (``┤``, ``┼``).

    >>> row = LaneRow(4, 0, (1, 2), (5, 9), (4, 5, None), (None, 5, 9), 0)
    >>> "".join(cell.text for cell in draw_row(row, 3, "●"))
    '●─┼─╮ '
    """
    touched = sorted({row.column, *row.joins})
    left, right = touched[0], touched[-1]
    cells = []
    for lane in range(cap):
        cells.append(_lane_cell(row, lane, left, right, glyph))
        reaches = left <= lane < right
        cells.append(LaneCell("─" if reaches else " ", row.node if reaches else None))
    cells.extend(_overflow_cells(row, cap, glyph))
    return cells


def _lane_cell(row: LaneRow, lane: int, left: int, right: int, glyph: str) -> LaneCell:
    if lane == row.column:
        return LaneCell(glyph, row.node)
    above = row.before[lane] if lane < len(row.before) else None
    below = row.after[lane] if lane < len(row.after) else None
    if lane in row.joins:
        if above is not None and below is None:
            joint = "╰" if lane == left else "╯" if lane == right else "┴"
        elif above is not None:
            joint = "├" if lane == left else "┤" if lane == right else "┼"
        else:
            joint = "╭" if lane == left else "╮" if lane == right else "┬"
        return LaneCell(joint, below)
    if above is not None:
        return LaneCell("│", above)
    return LaneCell("─", row.node) if left < lane < right else LaneCell(" ", None)


def _overflow_cells(row: LaneRow, cap: int, glyph: str) -> list[LaneCell]:
    """Draw what stands for the lanes past the cap: how many there are, ``⋯+3``; where the node
    sends to one of them, the first it sends to, ``→#7``; the node itself, when it is there."""
    hidden = row.hidden + sum(owner is not None for owner in row.after[cap:])
    far = [target for lane, target in zip(row.joins, row.targets, strict=True) if lane >= cap]
    cells = [LaneCell(glyph, row.node)] if row.column >= cap else []
    if far:
        more = f"+{len(far) - 1}" if len(far) > 1 else ""
        return [*cells, LaneCell(f"→{step_number(min(far))}{more}", min(far))]
    if not hidden:
        return cells
    return [*cells, LaneCell(f"+{hidden}" if cells else f"⋯+{hidden}", None)]

"""Lines to saved values: from a forward box, through the gutter, into a backward box's side.

A line that leaves the last forward box of a row sideways, and one that enters the first backward
box there, would read as one line at the same height.  So all lines of a row cross the gutter at
heights of their own, their *levels*; only those that enter the same box may share the last stretch
when there are too many.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from gradstep_viz import theme
from gradstep_viz.layout.compaction import HalfColumns
from gradstep_viz.layout.grid import Grid
from gradstep_viz.layout.tracks import assign_tracks
from gradstep_viz.picture import geometry

GUTTER_EDGE = 40
GUTTER_STEP = 9
MOST_GUTTER_LANES = 120
DROPS = (14, 20, 26)
"""How far left of a box lines come down to it, or up, in turn."""

OTHER_DROPS = (17, 23, 29, 32, 11)
CLOSE = 4
"""Lines that are no further apart than this look like one."""

EXIT_INSET = 14
EXIT_STEP = 9
EXIT_REACH = 0.3
"""So far from its right end, as a part of its width, lines leave a box downwards."""

LEVEL_GAPS = ((20, 16), (18, 12), (16, 10), (14, 9), (13, 8))
"""Between lines that leave a box, which have their text above them, and between others; the first
pair that there is room for."""

LEVEL_MARGIN = 10
ENTRY_MARGIN = 7


@dataclass(slots=True)
class SavedLine:
    """The plan of one line.

    ``exits`` is "side" (the box is the last of its row) or "bottom", then ``inset`` from the right
    end of the box; ``enters`` is "side" (the box is the first of its row) or "drop", down or up
    just left of the box.  ``leave`` and ``enter`` are the heights, from the middles of the boxes;
    a ``straight`` line crosses the gutter at one height.  ``drop`` is how far left of its box a
    line comes down or up; ``lane`` is the lane in the gutter, None for a line that needs none.
    """

    line: int
    source: int
    target: int
    exits: str
    enters: str
    straight: bool
    leave: int = 0
    enter: int = 0
    inset: float = 0.0
    drop: float = 0.0
    lane: int | None = None


def plan_saved(grid: Grid, columns: HalfColumns, aside: Mapping[int, int]) -> list[SavedLine]:
    """Decide for every saved line by which sides it goes, and choose lanes in the gutter; ``aside``
    is how much further left lines come down to some boxes."""
    lines = [line for line, arc in enumerate(grid.arcs) if arc is None]
    if not lines:
        return []
    first, last = row_ends(grid)
    plans: list[SavedLine] = []
    for line in lines:
        source, target = grid.sources[line], grid.targets[line]
        row, target_row = grid.rows[source], grid.rows[target]
        ends = last.get(row) == source, first.get(target_row) == target
        straight = row == target_row and all(ends)
        below = not straight and row in (target_row, target_row - 1)  # along that channel
        exits = "side" if ends[0] and not below else "bottom"
        enters = "side" if ends[1] and not below else "drop"
        plans.append(SavedLine(line, source, target, exits, enters, straight))
    _set_levels(grid, plans)
    _set_exits(grid, plans)
    free = {box: min(room, _free(grid, columns, first, box)) for box, room in aside.items()}
    _set_drops(grid, columns, plans, free)
    _choose_lanes(grid, plans)
    return plans


def _free(grid: Grid, columns: HalfColumns, first: Mapping[int, int], box: int) -> float:
    """Measure how much further left than usual lines may come down to a box: as far as they like
    to the first one of a row, not quite to what stands at the left of others."""
    row = grid.rows[box]
    if grid.halves[box] == "forward" or first.get(row) == box:
        return inf
    left = columns.left[box]
    x = columns.x["backward"]
    ends = [x[vertex] for vertex in grid.layers.rows[row] if vertex >= grid.layers.box_count]
    ends += [
        columns.right[other]
        for other in range(len(grid.rows))
        if grid.rows[other] == row and grid.halves[other] == "backward"
    ]
    nearest = max(end for end in [0.0, *ends] if end < left)
    return max(0.0, left - nearest - DROPS[-1] - CLOSE)


def _set_levels(grid: Grid, plans: list[SavedLine]) -> None:
    """Choose the heights at which lines leave boxes sideways and enter others, the middle of a box
    for one that is alone; where there is no room for all, the last ones leave downwards."""
    rows = grid.rows
    leaving = _grouped((rows[plan.source], plan) for plan in plans if plan.exits == "side")
    entering = _grouped((plan.target, plan) for plan in plans)
    leftmost: dict[int, int] = {}
    for box in entering:
        other = leftmost.setdefault(rows[box], box)
        if grid.x[grid.vertex[box]] < grid.x[grid.vertex[other]]:
            leftmost[rows[box]] = box
    for row, lines in leaving.items():
        others = [plan for plan in entering.pop(leftmost.get(row, -1), ()) if not plan.straight]
        if len(lines) + len(others) > 1:
            _set_row(grid, lines, others)
    for lines in entering.values():
        if len(lines) > 1:
            _set_row(grid, [], lines)


def _grouped(plans: Iterable[tuple[int, SavedLine]]) -> dict[int, list[SavedLine]]:
    groups: dict[int, list[SavedLine]] = {}
    for key, plan in plans:
        groups.setdefault(key, []).append(plan)
    return groups


def _set_row(grid: Grid, leaving: list[SavedLine], entering: list[SavedLine]) -> None:
    """Choose the heights of lines that leave one box sideways, and of others that enter another
    one in the same row."""
    straight = [plan for plan in leaving if plan.straight]
    leaving = [plan for plan in leaving if not plan.straight]
    source = grid.sizes[(straight or leaving or entering)[0].source][1]
    target = grid.sizes[(straight or entering or leaving)[0].target][1]
    apart = len(entering)  # beyond so many heights, lines that enter share them
    while (levels := find_levels(apart, len(straight), len(leaving), source, target)) is None:
        if leaving:
            leaving.pop().exits = "bottom"
        elif apart > 1:
            apart -= 1
        else:
            one = straight.pop()
            one.exits, one.enters, one.straight = "bottom", "drop", False
            entering.append(one)
            apart = 1
    entering.sort(key=lambda plan: grid.rows[plan.source] >= grid.rows[plan.target])
    for number, plan in enumerate(entering):
        plan.enter = levels.entering[number % apart]
    for plan, level in zip(straight, levels.straight, strict=True):
        plan.leave = plan.enter = level
    for plan, level in zip(leaving, levels.leaving, strict=True):
        plan.leave = level


def _set_exits(grid: Grid, plans: list[SavedLine]) -> None:
    """Choose where lines leave a box downwards, side by side from its right end on."""
    down = _grouped((plan.source, plan) for plan in plans if plan.exits == "bottom")
    for box, lines in down.items():
        step = min(EXIT_STEP, grid.sizes[box][0] * EXIT_REACH / len(lines))
        for number, plan in enumerate(lines):
            plan.inset = EXIT_INSET + round(number * step, 1)


def _set_drops(
    grid: Grid, columns: HalfColumns, plans: list[SavedLine], aside: Mapping[int, float]
) -> None:
    """Choose where lines run down, or up, to a box: one that comes up to its box keeps clear of
    those that come down to the row below."""
    rising: dict[int, list[SavedLine]] = {}
    taken: dict[int, list[float]] = {}
    dropping = _grouped((plan.target, plan) for plan in plans if plan.enters == "drop")
    for box, lines in dropping.items():
        row = grid.rows[box]
        falling = [plan for plan in lines if grid.rows[plan.source] < row]
        if len(falling) < len(lines):
            rising[box] = [plan for plan in lines if grid.rows[plan.source] >= row]
        for number, plan in enumerate(falling):
            plan.drop = DROPS[number % len(DROPS)] + aside.get(box, 0)
            taken.setdefault(row - 1, []).append(columns.left[box] - plan.drop)
    for box, lines in rising.items():
        left, others = columns.left[box], taken.get(grid.rows[box], ())
        free = [
            drop
            for drop in (*DROPS, *OTHER_DROPS)
            if all(abs(left - drop - x) >= CLOSE for x in others)
        ][: len(DROPS)]
        for number, plan in enumerate(reversed(lines)):  # the last one enters lowest
            plan.drop = free[number % len(free)] if free else DROPS[0]


def row_ends(grid: Grid) -> tuple[dict[int, int], dict[int, int]]:
    """Find the first backward box and the last forward box of each row, where no lane is
    outside."""
    boxes = [
        (half, grid.rows[index], grid.x[grid.vertex[index]], index)
        for index, half in enumerate(grid.halves)
    ]
    lanes = [
        (grid.halves[source], grid.layers.ranks[bend], grid.x[bend], None)
        for source, bends in zip(grid.sources, grid.bends, strict=True)
        for bend in bends or ()
    ]
    first: dict[int, tuple[float, int | None]] = {}
    last: dict[int, tuple[float, int | None]] = {}
    for half, row, x, index in (*boxes, *lanes):
        ends, outwards = (last, x) if half == "forward" else (first, -x)
        if row not in ends or outwards > ends[row][0]:
            ends[row] = outwards, index
    return _boxes(first), _boxes(last)


def _boxes(ends: Mapping[int, tuple[float, int | None]]) -> dict[int, int]:
    return {row: index for row, (_, index) in ends.items() if index is not None}


def _choose_lanes(grid: Grid, plans: list[SavedLine]) -> None:
    tall = []
    for plan in plans:
        top, bottom = grid.rows[plan.source], grid.rows[plan.target]
        along_one_channel = plan.exits == "bottom" and plan.enters == "drop"
        if plan.straight or (along_one_channel and bottom in (top, top + 1)):
            continue
        low, high = sorted((top, bottom))
        tall.append((plan, (float(low), high + 0.5)))
    lanes = assign_tracks([span for _, span in tall], 0.2, MOST_GUTTER_LANES)
    for (plan, _), lane in zip(tall, lanes, strict=True):
        plan.lane = lane


def gutter_width(
    grid: Grid, columns: HalfColumns, plans: Sequence[SavedLine], free: float = 0.0
) -> float:
    """Measure the room between the halves for the lanes, and for the names of lines that leave
    sideways; at least ``free`` is kept free of lanes."""
    lanes = 1 + max((plan.lane for plan in plans if plan.lane is not None), default=-1)
    _, edge = columns.extent.get("forward", (0.0, 0.0))
    names, labels = free, grid.picture.lines.column("label")
    for plan in plans:
        if plan.exits == "side":
            half_width = grid.sizes[plan.source][0] / 2
            beside = edge - columns.x["forward"][grid.vertex[plan.source]] - half_width
            width = geometry.text_width(labels[plan.line], theme.MUTED_SIZE)
            names = max(names, width + 16 - beside)
    return max(72.0, names + 16 + gutter_edge(columns, plans)) + lanes * GUTTER_STEP


def gutter_edge(columns: HalfColumns, plans: Sequence[SavedLine]) -> float:
    """Measure how wide the part of the gutter is that lies right of its lanes: lines come down to
    the first boxes there, with which they would otherwise run on lanes, or into the other half."""
    low, _ = columns.extent["backward"]
    falling = (plan.drop - columns.left[plan.target] + low for plan in plans if plan.drop)
    return max([GUTTER_EDGE, *(reach + GUTTER_EDGE - DROPS[-1] for reach in falling)])


class Levels(NamedTuple):
    """Heights, counted down from the middle of the row: of lines that only enter, of those that run
    straight from side to side, and of those that only leave."""

    entering: tuple[int, ...]
    straight: tuple[int, ...]
    leaving: tuple[int, ...]


@functools.lru_cache(maxsize=4096)
def find_levels(
    entering: int, straight: int, leaving: int, source_height: int, target_height: int
) -> Levels | None:
    """Find heights for so many lines of each kind, at boxes of these heights; None where there is
    no room for them.

    >>> find_levels(1, 2, 0, 46, 46)
    Levels(entering=(-15,), straight=(-5, 11), leaving=())
    >>> find_levels(0, 4, 0, 30, 46) is None
    True
    """
    enters, leaves = target_height // 2 - ENTRY_MARGIN, source_height // 2 - LEVEL_MARGIN
    within = min(leaves, target_height // 2 - LEVEL_MARGIN)
    reaches = [enters] * entering + [within] * straight + [leaves] * leaving
    for leaving_gap, gap in LEVEL_GAPS:
        gaps = [gap] * entering + [gap] * min(1, straight + leaving)
        gaps += [leaving_gap] * (straight + leaving - 1)
        levels = _spread(reaches, gaps)
        if levels is not None:
            last = entering + straight
            return Levels(levels[:entering], levels[entering:last], levels[last:])
    return None


def _spread(reaches: Sequence[int], gaps: Sequence[int]) -> tuple[int, ...] | None:
    """Spread heights in order, none further from the middle than its reach, each its gap below the
    one before: halfway between the highest and the lowest that these allow."""
    highest: list[int] = []
    for reach, gap in zip(reaches, gaps, strict=True):
        highest.append(max(-reach, highest[-1] + gap) if highest else -reach)
    lowest: list[int] = []
    for reach, gap in zip(reversed(reaches), [0, *reversed(gaps)], strict=False):
        lowest.append(min(reach, lowest[-1] - gap) if lowest else reach)
    both = list(zip(highest, reversed(lowest), strict=True))
    fits = all(high <= low for high, low in both)
    return tuple((high + low) // 2 for high, low in both) if fits else None

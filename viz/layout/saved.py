"""Lines to saved values: from a forward box, through the gutter, into a backward box's side."""

from __future__ import annotations

from dataclasses import dataclass

from viz import geometry, theme
from viz.layout.grid import Grid
from viz.layout.tracks import Anchor, Corner, Run, assign_tracks, run

GUTTER_EDGE = 40
GUTTER_STEP = 9
MOST_GUTTER_LANES = 16
DROP_DISTANCE = 14
DROP_STEP = 6
MOST_DROPS = 3
SIDE_SPACE = 20
EXIT_INSET = 14
EXIT_STEP = 9


@dataclass(slots=True)
class SavedLine:
    """The plan of one line.

    ``exits`` is "side" (the box is the last of its row) or "bottom"; ``enters`` is "side"
    (the box is the first of its row) or "drop", down or up just left of the box.  ``lane`` is
    the lane in the gutter, None for a line that needs none.
    """

    line: int
    exits: str
    enters: str
    exit_nr: int
    entry_share: float
    exit_share: float
    drop_nr: int
    lane: int | None = None


def plan_saved(grid: Grid) -> list[SavedLine]:
    """Decide for every saved line by which sides it goes, and choose lanes in the gutter."""
    lines = [line for line, arc in enumerate(grid.arcs) if arc is None]
    if not lines:
        return []
    first, last = _row_ends(grid)
    entries = _shares(grid, [(grid.targets[line], line) for line in lines])
    plans: list[SavedLine] = []
    exits: dict[int, int] = {}
    drops: dict[int, int] = {}
    sides: dict[int, int] = {}
    for line in lines:
        source, target = grid.sources[line], grid.targets[line]
        direct = grid.rows[source] == grid.rows[target] - 1
        side = last.get(grid.rows[source]) == source and not direct
        if side and sides.get(source, 0) * SIDE_SPACE > grid.sizes[source][1] - SIDE_SPACE:
            side = False
        sides[source] = sides.get(source, 0) + side
        enters = "side" if first.get(grid.rows[target]) == target and not direct else "drop"
        exit_nr, drop_nr = exits.get(source, 0), drops.get(target, 0)
        exits[source] = exit_nr + (not side)
        drops[target] = drop_nr + (enters == "drop")
        plans.append(
            SavedLine(
                line, "side" if side else "bottom", enters, exit_nr, entries[line], 0.5, drop_nr
            )
        )
    heights = _shares(
        grid,
        [(grid.sources[p.line], p.line) for p in plans if p.exits == "side"],
    )
    for plan in plans:
        plan.exit_share = heights.get(plan.line, 0.5)
    _choose_lanes(grid, plans)
    return plans


def _row_ends(grid: Grid) -> tuple[dict[int, int], dict[int, int]]:
    """The first backward box and the last forward box of each row, where no lane is outside."""
    edges: dict[int, list[float]] = {}
    for source, bends in zip(grid.sources, grid.bends, strict=True):
        if bends:
            side = 1 if grid.halves[source] == "forward" else 0
            for bend in bends:
                x, row = grid.x[bend], grid.layers.ranks[bend]
                ends = edges.setdefault(row, [x, x])
                ends[side] = max(ends[side], x) if side else min(ends[side], x)
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for index, half in enumerate(grid.halves):
        row, x = grid.rows[index], grid.x[grid.vertex[index]]
        ends = edges.get(row, [x, x])
        if half == "forward":
            other = last.get(row)
            if other is None or x > grid.x[grid.vertex[other]]:
                last[row] = index
        else:
            other = first.get(row)
            if other is None or x < grid.x[grid.vertex[other]]:
                first[row] = index
    for row, (low, high) in edges.items():
        if row in first and low < grid.x[grid.vertex[first[row]]]:
            del first[row]
        if row in last and high > grid.x[grid.vertex[last[row]]]:
            del last[row]
    return first, last


def _shares(grid: Grid, ends: list[tuple[int, int]]) -> dict[int, float]:
    """Heights on the side of a box, evenly spread over the lines that meet there."""
    by_box: dict[int, list[int]] = {}
    for box, line in ends:
        by_box.setdefault(box, []).append(line)
    return {
        line: (index + 1) / (len(lines) + 1)
        for lines in by_box.values()
        for index, line in enumerate(lines)
    }


def _choose_lanes(grid: Grid, plans: list[SavedLine]) -> None:
    tall = []
    for plan in plans:
        top, bottom = grid.rows[grid.sources[plan.line]], grid.rows[grid.targets[plan.line]]
        if plan.enters == "drop" and bottom == top + 1:
            continue
        low, high = sorted((top, bottom))
        tall.append((plan, (float(low), high + 0.5)))
    lanes = assign_tracks([span for _, span in tall], 0.2, MOST_GUTTER_LANES)
    for (plan, _), lane in zip(tall, lanes, strict=True):
        plan.lane = lane


def gutter_width(grid: Grid, plans: list[SavedLine]) -> float:
    """Room between the halves for the lanes, and for the names of lines that leave sideways."""
    lanes = 1 + max((plan.lane for plan in plans if plan.lane is not None), default=-1)
    _, edge = grid.extent.get("forward", (0.0, 0.0))
    names, labels = 0.0, grid.picture.lines.column("label")
    for plan in plans:
        if plan.exits == "side":
            source = grid.sources[plan.line]
            half_width = grid.sizes[source][0] / 2
            free = edge - grid.columns["forward"][grid.vertex[source]] - half_width
            width = geometry.text_width(labels[plan.line], theme.MUTED_SIZE)
            names = max(names, width + 16 - free)
    return max(72.0, names + 16 + GUTTER_EDGE) + lanes * GUTTER_STEP


def saved_corners(grid: Grid, plan: SavedLine, gutter_end: float) -> list[Corner]:
    """The corners of a line; ``gutter_end`` is where the backward half begins."""
    source, target = grid.sources[plan.line], grid.targets[plan.line]
    enter = Anchor(target, plan.entry_share)
    drop_x = grid.left(target) - DROP_DISTANCE - DROP_STEP * (plan.drop_nr % MOST_DROPS)
    from_above = grid.rows[source] < grid.rows[target]
    entry_row = grid.rows[target] - 1 if from_above else grid.rows[target]
    corners: list[Corner]
    if plan.exits == "side":
        x = grid.right(source)
        leave = Anchor(source, plan.exit_share)
        corners = [(x, leave)]
    else:
        room = max(1, int(grid.sizes[source][0] * 0.3) // EXIT_STEP)
        x = grid.right(source) - EXIT_INSET - EXIT_STEP * (plan.exit_nr % room)
        corners = [(x, Anchor(source, 1.0))]
    if plan.lane is None:
        across = run(entry_row, x, drop_x)
        return [
            *corners,
            (x, across),
            (drop_x, across),
            (drop_x, enter),
            (grid.left(target), enter),
        ]
    lane_x = gutter_end - GUTTER_EDGE - GUTTER_STEP * plan.lane
    if plan.exits == "side":
        corners.append((lane_x, corners[0][1]))
    else:
        out = run(grid.rows[source], x, lane_x)
        corners += [(x, out), (lane_x, out)]
    if plan.enters == "drop":
        into = run(entry_row, lane_x, drop_x)
        corners += [(lane_x, into), (drop_x, into), (drop_x, enter)]
    else:
        corners.append((lane_x, enter))
    return [*corners, (grid.left(target), enter)]


def lane_spans(grid: Grid, corners: dict[int, list[Corner]]) -> list[tuple[int, int]]:
    """The rows between which square lines run; those that share a lane to one box are one."""
    spans: dict[tuple[int, float], list[int]] = {}
    for line, way in corners.items():
        lane = max(x for x, _ in way) if len(way) > 2 else way[0][0]
        rows = (grid.rows[grid.upper[line]], grid.rows[grid.lower[line]])
        end = max(grid.upper[line], grid.lower[line], key=lambda box: grid.rows[box])
        spans.setdefault((end, lane), []).extend(rows)
    return [(min(rows), max(rows)) for rows in spans.values()]


def runs_of(corners: list[Corner]) -> list[Run]:
    """The distinct runs along channels that a line needs."""
    found: dict[int, Run] = {}
    for _, level in corners:
        if isinstance(level, Run):
            found[id(level)] = level
    return list(found.values())

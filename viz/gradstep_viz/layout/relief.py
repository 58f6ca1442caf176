"""Relief: more room where labels found no place that no other line cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gradstep_viz import theme
from gradstep_viz.layout.grid import Grid
from gradstep_viz.picture import geometry

HEIGHT: Final = 26
"""By so much a channel grows, for two lines of text."""

BESIDE: Final = 28
"""By so much further to the right lanes keep from a box at an end of a line."""

AROUND_NAME: Final = 28


class Relief(NamedTuple):
    """How much higher the channels below some rows are, how much further from some vertices lanes
    keep, how wide the part of the gutter is that is kept free for names of saved values, and how
    much further left of some boxes saved values come down to them."""

    rows: Mapping[int, int] = {}
    vertices: Mapping[int, int] = {}
    gutter: float = 0.0
    aside: Mapping[int, int] = {}

    def grown(self, grid: Grid, cut: Iterable[int]) -> Relief:
        """Make more room for the labels of the lines ``cut``."""
        rows, vertices, gutter = Counter(self.rows), Counter(self.vertices), self.gutter
        labels = grid.picture.lines.column("label")
        for line in cut:
            if grid.arcs[line] is None:
                gutter = max(gutter, _room(labels[line]))
        ends = {
            row
            for line in cut
            if grid.arcs[line] is not None
            for row in (grid.rows[grid.upper[line]], grid.rows[grid.lower[line]] - 1)
        }
        rows.update(dict.fromkeys(ends, HEIGHT))
        near = {vertex for line in cut for vertex in _boxes_beside(grid, line)}
        vertices.update(dict.fromkeys(near, BESIDE))
        for line in cut:
            if bends := grid.bends[line]:
                vertices[bends[len(bends) // 2]] = _room(labels[line])
        aside = {**self.aside, **dict(_at_lower_ends(grid, cut, labels))}
        return Relief(rows, vertices, gutter, aside)


def _at_lower_ends(
    grid: Grid, cut: Iterable[int], labels: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the boxes at the lower ends of lines to the next row, and how far to the left of them
    the labels may reach."""
    for line in cut:
        if grid.arcs[line] is not None and not grid.bends[line]:
            box = grid.lower[line]
            yield box, max(0, _room(labels[line]) - grid.sizes[box][0] // 2)


def _room(label: str) -> int:
    return round(geometry.text_width(label, theme.MUTED_SIZE)) + AROUND_NAME


def _boxes_beside(grid: Grid, line: int) -> Iterator[int]:
    """Yield the boxes at the ends of a line, and those left of the ends of its lane."""
    yield from grid.arcs[line] or ()
    bends = grid.bends[line] or ()
    for bend in {bends[0], bends[-1]} if bends else ():
        row = grid.layers.rows[grid.layers.ranks[bend]]
        yield from (one for one in row[: row.index(bend)] if one < grid.layers.box_count)

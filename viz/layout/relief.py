"""Relief: more room where labels found no place that no other line cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from viz import theme
from viz.layout.grid import Grid
from viz.picture import geometry

HEIGHT: Final = 26
"""By so much a channel grows, for two lines of text."""

AROUND_NAME: Final = 28


class Relief(NamedTuple):
    """How much higher the channels below some rows are, and how wide the part of the gutter is that
    is kept free for names of saved values."""

    rows: Mapping[int, int] = {}
    gutter: float = 0.0

    def grown(self, grid: Grid, cut: Iterable[int]) -> Relief:
        """Make more room for the labels of the lines ``cut``."""
        rows, gutter = Counter(self.rows), self.gutter
        labels = grid.picture.lines.column("label")
        for line in cut:
            if grid.arcs[line] is None:
                width = geometry.text_width(labels[line], theme.MUTED_SIZE) + AROUND_NAME
                gutter = max(gutter, width)
        ends = {
            row
            for line in cut
            if grid.arcs[line] is not None
            for row in (grid.rows[grid.upper[line]], grid.rows[grid.lower[line]] - 1)
        }
        rows.update(dict.fromkeys(ends, HEIGHT))
        return Relief(rows, gutter)

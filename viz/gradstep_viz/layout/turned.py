"""From left to right: the labels of a layout whose rows became columns, and how it is turned.

The layout is that from top to bottom, of boxes that are as wide as others are high, with both axes
exchanged.  Texts are not turned with it: each label stands above or below its line, in the channel
between two columns, which is as wide as the label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from gradstep_viz import theme
from gradstep_viz.layout.columns import Floats
from gradstep_viz.picture import geometry
from gradstep_viz.picture.geometry import Label, Rectangle, Route, Segment
from gradstep_viz.picture.model import Picture
from gradstep_viz.picture.records import Records

ABOVE: Final = 5
BELOW: Final = 13
"""How far the foot of a text is above its line, or below it."""

HEIGHT: Final = 10
SHARES: Final = (0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.9)
"""Where along its line a label may stand, best first."""

APART: Final = 3
"""So many pixels apart are the points that stand for a line, about."""

HALO: Final = 3
"""So far around a text its halo of the background would cut other lines."""


def turn_boxes(places: Iterable[Rectangle], down: float) -> Records[Rectangle]:
    """Exchange the axes of boxes, and move them ``down``."""
    return Records.of(Rectangle, [(y, x + down, height, width) for x, y, width, height in places])


def turn_routes(routes: Iterable[Route], down: float) -> list[Route]:
    """Exchange the axes of lines, and move them ``down``."""
    return [
        Route(
            (route.start[1], route.start[0] + down),
            tuple(_turned(segment, down) for segment in route.segments),
            None,
        )
        for route in routes
    ]


def _turned(segment: Segment, down: float) -> Segment:
    points = zip(segment[::2], segment[1::2], strict=True)
    return tuple(number for x, y in points for number in (y, x + down))


class Labels(NamedTuple):
    """The place of the label of each line, and the lines whose label stands on another one."""

    places: list[Label | None]
    cut: list[int]


def label_beside(picture: Picture, places: Sequence[Rectangle], routes: Sequence[Route]) -> Labels:
    """Choose for each label the first place along its line where nothing else is; else that on
    no box and no other label where it covers the fewest lines; else none."""
    ways = [_points(route) for route in routes]
    boxes = np.array([[x, y, x + w, y + h] for x, y, w, h in places], np.float64).reshape(-1, 4)
    owners = np.repeat(np.arange(len(ways)), [len(way) for way in ways])
    points = np.concatenate(ways) if ways else np.zeros((0, 2))
    order = np.argsort(points[:, 0])
    points, owners = points[order], owners[order]
    texts = boxes
    labels: list[Label | None] = []
    cut: list[int] = []
    for line, text in enumerate(picture.lines.column("label")):
        best: tuple[int, Label, Floats] | None = None
        for label, place in _places(ways[line], text) if text else ():
            low, high = place[:2], place[2:]
            if ((low < texts[:, 2:] + 2) & (texts[:, :2] - 2 < high)).all(axis=1).any():
                continue
            span = slice(*np.searchsorted(points[:, 0], (low[0] - HALO, high[0] + HALO)))
            near, of = points[span], owners[span]
            room = np.where(of == line, 0, HALO)[:, None]
            covered = len(np.unique(of[((low - room < near) & (near < high + room)).all(axis=1)]))
            if best is None or covered < best[0]:
                best = covered, label, place
            if not covered:
                break
        labels.append(None if best is None else best[1])
        if best is not None:
            texts = np.vstack([texts, best[2]])
        if text and (best is None or best[0]):
            cut.append(line)
    return Labels(labels, cut)


def _places(way: Floats, text: str) -> Iterator[tuple[Label, Floats]]:
    width = geometry.text_width(text, theme.MUTED_SIZE)
    lengths = np.cumsum(np.hypot(*np.diff(way, axis=0).T))
    for share in SHARES:
        x, y = way[1 + int(np.searchsorted(lengths[:-1], lengths[-1] * share))]
        left = round(float(x) - width / 2, 1)
        near = way[(way[:, 0] >= left) & (way[:, 0] <= left + width)]
        levels = near[:, 1] if len(near) else np.array([y])
        # beside a line that runs up or down rather than across it
        beside = ((float(x) + ABOVE, "start", 0.0), (float(x) - ABOVE, "end", width))
        for foot in (float(levels.min()) - ABOVE, float(levels.max()) + BELOW):
            yield (left, round(foot, 1), "start"), _text(left, foot, width)
        for at, anchor, before in beside:
            yield (round(at, 1), round(float(y) + 4, 1), anchor), _text(at - before, y + 4, width)


def _text(left: float, foot: float, width: float) -> Floats:
    return np.array([left, foot - HEIGHT, left + width, foot + 2], np.float64)


def _points(route: Route) -> Floats:
    """Return points along a line, its corners and its ends among them."""
    at, corners = route.start, [np.array([route.start], np.float64)]
    for segment in route.segments:
        controls = np.array([*at, *segment], np.float64).reshape(-1, 2)
        steps = max(4, int(np.abs(np.diff(controls, axis=0)).sum() / APART))
        share = (np.arange(1, steps + 1) / steps)[:, None]
        points = [control + 0 * share for control in controls]
        while len(points) > 1:  # as De Casteljau does it
            points = [one + (other - one) * share for one, other in pairwise(points)]
        corners.append(points[0])
        at = (segment[-2], segment[-1])
    return np.concatenate(corners)

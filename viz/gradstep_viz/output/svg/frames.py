"""Frames around what is open of several things alike, with their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from math import inf
from operator import attrgetter

from gradstep_viz import theme
from gradstep_viz.output.svg.elements import rectangle, text_at
from gradstep_viz.output.svg.lines import ground, label_place
from gradstep_viz.picture.formatting import shorten
from gradstep_viz.picture.geometry import Jump, Layout, Rectangle, Route, text_width
from gradstep_viz.picture.model import Frame, Picture

SIDE = 10
ABOVE = 24
BELOW = 10
LABEL = 12
INDENT = 8
STEPS = 8
EDGE = 4
APART = 8
CORNER = 8
LEAST_NAME = 4


def draw_frames(picture: Picture, layout: Layout) -> Iterator[str]:
    """Draw the frames of a picture, with their names."""
    names: list[Rectangle] = []
    for frame, places in frame_places(picture, layout):
        for place in places:
            at, label = _name_place(picture, layout, place, frame, names)
            names.append(at)
            name = text_at(at.x, place.y + LABEL, label, "m")
            yield f'<g class="frame">{rectangle(place, CORNER)}{name}</g>'
            yield from _gaps(picture, layout, place)


def frame_places(picture: Picture, layout: Layout) -> Iterator[tuple[Frame, list[Rectangle]]]:
    """Yield where each frame is drawn: around all of its boxes, or around as few parts of them as
    there can be without another box between them, and across no frame that has none of them."""
    drawn: list[tuple[Frame, list[Rectangle]]] = []
    for frame in picture.frames:
        boxes = set(frame.boxes)
        others = [place for one, places in drawn if boxes.isdisjoint(one.boxes) for place in places]
        drawn.append((frame, _places(picture, layout, frame, others)))
        yield drawn[-1]


def _places(
    picture: Picture, layout: Layout, frame: Frame, others: Sequence[Rectangle]
) -> list[Rectangle]:
    parts: list[list[int]] = []
    waiting = [list(frame.boxes)]
    while waiting:
        part = waiting.pop()
        if len(part) == 1 or _around(picture, layout, part, others) is not None:
            parts.append(part)
        else:
            waiting += _halved(layout, part)
    parts.sort(key=lambda part: min(part))
    spans: list[list[int]] = []
    for part in parts:
        for at, other in enumerate(spans):
            if _around(picture, layout, [*other, *part], others) is not None:
                spans[at] = [*other, *part]
                break
        else:
            spans.append(part)
    return [_around(picture, layout, part, others) or _closely(layout, part[0]) for part in spans]


def _halved(layout: Layout, boxes: Sequence[int]) -> list[list[int]]:
    """Part boxes where the gap between them is widest, across or down."""
    places = layout.places
    best: tuple[float, list[int], int] = (-inf, [], 0)
    for low, high in ((_left, _right), (_top, _bottom)):
        order = sorted(boxes, key=lambda index: low(places[index]))
        reach = -inf
        for at, index in enumerate(order):
            if at and low(places[index]) - reach > best[0]:
                best = low(places[index]) - reach, order, at
            reach = max(reach, high(places[index]))
    _, order, at = best
    return [order[:at], order[at:]]


_left, _top, _right, _bottom = map(attrgetter, ("x", "y", "right", "bottom"))


def _closely(layout: Layout, box: int) -> Rectangle:
    """Return the room of a frame around one box that has no room for more."""
    x, y, width, height = layout.places[box]
    return Rectangle(x - EDGE, y - EDGE, width + 2 * EDGE, height + 2 * EDGE)


def _gaps(picture: Picture, layout: Layout, frame: Rectangle) -> Iterator[str]:
    """Take the outline of a frame away where the label of a line stands on it."""
    for place in _labels(picture, layout):
        apart = (
            place.right < frame.x
            or place.x > frame.right
            or place.bottom < frame.y
            or place.y > frame.bottom
        )
        inside = (
            place.x > frame.x
            and place.right < frame.right
            and place.y > frame.y
            and place.bottom < frame.bottom
        )
        if not apart and not inside:
            yield ground(place)


def _labels(picture: Picture, layout: Layout, among: Set[int] | None = None) -> Iterator[Rectangle]:
    """Yield where the labels of lines stand: of all, or of those that join two of these boxes."""
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if route.label is None or not line.label:
            continue
        if among is None or (line.kind != "saved" and {line.source, line.target} <= among):
            yield label_place(line.label, route.label)


def _name_place(
    picture: Picture, layout: Layout, place: Rectangle, frame: Frame, names: Sequence[Rectangle]
) -> tuple[Rectangle, str]:
    """Return the place of the name inside the upper edge of a frame, as far left as no line, no
    label, and none of the ``names`` of frames around it is in the way; if there is one everywhere,
    where there is most room, shortened to it."""
    width = text_width(frame.label, theme.MUTED_SIZE)
    first, last = place.x + INDENT, place.right - INDENT - width
    taken = list(_in_strip(picture, layout, place.y, place.y + LABEL + EDGE))
    taken += [
        (name.x - INDENT, name.right + INDENT) for name in names if abs(name.y - place.y) < LABEL
    ]
    free = (
        low
        for low in sorted([first, *(end for _, end in taken)])
        if first <= low <= last and all(end <= low or low + width <= start for start, end in taken)
    )
    text, left = frame.label, next(free, None)
    if left is None:
        end = place.right - INDENT
        starts = [one for one in (first, *(end for _, end in taken)) if first <= one < end]
        gaps = [
            (min([end, *(low for low, high in taken if high > start)]) - start, start)
            for start in starts
        ]
        width, left = max(gaps, default=(width, first))
        text = shorten(text, max(LEAST_NAME, int(width / text_width("x", theme.MUTED_SIZE))))
        width = text_width(text, theme.MUTED_SIZE)
    return Rectangle(round(left, 1), place.y, width, LABEL), text


def _in_strip(
    picture: Picture, layout: Layout, top: float, bottom: float
) -> Iterator[tuple[float, float]]:
    """Yield from where to where lines and labels go, as far as they are between two heights."""
    for line, route in zip(picture.lines, layout.routes, strict=True):
        for controls in _curves(route):
            ys = [y for _, y in controls]
            if min(ys) < bottom and max(ys) > top:
                steps = range(STEPS + 1) if len(controls) > 2 else (0, STEPS)
                points = [_between(controls, step / STEPS) for step in steps]
                for (x, y), (next_x, next_y) in pairwise(points):
                    if min(y, next_y) < bottom and max(y, next_y) > top:
                        yield min(x, next_x) - EDGE, max(x, next_x) + EDGE
        if route.label is not None and top < route.label[1] < bottom + theme.MUTED_SIZE:
            label = label_place(line.label, route.label)
            yield label.x - EDGE, label.right + EDGE


def _curves(route: Route) -> Iterator[list[tuple[float, float]]]:
    """Yield the control points of each part of a line."""
    at = route.start
    for segment in route.segments:
        controls = [at, *zip(segment[::2], segment[1::2], strict=True)]
        at = controls[-1]
        if not isinstance(segment, Jump):
            yield controls


def _between(points: Sequence[tuple[float, float]], share: float) -> tuple[float, float]:
    """Return the point of the Bézier curve with these control points."""
    while len(points) > 1:
        points = [
            (x + (next_x - x) * share, y + (next_y - y) * share)
            for (x, y), (next_x, next_y) in pairwise(points)
        ]
    return points[0]


def _around(
    picture: Picture, layout: Layout, boxes: Sequence[int], others: Sequence[Rectangle]
) -> Rectangle | None:
    """Find the room of a frame, with the lines inside it and, if it can be, their labels; None
    where another box, or one of the ``others``, is in the way."""
    inside = set(boxes)
    every = list(_labels(picture, layout))
    for labels in (list(_labels(picture, layout, inside)), []):
        # with room for the name of the frame over a label, if there is any
        for clear, over in ((every, LABEL + EDGE), (every, EDGE), ([], 0)):
            place = _free(picture, layout, inside, labels, clear, over)
            if place is not None and not any(_overlap(place, one) for one in others):
                return place
    return None


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    across = one.x < other.right and other.x < one.right
    return across and one.y < other.bottom and other.y < one.bottom


def _lanes(
    picture: Picture, layout: Layout, boxes: Set[int], top: float, bottom: float
) -> Iterator[float]:
    """Yield where lines of others go straight down along at least half of these boxes: a side of
    a frame beside them would look like one of them."""
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if line.kind == "saved" or {line.source, line.target} <= boxes:
            continue
        for (x, y), *_, (end_x, end_y) in _curves(route):
            beside = min(max(y, end_y), bottom) - max(min(y, end_y), top)
            if x == end_x and 2 * beside > bottom - top:
                yield x


def _inside(picture: Picture, layout: Layout, boxes: Set[int]) -> Iterator[float]:
    """Yield how far to the sides lines between these boxes reach."""
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if line.kind != "saved" and {line.source, line.target} <= boxes:
            yield route.start[0]
            yield from (x for segment in route.segments for x in segment[::2])


def _free(
    picture: Picture,
    layout: Layout,
    boxes: Set[int],
    labels: Sequence[Rectangle],
    clear: Sequence[Rectangle],
    over: float,
) -> Rectangle | None:
    """Find the room around boxes and labels whose upper and lower side go through no label that
    they have to be ``clear`` of, and so far ``over`` it; None where another box is in the way."""
    places = [layout.places[index] for index in boxes]
    left = min(place.x for place in [*places, *labels]) - SIDE
    right = max(place.right for place in [*places, *labels]) + SIDE
    top = min(place.y for place in places) - ABOVE
    bottom = max(place.bottom for place in places) + BELOW
    inside = [*_inside(picture, layout, boxes)]
    first = min([*(place.x for place in places), *inside])
    last = max([*(place.right for place in places), *inside])
    left, right = min(left, first - SIDE), max(right, last + SIDE)
    for x in _lanes(picture, layout, boxes, top, bottom):
        if x < first:
            left = max(left, min(x + APART, first - EDGE))
        elif x > last:
            right = min(right, max(x - APART, last + EDGE))
    left, right = max(left, EDGE), min(right, layout.width - EDGE)
    above = [label for label in clear if label.x < right and left < label.right]
    top = min([top, *(one.y - over for one in above if one.y < top < one.bottom)])
    bottom = max([bottom, *(one.bottom + EDGE for one in above if one.y < bottom < one.bottom)])
    upper = min(place.y for place in places)
    heights = (caption.y for caption in layout.captions if caption.y < upper)
    top = max([top, *(y + 2 * EDGE for y in heights)])
    for index, place in enumerate(layout.places):
        across = place.x < right and place.right > left
        if index not in boxes and across and place.y < bottom and place.bottom > top:
            return None
    return Rectangle(left, top, right - left, bottom - top)

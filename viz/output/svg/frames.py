"""Frames around what is open of several things alike, with their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viz.output.svg.elements import rectangle, text_at
from viz.picture.geometry import Layout, Place
from viz.picture.model import Picture

SIDE = 10
ABOVE = 24
BELOW = 10
LABEL = 12
EDGE = 4
CORNER = 8


def draw_frames(picture: Picture, layout: Layout) -> Iterator[str]:
    """Draw a frame around boxes that stand together; where a picture goes on in another column,
    one in each.  Where another box would be in it, there is none."""
    for frame in picture.frames:
        found: list[tuple[list[int], Place | None]] = []
        for part in _by_column(layout, frame.boxes):
            boxes = [*found[-1][0], *part] if found else part
            place = _around(picture, layout, boxes)
            if found and place is not None:
                found[-1] = boxes, place
            else:
                found.append((part, _around(picture, layout, part)))
        for boxes, place in found:
            if place is not None and len(boxes) > 1:
                name = text_at(place.x + 8, place.y + LABEL, frame.label, "m")
                yield f'<g class="frame">{rectangle(place, CORNER)}{name}</g>'


def _by_column(layout: Layout, boxes: Sequence[int]) -> list[list[int]]:
    """Part boxes where nothing of them stands above or below another part."""
    parts: list[list[int]] = []
    reach = 0.0
    for index in sorted(boxes, key=lambda index: layout.places[index].x):
        place = layout.places[index]
        if not parts or place.x > reach:
            parts.append([])
        parts[-1].append(index)
        reach = max(reach, place.right)
    return parts


def _around(picture: Picture, layout: Layout, boxes: Sequence[int]) -> Place | None:
    """Find the room of a frame, with the lines inside it; None where another box is in the way."""
    inside = set(boxes)
    places = [layout.places[index] for index in boxes]
    left = min(place.x for place in places) - SIDE
    right = max(place.right for place in places) + SIDE
    top = min(place.y for place in places) - ABOVE
    bottom = max(place.bottom for place in places) + BELOW
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if line.kind != "saved" and {line.source, line.target} <= inside:
            xs = [route.start[0], *(x for segment in route.segments for x in segment[::2])]
            left, right = min(left, min(xs) - SIDE), max(right, max(xs) + SIDE)
    left, right = max(left, EDGE), min(right, layout.width - EDGE)
    top = max([top, *(caption.y + 2 * EDGE for caption in layout.captions)])
    for index, place in enumerate(layout.places):
        across = place.x < right and place.right > left
        if index not in inside and across and place.y < bottom and place.bottom > top:
            return None
    return Place(left, top, right - left, bottom - top)

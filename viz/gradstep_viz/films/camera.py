"""The camera of a film: the part of a large picture that each frame shows, around what happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradstep_viz.films.timeline import Timeline
from gradstep_viz.picture.geometry import Layout, Rectangle
from gradstep_viz.picture.model import Picture

WIDTH, HEIGHT = 830.0, 600.0  # at most: texts can be read at the width of a README
TALLEST = 900.0  # what is seen as a whole
_AROUND = 60.0  # what is nearer to the edge brings the camera to move


class Camera(NamedTuple):
    """A window on the picture: its size, and its left upper corner in each frame."""

    width: float
    height: float
    corners: tuple[tuple[float, float], ...]


def focuses(picture: Picture, layout: Layout, timeline: Timeline, last: int) -> list[Rectangle]:
    """Return what to look at in each of ``last`` frames: what runs, else what comes up."""
    at_work: dict[int, list[Rectangle]] = {}
    new: dict[int, list[Rectangle]] = {}
    for box, place, times in zip(picture.boxes, layout.places, timeline.boxes, strict=True):
        chips = (timeline.chips[box.node, chip.node] for chip in box.chips)
        for frame in {*times.at_work, *(frame for chip in chips for frame in chip.at_work)}:
            at_work.setdefault(frame, []).append(place)
        new.setdefault(times.start, []).append(place)
    chosen: list[Rectangle] = []
    for frame in range(last):
        places = at_work.get(frame) or new.get(frame)
        chosen.append(_around(places) if places else (chosen or layout.places)[-1])
    return chosen


def _around(places: Sequence[Rectangle]) -> Rectangle:
    """Return what holds all of ``places``, or the first one where the window has no room for it."""
    x, y = min(place.x for place in places), min(place.y for place in places)
    right, bottom = max(place.right for place in places), max(place.bottom for place in places)
    if right - x > WIDTH - 2 * _AROUND or bottom - y > HEIGHT - 2 * _AROUND:
        return min(places, key=lambda place: (place.y, place.x))
    return Rectangle(x, y, right - x, bottom - y)


def follow(looked_at: Sequence[Rectangle], size: tuple[float, float]) -> Camera | None:
    """Return the camera on a picture of that size; None where all of it can be read at once."""
    if size[0] <= WIDTH and size[1] <= TALLEST:
        return None
    width, height = min(size[0], WIDTH), min(size[1], HEIGHT)
    across = _moves([(place.x, place.width) for place in looked_at], width, size[0])
    down = _moves([(place.y, place.height) for place in looked_at], height, size[1])
    return Camera(width, height, tuple(zip(across, down, strict=True)))


def _moves(spans: Sequence[tuple[float, float]], window: float, size: float) -> Iterator[float]:
    """Yield where the window begins: where it was, unless what is looked at is at its edge."""
    corner = -size
    for start, extent in spans:
        if not corner + _AROUND <= start <= corner + window - _AROUND - extent:
            corner = max(0.0, min(size - window, start + extent / 2 - window / 2))
        yield round(corner, 1)

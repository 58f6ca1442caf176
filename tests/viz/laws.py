"""What holds for every picture, as functions that raise where it does not."""

from __future__ import annotations

from itertools import pairwise

from viz.picture.geometry import Layout, Place, Route
from viz.picture.model import Picture


def points_of(route: Route, steps: int = 24) -> list[tuple[float, float]]:
    """Points along the course of a line."""
    at, found = route.start, [route.start]
    for segment in route.segments:
        controls = [at, *zip(segment[::2], segment[1::2], strict=True)]
        for step in range(1, steps + 1):
            found.append(bezier(controls, step / steps))
        at = controls[-1]
    return found


def bezier(points: list[tuple[float, float]], t: float) -> tuple[float, float]:
    while len(points) > 1:
        pairs = pairwise(points)
        points = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairs]
    return points[0]


def inside(place: Place, point: tuple[float, float]) -> bool:
    x, y = point
    return place.x + 1 < x < place.right - 1 and place.y + 1 < y < place.bottom - 1


def on_border(place: Place, point: tuple[float, float]) -> bool:
    x, y = point
    within = place.x - 0.6 <= x <= place.right + 0.6 and place.y - 0.6 <= y <= place.bottom + 0.6
    return within and not inside(place, point)


def check(picture: Picture, layout: Layout) -> None:
    for index, one in enumerate(layout.places):
        assert one.x >= 0
        assert one.y >= 0
        assert one.right <= layout.width
        assert one.bottom <= layout.height
        for other in layout.places[index + 1 :]:
            apart = (
                one.right <= other.x
                or other.right <= one.x
                or one.bottom <= other.y
                or other.bottom <= one.y
            )
            assert apart, "two boxes overlap"
    for line, route in zip(picture.lines, layout.routes, strict=True):
        assert on_border(layout.places[line.source], route.start), "a line starts beside its box"
        assert on_border(layout.places[line.target], route.end), "a line ends beside its box"
        for point in points_of(route):
            assert 0 <= point[0] <= layout.width
            assert 0 <= point[1] <= layout.height
            assert not any(inside(place, point) for place in layout.places), "a line in a box"
    check_saved_lines(picture, layout)


def label_places(picture: Picture, layout: Layout) -> list[Place]:
    """Where the letters of the labels stand, without the air around them."""
    found = []
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if route.label is not None and line.label:
            width = len(line.label) * 6.3
            x, y, anchor = route.label
            found.append(Place(x - (width if anchor == "end" else 0), y - 8, width, 8))
    return found


def overlap(one: Place, other: Place) -> bool:
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.bottom
        and other.y < one.bottom
    )


def check_labels(picture: Picture, layout: Layout) -> None:
    labels = label_places(picture, layout)
    for index, label in enumerate(labels):
        assert label.x >= 0
        assert label.right <= layout.width
        assert not any(overlap(label, box) for box in layout.places), "a label on a box"
        assert not any(overlap(label, other) for other in labels[:index]), "two labels"


def corners_of(route: Route) -> list[tuple[float, float]]:
    """The points at which a square line turns, its ends among them; rounded corners are sharp."""
    found = [route.start]
    for segment in route.segments:
        point = (segment[0], segment[1])  # of a curve, the corner that it cuts
        if len(found) > 1 and _in_line(*found[-2:], point):
            found.pop()
        found.append(point)
    if _in_line(*found[-2:], route.end) and len(found) > 1:
        found.pop()
    return [*found, route.end]


def _in_line(*points: tuple[float, float]) -> bool:
    return any(len({round(point[axis], 1) for point in points}) == 1 for axis in (0, 1))


CLOSE = 4
"""Lines that are no further apart than this look like one."""

BETWEEN = 50
"""A line that ends this far from where another one begins, at the same height, is not taken for
the beginning of it."""

BETWEEN_UPRIGHT = 20
"""The same for lines that run up and down: there is a box or a turn between most of them."""


def check_saved_lines(picture: Picture, layout: Layout) -> None:
    """No two saved values that go to different boxes share a stretch of their way."""
    stretches: list[tuple[int, bool, float, float, float]] = []
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if line.kind == "saved":
            for one, other in pairwise(corners_of(route)):
                level = abs(one[1] - other[1]) < 0.6
                assert level or abs(one[0] - other[0]) < 0.6, "a slanting saved line"
                low, high = sorted((one[0], other[0]) if level else (one[1], other[1]))
                stretches.append((line.target, level, one[1] if level else one[0], low, high))
    for number, (target, level, at, low, high) in enumerate(stretches):
        between = BETWEEN if level else BETWEEN_UPRIGHT
        for other_target, other_level, other_at, other_low, other_high in stretches[:number]:
            if target != other_target and level == other_level and abs(at - other_at) < CLOSE:
                apart = low - other_high >= between or other_low - high >= between
                assert apart, f"two saved lines share a stretch at {'y' if level else 'x'} {at}"

"""What holds for every picture, as functions that raise where it does not."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from gradstep_viz.picture.geometry import PORT_RADIUS, Jump, Layout, Rectangle, Route
from gradstep_viz.picture.model import Picture

Floats = NDArray[np.float64]

STEPS = 24
AT_ONCE = 4096
"""So many points or pairs are compared at once, which bounds the memory that takes."""


def points_of(*routes: Route) -> list[tuple[float, float]]:
    """Points along the courses of lines."""
    by_degree: dict[int, list[list[float]]] = {}
    found = [np.array([route.start for route in routes], np.float64).reshape(-1, 2)]
    for route in routes:
        at = route.start
        for segment in route.segments:
            if not isinstance(segment, Jump):
                by_degree.setdefault(len(segment), []).append([*at, *segment])
            at = (segment[-2], segment[-1])
    share = (np.arange(1, STEPS + 1) / STEPS)[:, None, None, None]
    for controls in by_degree.values():
        points = np.array(controls).reshape(1, len(controls), -1, 2)
        while points.shape[2] > 1:  # as De Casteljau does it
            points = points[:, :, :-1] + (points[:, :, 1:] - points[:, :, :-1]) * share
        found.append(points.reshape(-1, 2))
    return [(x, y) for x, y in np.concatenate(found).tolist()]


def inside(place: Rectangle, point: tuple[float, float]) -> bool:
    x, y = point
    return place.x + 1 < x < place.right - 1 and place.y + 1 < y < place.bottom - 1


def on_border(place: Rectangle, point: tuple[float, float]) -> bool:
    x, y = point
    within = place.x - 0.6 <= x <= place.right + 0.6 and place.y - 0.6 <= y <= place.bottom + 0.6
    return within and not inside(place, point)


def check(picture: Picture, layout: Layout) -> None:
    for one in layout.places:
        assert one.x >= 0
        assert one.y >= 0
        assert one.right <= layout.width
        assert one.bottom <= layout.height
    assert not any_overlap(layout.places), "two boxes overlap"
    for line, route in zip(picture.lines, layout.routes, strict=True):
        assert on_border(layout.places[line.source], route.start), "a line starts beside its box"
        assert on_border(layout.places[line.target], route.end), "a line ends beside its box"
    points = np.array(points_of(*layout.routes)).reshape(-1, 2)
    assert (points >= 0).all()
    assert (points <= (layout.width, layout.height)).all()
    low, high = corners(layout.places)
    for first in range(0, len(points), AT_ONCE):
        some = points[first : first + AT_ONCE, None]
        assert not ((low + 1 < some) & (some < high - 1)).all(-1).any(), "a line in a box"
    check_saved_lines(picture, layout)
    check_ports(layout)


def jumps_of(route: Route) -> list[tuple[tuple[float, float], Jump]]:
    """From where to where a line is not drawn."""
    ends = [route.start, *((segment[-2], segment[-1]) for segment in route.segments)]
    steps = zip(ends, route.segments, strict=False)
    return [(at, segment) for at, segment in steps if isinstance(segment, Jump)]


def check_ports(layout: Layout) -> None:
    """A line is not drawn only from a port to another one with the same number; ports overlap
    nothing, and stand on no line of others."""
    ports = layout.ports
    for port in ports:
        other = ports[port.other]
        assert other.number == port.number
        assert other.x != port.x, "not in different columns"
    circles = [
        Rectangle(x - PORT_RADIUS, y - PORT_RADIUS, 2 * PORT_RADIUS, 2 * PORT_RADIUS)
        for x, y, *_ in ports
    ]
    assert not any_overlap(circles), "two ports overlap"
    assert not any_overlap(circles, layout.places), "a port overlaps a box"
    ends = {
        port.number: {(x, y) for x, y, _, one, _ in ports if one == port.number} for port in ports
    }
    met = set[tuple[float, float]]()
    for route in layout.routes:
        own = set[tuple[float, float]]()
        for start, end in jumps_of(route):
            near = {_nearest(start, ends), _nearest(end, ends)}
            assert len(near) == 1, "a line ends in one number and goes on at another"
            own |= ends[near.pop()]
        met |= own
        points = np.array(points_of(route))
        for x, y, *_ in ports:
            if (x, y) not in own:
                assert (np.hypot(*(points - (x, y)).T) > PORT_RADIUS - 1).all(), "a line in a port"
    assert met == {(x, y) for x, y, *_ in ports}, "a port without a line"


def _nearest(point: tuple[float, float], ends: dict[int, set[tuple[float, float]]]) -> int:
    """The number of the port at this point."""
    numbers = [
        number
        for number, places in ends.items()
        if any(abs(x - point[0]) <= PORT_RADIUS and y == point[1] for x, y in places)
    ]
    assert numbers, "a line ends beside a port"
    return numbers[0]


def corners(places: Iterable[Rectangle]) -> tuple[Floats, Floats]:
    """The upper left and the lower right corners."""
    found = np.array([[x, y, x + width, y + height] for x, y, width, height in places], np.float64)
    return found.reshape(-1, 4)[:, :2], found.reshape(-1, 4)[:, 2:]


def any_overlap(places: Iterable[Rectangle], others: Iterable[Rectangle] | None = None) -> bool:
    """Whether two places overlap, or any of them one of the others."""
    low, high = corners(places)
    other_low, other_high = (low, high) if others is None else corners(others)
    for row in range(len(low)):
        behind = row + 1 if others is None else 0
        both = (low[row] < other_high[behind:]) & (other_low[behind:] < high[row])
        if both.all(-1).any():
            return True
    return False


def label_places(picture: Picture, layout: Layout) -> list[Rectangle]:
    """Where the letters of the labels stand, without the air around them."""
    found = []
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if route.label is not None and line.label:
            width = len(line.label) * 6.3
            x, y, anchor = route.label
            found.append(Rectangle(x - (width if anchor == "end" else 0), y - 8, width, 8))
    return found


def check_labels(picture: Picture, layout: Layout) -> None:
    labels = label_places(picture, layout)
    for label in labels:
        assert label.x >= 0
        assert label.right <= layout.width
    assert not any_overlap(labels, layout.places), "a label on a box"
    assert not any_overlap(labels), "two labels"


def corners_of(route: Route) -> list[list[tuple[float, float]]]:
    """The points at which each drawn part of a square line turns, its ends among them; rounded
    corners are sharp."""
    parts = [(route.start, list[tuple[float, ...]]())]
    for segment in route.segments:
        if isinstance(segment, Jump):
            parts.append(((segment.x, segment.y), []))
        else:
            parts[-1][1].append(segment)
    return [_corners_of(start, segments) for start, segments in parts if segments]


def _corners_of(
    start: tuple[float, float], segments: list[tuple[float, ...]]
) -> list[tuple[float, float]]:
    found, end = [start], (segments[-1][-2], segments[-1][-1])
    for segment in segments:
        point = (segment[0], segment[1])  # of a curve, the corner that it cuts
        if len(found) > 1 and _in_line(*found[-2:], point):
            found.pop()
        found.append(point)
    if _in_line(*found[-2:], end) and len(found) > 1:
        found.pop()
    return [*found, end]


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
            for one, other in chain.from_iterable(map(pairwise, corners_of(route))):
                level = abs(one[1] - other[1]) < 0.6
                assert level or abs(one[0] - other[0]) < 0.6, "a slanting saved line"
                low, high = sorted((one[0], other[0]) if level else (one[1], other[1]))
                stretches.append((line.target, level, one[1] if level else one[0], low, high))
    table = np.array(stretches, np.float64).reshape(-1, 5)
    for number, (target, level, at, low, high) in enumerate(stretches):
        between, close = BETWEEN if level else BETWEEN_UPRIGHT, CLOSE
        if picture.rankdir == "LR":  # lines leave the short sides of boxes
            between, close = 0, 1
        targets, levels, others, lows, highs = table[:number].T
        near = (targets != target) & (levels == level) & (abs(others - at) < close)
        shared = near & (low - highs < between) & (lows - high < between)
        assert not shared.any(), f"two saved lines share a stretch at {'y' if level else 'x'} {at}"


def along(route: Route) -> Floats:
    """Points along a line, two pixels apart at most."""
    at, found = route.start, []
    for segment in route.segments:
        controls = np.array([*at, *segment], np.float64).reshape(-1, 2)
        at = (segment[-2], segment[-1])
        if isinstance(segment, Jump):
            continue
        length = np.abs(np.diff(controls, axis=0)).sum()
        share = np.linspace(0, 1, max(STEPS, int(length / 2)))[:, None]
        points = [control + 0 * share for control in controls]
        while len(points) > 1:  # as De Casteljau does it
            points = [one + (other - one) * share for one, other in pairwise(points)]
        found.append(points[0])
    return np.concatenate(found)


def cut_labels(picture: Picture, layout: Layout) -> list[str]:
    """The labels that a line which is not theirs runs through."""
    points = [along(route) for route in layout.routes]
    owners = [
        number
        for number, (line, route) in enumerate(zip(picture.lines, layout.routes, strict=True))
        if line.label and route.label is not None
    ]
    return [
        picture.lines[owner].label
        for owner, place in zip(owners, label_places(picture, layout), strict=True)
        for number, way in enumerate(points)
        if number != owner
        if ((way > (place.x, place.y)) & (way < (place.right, place.bottom))).all(axis=1).any()
    ]


def labels_of_others(picture: Picture, layout: Layout) -> list[str]:
    """The labels of values and gradients to which another such line is nearer than their own."""
    ways = [
        along(route) if line.kind != "saved" else np.full((1, 2), np.inf)
        for line, route in zip(picture.lines, layout.routes, strict=True)
    ]
    lines = [
        number
        for number, (line, route) in enumerate(zip(picture.lines, layout.routes, strict=True))
        if line.label and route.label is not None
    ]

    def distance(place: Rectangle, way: Floats) -> float:
        beyond = np.maximum((place.x, place.y) - way, way - (place.right, place.bottom))
        return float(np.hypot(*np.maximum(beyond, 0).T).min())

    return [
        picture.lines[line].label
        for line, place in zip(lines, label_places(picture, layout), strict=True)
        if picture.lines[line].kind != "saved"
        and min(distance(place, way) for way in ways) < distance(place, ways[line]) - 1
    ]


def stacked_labels(picture: Picture, layout: Layout) -> list[str]:
    """The labels so close below another one that both read as the label of one line; those of
    saved values, each of which stands on its line, do not."""
    shown = [
        line
        for line, route in zip(picture.lines, layout.routes, strict=True)
        if line.label and route.label is not None
    ]
    places = zip(shown, label_places(picture, layout), strict=True)
    flowing = [(line.label, place) for line, place in places if line.kind != "saved"]
    return [
        label
        for label, place in flowing
        for _, other in flowing
        if other.x < place.right and place.x < other.right and 0 < place.y - other.y < 18
    ]

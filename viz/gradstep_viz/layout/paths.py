"""Courses of lines: soft curves between rows, and square ones with rounded corners."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep_viz.picture.geometry import Jump, Segment

Point = tuple[float, float]
Path = tuple[Point, list[Segment]]

CORNER_RADIUS = 7.0


def soft(points: Sequence[Point]) -> Path:
    """Draw a course through ``points`` that leaves and enters each of them vertically.

    Between two points with the same x it is straight, elsewhere one S-shaped curve, which
    stays between the heights of its two points.
    """
    x, y = points[0]
    segments: list[Segment] = []
    straight = False
    for next_x, next_y in points[1:]:
        if abs(next_x - x) < 0.5:
            if next_y == y:
                continue
            if straight:
                segments.pop()
            segments.append((x, next_y))
            straight = True
        else:
            middle = (y + next_y) / 2
            segments.append((x, middle, next_x, middle, next_x, next_y))
            x, straight = next_x, False
        y = next_y
    return points[0], segments


def step(top: Point, leaves: float, enters: float, bottom: Point) -> Path:
    """Draw the same from a box to one in the next row; between heights ``leaves`` and ``enters``,
    which may come first or last, it curves."""
    (x, y), (next_x, next_y) = top, bottom
    if abs(next_x - x) < 0.5:
        return top, [(x, next_y)]
    middle = (leaves + enters) / 2
    segments: list[Segment] = [(x, middle, next_x, middle, next_x, enters)]
    if y != leaves:
        segments.insert(0, (x, leaves))
    if next_y != enters:
        segments.append(bottom)
    return top, segments


def square(points: Sequence[Point]) -> Path:
    """Draw a course along ``points``, each beside or below the last, with rounded corners."""
    corners = [points[0]]
    x, y = points[0]
    for point in points[1:]:
        if abs(point[0] - x) > 0.5 or abs(point[1] - y) > 0.5:
            corners.append(point)
            x, y = point
    if len(corners) < 3:
        return corners[0], [*corners[1:]]
    segments: list[Segment] = []
    for (back_x, back_y), (x, y), (next_x, next_y) in zip(
        corners, corners[1:], corners[2:], strict=False
    ):
        if (back_x == x) == (x == next_x):
            segments.append((x, y))
            continue
        before = abs(back_x - x) + abs(back_y - y)
        after = abs(next_x - x) + abs(next_y - y)
        radius = min(CORNER_RADIUS, before / 2, after / 2)
        near, far = radius / (before or 1.0), radius / (after or 1.0)
        segments.append((x + (back_x - x) * near, y + (back_y - y) * near))
        segments.append((x, y, x + (next_x - x) * far, y + (next_y - y) * far))
    segments.append(corners[-1])
    return corners[0], segments


def join(paths: Sequence[Path]) -> Path:
    """Join courses, with a jump from the end of each to the start of the next.

    >>> join([((0, 0), [(0, 5)]), ((9, 0), [(9, 5)])])
    ((0, 0), [(0, 5), Jump(x=9, y=0), (9, 5)])
    """
    (start, segments), *others = paths
    return start, [*segments, *(one for at, rest in others for one in (Jump(*at), *rest))]


def reverse(path: Path) -> Path:
    """Walk the same course the other way.

    >>> reverse(((0, 0), [(0, 5), (0, 8, 4, 8, 4, 9)]))
    ((4, 9), [(4, 8, 0, 8, 0, 5), (0, 0)])
    """
    at, segments = path
    backwards: list[Segment] = []
    for segment in segments:
        numbers = (*at, *segment[:-2])
        turned = [n for i in range(len(numbers) - 2, -1, -2) for n in numbers[i : i + 2]]
        backwards.append(Jump(*turned) if isinstance(segment, Jump) else tuple(turned))
        at = (segment[-2], segment[-1])
    return at, backwards[::-1]

"""Graphviz as a layout engine: where it puts boxes, lines and labels, in our coordinates."""

from __future__ import annotations

import json
from typing import Any

from gradstep_viz import theme
from gradstep_viz.errors import RenderingFailed
from gradstep_viz.output.dot import POINTS_PER_INCH
from gradstep_viz.picture import geometry
from gradstep_viz.picture.geometry import Label, Layout, Rectangle, Route, Segment
from gradstep_viz.picture.model import Picture
from gradstep_viz.picture.records import Records

Points = list[tuple[float, float]]


def read_layout(picture: Picture, data: bytes) -> Layout:
    """Make a :class:`Layout` of Graphviz's ``json0`` output for the DOT of ``picture``."""
    try:
        document = json.loads(data)
        nodes = {thing["id"]: thing for thing in document.get("objects", ()) if "id" in thing}
        lines = {thing["id"]: thing for thing in document.get("edges", ()) if "id" in thing}
        boxes = [nodes[box.key] for box in picture.boxes]
        edges = [lines[line.key] for line in picture.lines]
        return _layout(picture, boxes, edges)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise RenderingFailed(
            f"Graphviz returned an invalid answer ({type(error).__name__})",
            remedy="draw the graph with --layout own",
        ) from None


def _layout(picture: Picture, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> Layout:
    """Convert places: Graphviz counts y upwards from the bottom, a layout downwards from the
    top."""
    centers = [_point(node["pos"]) for node in nodes]
    sizes = [_size(node) for node in nodes]
    courses = [_course(edge["pos"]) for edge in edges]
    spots = [edge.get("lp", edge.get("xlp")) for edge in edges]
    labels = [_point(spot) if spot else None for spot in spots]
    widths = [geometry.text_width(line.label, theme.MUTED_SIZE) for line in picture.lines]
    xs = [x for course in courses for x, _ in course]
    xs += [x - width / 2 for (x, _), (width, _) in zip(centers, sizes, strict=True)]
    ys = [y for course in courses for _, y in course]
    ys += [y + height / 2 for (_, y), (_, height) in zip(centers, sizes, strict=True)]
    left = theme.MARGIN - min(xs, default=0.0)
    captions = geometry.place_captions(picture, _columns(picture, centers, sizes, left))
    top = geometry.header_height(picture, captions)
    high = top + max(ys, default=0.0)

    places = [
        Rectangle(round(x + left - width / 2, 1), round(high - y - height / 2, 1), width, height)
        for (x, y), (width, height) in zip(centers, sizes, strict=True)
    ]
    routes = [_route(*line, left, high) for line in zip(courses, labels, widths, strict=True)]
    right = max(
        [x + left for x in xs]
        + [place.right for place in places]
        + [r.label[0] + w for r, w in zip(routes, widths, strict=True) if r.label],
        default=0.0,
    )
    bottom = max([place.bottom for place in places] + [high - y for y in ys if y], default=top)
    width = max(right, geometry.header_width(picture, captions)) + theme.MARGIN
    drawn = Records.of(Rectangle, places), Records.of(Route, routes)
    return Layout(width, bottom + theme.MARGIN, *drawn, captions)


def _columns(
    picture: Picture, centers: Points, sizes: Points, left: float
) -> list[tuple[float, float]]:
    """Find where the halves begin, and how wide they are, in the picture, ``left`` further
    right."""
    columns = []
    for half in picture.halves:
        spans = [
            (x - width / 2, x + width / 2)
            for at, (x, _), (width, _) in zip(
                picture.boxes.column("half"), centers, sizes, strict=True
            )
            if at == half
        ]
        low, high = min(low for low, _ in spans), max(high for _, high in spans)
        columns.append((low + left, high - low))
    return columns


def _size(node: dict[str, Any]) -> tuple[float, float]:
    """Read a size in points, which are pixels here; Graphviz may have made a box larger than
    asked."""
    return (
        round(float(node["width"]) * POINTS_PER_INCH, 1),
        round(float(node["height"]) * POINTS_PER_INCH, 1),
    )


def _route(
    course: Points, label: tuple[float, float] | None, width: float, left: float, high: float
) -> Route:
    """Place a line ``left`` further right, with y counted down from ``high``."""
    points = [(round(x + left, 1), round(high - y, 1)) for x, y in course]
    segments: list[Segment] = []
    for index in range(1, len(points) - 2, 3):
        a, b, c = points[index : index + 3]
        segments.append((*a, *b, *c))
    if len(points) % 3 == 2:
        segments.append(points[-1])
    at: Label | None = None
    if label:
        at = round(label[0] + left - width / 2, 1), round(high - label[1] + 4, 1), "start"
    return Route(points[0], tuple(segments), at)


def _course(pos: str) -> Points:
    """Read the points of a spline: a start, then three per Bézier curve, then the arrow's tip."""
    words = pos.split(";")[0].split()
    tip = [_point(word[2:]) for word in words if word.startswith("e,")]
    return [_point(word) for word in words if word[1] != ","] + tip


def _point(text: str) -> tuple[float, float]:
    x, y = text.split(",")[:2]
    return float(x), float(y)

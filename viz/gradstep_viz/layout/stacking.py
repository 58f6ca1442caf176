"""Halves one below the other, where there is no room for them side by side."""

from __future__ import annotations

from gradstep.graph.model import Half
from gradstep_viz.layout import lay_out
from gradstep_viz.picture.geometry import Caption, Layout, Rectangle, Route
from gradstep_viz.picture.model import Box, Frame, Line, Picture
from gradstep_viz.picture.records import Records


def without_saved(picture: Picture) -> Picture:
    """Return a picture without the lines between its halves."""
    return picture._replace(
        lines=Records.of(Line, [line for line in picture.lines if line.kind != "saved"])
    )


def lay_out_stacked(picture: Picture, wide: float) -> Layout:
    """Lay out both halves of a picture, each no wider than ``wide`` if it can be, with the backward
    one below; no line runs between them."""
    places: dict[int, Rectangle] = {}
    routes: dict[int, Route] = {}
    captions: list[Caption] = []
    width = height = 0.0
    for half in picture.halves:
        boxes = [at for at, other in enumerate(picture.boxes.column("half")) if other == half]
        inside = set(boxes)
        lines = [at for at, source in enumerate(picture.lines.column("source")) if source in inside]
        layout = lay_out(_half(picture, half, boxes, lines), pages=1, wide=wide)
        places |= {
            at: place._replace(y=place.y + height)
            for at, place in zip(boxes, layout.places, strict=True)
        }
        routes |= {
            at: _moved(route, height) for at, route in zip(lines, layout.routes, strict=True)
        }
        captions += [one._replace(y=one.y + height) for one in layout.captions]
        width, height = max(width, layout.width), height + layout.height
    return Layout(
        width,
        height,
        Records.of(Rectangle, [places[at] for at in range(len(picture.boxes))]),
        Records.of(Route, [routes[at] for at in range(len(picture.lines))]),
        captions,
    )


def _half(picture: Picture, half: Half, boxes: list[int], lines: list[int]) -> Picture:
    place = {box: at for at, box in enumerate(boxes)}
    number = picture.halves.index(half)
    return picture._replace(
        title="" if number else picture.title,
        view=half,
        captions=picture.captions[number : number + 1],
        boxes=Records.of(Box, [picture.boxes[box]._replace(pair=None) for box in boxes]),
        lines=Records.of(
            Line,
            [
                line._replace(source=place[line.source], target=place[line.target])
                for line in map(picture.lines.__getitem__, lines)
            ],
        ),
        frames=tuple(
            Frame(frame.label, tuple(place[box] for box in frame.boxes))
            for frame in picture.frames
            if place.keys() >= set(frame.boxes)
        ),
    )


def _moved(route: Route, down: float) -> Route:
    x, y = route.start
    segments = tuple(
        tuple(at + down * (number % 2) for number, at in enumerate(segment))
        for segment in route.segments
    )
    label = route.label and (route.label[0], route.label[1] + down, route.label[2])
    return Route((x, y + down), segments, label)

"""When each stroke of a film is seen: boxes, lines and texts, with the frames they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_statistics
from gradstep_viz.films.recording import Arrival, Recording
from gradstep_viz.films.shots import Shot
from gradstep_viz.picture.model import Box, Chip, Line, Picture


class Text(NamedTuple):
    """The texts at the right and in the second line of a box, from frame ``start`` on."""

    start: int
    right: str
    detail: str


class BoxTimeline(NamedTuple):
    """A box is pale from ``start`` to ``solid``, and drawn with a ring ``at_work``."""

    start: int
    solid: int
    at_work: tuple[int, ...]
    texts: tuple[Text, ...]


class LineTimeline(NamedTuple):
    """A line carries the label ``waiting`` until ``solid``, and ``label`` from then on."""

    start: int
    solid: int
    waiting: str
    label: str


class Timeline(NamedTuple):
    """All boxes, the rows inside them by the nodes of box and leaf, and all lines of a picture."""

    boxes: tuple[BoxTimeline, ...]
    chips: Mapping[tuple[int, int], BoxTimeline]
    lines: tuple[LineTimeline, ...]


def make_timeline(
    recording: Recording, before: Picture, after: Picture, shots: Sequence[Shot]
) -> Timeline:
    """Lay the shots over the picture, whose texts are those of ``before`` until a node ran."""
    graph = recording.after
    first = {id: frame for frame, shot in enumerate(shots) for id in shot.appears}
    work: dict[int, list[int]] = {}
    for frame, shot in enumerate(shots):
        for id in shot.at_work:
            work.setdefault(id, []).append(frame)
    ran = {id: frames[-1] for id, frames in work.items()}
    by_order = {order: ran[id] for id, order in graph.orders.items() if id in ran}
    last = len(shots)

    def timeline(id: int, start: int, texts: Iterable[Text]) -> BoxTimeline:
        solid = ran.get(id, last) if id in graph.orders else start
        return BoxTimeline(start, solid, tuple(work.get(id, ())), _changes(texts, start))

    boxes: list[BoxTimeline] = []
    chips: dict[tuple[int, int], BoxTimeline] = {}
    for early, late in zip(before.boxes, after.boxes, strict=True):
        start = first.get(late.node, 0)
        texts = _box_texts(early, late, ran.get(late.node), by_order, recording.waiting)
        boxes.append(timeline(late.node, start, texts))
        for early_chip, chip in zip(early.chips, late.chips, strict=True):
            rows = _chip_texts(early_chip, chip, ran.get(chip.node), by_order, recording.waiting)
            chips[late.node, chip.node] = timeline(chip.node, start, rows)
    lines = tuple(
        _line(graph, early, late, boxes, ran, last)
        for early, late in zip(before.lines, after.lines, strict=True)
    )
    return Timeline(tuple(boxes), chips, lines)


def _changes(texts: Iterable[Text], start: int) -> tuple[Text, ...]:
    """Leave out texts that say what already stands there."""
    kept: list[Text] = []
    for text in texts:
        if not kept:
            kept.append(text._replace(start=start))
        elif text[1:] != kept[-1][1:]:
            kept.append(text)
    return tuple(kept)


def _box_texts(
    early: Box,
    late: Box,
    ran: int | None,
    by_order: Mapping[int, int],
    waiting: Mapping[int, Sequence[Arrival]],
) -> Iterator[Text]:
    yield Text(0, early.right, early.detail)
    for frame, text in _arrivals(late.node, by_order, waiting):
        yield Text(frame, early.right, text)
    if ran is not None:
        yield Text(ran, late.right, late.detail)


def _chip_texts(
    early: Chip,
    late: Chip,
    ran: int | None,
    by_order: Mapping[int, int],
    waiting: Mapping[int, Sequence[Arrival]],
) -> Iterator[Text]:
    yield Text(0, early.right, "")
    for frame, text in _arrivals(late.node, by_order, waiting):
        yield Text(frame, text, "")
    if ran is not None:
        yield Text(ran, late.right, "")


def _arrivals(
    node: int, by_order: Mapping[int, int], waiting: Mapping[int, Sequence[Arrival]]
) -> Iterator[tuple[int, str]]:
    for order, arrived, expected, total in waiting.get(node, ()):
        if order in by_order:
            sum_of = f": {format_statistics(total)}" if total else ""
            yield by_order[order], f"{arrived} of {expected} in{sum_of}"


def _line(
    graph: Graph,
    early: Line,
    late: Line,
    boxes: Sequence[BoxTimeline],
    ran: Mapping[int, int],
    last: int,
) -> LineTimeline:
    start = max(boxes[late.source].start, boxes[late.target].start)
    solid = start
    if late.kind == "gradient":
        solid = ran.get(graph.edge_sources[late.edge], last)
    return LineTimeline(start, solid, early.label, late.label)

"""Tracks: how the straight parts of square lines share the space between rows.

A square line is planned before the heights of rows are known.  Its corners have an x and a
*level*: a height on a box, or a run along a channel, whose track is chosen once all are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Span = tuple[float, float]

MOST_TRACKS = 120

APART = 60
"""So far from each other, two lines on one track are not taken for one."""


class Anchor(NamedTuple):
    """A height on a box: ``share`` 0 is its top, 1 its bottom."""

    box: int
    share: float


@dataclass(slots=True, eq=False)
class Run:
    """A horizontal part of a line, in the channel below row ``row`` (-1: above all rows)."""

    row: int
    low: float
    high: float
    track: int = 0


Level = Anchor | Run
Corner = tuple[float, Level]


def run(row: int, x: float, other_x: float) -> Run:
    """Make a run between two x, in either order."""
    return Run(row, min(x, other_x), max(x, other_x))


def stack_runs(ways: Iterable[Sequence[Corner]]) -> dict[int, int]:
    """Give every run of square lines its track; returns how many tracks each channel needs."""
    channels: dict[int, list[Run]] = {}
    for way in ways:
        if len(way) > 2:  # a straight line needs none
            for one in _runs_of(way):
                channels.setdefault(one.row, []).append(one)
    counts = {}
    for row, members in channels.items():
        spans = [(one.low, one.high) for one in members]
        for one, track in zip(members, assign_tracks(spans, APART, MOST_TRACKS), strict=True):
            one.track = track
        counts[row] = 1 + max(one.track for one in members)
    return counts


def _runs_of(corners: Sequence[Corner]) -> Iterable[Run]:
    """Find the distinct runs along channels that a line needs."""
    return {id(level): level for _, level in corners if isinstance(level, Run)}.values()


def assign_tracks(spans: Sequence[Span], clearance: float, most: int) -> list[int]:
    """Choose a track for each span, so that spans on one track do not overlap.

    Spans that begin further right get the upper tracks: a line that comes down to its track
    then crosses none of them.  Beyond ``most`` tracks they are shared.

    >>> assign_tracks([(0, 10), (5, 20), (25, 30)], clearance=1, most=9)
    [1, 0, 0]
    """
    tracks = [0] * len(spans)
    starts: list[float] = []
    for index in sorted(range(len(spans)), key=lambda i: (-spans[i][0], spans[i][1], i)):
        low, high = spans[index]
        track = next((t for t, start in enumerate(starts) if high + clearance <= start), -1)
        if track < 0 and len(starts) < most:
            track = len(starts)
            starts.append(low)
        elif track < 0:
            track = index % most
        starts[track] = min(starts[track], low)
        tracks[index] = track
    return tracks

"""Plots that need no other package, and take any width: lines are stretched, texts are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

import numpy as np

from gradstep.graph.statistics import format_number
from gradstep_viz.plots.columns import Columns
from gradstep_viz.plots.sizes import Flags, Ints, Numbers
from gradstep_viz.report.html import items, text

WIDE, HIGH = 1000, 200
_KINDS: Final = 4
"""Of lines, by colour and dashes."""
_MOST_POINTS: Final = 240
_MOST_OF_SPARKLINE: Final = 50
_LOG_FROM: Final = 50.0
"""A plot whose largest number is so many times the smallest one has a log scale."""


class Line(NamedTuple):
    """A line over the columns, and how far the numbers of a column reach; NaN where there are
    none. It ends and begins anew where it ``breaks``."""

    name: str
    mean: Numbers
    least: Numbers
    greatest: Numbers
    breaks: Flags


class Event(NamedTuple):
    """Something that happens at a column."""

    column: int
    name: str


class Chart(NamedTuple):
    """A plot, and the sentences that say what stands out in it."""

    title: str
    columns: Columns
    lines: Sequence[Line]
    events: Sequence[Event]
    said: Sequence[str]
    is_log: bool = False


class _Scale(NamedTuple):
    low: float
    high: float
    is_log: bool

    def places(self, values: Numbers) -> Numbers:
        """Return how far from the top each number stands, of a plot that is HIGH."""
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.log10(values) if self.is_log else values
        return np.asarray(HIGH * (self.high - at) / (self.high - self.low))

    def ticks(self) -> list[tuple[float, str]]:
        """Return the places of some numbers, and how these are written."""
        if self.is_log:
            powers = range(
                int(self.high), int(self.low) - 1, -max(1, ceil((self.high - self.low) / 4))
            )
            numbers = [10.0**power for power in powers]
        else:
            rough = (self.high - self.low) / 4
            power = 10.0 ** floor(log10(rough))
            step = next(part * power for part in (1, 2, 5, 10) if part * power >= rough)
            first, last = ceil(self.low / step), floor(self.high / step)
            numbers = [number * step for number in range(last, first - 1, -1)]
        places = self.places(np.array(numbers)).tolist()
        return list(zip(places, map(format_number, numbers), strict=True))


def draw_chart(chart: Chart) -> str:
    """Draw a plot."""
    count = len(chart.columns)
    scale = _scale(chart)
    said = " ".join(chart.said)
    parts = [f'<figure class="chart"><h3>{text(chart.title)}</h3>']
    if scale is not None and count > 1:
        body = "".join(_body(chart, scale))
        ticks = scale.ticks()
        labels = "".join(
            f'<span style="top:{place / HIGH:.2%}">{text(name)}</span>' for place, name in ticks
        )
        flags = "".join(
            f'<span style="left:{(event.column + 0.5) / count:.2%}">{text(event.name)}</span>'
            for event in chart.events
        )
        first, last = chart.columns.title(0), chart.columns.title(count - 1)
        parts.append(
            f'<div class="plot"><div class="y" aria-hidden="true">{labels}</div>'
            f'<svg viewBox="0 0 {WIDE} {HIGH}" preserveAspectRatio="none" role="img" '
            f'aria-label="{text(f"Plot of {chart.title} over {count:,} columns. {said}")}">'
            f'{body}</svg><div class="flags" aria-hidden="true">{flags}</div>'
            f'<div class="x" aria-hidden="true"><span>{text(first)}</span>'
            f"<span>{'log scale' if scale.is_log else ''}</span><span>{text(last)}</span></div>"
            "</div>"
        )
        parts += _legend(chart.lines)
    parts += [items(chart.said) if chart.said else "", "</figure>"]
    return "\n".join(filter(None, parts))


def _scale(chart: Chart) -> _Scale | None:
    known = np.concatenate([part for line in chart.lines for part in (line.least, line.greatest)])
    known = known[np.isfinite(known)]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    positive = known[known > 0]
    if (chart.is_log and len(positive)) or (low > 0 and high / low > _LOG_FROM):
        low, high = floor(log10(positive.min())), ceil(log10(positive.max()))
        return _Scale(low, max(high, low + 1), True)
    if low == high:
        low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
    margin = (high - low) * 0.04
    return _Scale(low - margin if low < 0 or low > margin else 0.0, high + margin, False)


def _body(chart: Chart, scale: _Scale) -> Iterator[str]:
    count = len(chart.columns)
    x = (np.arange(count) + 0.5) * WIDE / count
    for place, _ in scale.ticks():
        yield f'<path class="grid" d="M0 {place:.1f}H{WIDE}"/>'
    for event in chart.events:
        at = x[event.column]
        yield f'<path class="event" d="M{at:.1f} 0V{HIGH}"/>'
    for number, line in enumerate(chart.lines):
        kind = f"s{number % _KINDS}"
        mean, least, greatest = map(scale.places, (line.mean, line.least, line.greatest))
        step = max(1, ceil(count / _MOST_POINTS))
        for part in _parts(line.mean, line.breaks):
            if (line.greatest[part] > line.least[part]).any():
                starts = np.arange(0, len(part), step)
                upper = _points(x[part[starts]], np.minimum.reduceat(greatest[part], starts))
                lower = _points(x[part[starts]], np.maximum.reduceat(least[part], starts))
                yield f'<path class="band {kind}" d="M{"L".join(upper + lower[::-1])}Z"/>'
            points = _points(x[part], mean[part])
            yield f'<path class="line {kind}" d="M{"L".join(points * (1 + (len(points) == 1)))}"/>'


def _points(x: Numbers, y: Numbers) -> list[str]:
    return [f"{one:.1f} {other:.1f}" for one, other in zip(x.tolist(), y.tolist(), strict=True)]


def _parts(values: Numbers, breaks: Flags) -> Iterator[Ints]:
    """Yield the columns with a finite number, apart those before and behind each break."""
    known = np.flatnonzero(np.isfinite(values))
    if len(known):
        yield from np.split(known, np.flatnonzero(np.diff(np.cumsum(breaks)[known])) + 1)


def _legend(lines: Sequence[Line]) -> Iterator[str]:
    if len(lines) > 1:
        entries = "".join(
            '<li><svg viewBox="0 0 30 8" width="30" height="8" aria-hidden="true"><path '
            f'class="line s{number % _KINDS}" d="M0 4H30"/></svg> {text(line.name)}</li>'
            for number, line in enumerate(lines)
        )
        yield f'<ul class="legend">{entries}</ul>'


def sparkline(values: Numbers, breaks: Flags, low: float, high: float) -> str:
    """Draw numbers in a small space, on a log scale between two powers of ten."""
    places = 1 + _Scale(low, max(high, low + 1), True).places(values) * 14 / HIGH
    x = (np.arange(len(values)) + 0.5) * 100 / len(values)
    paths = []
    for part in _parts(values, breaks):
        kept = part[:: ceil(len(part) / _MOST_OF_SPARKLINE)]
        points = _points(x[kept], places[kept])
        paths.append("M" + "L".join(points * (1 + (len(points) == 1))))
    if not paths:
        return ""
    known = values[np.isfinite(values)]
    said = f"from {format_number(float(known[0]))} to {format_number(float(known[-1]))}"
    return (
        '<svg class="spark" viewBox="0 0 100 16" preserveAspectRatio="none" role="img" '
        f'aria-label="{said}"><path class="line s0" d="{"".join(paths)}"/></svg>'
    )

"""Panels beside a map, whose rows they share: gradient flow in a few calls, and the spread of a
size over all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from gradstep.graph.statistics import format_number
from gradstep_viz.plots.drawing.canvas import Canvas
from gradstep_viz.plots.drawing.palette import LINES, MARKERS
from gradstep_viz.plots.flow import FlowLine
from gradstep_viz.plots.sizes import State
from gradstep_viz.plots.spreads import Spread
from gradstep_viz.theme import MUTED_SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEVER: Final = "never changes"
LOWEST_TEXT: Final = 8.5
"""Pixels of the lowest row that has room for a text; lower ones have a sign."""

_SIGN: Final = 0.11
"""The part of the width that a sign, as NaN, takes."""


def draw_flow(canvas: Canvas, axes: Axes, lines: Sequence[FlowLine]) -> None:
    """Draw the flow in a few calls, each with its own colour and shape: the root mean square of
    each leaf, and a bar from the least to the greatest element."""
    values: list[float] = []
    margin = 0.0
    for number, line in enumerate(lines):
        colour = canvas.colours[LINES[number % len(LINES)]]
        known = [point for point in line.points if point.size.state == State.SIZE]
        shift = (number - (len(lines) - 1) / 2) * 0.16
        rows = [point.row + 0.5 + shift for point in known]
        sizes = [point.size.value for point in known]
        least = [point.least or point.size.value for point in known]
        most = [point.greatest or point.size.value for point in known]
        values += least + most
        axes.hlines(rows, least, most, colors=colour, linewidth=1.0, alpha=0.55, zorder=2)
        for ends in (least, most):
            axes.scatter(
                ends, rows, marker="|", s=18, color=colour, linewidths=1, alpha=0.8, zorder=2
            )
        axes.plot(
            sizes, rows, color=colour, linewidth=1.2, marker=MARKERS[number % len(MARKERS)],
            markersize=4.5, zorder=3, label=f"call {line.call.index:,}",
        )  # fmt: skip
        for point in line.points:
            if point.size.state in (State.NAN, State.INF, State.ZERO):
                word = {State.NAN: "NaN", State.INF: "Inf", State.ZERO: "0"}[point.size.state]
                margin = _SIGN * (number + 1)
                axes.text(
                    0.01 + _SIGN * number, point.row + 0.5, word, fontsize=9,
                    color=canvas.colours["alert"], transform=axes.get_yaxis_transform(),
                    va="center", zorder=4,
                )  # fmt: skip
    log_axis(canvas, axes, values, margin)


def draw_spreads(canvas: Canvas, axes: Axes, spreads: Sequence[Spread], height: float) -> None:
    """Draw a bar from the least to the greatest size of each row, which is ``height`` pixels high,
    and its median; of a row that is always 0, say so."""
    values = []
    colour = canvas.colours["fwd"]
    for row, spread in enumerate(spreads):
        if spread.least is not None and spread.median is not None and spread.greatest is not None:
            values += [spread.least, spread.greatest]
            axes.plot(
                [spread.least, spread.greatest], [row + 0.5] * 2, color=colour, linewidth=1.4,
                alpha=0.5, zorder=2, solid_capstyle="butt",
            )  # fmt: skip
            axes.scatter([spread.median], [row + 0.5], s=20, color=colour, zorder=3)
    log_axis(canvas, axes, values)
    for row, spread in enumerate(spreads):
        title = (
            NEVER if spread.is_zero
            else "not known" if not spread.known
            else "NaN or Inf" if spread.least is None and spread.troubled
            else ""
        )  # fmt: skip
        token = "mute" if title == "not known" else "alert"
        if title and height >= LOWEST_TEXT:
            axes.text(
                0.02, row + 0.5, title, fontsize=min(MUTED_SIZE, height), va="center", zorder=4,
                color=canvas.colours[token], fontweight="bold" if token == "alert" else "normal",
                transform=axes.get_yaxis_transform(),
            )  # fmt: skip
        elif token == "alert" and title:
            axes.scatter(
                [0.03], [row + 0.5], marker="x", s=12, color=canvas.colours[token], clip_on=False,
                transform=axes.get_yaxis_transform(), zorder=4,
            )  # fmt: skip


def log_axis(canvas: Canvas, axes: Axes, values: Sequence[float], left: float = 0) -> None:
    """Make the x axis a log scale around ``values``, with a few powers of ten; a part of its width,
    ``left``, stays free."""
    from matplotlib.ticker import NullFormatter, NullLocator  # with the axes

    finite = [value for value in values if value > 0 and math.isfinite(value)] or [0.1, 1.0]
    low, high = math.log10(min(finite)), math.log10(max(finite))
    margin = max((high - low) * 0.06, 0.3)
    low, high = low - margin, high + margin
    low -= (high - low) * left / (1 - left)
    axes.set_xscale("log")
    axes.set_xlim(10**low, 10**high)
    step = max(math.ceil((high - low) / 4), 1)
    powers = [p for p in range(math.ceil(low), math.floor(high) + 1) if p % step == 0]
    axes.set_xticks([10.0**p for p in powers], [format_number(10.0**p) for p in powers])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x", color=canvas.colours["line"], linewidth=0.5, alpha=0.35)
    axes.set_axisbelow(True)
    rows = np.asarray(axes.get_ylim())
    axes.set_ylim(*rows)
    axes.tick_params(axis="y", labelleft=False, length=0)

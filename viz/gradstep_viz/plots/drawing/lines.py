"""Lines over calls: the loss, the memory in use, the time that calls took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from gradstep_viz.plots.columns import Columns
from gradstep_viz.plots.drawing.canvas import Canvas
from gradstep_viz.plots.drawing.cells import runs_of
from gradstep_viz.plots.drawing.palette import LINES, MARKERS
from gradstep_viz.plots.series import FORMATS, SPREAD, Quantity, Series
from gradstep_viz.plots.sizes import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW: Final = 60
"""So few points are drawn each."""


def draw_lines(
    canvas: Canvas, axes: Axes, series: Sequence[Series], quantity: Quantity, columns: Columns
) -> None:
    """Draw series into axes whose x axis is that of ``columns``."""
    for number, sery in enumerate(series):
        colour = canvas.colours[LINES[number % len(LINES)]]
        x = columns.places((sery.columns.starts + sery.columns.ends) // 2)
        known = np.flatnonzero(np.isfinite(sery.mean))
        several = bool((sery.greatest[known] > sery.least[known]).any())
        few = len(known) <= FEW
        axes.plot(
            *_with_gaps(x[known], sery.mean[known]), color=colour, linewidth=1.3,
            marker=MARKERS[number % len(MARKERS)] if few or len(series) > 1 else None,
            markersize=4 if few else 3, zorder=3,
            markevery=None if few else max(len(known) // 20, 1), label=sery.name,
        )  # fmt: skip
        if several:
            axes.fill_between(
                x[known], sery.least[known], sery.greatest[known], color=colour, alpha=0.22,
                linewidth=0, zorder=2,
            )  # fmt: skip
        _draw_trouble(canvas, axes, sery, columns)
    _scale(axes, series, quantity)
    axes.grid(axis="y", color=canvas.colours["line"], linewidth=0.5, alpha=0.35)
    axes.set_axisbelow(True)


def _draw_trouble(canvas: Canvas, axes: Axes, series: Series, columns: Columns) -> None:
    """Draw a line at the top over the calls whose number is NaN or infinite."""
    runs = runs_of(series.troubled > 0)
    if not runs:
        return
    starts, ends = (np.array(number, np.int64) for number in zip(*runs, strict=True))
    left = columns.places(series.columns.starts[starts])
    right = columns.places(series.columns.ends[ends - 1])
    places = axes.get_xaxis_transform()
    look: dict[str, Any] = {
        "color": canvas.colours["alert"],
        "transform": places,
        "clip_on": False,
        "zorder": 4,
    }
    axes.hlines(np.full(len(runs), 0.96), left, right, linewidth=2.5, **look)
    axes.scatter((left + right) / 2, np.full(len(runs), 0.96), marker="x", s=36, **look)
    axes.text(
        float(left[0]), 0.88, "NaN or Inf", fontsize=10, va="top", color=look["color"],
        transform=places,
    )  # fmt: skip


def _with_gaps(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """Interrupt a line where more calls are missing than between most of its points."""
    if len(x) < 3:
        return x, y
    steps = np.diff(x)
    wide = np.flatnonzero(steps > 3.5 * np.median(steps)) + 1
    return np.insert(x, wide, np.nan), np.insert(y, wide, np.nan)


def _scale(axes: Axes, series: Sequence[Series], quantity: Quantity) -> None:
    from matplotlib.ticker import (  # with the axes
        FuncFormatter,
        MultipleLocator,
        NullFormatter,
        NullLocator,
    )

    values = np.concatenate([[*sery.least, *sery.greatest] for sery in series])
    values = values[np.isfinite(values)]
    if len(values) and values.min() > 0 and values.max() > SPREAD * values.min():
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif len(values) and quantity != "loss":
        axes.set_ylim(0, values.max() * 1.05 or 1)
        if quantity == "memory":  # 128 MB, not 122.1
            step = 2.0 ** math.floor(math.log2(max(values.max() / 4, 1)))
            axes.yaxis.set_major_locator(MultipleLocator(step))
    else:
        axes.locator_params(axis="y", nbins=5)
    write = FORMATS[quantity]
    low, high = axes.get_ylim()
    ticks = [tick for tick in axes.yaxis.get_majorticklocs() if low <= tick <= high]
    if len({write(tick) for tick in ticks}) < len(ticks):  # such as 1.1014 and 1.1016
        digits = next(d for d in range(4, 18) if len({f"{t:.{d}g}" for t in ticks}) == len(ticks))
        write = f"{{:.{digits}g}}".format
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))


def call_axis(canvas: Canvas, axes: Axes, columns: Columns, *, labelled: bool) -> None:
    """Number the calls below axes; without ``labelled``, only mark where they are."""
    axes.set_xlim(0, len(columns))
    calls = _round_calls(columns)
    places = columns.places(np.array(calls, np.int64))
    axes.set_xticks(places, [f"{call:,}" for call in calls] if labelled else [])
    axes.tick_params(axis="x", labelbottom=labelled)


def _round_calls(columns: Columns, most: int = 8) -> list[int]:
    first, last = int(columns.starts[0]), int(columns.ends[-1])
    if not columns.is_even:
        chosen = np.linspace(0, len(columns) - 1, min(most, len(columns))).astype(int)
        return [int(columns.starts[column]) for column in chosen]
    if last - first < most:
        return list(range(first, last + 1))
    steps = (s * 10**p for p in range(12) for s in (1, 2, 5))
    step = next(step for step in steps if (last - first) / step <= most)
    calls = list(range(-(-first // step) * step, last + 1, step))
    return calls if not calls or calls[0] - first < step / 2 else [first, *calls]


def draw_legend(canvas: Canvas, axes: Axes) -> None:
    """Name the lines inside axes, where there are several."""
    handles, labels = axes.get_legend_handles_labels()
    if not any(labels) or len(labels) < 2:
        return
    legend: Any = axes.legend(
        handles, labels, loc="upper right", fontsize=10, frameon=True, framealpha=0.85,
        borderpad=0.4, labelcolor=canvas.colours["ink"],
    )  # fmt: skip
    legend.get_frame().set(facecolor=canvas.colours["bg"], edgecolor="none")

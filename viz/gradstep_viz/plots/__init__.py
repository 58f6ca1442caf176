"""Plots of a whole run: gradient flow, a map of leaves and calls, loss, memory, time.

What is shown is read from the facts of a run by plain functions (``contents``), and drawn
elsewhere (``drawing``), by matplotlib.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Final, get_args

from gradstep.recording.facts import CallFacts
from gradstep.recording.run import Run
from gradstep_viz.errors import UnknownFormat
from gradstep_viz.options import Theme, validate
from gradstep_viz.plots.contents import Progress, What, contents_of
from gradstep_viz.plots.drawing.canvas import colours_of, drawing
from gradstep_viz.plots.drawing.page import write_plot_page
from gradstep_viz.plots.drawing.sheet import draw
from gradstep_viz.plots.drawing.svg import write_svg
from gradstep_viz.plots.words import describe
from gradstep_viz.rendering import Rendering, choose_format

PLOT_FORMATS: Final = ("svg", "png", "pdf", "html")
WHATS: Final[tuple[What, ...]] = get_args(What)

__all__ = ["PLOT_FORMATS", "WHATS", "What", "plot_format", "plot_run"]


def plot_format(out: str | os.PathLike[str] | None, format: str | None = None) -> str:
    """Choose the format of a plot by the name of its file.

    Raises:
        UnknownFormat: plots have no such format.
    """
    chosen = choose_format(out, format)
    if chosen not in PLOT_FORMATS:
        raise UnknownFormat(
            f"a plot cannot be written as {chosen}", remedy=f"use {', '.join(PLOT_FORMATS)}"
        )
    return chosen


def plot_run(
    run: Run,
    format: str = "svg",
    *,
    what: What | None = None,
    of: Sequence[str] = (),
    wanted: Callable[[CallFacts], bool] = lambda call: True,
    theme: Theme = "auto",
    title: str | None = None,
    progress: Progress = lambda done, count: None,
) -> Rendering:
    """Draw the facts of a run.

    Args:
        run: a run in memory, or in a file.
        format: one of :data:`PLOT_FORMATS`.
        what: ``rms`` for the size of gradients, ``update`` for the update-to-weight ratio, ``nan``,
            ``loss``, ``memory``, or ``time``; by default the loss, the size of gradients, and the
            range of the update-to-weight ratio.
        of: which leaves: names, or names of modules, where ``*`` stands for any text.
        wanted: which calls.
        theme: light, dark, or auto, which follows the reader's system.
        title: the title, by default the program.
        progress: hears of how many calls the leaves are read, and of how many.

    Raises:
        VizError: there is nothing to draw, or no leaf matches.
        RendererUnavailable: matplotlib is not installed.
    """
    if what is not None:
        validate("what", what, WHATS)
    validate("theme", theme, ("auto", "light", "dark"))
    with drawing():
        contents = contents_of(run, what, of, wanted, title, progress)
        if format in ("png", "pdf"):
            canvas = draw(contents, colours_of(theme), vector=False)
            return Rendering(format, canvas.write(format), contents.notes)
        canvas = draw(contents, colours_of("light"), vector=True)
        svg = write_svg(canvas, contents.title, describe(contents), theme)
    if format == "html":
        svg = write_plot_page(contents, canvas, svg, theme)
    return Rendering(format, svg.encode(), contents.notes)

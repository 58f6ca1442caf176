"""Plots of a whole run: gradient flow, a map of leaves and calls, loss, memory, time.

What is shown is read from the facts of a run by plain functions (``contents``), and drawn
elsewhere (``drawing``), by matplotlib.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final, get_args

from gradstep.program.calls import CallSelector
from gradstep.recording.facts import CallFacts
from gradstep.recording.reading import FileRun
from gradstep.recording.run import Run
from gradstep.text import suggests
from gradstep_viz.errors import UnknownFormat
from gradstep_viz.options import Theme, validate
from gradstep_viz.plots import text
from gradstep_viz.plots.columns import MOST_COLUMNS
from gradstep_viz.plots.contents import Contents, Progress, What, contents_of, describe
from gradstep_viz.plots.drawing.canvas import colours_of, drawing
from gradstep_viz.plots.drawing.page import write_plot_page
from gradstep_viz.plots.drawing.sheet import draw
from gradstep_viz.plots.drawing.svg import write_svg
from gradstep_viz.plots.rows import MOST_ROWS
from gradstep_viz.rendering import Rendering, choose_format

PLOT_FORMATS: Final = ("svg", "png", "pdf", "html", "txt")
WHATS: Final[tuple[What, ...]] = get_args(What)

__all__ = ["PLOT_FORMATS", "WHATS", "What", "plot", "plot_format"]


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


@suggests
def plot(
    recording: Run | str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    what: What | None = None,
    of: str | Sequence[str] = (),
    call: str = "all",
    theme: Theme = "auto",
    title: str | None = None,
    format: str | None = None,
    width: int = 100,
    progress: Progress = lambda done, count: None,
) -> Rendering:
    """Draw what a whole run did.

    Args:
        recording: a file that :func:`gradstep.record` wrote, or a run in memory.
        out: a file to write. Its suffix determines the format, unless ``format`` does.
        what: ``rms`` for the size of gradients, ``update`` for the update-to-weight ratio, ``nan``,
            ``loss``, ``memory`` or ``time``; by default the loss, the size of gradients, and the
            range of the update-to-weight ratio.
        of: which leaves: names, or names of modules, where ``*`` stands for any text.
        call: which calls: ``3``, ``last``, ``1,100:110``, or ``grad:all`` for those of
            ``autograd.grad()``; by default all of both kinds.
        theme: light, dark, or auto, which follows the reader's system.
        title: the title, by default the program.
        format: one of :data:`PLOT_FORMATS`; SVG by default.
        width: of text, in characters.
        progress: hears of how many calls the leaves are read, and of how many.

    Raises:
        VizError: there is nothing to draw, no leaf matches, or the file cannot be written.
        RendererUnavailable: matplotlib is not installed.
        RecordingError: the file is no recording, is damaged, or has no call.
    """
    chosen = plot_format(out, format)
    if what is not None:
        validate("what", what, WHATS)
    validate("theme", theme, get_args(Theme))
    selector = CallSelector.parse(call)
    patterns = (of,) if isinstance(of, str) else tuple(of)
    is_text = chosen == "txt"
    room = (text.most_columns(width), text.MOST_ROWS) if is_text else (MOST_COLUMNS, MOST_ROWS)
    with nullcontext() if is_text else drawing(), _opened(recording) as run:
        wanted = _wanted(run, selector, any_kind=call == "all")
        contents = contents_of(run, what, patterns, wanted, title, progress, *room)
        data = (
            text.draw_text(contents, width).encode() if is_text else _drawn(contents, chosen, theme)
        )
        rendering = Rendering(chosen, data, contents.notes)
    if out is not None:
        rendering.save(out)
    return rendering


def _opened(recording: Run | str | os.PathLike[str]) -> AbstractContextManager[Run]:
    if not isinstance(recording, str | os.PathLike):
        return nullcontext(recording)
    run = FileRun(Path(recording))
    run.require_calls()
    return run


def _wanted(run: Run, selector: CallSelector, any_kind: bool) -> Callable[[CallFacts], bool]:
    if any_kind:
        return lambda call: True
    if selector.last:
        last = max((c.number for c in run.calls() if c.kind in selector.kinds), default=0)
        return lambda call: call.kind in selector.kinds and call.number == last
    return lambda call: selector.requests(call.number, call.kind)


def _drawn(contents: Contents, format: str, theme: Theme) -> bytes:
    if format in ("png", "pdf"):
        return draw(contents, colours_of(theme), vector=False).write(format)
    canvas = draw(contents, colours_of("light"), vector=True)
    svg = write_svg(canvas, contents.title, describe(contents), theme)
    page = write_plot_page(contents, canvas, svg, theme) if format == "html" else svg
    return page.encode()

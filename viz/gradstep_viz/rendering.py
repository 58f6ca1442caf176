"""From an object to bytes: choose view, format, layout and renderer, and write the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from gradstep.capturing.sources import with_portable_sources
from gradstep.graph.collector import collector_paused
from gradstep.graph.folding import Item
from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_bytes
from gradstep.text import plural
from gradstep_viz.errors import (
    FormatMismatch,
    NothingToDraw,
    RendererUnavailable,
    RenderingFailed,
    UnknownFormat,
    VizError,
)
from gradstep_viz.layout import lay_out
from gradstep_viz.layout.graphviz_layout import read_layout
from gradstep_viz.level_of_detail import Composed, Composer, chosen_part, folded, folding_of
from gradstep_viz.options import RenderOptions, validate
from gradstep_viz.output.dot import write_dot
from gradstep_viz.output.files import write_atomically
from gradstep_viz.output.mermaid import write_mermaid
from gradstep_viz.output.pages import write_graph_page
from gradstep_viz.output.pages.contents import contents_of
from gradstep_viz.output.pages.expansion import Drawn, pictures_within
from gradstep_viz.output.pages.measures import measures_of
from gradstep_viz.output.renderers import Renderer, all_failed, default_renderers
from gradstep_viz.output.svg import escape, title_of, write_svg
from gradstep_viz.output.text import write_text
from gradstep_viz.picture.geometry import Layout
from gradstep_viz.picture.links import Links
from gradstep_viz.picture.model import Picture, View

FORMATS = ("svg", "png", "pdf", "dot", "html", "json", "mermaid", "txt")

_SUFFIXES = {
    **{f".{name}": name for name in FORMATS},
    ".gv": "dot",
    ".mmd": "mermaid",
    ".htm": "html",
    ".text": "txt",
}
_BINARY = ("png", "pdf")
_MIME = {"svg": "image/svg+xml", "png": "image/png"}


class Rendering(NamedTuple):
    """A finished drawing: ``data`` in ``format``, and ``notes`` for the user."""

    format: str
    data: bytes
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The drawing as text, if its format is text."""
        if self.format in _BINARY:
            raise UnknownFormat(f"{self.format} is not text", remedy="use .data")
        return self.data.decode()

    def __repr__(self) -> str:
        about = f": {title_of(self.text)}" if self.format == "svg" else ""
        return f"<{self.format} of {len(self.data):,} bytes{about}>"

    def __str__(self) -> str:
        return repr(self) if self.format in _BINARY else self.text

    def __bytes__(self) -> bytes:
        return self.data

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file atomically: completely or not at all."""
        return write_atomically(Path(path), self.data)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self.format in _BINARY:
            return {_MIME[self.format]: self.data} if self.format in _MIME else {}
        shown = {"text/plain": self._in_words()}
        if self.format == "svg":
            shown["image/svg+xml"] = self.text
        if html := self._repr_html_():  # of an SVG, too: it then follows the colours of the page
            shown["text/html"] = html
        return shown

    def _repr_html_(self) -> str | None:
        if self.format == "html":  # a page has styles and a script, for itself only
            return (
                f'<iframe title="Computation graph" srcdoc="{escape(self.text)}"'
                ' style="width:100%;height:40em;border:0"></iframe>'
            )
        return self.text if self.format == "svg" else None

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self._in_words())

    def _in_words(self) -> str:
        return repr(self) if self.format in ("svg", "html") else str(self)

    def _repr_svg_(self) -> str | None:
        return self.text if self.format == "svg" else None


def render_graph(
    graph: Graph,
    format: str,
    options: RenderOptions | None = None,
    *,
    folder: Path | None = None,
    position: int | None = None,
    renderers: Sequence[Renderer] | None = None,
) -> Rendering:
    """Draw ``graph``.

    Args:
        graph: what to draw.
        format: one of :data:`FORMATS`.
        options: how to draw it.
        folder: where relative names of source files begin, the current directory by default.
        position: the order of the node that a debugger runs next.
        renderers: who turns text into pictures; by default those of this machine.
    """
    options = RenderOptions() if options is None else options
    validate("format", format, FORMATS)
    drawn_by_us = format not in ("dot", "mermaid", "txt", "json") and options.layout == "own"
    if options.rankdir != "TB" and drawn_by_us:
        raise VizError(
            "this layout draws the forward half downwards only",
            remedy="use the layout graphviz, or the format dot or mermaid",
        )
    links = None
    if options.link is not None:
        links = Links(options.link, Path.cwd() if folder is None else folder)
        links.check()
    with collector_paused():
        graph = chosen_part(graph, options)
        if format == "json":
            return Rendering("json", _json(graph, options))
        composer = Composer(folding_of(graph, options.view), position, links)
        whole = composer.compose_for_a_screen(options)
        picture, found, own, small = whole.picture, whole.notes, whole.layout, whole.graph
    helpers = default_renderers() if renderers is None else renderers
    notes = list(found)
    asked = options.full or options.max_boxes is not None

    def drawn(composed: Composed) -> Drawn:
        places, said = place(composed.picture, options.layout, helpers, composed.layout)
        notes.extend(said)
        svg = write_svg(
            composed.picture, places, options.theme, legend=options.legend, linked=False
        ).decode()
        nodes = composed.picture.boxes.column("node")
        items = {n: composed.items[id] for n, id in enumerate(nodes) if id in composed.items}
        shown = graph if composed.graph is None else composed.graph
        measures = measures_of(shown, composed.picture)
        return Drawn(composed.picture, places, svg, items, measures)

    def draw(names: Sequence[str]) -> Drawn:
        return drawn(composer.compose(options.opening(names)) if names else whole)

    def draw_inside(item: Item, name: str) -> Drawn:
        return drawn(composer.compose_inside(item, name, options))

    if not picture.boxes:
        raise _nothing(graph, options.view)
    if format in _WRITERS:
        data = _WRITERS[format](picture, options.legend).encode()
    elif format in _BINARY:
        places, said = place(picture, options.layout, helpers, own)
        notes.extend(said)
        data = _render_binary(picture, places, format, options.theme, options.legend, helpers)
    elif format == "html":
        with collector_paused():
            pages = pictures_within(draw, draw_inside, len(graph))
        contents = contents_of(small, graph, picture)
        data = write_graph_page(pages, options.theme, contents).encode()
    else:
        places, said = place(picture, options.layout, helpers, own)
        notes.extend(said)
        data = write_svg(picture, places, options.theme, legend=options.legend)
    if asked and format not in _WRITERS and format != "html":
        notes.append(_size(picture, places, data))
    return Rendering(format, data, tuple(dict.fromkeys(notes)))


_WRITERS: dict[str, Callable[[Picture, bool], str]] = {
    "dot": write_dot,
    "mermaid": write_mermaid,
    "txt": write_text,
}


def _size(picture: Picture, places: Layout, data: bytes) -> str:
    """Say how large a picture is that was asked for whatever it takes."""
    width, height = ceil(places.width), ceil(places.height)
    boxes = plural(len(picture.boxes), "box", "boxes")
    return f"{boxes}, {width:,} x {height:,} pixels, {format_bytes(len(data))}"


def _nothing(graph: Graph, view: View) -> NothingToDraw:
    if not len(graph):
        return NothingToDraw("the graph is empty", remedy="give a tensor that has a graph")
    return NothingToDraw(f"the graph has no {view} half", remedy="choose another view")


def _json(graph: Graph, options: RenderOptions) -> bytes:
    """Write the whole graph, unless folding was asked for."""
    # only this format needs it
    from gradstep.graph.serialize import to_json

    if options.folds:
        (graph, _), _ = folded(folding_of(graph, options.view), options)
    return to_json(with_portable_sources(graph, Path.cwd())).encode()


def place(
    picture: Picture, layout: str, renderers: Sequence[Renderer], own: Layout | None = None
) -> tuple[Layout, tuple[str, ...]]:
    """Lay the picture out: by ourselves, or by Graphviz if that is asked for and works.

    ``own`` is our layout, where it is known already.
    """
    if layout != "graphviz":
        return own or lay_out(picture), ()
    failures: list[str] = []
    for renderer in renderers:
        if "json0" not in renderer.formats:
            continue
        try:
            answer = renderer.render(write_dot(picture), "json0")
            return read_layout(picture, answer), tuple(failures)
        except RendererUnavailable:
            continue
        except RenderingFailed as error:
            failures.append(error.what)
        except Exception as error:
            failures.append(f"{renderer.name} crashed ({type(error).__name__})")
    if not failures:
        failures.append("Graphviz is not installed")
    return own or lay_out(picture), (*failures, "drawn with gradstep's own layout instead")


def _render_binary(
    picture: Picture,
    places: Layout,
    format: str,
    theme_name: str,
    legend: bool,
    renderers: Sequence[Renderer],
) -> bytes:
    """Render with the first renderer that can: from SVG, else from DOT, with Graphviz's looks."""
    failures: list[VizError] = []
    for renderer in renderers:
        if format not in renderer.formats:
            continue
        try:
            if renderer.source == "dot":
                return renderer.render(write_dot(picture, legend), format)
            halos = format != "pdf"
            svg = write_svg(picture, places, theme_name, plain=True, legend=legend, halos=halos)
            return renderer.render(svg.decode(), format)
        except VizError as error:
            failures.append(error)
        except Exception as error:
            failures.append(VizError(f"{renderer.name} crashed ({type(error).__name__})"))
    raise all_failed(format.upper(), failures, instead="draw an SVG")


def choose_format(out: str | os.PathLike[str] | None, format: str | None) -> str:
    """Choose the format that the file name and the option agree on; SVG when neither says anything.

    >>> choose_format("loss.svg", None), choose_format(None, "dot"), choose_format("loss.gv", "dot")
    ('svg', 'dot', 'dot')
    """
    if format is not None:
        validate("format", format, FORMATS)
    if out is None:
        return format or "svg"
    path = Path(out)
    by_suffix = _SUFFIXES.get(path.suffix.lower())
    if format is None and by_suffix is None:
        raise UnknownFormat(
            f"cannot tell the format from the name {path.name!r}",
            remedy=f"use a name that ends in .svg, or name a format: {', '.join(FORMATS)}",
        )
    if format and by_suffix and format != by_suffix:
        raise FormatMismatch(
            f"the name {path.name!r} says {by_suffix}, but {format} was asked for",
            remedy=f"name it {path.stem}.{format}, or omit the format",
        )
    return format or by_suffix or "svg"

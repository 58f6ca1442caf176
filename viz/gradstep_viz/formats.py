"""The formats of drawings: each is one entry of :data:`FORMATS`, with what writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gradstep.capturing.sources import with_portable_sources
from gradstep.graph.folding import Item
from gradstep.graph.model import Graph, View
from gradstep.graph.statistics import format_bytes
from gradstep.guest.collector import collector_paused
from gradstep.text import plural
from gradstep_viz.errors import (
    NothingToDraw,
    RendererUnavailable,
    RenderingFailed,
    VizError,
)
from gradstep_viz.layout import lay_out
from gradstep_viz.layout.graphviz_layout import read_layout
from gradstep_viz.level_of_detail import Composed, Composer, folded, folding_of, has_rows
from gradstep_viz.options import RenderOptions
from gradstep_viz.output.dot import write_dot
from gradstep_viz.output.mermaid import write_mermaid
from gradstep_viz.output.pages import write_graph_page
from gradstep_viz.output.pages.contents import contents_of, modules_in_order
from gradstep_viz.output.pages.expansion import Drawn, pictures_within
from gradstep_viz.output.pages.measures import measures_of
from gradstep_viz.output.renderers import Renderer, all_failed
from gradstep_viz.output.svg import write_svg
from gradstep_viz.output.text import write_text
from gradstep_viz.picture.geometry import Layout
from gradstep_viz.picture.links import Links
from gradstep_viz.picture.model import Picture

if TYPE_CHECKING:
    from gradstep_viz.flow.layout import FlowPicture


@dataclass
class Drawing:
    """A graph on its way to a file; what a format does not ask for is not made.

    ``position`` is the order of the node that a debugger runs next, ``notes`` are for the user.
    ``on_page`` says that nobody can scroll in the file.
    """

    graph: Graph
    options: RenderOptions
    renderers: Sequence[Renderer]
    position: int | None = None
    links: Links | None = None
    on_page: bool = False
    notes: list[str] = field(default_factory=list)

    @cached_property
    def composer(self) -> Composer:
        """What makes pictures of the graph."""
        return Composer(folding_of(self.graph, self.options.halves), self.position, self.links)

    @cached_property
    def composed(self) -> Composed:
        """The picture, folded to fit on a screen unless options say otherwise."""
        with collector_paused():
            composed = self._for_a_page or self.composer.compose_for_a_screen(self.options)
        if not composed.picture.boxes:
            raise _nothing(self.graph, self.options.halves)
        self.notes.extend(composed.notes)
        return composed

    @cached_property
    def flow(self) -> FlowPicture | None:
        """The picture of rows, None where that of boxes is drawn."""
        options = self.options
        if options.view != "flow" and (not self._is_for_a_page or self._for_a_page is not None):
            return None
        # not for pictures of boxes, of whose imports it would be a fifth
        from gradstep_viz.flow.compose import make_flow_picture

        return make_flow_picture(self.graph, options)

    @property
    def _is_for_a_page(self) -> bool:
        """Whether it is left to the graph what is drawn: what can be read on a page."""
        options = self.options
        left = (
            self.on_page
            and options.view == "auto"
            and not options.is_about_boxes
            and not self.graph.marks
        )
        return left and self.position is None and has_rows(self.graph)

    @cached_property
    def _for_a_page(self) -> Composed | None:
        """Both halves, where they can be read at the width of a page; else None."""
        if not self._is_for_a_page:
            return None
        with collector_paused():
            return self.composer.compose_for_a_page(self.options)

    @property
    def picture(self) -> Picture:
        """That picture alone."""
        return self.composed.picture

    @cached_property
    def layout(self) -> Layout:
        """Where everything stands in the picture."""
        return self.lay_out(self.composed)

    def lay_out(self, composed: Composed) -> Layout:
        """Lay a picture out as options ask; what hindered that becomes a note."""
        layout, problems = place(
            composed.picture, self.options.layout, self.renderers, composed.layout
        )
        self.notes.extend(problems)
        return layout


class Format(NamedTuple):
    """A format of drawings.

    Attributes:
        suffixes: how names of files end; the first is written, the others are understood, too.
        write: makes the file.
        is_text: whether that is text, in UTF-8.
        is_laid_out: whether boxes have places in it, which our layout or Graphviz chooses.
        has_size: whether those places are final, so that a large one is announced.
        mark: a pattern of what stands in such a file of ours; of a picture that other programs
            write in our place (PNG, PDF), what stands in any; b"" where nothing tells it.
    """

    suffixes: tuple[str, ...]
    write: Callable[[Drawing], bytes]
    is_text: bool = True
    is_laid_out: bool = True
    has_size: bool = True
    mark: bytes = b""


def _svg(drawing: Drawing, *, plain: bool = False, halos: bool = True) -> bytes:
    options = drawing.options
    if drawing.flow is not None:
        # as what makes rows
        from gradstep_viz.flow.svg import write_flow_svg

        return write_flow_svg(
            drawing.flow, options.theme, plain=plain, pixels=options.pixels, aspect=options.aspect
        )
    return write_svg(
        drawing.picture, drawing.layout, options.theme, plain=plain, legend=options.legend,
        halos=halos, pixels=options.pixels, aspect=options.aspect,
    )  # fmt: skip


def _painted(format: str, drawing: Drawing) -> bytes:
    """Paint with the first renderer that can: from SVG, else from DOT, with Graphviz's looks."""
    svg = _svg(drawing, plain=True, halos=format != "pdf")
    failures: list[VizError] = []
    for renderer in drawing.renderers:
        if format not in renderer.formats:
            continue
        try:
            if renderer.source == "dot":
                if drawing.options.view == "flow":
                    continue
                dot = write_dot(drawing.picture, drawing.options.legend)
                data = renderer.render(dot, format)
                drawing.notes.append(
                    "drawn by Graphviz in its own style; for the style of the SVG, "
                    f"pip install 'gradstep[{format}]'"
                )
                return data
            return renderer.render(svg.decode(), format)
        except VizError as error:
            failures.append(error)
        except Exception as error:
            failures.append(VizError(f"{renderer.name} crashed ({type(error).__name__})"))
    raise all_failed(format.upper(), failures, instead="draw an SVG")


def _html(drawing: Drawing) -> bytes:
    if drawing.options.view == "flow":
        # as what makes rows
        from gradstep_viz.flow.compose import make_flow_page

        return make_flow_page(drawing.graph, drawing.options).encode()
    options, composer, composed = drawing.options, drawing.composer, drawing.composed

    def drawn(composed: Composed) -> Drawn:
        layout = drawing.lay_out(composed)
        svg = write_svg(
            composed.picture, layout, options.theme, legend=options.legend, linked=False
        ).decode()
        nodes = composed.picture.boxes.column("node")
        items = {n: composed.items[id] for n, id in enumerate(nodes) if id in composed.items}
        shown = drawing.graph if composed.graph is None else composed.graph
        return Drawn(composed.picture, layout, svg, items, measures_of(shown, composed.picture))

    def draw(names: Sequence[str]) -> Drawn:
        return drawn(composer.compose(options.opening(names)) if names else composed)

    def draw_inside(item: Item, name: str) -> Drawn:
        return drawn(composer.compose_inside(item, name, options))

    with collector_paused():
        pages = pictures_within(draw, draw_inside, len(drawing.graph))
    contents = contents_of(composed.graph, drawing.graph, composed.picture)
    modules = modules_in_order(drawing.graph)
    return write_graph_page(pages, options.theme, contents, modules).encode()


def _json(drawing: Drawing) -> bytes:
    """Write the whole graph, unless folding was asked for."""
    # only this format needs it
    from gradstep.graph.serialize import to_json

    graph, options = drawing.graph, drawing.options
    with collector_paused():
        if options.folds:
            (graph, _), _ = folded(folding_of(graph, options.halves), options)
        return to_json(with_portable_sources(graph, Path.cwd())).encode()


def _listing(drawing: Drawing) -> bytes:
    if drawing.flow is not None:
        # as what makes rows
        from gradstep_viz.flow.text import write_flow_text

        return write_flow_text(drawing.flow).encode()
    return _text(write_text, drawing)


def _text(write: Callable[[Picture, bool], str], drawing: Drawing) -> bytes:
    return write(drawing.picture, drawing.options.legend).encode()


def _text_format(
    suffixes: tuple[str, ...], write: Callable[[Picture, bool], str], mark: bytes
) -> Format:
    return Format(suffixes, partial(_text, write), is_laid_out=False, has_size=False, mark=mark)


FORMATS: dict[str, Format] = {
    "svg": Format((".svg",), _svg, mark=rb'\A(<[?!][^>]*>\s*)*<svg\b[^>]* class="gs\b'),
    "png": Format((".png",), partial(_painted, "png"), is_text=False, mark=rb"\A\x89PNG"),
    "pdf": Format((".pdf",), partial(_painted, "pdf"), is_text=False, mark=rb"\A%PDF"),
    "dot": _text_format((".dot", ".gv"), write_dot, rb"\A(//.*\n)*digraph gradstep\b"),
    "html": Format(
        (".html", ".htm"), _html, has_size=False,
        mark=rb"Content-Security-Policy\" content=\"default-src 'none'; script-src",
    ),
    "json": Format(
        (".json",), _json, is_laid_out=False, has_size=False, mark=rb'"format": "gradstep-graph"'
    ),
    "mermaid": _text_format((".mermaid", ".mmd"), write_mermaid, rb'\Aflowchart [\s\S]*\["<b>'),
    "txt": Format(
        (".txt", ".text"), _listing, is_laid_out=False, has_size=False,
        mark="^(forward ↓|backward ↑|flow · )".encode(),
    ),
}  # fmt: skip
"""The formats, by the names that users know."""


def size_of(drawing: Drawing, data: bytes) -> str:
    """Say how large a picture is that was asked for whatever it takes."""
    placed: Layout | FlowPicture = drawing.flow or drawing.layout
    width, height = ceil(placed.width), ceil(placed.height)
    boxes = plural(len(drawing.picture.boxes), "box", "boxes")
    if drawing.flow is not None:
        boxes = plural(len(drawing.flow.rows), "row")
    return f"{boxes}, {width:,} x {height:,} pixels, {format_bytes(len(data))}"


def _nothing(graph: Graph, view: View) -> NothingToDraw:
    if not len(graph):
        return NothingToDraw("the graph is empty", remedy="give a tensor that has a graph")
    return NothingToDraw(f"the graph has no {view} half", remedy="choose another view")


def place(
    picture: Picture, layout: str, renderers: Sequence[Renderer], own: Layout | None = None
) -> tuple[Layout, tuple[str, ...]]:
    """Lay the picture out: by ourselves, or by Graphviz if that is asked for and works.

    ``own`` is our layout, where it is known already.
    """
    if layout != "graphviz":
        return own or lay_out(picture), ()
    failures: list[str] = []
    missing: list[VizError] = []
    for renderer in renderers:
        if "json0" not in renderer.formats:
            continue
        try:
            answer = renderer.render(write_dot(picture), "json0")
            return read_layout(picture, answer), tuple(failures)
        except RendererUnavailable as error:
            missing.append(error)
        except RenderingFailed as error:
            failures.append(error.what)
        except Exception as error:
            failures.append(f"{renderer.name} crashed ({type(error).__name__})")
    if not failures:
        failures.append(str(all_failed("the layout of Graphviz", missing)))
    return own or lay_out(picture), (*failures, "drawn with gradstep's own layout instead")

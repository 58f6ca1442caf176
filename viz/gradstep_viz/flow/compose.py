"""From a graph to a picture of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from gradstep.graph.common_module import common_module, without_module
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.folding.totals import totals
from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_bytes
from gradstep.text import plural, printable
from gradstep_viz.errors import NothingToDraw, UnknownNode
from gradstep_viz.flow.layout import WIDTH, FlowPicture, lay_out_page, lay_out_rows
from gradstep_viz.flow.page import write_flow_page
from gradstep_viz.flow.rows import MOST_ROWS, USUAL_ROWS, Mark, Table, TableBuilder
from gradstep_viz.level_of_detail import FEWER, LEAST_SCALE
from gradstep_viz.options import RenderOptions
from gradstep_viz.picture.captions import zeros_text
from gradstep_viz.picture.compose import title_of_graph
from gradstep_viz.picture.formatting import parameters
from gradstep_viz.picture.wording import labels_within

LEAST_WIDTH = 420
PAGE_ROWS = 400


def make_flow_picture(
    graph: Graph, options: RenderOptions, marks: Mapping[int, Mark] = MappingProxyType({})
) -> FlowPicture:
    """Make the picture that the options ask for. Rows with nodes that have ``marks`` say these, and
    a line shows the way from there to the loss.

    Raises:
        NothingToDraw: the graph has no ops.
        UnknownNode: nothing that is folded goes by a name in ``expand``.
    """
    module, builder = _builder(graph, options, marks)
    most = options.max_boxes or USUAL_ROWS
    names, closed = (
        [name.removeprefix(f"{module}.") if module else name for name in given]
        for given in (options.expand, options.fold)
    )
    width = WIDTH if options.pixels is None else min(WIDTH, max(LEAST_WIDTH, options.pixels))

    def drawn(most: int) -> FlowPicture:
        try:
            table = builder.table(
                most, full=options.full, expand=names, depth=options.depth, shut=closed
            )
        except UnknownAddress as error:
            raise UnknownNode(error.what, remedy=error.remedy) from None
        return lay_out_rows(table, *_texts(graph, options, table, module), (), width)

    picture = drawn(most)
    if options.room is None or options.full or options.folds:
        return picture
    allowed = len(picture.rows)
    while options.room.scale(picture.width, picture.height) < LEAST_SCALE and allowed > 1:
        allowed = int(allowed * FEWER)
        picture = min(picture, drawn(allowed), key=lambda one: one.height)
    return picture


def make_flow_page(graph: Graph, options: RenderOptions) -> str:
    """Make the page on which its rows open and close."""
    module, builder = _builder(graph, options)
    table = builder.whole_table(PAGE_ROWS)
    frame, rows = lay_out_page(table, *_texts(graph, options, table, module))
    return write_flow_page(make_flow_picture(graph, options), frame, rows, options.theme)


def _builder(
    graph: Graph, options: RenderOptions, marks: Mapping[int, Mark] = MappingProxyType({})
) -> tuple[str, TableBuilder]:
    """Return the module that all names are within, and what makes tables."""
    module = common_module(graph)
    labels = labels_within(options.labels, module)
    builder = TableBuilder(without_module(graph, module), marks, labels)
    if builder.is_empty:
        raise NothingToDraw("the graph has no ops", remedy="give a tensor that has a graph")
    return module, builder


def _texts(
    graph: Graph, options: RenderOptions, table: Table, module: str
) -> tuple[str, Sequence[str]]:
    """Return title and captions; paths become those in the whole program."""
    for row in table.rows if module else ():
        row.path = f"{module}.{row.path}" if row.path else ""
    title = title_of_graph(graph) if options.title is None else options.title
    captions = () if options.captions is False else _captions(graph, table, module)
    return printable(title), captions


def _captions(graph: Graph, table: Table, module: str) -> Sequence[str]:
    total = totals(graph)
    rows = sum(row.kind != "header" for row in table.rows)
    parts = [f"{plural(total.ops or total.grad_fns, 'op')} in {plural(rows, 'row')}"]
    if total.parameters:
        parts.append(parameters(total.parameters))
    if total.saved_bytes:
        parts.append(f"{format_bytes(total.saved_bytes)} kept for the backward pass")
    text = f"flow · {', '.join(parts)} · values flow down, gradients flow up"
    if zeros := zeros_text(graph):
        text += f" · {zeros}"
    if graph.part is not None:
        text += f" · {printable(graph.part.which)}"
    if module:
        text += f" · names within {printable(module)}"
    return (text,)


__all__ = ["MOST_ROWS", "make_flow_picture"]

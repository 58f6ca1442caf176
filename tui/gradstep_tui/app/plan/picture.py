"""What the keys p and P save: the graph around a node as a picture, and the screen itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Final

from gradstep.debugger.snapshot import Outgoing, Snapshot
from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics
from gradstep.user_files import write_new

MOST_NODES = 5_000  # of which the picture shows gradients
HOPS = 3


def write_picture(
    snapshot: Snapshot, index: int, outgoing: Callable[[int], Iterable[Outgoing]]
) -> Path:
    """Write the backward graph around node ``index``, with the gradients that have been sent
    and a frame around the node that runs next, into the current directory.

    ``outgoing`` tells what a node has sent.

    Raises:
        VizError, OSError: it cannot be drawn, or not be written.
    """
    # pictures are drawn seldom, and the screen should not wait for them
    import gradstep_viz

    graph = _with_gradients(snapshot, outgoing)
    position = min(snapshot.position, snapshot.length - 1)
    title = f"{graph.title}: {snapshot.position} of {snapshot.length} nodes have run"
    around = None if len(graph) <= 60 else graph.address(index)
    drawing = gradstep_viz.render(graph, view="backward", title=title, around=around,
                         hops=HOPS if around else None, leaves=True)  # fmt: skip
    text = drawing.text
    if snapshot.position < snapshot.length:
        text = marked(text, graph.address(position))
    path = Path(f"backward-{snapshot.call}-at-{snapshot.position}.svg")
    return write_new(path, text).resolve()


def _with_gradients(snapshot: Snapshot, outgoing: Callable[[int], Iterable[Outgoing]]) -> Graph:
    """Return the graph, where each edge along which something was sent knows what that was."""
    graph = snapshot.graph
    if snapshot.length > MOST_NODES:
        return graph
    sent: dict[tuple[int, int], Statistics | None] = {
        (index, edge.output_nr): None if edge.value is None else edge.value.statistics
        for index in range(min(snapshot.length, snapshot.position + 1))
        for edge in outgoing(index)
        if edge.sent
    }
    statistics = dict(graph.edge_statistics)
    undefined = set(graph.edge_undefined)
    for edge in range(graph.edge_count):
        key = (graph.edge_sources[edge], graph.edge_output_nrs[edge])
        if key in sent:
            gradient = sent[key]
            if gradient is None:
                undefined.add(edge)
            else:
                statistics[edge] = gradient
    return replace(graph, edge_statistics=statistics, edge_undefined=frozenset(undefined))


def marked(svg: str, address: str) -> str:
    """Return ``svg`` with a frame and a pointer at the box of the node at ``address``.

    The frame is bold and the pointer a character, so that no colour is needed to see them.
    """
    start = re.compile(rf'<g [^>]*class="node[^>]*><title>{re.escape(escape(address))}[ \n<]')
    group = start.search(svg)
    box = group and re.compile(
        r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"[^>]*/>'
    ).search(svg, group.end())
    if not box:
        return svg
    x, y, width, height = map(float, box.groups())
    frame = (
        f'<rect class="here" x="{x - 4:g}" y="{y - 4:g}" width="{width + 8:g}" '
        f'height="{height + 8:g}" rx="9" style="fill:none;stroke:currentColor;stroke-width:2.5px"/>'
        f'<text x="{x - 18:g}" y="{y + height / 2 + 4:g}" class="h">▶</text>'
    )
    return svg[: box.end()] + frame + svg[box.end() :]


def tidied(svg: str) -> str:
    """Return Textual's picture of a screen in fonts that the reader has, instead of those that it
    would load, and with ids that depend on nothing but the picture."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    svg = svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
    svg = svg.replace("font-family: Fira Code", "font-family: ui-monospace, Menlo, Consolas")
    svg = _RUN.sub(_trimmed, svg)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


_CELL: Final = 12.2
"""How wide a character is in Textual's pictures."""
_BLANK: Final = "&#160;"
_RUN: Final = re.compile(
    r'(?P<head><text class="terminal-r\d+" x=")(?P<x>[\d.]+)(?P<y>" y="[\d.]+" textLength=")'
    r'(?P<length>[\d.]+)(?P<tail>"[^>]*>)(?P<text>[^<]*)</text>'
)


def _trimmed(run: re.Match[str]) -> str:
    """Return a run that begins at its first letter: librsvg and Inkscape drop blanks before it, and
    move what follows."""
    blanks = re.match(r"((?:&#160;)*)(.*?)((?:&#160;)*)$", run["text"], re.DOTALL)
    assert blanks is not None
    before, text, behind = blanks.groups()
    if not text:
        return ""
    x = float(run["x"]) + _CELL * len(before) / len(_BLANK)
    length = float(run["length"]) - _CELL * (len(before) + len(behind)) / len(_BLANK)
    return f"{run['head']}{x:g}{run['y']}{length:g}{run['tail']}{text}</text>"

"""A drawing as a file beside the document; for paper as vectors, where something makes those."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from gradstep_viz.embedding.drawing import Drawing
from gradstep_viz.errors import VizError
from gradstep_viz.output.files import write_atomically
from gradstep_viz.output.renderers import Renderer, all_failed, default_renderers
from gradstep_viz.output.renderers.command import RsvgConvert

_FOR_PAGES = re.compile(r"^(?:@supports|[^{]*\{color-scheme:).*\n?", re.MULTILINE)
_VARIABLE = re.compile(r"--gs-(\w+):(#\w+)")


def print_into(folder: Path, drawing: Drawing) -> Path:
    """Write the drawing into ``folder`` as PDF, or else as PNG, and return the file.

    What takes our SVG prints what the page shows; without any, Graphviz draws its own picture of
    the same graph.  What is there is not made again.

    Raises:
        RendererUnavailable: nothing on this machine can do it.
        CannotWrite: the file cannot be written.
    """
    name = _name_of(drawing.still.encode())
    for format in ("pdf", "png"):
        if (file := folder / f"{name}.{format}").is_file():
            return file
    format, data = _printed(drawing)
    return write_into(folder, data, format, name)


def write_plain_into(folder: Path, drawing: Drawing) -> Path:
    """Write the drawing into ``folder`` as an SVG in its first colours, without motion, for books,
    and return the file.

    Raises:
        CannotWrite: the file cannot be written.
    """
    return write_into(folder, _plain(drawing.still).encode(), "svg")


def write_into(folder: Path, data: bytes, format: str, name: str = "") -> Path:
    """Write a file whose name, unless given, follows from what is in it.

    Raises:
        CannotWrite: the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return write_atomically(folder / f"{name or _name_of(data)}.{format}", data)


def _name_of(data: bytes) -> str:
    return f"graph-{hashlib.sha256(data).hexdigest()[:16]}"


def _printed(drawing: Drawing) -> tuple[str, bytes]:
    failures: list[VizError] = []
    for format, renderer in _choices():
        text = _plain(drawing.still) if renderer.source == "svg" else drawing.dot
        if not text:
            continue
        try:
            return format, renderer.render(text, format)
        except VizError as error:
            failures.append(error)
    raise all_failed("a PDF of a picture", failures)


def _choices() -> Iterator[tuple[str, Renderer]]:
    """List renderers: vectors before pixels, and those of the SVG before those of DOT."""
    for format in ("pdf", "png"):
        able = [r for r in (*default_renderers(), RsvgConvert()) if format in r.formats]
        yield from ((format, renderer) for renderer in able if renderer.source == "svg")
        yield from ((format, renderer) for renderer in able if renderer.source == "dot")


def _plain(svg: str) -> str:
    """Give ``svg`` its first colours, for viewers that know no variables."""
    colours = dict(reversed(_VARIABLE.findall(svg)))
    svg = _FOR_PAGES.sub("", svg)
    return re.sub(r"var\(--gs-(\w+)\)", lambda match: colours[match[1]], svg)

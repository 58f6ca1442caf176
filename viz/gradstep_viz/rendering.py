"""From an object to bytes: choose view, format, layout and renderer, and write the file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradstep.graph.model import Graph
from gradstep.guest.collector import collector_paused
from gradstep_viz.errors import FormatMismatch, UnknownFormat
from gradstep_viz.formats import FORMATS, Drawing, size_of
from gradstep_viz.level_of_detail import chosen_part
from gradstep_viz.options import RenderOptions, validate
from gradstep_viz.output.files import require_replaceable, write_atomically
from gradstep_viz.output.renderers import Renderer, default_renderers
from gradstep_viz.output.svg import escape, title_of
from gradstep_viz.picture.links import Links

_MIME = {"svg": "image/svg+xml", "png": "image/png"}


class Rendering(NamedTuple):
    """A finished drawing: ``data`` in ``format``, and ``notes`` for the user."""

    format: str
    data: bytes
    notes: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether the format is text."""
        return FORMATS[self.format].is_text

    @property
    def text(self) -> str:
        """The drawing as text, if its format is text."""
        if not self.is_text:
            raise UnknownFormat(f"{self.format} is not text", remedy="use .data")
        return self.data.decode()

    def __repr__(self) -> str:
        about = f": {title_of(self.text)}" if self.format == "svg" else ""
        return f"<{self.format} of {len(self.data):,} bytes{about}>"

    def __str__(self) -> str:
        return self.text if self.is_text else repr(self)

    def __bytes__(self) -> bytes:
        return self.data

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the file atomically: completely or not at all.

        Raises:
            CannotWrite: there is another file, which gradstep has not written.
        """
        require_replaceable(Path(path), FORMATS[self.format].mark)
        return write_atomically(Path(path), self.data)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if not self.is_text:
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
        format: one of :data:`~gradstep_viz.formats.FORMATS`.
        options: how to draw it.
        folder: where relative names of source files begin, the current directory by default.
        position: the order of the node that a debugger runs next.
        renderers: who turns text into pictures; by default those of this machine.
    """
    options = RenderOptions() if options is None else options
    validate("format", format, FORMATS)
    chosen = FORMATS[format]
    links = None
    if options.link is not None:
        links = Links(options.link, Path.cwd() if folder is None else folder)
        links.check()
    with collector_paused():
        graph = chosen_part(graph, options)
    helpers = default_renderers() if renderers is None else renderers
    drawing = Drawing(graph, options, helpers, position, links, on_page=chosen.has_size)
    data = chosen.write(drawing)
    notes = drawing.notes
    if chosen.has_size and (options.full or options.max_boxes is not None):
        notes.append(size_of(drawing, data))
    return Rendering(format, data, tuple(dict.fromkeys(notes)))


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
    suffix = path.suffix.lower()
    by_suffix = next((name for name, kind in FORMATS.items() if suffix in kind.suffixes), None)
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

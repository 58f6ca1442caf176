"""Our SVG writer, and the finish that makes a picture a good citizen of any page.

The picture can be inlined beside others: its ids and its style carry a prefix made from its
content.  It follows the reader's colour scheme, names itself to screen readers, and shows the
light colours where a viewer knows no CSS variables.  The same content gives the same bytes.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from io import BytesIO
from itertools import chain
from typing import Final

import numpy as np

from gradstep.guest.collector import collector_paused
from gradstep_viz import theme
from gradstep_viz.output.svg.boxes import draw_boxes
from gradstep_viz.output.svg.elements import escape, text_at
from gradstep_viz.output.svg.frames import draw_frames
from gradstep_viz.output.svg.legend import draw_legend
from gradstep_viz.output.svg.lines import draw_labels, draw_lines, draw_ports
from gradstep_viz.output.svg.style import style
from gradstep_viz.output.text import alternative_text, describe
from gradstep_viz.picture.geometry import HEADER_TITLE_Y, Layout
from gradstep_viz.picture.model import Picture


@collector_paused()
def write_svg(
    picture: Picture,
    layout: Layout,
    theme_name: str = "auto",
    *,
    plain: bool = False,
    legend: bool = False,
    linked: bool = True,
    halos: bool = True,
    pixels: float | None = None,
    aspect: float | None = None,
) -> bytes:
    """Write the whole SVG document, ready to be saved or inlined.

    ``plain`` keeps to the CSS that converters to other formats know: fixed colours, no variables.
    ``legend`` explains below the picture what is in it; ``linked`` keeps the links of boxes.
    Without ``halos``, labels stand on a rectangle: where a halo would become text of its own.
    A picture that is wider than ``pixels`` is shown so wide, in the middle of a sheet with the
    ``aspect`` if that is given.
    """
    body = _body(picture, layout, linked, halos)
    width, height = layout.width, layout.height
    if legend:
        explained = draw_legend(picture, width, height)
        body = chain(body, (explained.markup,))
        width, height = max(width, explained.width), height + explained.height
    return finish(
        body,
        width,
        height,
        title=alternative_text(picture),
        description=describe(picture),
        theme_name=theme_name,
        rules=() if halos else ("@scope .label{stroke:none}",),
        plain=plain,
        framed=bool(picture.frames),
        ported=bool(layout.ports),
        marked=any(picture.boxes.column("mark")),
        role="group" if layout.ports or (linked and any(picture.boxes.column("href"))) else "img",
        pixels=pixels,
        aspect=aspect,
    )


BATCH: Final = 512
"""So many lines or boxes are written at a time: what one of them takes must not add up."""


def _body(picture: Picture, layout: Layout, linked: bool, halos: bool) -> Iterator[str]:
    """Write the elements, some of them in one text."""
    if picture.title:
        yield text_at(theme.MARGIN, HEADER_TITLE_Y, picture.title, "t")
    for x, y, text in layout.captions:
        yield text_at(x, y, text, "m")
    yield from draw_frames(picture, layout)
    lines, routes = picture.lines, layout.routes
    for part in _batches(len(lines)):
        yield "\n".join(draw_lines(lines, routes, part))
    yield from draw_ports(layout.ports)
    for part in _batches(len(lines)):
        if labels := "\n".join(draw_labels(lines, routes, part, halos)):
            yield labels
    for part in _batches(len(picture.boxes)):
        yield "\n".join(draw_boxes(picture.boxes, layout.places, part, linked))


def _batches(count: int) -> Iterator[slice]:
    return (slice(first, first + BATCH) for first in range(0, count, BATCH))


_TITLE = re.compile(r'<title id="[^"]*">(?P<title>.*?)</title>', re.DOTALL)


def title_of(svg: str) -> str:
    """Read the sentence by which an SVG of gradstep names itself."""
    match = _TITLE.search(svg)
    return unescape(match["title"]) if match else ""


def with_title(svg: str, title: str) -> str:
    """Name the same picture differently."""
    match = _TITLE.search(svg)
    if match is None:
        return svg
    return svg[: match.start("title")] + escape(title) + svg[match.end("title") :]


def finish(
    body: Iterable[str],
    width: float,
    height: float,
    *,
    title: str,
    description: str,
    theme_name: str,
    rules: Sequence[str] = (),
    plain: bool = False,
    framed: bool = False,
    ported: bool = False,
    marked: bool = False,
    role: str = "img",
    pixels: float | None = None,
    aspect: float | None = None,
) -> bytes:
    """Wrap drawn elements, which come in parts, into a document; an id in them is written as
    ``id="@-name"``, and a link to it as ``href="#@-name"``.

    ``rules`` are added to the style sheet; ``@scope`` stands for this document, ``@name`` for
    the beginning of names that belong to it.  What is wider than ``pixels`` is shown so wide; a
    sheet with the ``aspect`` has the drawing in its middle.
    """
    w, h = math.ceil(width), math.ceil(height)
    if aspect is not None:
        w, h = max(w, math.ceil(h * aspect)), max(h, math.ceil(w / aspect))
    left, top = (w - math.ceil(width)) // 2, (h - math.ceil(height)) // 2
    scale = 1 if pixels is None or (aspect is None and pixels >= w) else pixels / w
    content = hashlib.sha256()
    content.update(f"{theme_name}\n{w} {h}\n{title}\n{description}\n".encode("utf-8", "replace"))
    prefix = f"gs-{_UNKNOWN}"
    added = "".join(f"\n{rule}" for rule in rules)
    added = added.replace("@scope", f".{prefix}").replace("@name", prefix)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gs {prefix}" role="{role}" '
        f'aria-labelledby="{prefix}-title {prefix}-desc" '
        f'viewBox="{-left} {-top} {w} {h}" width="{round(w * scale)}" height="{round(h * scale)}">'
    )
    corner = f'x="{-left}" y="{-top}" ' if left or top else ""
    head = (
        opening,
        f'<title id="{prefix}-title">{escape(title)}</title>',
        f'<desc id="{prefix}-desc">{escape(description)}</desc>',
        f"<style>\n{style(prefix, theme_name, plain, framed, ported, marked)}{added}\n</style>",
        f'<rect class="bg" {corner}width="{w}" height="{h}"/>',
    )
    document, named = BytesIO(), f'id="{prefix}-'.encode()
    linked = f'href="#{prefix}-'.encode()
    document.write("\n".join(head).encode())
    separator = b""
    for text in body:
        # as bytes at once: where a text has one arrow, each of its characters takes two
        part = text.encode("utf-8", "replace")
        content.update(separator)
        content.update(part)
        document.write(b"\n")
        if b'href="#@-' in part:
            part = part.replace(b'href="#@-', linked)
        document.write(named.join(part.split(b'id="@-')))  # a quarter quicker than replace()
        separator = b"\n"
    document.write(b"\n</svg>\n")
    for rule in rules:
        content.update(rule.encode("utf-8", "replace"))
    _fill_in(document.getbuffer(), content.hexdigest()[: len(_UNKNOWN)])
    return document.getvalue()


_UNKNOWN: Final = "\0" * 8
"""Stands in a document where its hash will; nothing else there is 0."""

_WINDOW: Final = 1 << 20


def _fill_in(document: memoryview, name: str) -> None:
    """Write ``name`` wherever :data:`_UNKNOWN` stands: in place, since another copy of a large
    document would take longer than all of its elements."""
    letters, done = np.frombuffer(name.encode(), np.uint8), 0
    whole = np.frombuffer(document, np.uint8)
    for first in range(0, len(whole), _WINDOW):
        places = np.flatnonzero(whole[first : first + _WINDOW] == 0) + first
        whole[places] = letters[(np.arange(len(places)) + done) % len(letters)]
        done += len(places)

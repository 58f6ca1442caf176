"""Our SVG writer, and the finish that makes a picture a good citizen of any page.

The picture can be inlined beside others: its ids and its style carry a prefix made from its
content.  It follows the reader's colour scheme, names itself to screen readers, and shows the
light colours where a viewer knows no CSS variables.  The same content gives the same bytes.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from html import unescape

from viz import theme
from viz.output.svg.boxes import draw_box
from viz.output.svg.elements import escape, text_at
from viz.output.svg.frames import draw_frames
from viz.output.svg.legend import draw_legend
from viz.output.svg.lines import draw_line, label_ground, label_text
from viz.output.svg.style import style
from viz.output.text import alternative_text, describe
from viz.picture.geometry import HEADER_TITLE_Y, Layout
from viz.picture.model import Picture


def write_svg(
    picture: Picture,
    layout: Layout,
    theme_name: str = "auto",
    *,
    plain: bool = False,
    legend: bool = False,
    linked: bool = True,
    halos: bool = True,
) -> str:
    """Write the whole SVG document, ready to be saved or inlined.

    ``plain`` keeps to the CSS that converters to other formats know: fixed colours, no variables.
    ``legend`` explains below the picture what is in it; ``linked`` keeps the links of boxes.
    Without ``halos``, labels stand on a rectangle: where a halo would become text of its own.
    """
    body = "\n".join(_body(picture, layout, linked, halos))
    width, height = layout.width, layout.height
    if legend:
        explained = draw_legend(picture, width, height)
        body = f"{body}\n{explained.markup}"
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
        role="group" if linked and any(picture.boxes.column("href")) else "img",
    )


def _body(picture: Picture, layout: Layout, linked: bool, halos: bool) -> Iterator[str]:
    if picture.title:
        yield text_at(theme.MARGIN, HEADER_TITLE_Y, picture.title, "t")
    for x, y, text in layout.captions:
        yield text_at(x, y, text, "m")
    yield from draw_frames(picture, layout)
    for line, route in zip(picture.lines, layout.routes, strict=True):
        yield draw_line(line, route)
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if route.label and line.label:
            if not halos:
                yield label_ground(line, route.label)
            yield label_text(line, route.label, line.label)
    for box, place in zip(picture.boxes, layout.places, strict=True):
        yield draw_box(box, place, linked)


_TITLE = re.compile(r'<title id="[^"]*">(?P<title>.*?)</title>', re.DOTALL)


def title_of(svg: str) -> str:
    """Read the sentence by which an SVG of gradstep names itself."""
    found = _TITLE.search(svg)
    return unescape(found["title"]) if found else ""


def with_title(svg: str, title: str) -> str:
    """Name the same picture differently."""
    found = _TITLE.search(svg)
    if found is None:
        return svg
    return svg[: found.start("title")] + escape(title) + svg[found.end("title") :]


def finish(
    body: str,
    width: float,
    height: float,
    *,
    title: str,
    description: str,
    theme_name: str,
    rules: Sequence[str] = (),
    plain: bool = False,
    framed: bool = False,
    role: str = "img",
) -> str:
    """Wrap drawn elements into a document; an id in them is written as ``id="@-name"``.

    ``rules`` are added to the style sheet; ``@scope`` stands for this document, ``@name`` for
    the beginning of names that belong to it.
    """
    w, h = math.ceil(width), math.ceil(height)
    content = hashlib.sha256()
    for part in (f"{theme_name}\n{w} {h}\n{title}\n{description}\n", body, *rules):
        content.update(part.encode("utf-8", "replace"))
    prefix = f"gs-{content.hexdigest()[:8]}"
    added = "".join(f"\n{rule}" for rule in rules)
    added = added.replace("@scope", f".{prefix}").replace("@name", prefix)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gs {prefix}" role="{role}" '
        f'aria-labelledby="{prefix}-title {prefix}-desc" '
        f'viewBox="0 0 {w} {h}" width="{w}" height="{h}">'
    )
    return "\n".join(
        (
            head,
            f'<title id="{prefix}-title">{escape(title)}</title>',
            f'<desc id="{prefix}-desc">{escape(description)}</desc>',
            f"<style>\n{style(prefix, theme_name, plain, framed)}{added}\n</style>",
            f'<rect class="bg" width="{w}" height="{h}"/>',
            body.replace('id="@-', f'id="{prefix}-'),
            "</svg>\n",
        )
    )

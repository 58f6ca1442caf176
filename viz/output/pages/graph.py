"""A page around a picture: pan, zoom, search, all that is known about what is clicked, and groups
that open and close.

Without a script the picture is there, and scrolls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viz.output.pages.expansion import PagePicture
from viz.output.pages.frame import write_page

_BODY = """\
<header hidden>
<input type="search" id="search" placeholder="search (/)" aria-label="search the nodes">
<output id="found" aria-live="polite"></output>
<nav id="trail" aria-label="opened groups"></nav>
<span class="space"></span>
<button type="button" id="smaller" aria-label="zoom out" title="zoom out (-)">−</button>
<button type="button" id="larger" aria-label="zoom in" title="zoom in (+)">+</button>
<button type="button" id="fit" title="all of it (0)">Fit</button>
</header>
<main>
{pictures}
</main>
<aside id="detail" aria-label="details" hidden></aside>"""


def write_graph_page(pictures: Sequence[PagePicture], theme_name: str = "auto") -> str:
    """Write the page around the first of ``pictures``, in which its groups open the others."""
    drawn = [
        f"<section{' hidden' if number else ''}>\n{one.svg}</section>"
        for number, one in enumerate(pictures)
    ]
    title = pictures[0].picture.title
    body = _BODY.format(pictures="\n".join(drawn))
    return write_page("graph", [body], [_data(one) for one in pictures], title, theme_name)


def _data(one: PagePicture) -> dict[str, Any]:
    boxes = []
    for number, box in enumerate(one.picture.boxes):
        known: dict[str, Any] = {"key": box.key, "title": box.title, "tooltip": box.tooltip}
        if box.href:
            known["href"] = box.href
        if box.opens:
            known |= {"name": box.opens, "opens": one.opens.get(number)}
        boxes.append(known)
    return {
        "name": one.name,
        "parent": one.parent,
        "boxes": boxes,
        "lines": [
            [line.key, line.source, line.target, line.kind, line.label]
            for line in one.picture.lines
        ],
    }

"""A page around a picture: pan, zoom, search, and all that is known about what is clicked.

Without a script the picture is there, and scrolls.
"""

from __future__ import annotations

from typing import Any

from viz.pages.frame import write_page
from viz.picture import Picture

_BODY = """\
<header hidden>
<input type="search" id="search" placeholder="search (/)" aria-label="search the nodes">
<output id="found" aria-live="polite"></output>
<span class="space"></span>
<button type="button" id="smaller" aria-label="zoom out" title="zoom out (-)">−</button>
<button type="button" id="larger" aria-label="zoom in" title="zoom in (+)">+</button>
<button type="button" id="fit" title="all of it (0)">Fit</button>
</header>
<main>
{svg}</main>
<aside id="detail" aria-label="details" hidden></aside>"""


def write_graph_page(svg: str, picture: Picture, theme_name: str = "auto") -> str:
    """The page around ``svg``, which shows ``picture``."""
    return write_page("graph", [_BODY.format(svg=svg)], _data(picture), picture.title, theme_name)


def _data(picture: Picture) -> dict[str, Any]:
    boxes = picture.boxes
    return {
        "boxes": [[box.key, box.title, box.tooltip] for box in boxes],
        "lines": [
            [line.key, line.source, line.target, line.kind, line.label] for line in picture.lines
        ],
    }

"""A page around a picture: pan, zoom, search, all that is known about what is clicked, and groups
that open and close.

Without a script the picture is there, and scrolls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from gradstep.text import printable
from gradstep_viz.output.pages.contents import Contents
from gradstep_viz.output.pages.expansion import PagePicture
from gradstep_viz.output.pages.frame import packed, write_page
from gradstep_viz.output.pages.measures import Measures
from gradstep_viz.output.svg import escape

MANY: Final = 400
"""Boxes beyond which a page shows texts only where they can be read."""

_BODY = """\
<header hidden>
<button type="button" id="modules" aria-label="modules" title="the tree of modules (m)" hidden>
☰</button>
<input type="search" id="search" placeholder="search (/)" aria-label="search the nodes">
<output id="found" aria-live="polite"></output>
<nav id="trail" aria-label="opened groups"></nav>
<span class="space"></span>
<output id="scale" aria-live="polite"></output>
<select id="colour" aria-label="colour" title="colour the boxes (c)" hidden>
<option value="">Colour: kind of node</option>
<option value="0">Colour: size of gradients</option>
<option value="1">Colour: time</option>
<option value="2">Colour: saved memory</option>
<option value="3">Colour: parameters</option>
<option value="4">Colour: elements</option>
<option value="5">Colour: turn in the backward pass</option>
<option value="file">Colour: a JSON file …</option>
</select>
<input type="file" id="file" accept=".json,application/json" aria-label="JSON file" hidden>
<span id="views" role="group" aria-label="halves" hidden>
<button type="button" value="forward" title="the forward half (f)">Forward</button>
<button type="button" value="backward" title="the backward half (b)">Backward</button>
<button type="button" value="both" title="both halves (B)">Both</button>
</span>
<button type="button" id="smaller" aria-label="zoom out" title="zoom out (-)">−</button>
<button type="button" id="larger" aria-label="zoom in" title="zoom in (+)">+</button>
<button type="button" id="fit" title="all of it (0)">Fit</button>
<button type="button" id="save" title="save the visible part as SVG (s)">Save</button>
<button type="button" id="keys" aria-label="keys" title="keys (?)">?</button>
</header>
<nav id="tree" aria-label="modules" hidden></nav>
<main>
{pictures}
</main>
<aside id="detail" aria-label="details" hidden></aside>
<dialog id="help" aria-label="keys">
<h2>Keys</h2>
<dl>
{keys}
</dl>
<button type="button" id="done">Close</button>
</dialog>"""

_KEYS = {
    "/": "search names, ops, parameters and folded groups; also rms&gt;0.1, params&gt;1000, "
    "bytes&gt;1e6, op:addmm, train.py:16, &quot;two words&quot;; several at once, which all have "
    "to hold; and a round of a loop: i = 1,234",
    "m": "show the tree of modules, each of which opens in one step",
    "n, N": "next match, previous match",
    "Enter in the search": "next match; what is inside a closed group opens",
    "Tab": "go from box to box",
    "arrows": "follow the lines of a box",
    "Enter": "open a group, or show the details of a box",
    "Space": "show the details of a box",
    "Backspace": "close the last opened group",
    "Escape": "close the details",
    "+, -, 0": "zoom in, zoom out, show all",
    "f, b, B": "show the forward half, the backward half, both",
    "c": "colour the boxes by the size of gradients, by time, by saved memory, ...",
    "s": "save the visible part as SVG",
    "?": "show these keys",
}


def write_graph_page(
    pictures: Sequence[PagePicture],
    theme_name: str = "auto",
    contents: Mapping[int, Contents] = MappingProxyType({}),
    modules: Sequence[str] = (),
) -> str:
    """Write the page around the first of ``pictures``, in which its groups open the others;
    ``contents`` is what is folded in the boxes of the first one, ``modules`` are the paths of all
    modules."""
    # the others as text, from which the script makes them when they are opened
    opened = [
        '<section class="many"' if len(one.picture.boxes) > MANY else "<section" for one in pictures
    ]
    drawn = [f"{opened[0]}>\n{pictures[0].svg}</section>"]
    drawn += [f"{opening} hidden></section>" for opening in opened[1:]]
    title = pictures[0].picture.title
    keys = "\n".join(f"<dt>{escape(key)}</dt><dd>{does}</dd>" for key, does in _KEYS.items())
    body = _BODY.format(pictures="\n".join(drawn), keys=keys)
    data = [_data(one, {} if number else contents) for number, one in enumerate(pictures)]
    for one, picture in zip(data[1:], pictures[1:], strict=True):
        one["svg"] = picture.svg
    data[0]["modules"] = [printable(path) for path in modules]
    for one, picture in zip(data, pictures, strict=True):
        for index in picture.alike:
            one["boxes"][index]["alike"] = pictures[picture.opens[index]].name
    return write_page("graph", [body], packed(data), title, theme_name)


def _short(measures: Measures) -> list[float | None]:
    return [size and float(f"{size:.3g}") for size in measures]


def _data(one: PagePicture, contents: Mapping[int, Contents]) -> dict[str, Any]:
    boxes = []
    for number, box in enumerate(one.picture.boxes):
        known: dict[str, Any] = {"key": box.key, "title": box.title, "tooltip": box.tooltip}
        if box.href:
            known["href"] = box.href
        if box.opens:
            known |= {"name": box.opens, "opens": one.opens.get(number)}
        if box.chips:
            known["chips"] = [chip.name for chip in box.chips]
        if number in contents:
            known["inside"], ops = contents[number]
            known |= {"partial": True} if ops is None else {"ops": ops}
        of_box, of_rows = one.measures[number]
        if any(of_box):
            known["measures"] = _short(of_box)
        if of_rows:
            known["rows"] = [_short(row) for row in of_rows]
        boxes.append(known)
    return {
        "name": one.name,
        "parent": one.parent,
        "halves": "".join(half[0] for half in one.picture.boxes.column("half")),
        "boxes": boxes,
        "lines": [
            [line.key, line.source, line.target, line.kind, line.label, int(place is not None)]
            for line, place in zip(
                one.picture.lines, one.layout.routes.column("label"), strict=True
            )
        ],
    }

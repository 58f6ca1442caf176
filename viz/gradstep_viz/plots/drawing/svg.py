"""What matplotlib writes as SVG, made a picture like all of ours: it takes the colours of the page
around it, can stand beside others, and names itself."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from typing import Final

import numpy as np

from gradstep_viz.output.svg import finish
from gradstep_viz.output.svg.style import both_rule
from gradstep_viz.plots.drawing.canvas import Box, Canvas
from gradstep_viz.plots.drawing.palette import DARK, LIGHT, SHADE_TOKENS
from gradstep_viz.plots.sizes import Ints
from gradstep_viz.theme import Tokens

_TOKENS: Final = {colour: token for token, colour in LIGHT.items()}
_PAINT = re.compile(r"(?<![-\w])(fill|stroke): ?(#[0-9a-f]{6})")
_FAMILY = re.compile(r"font-family:[^;]*; ?")
_REFERENCE = re.compile(r"(?P<before>^|\()#(?P<id>[^)]+)")

_REFERRING: Final = {"href", "clip-path", "style"}


def write_svg(canvas: Canvas, title: str, description: str, theme_name: str) -> str:
    """Write what was drawn on a canvas in the colours of :data:`.palette.LIGHT`."""
    base = DARK if theme_name == "dark" else LIGHT
    root = _tidied(ElementTree.fromstring(canvas.write("svg")), base)
    for number, (box, (fills, tokens)) in enumerate(canvas.cells):
        place = root.find(f".//*[@id='cells-{number}']")
        assert place is not None
        del place.attrib["id"]
        place[:] = _cells(box, fills, tokens, base, f"cells-{number}")
    _name_ids(root)
    body = "\n".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    rules = [
        "@scope *{stroke-linejoin:round;stroke-linecap:butt}",
        "@scope{" + ";".join(f"--gs-{token}:{base[token]}" for token in SHADE_TOKENS) + "}",
    ]
    if theme_name == "auto":
        light, dark = ({token: theme[token] for token in SHADE_TOKENS} for theme in (LIGHT, DARK))
        rules.append(both_rule("@scope", light, dark))
    return finish(
        [body], canvas.width, canvas.height, title=title, description=description,
        theme_name=theme_name, rules=rules,
    ).decode()  # fmt: skip


def _tidied(root: ElementTree.Element, base: Tokens) -> ElementTree.Element:
    """Leave out what a picture in a page does not need, or must not have."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for name in [*element.attrib]:
            element.set(name.rpartition("}")[2], element.attrib.pop(name))
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if (style := element.get("style")) is not None:
            element.set("style", _painted(_FAMILY.sub("", style), base))
        if (path := element.get("d")) is not None:
            element.set("d", " ".join(path.split()))
        element.tail = None
        if element.text is not None and not element.text.strip():
            element.text = None
    figure = next(child for child in root if child.tag == "g")
    root[:] = [
        figure,
        *(child for child in root if child.tag == "defs" and child.find("style") is None),
    ]
    del figure[0]  # the ground, which all pictures have
    return root


def _painted(style: str, base: Tokens) -> str:
    """Give what is painted in a colour of ours that of the page.

    >>> _painted("fill: #1b1f24; stroke-width: 2", LIGHT)
    'fill:#1b1f24;fill:var(--gs-ink); stroke-width: 2'
    """
    return _PAINT.sub(
        lambda match: (
            _paint(match[1], _TOKENS[match[2]], base) if match[2] in _TOKENS else match[0]
        ),
        style,
    )


def _paint(name: str, token: str, base: Tokens) -> str:
    return f"{name}:{base[token]};{name}:var(--gs-{token})"


def _name_ids(root: ElementTree.Element) -> None:
    """Keep the ids that something refers to, under names that no other picture has."""
    elements = [*root.iter()]
    used = {
        target
        for element in elements
        for name, value in element.attrib.items()
        if name in _REFERRING
        for _, target in _REFERENCE.findall(value)
    }
    prefix = hashlib.sha256(ElementTree.tostring(root)).hexdigest()[:8]
    numbers: dict[str, str] = {}
    for element in elements:
        known = element.attrib.pop("id", "")
        if known in used:
            numbers[known] = f"gs-{prefix}-{len(numbers)}"
            element.set("id", numbers[known])
        elif known.startswith("cells-"):
            element.set("class", known)
    for element in elements:
        for name in _REFERRING & element.attrib.keys():
            value = element.attrib[name]
            element.set(name, _REFERENCE.sub(lambda f: f"{f[1]}#{numbers[f[2]]}", value))


def _cells(
    box: Box, fills: Ints, tokens: list[str], base: Tokens, name: str
) -> list[ElementTree.Element]:
    """Draw the cells of a map: of each colour one path, in which a run of cells is a rectangle."""
    rows, columns = fills.shape
    scale = f"{box.width / columns:.9g} {box.height / rows:.9g}"
    group = ElementTree.Element(
        "g",
        {
            "class": name,
            "transform": f"translate({box.x:.9g} {box.y:.9g}) scale({scale})",
            "shape-rendering": "crispEdges",
        },
    )
    parts: dict[int, list[str]] = {}
    for row in range(rows):
        edges = [0, *(np.flatnonzero(np.diff(fills[row])) + 1).tolist(), columns]
        for start, end in pairwise(edges):
            fill = int(fills[row, start])
            if tokens[fill] != "bg":
                parts.setdefault(fill, []).append(f"M{start} {row}h{end - start}v1H{start}z")
    for fill, path in sorted(parts.items()):
        paint = _paint("fill", tokens[fill], base)
        ElementTree.SubElement(group, "path", {"d": "".join(path), "style": paint})
    return [group]

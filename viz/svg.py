"""Our SVG writer, and the finish that makes a picture a good citizen of any page.

The picture can be inlined beside others: its ids and its style carry a prefix made from its
content.  It follows the reader's colour scheme, names itself to screen readers, and shows the
light colours where a viewer knows no CSS variables.  The same content gives the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from html import unescape

from viz import theme
from viz.alternative_text import alternative_text
from viz.color_scheme import page_rules
from viz.geometry import CHIP_GAP, CHIP_ROW, HEADER_TITLE_Y, Label, Layout, Place, Route
from viz.picture import Box, Chip, Line, Picture
from viz.text import describe

_ILLEGAL = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\ud800-\\udfff\\ufffe\\uffff]")
_SPECIAL = re.compile(f'[&<>"]|{_ILLEGAL.pattern}')
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})

TIP_LENGTH = 7.5
TIP_HALF_WIDTH = 3.1


def escape(text: str) -> str:
    """Text for XML, in an element or in quotes; characters that XML 1.0 forbids are dropped.

    >>> escape('a < "b" & c\\x00')
    'a &lt; &quot;b&quot; &amp; c'
    """
    plain = not ("<" in text or "&" in text or ">" in text or '"' in text)
    if plain and (text.isprintable() or not _SPECIAL.search(text)):
        return text
    return _ILLEGAL.sub("", text).translate(_ESCAPES)


def write_svg(
    picture: Picture, layout: Layout, theme_name: str = "auto", *, plain: bool = False
) -> str:
    """The whole SVG document, ready to be saved or inlined.

    ``plain`` keeps to the CSS that converters to other formats know: fixed colours, no variables.
    """
    body = "\n".join(_body(picture, layout))
    return finish(
        body,
        layout.width,
        layout.height,
        title=alternative_text(picture),
        description=describe(picture),
        theme_name=theme_name,
        plain=plain,
    )


_TITLE = re.compile(r'<title id="[^"]*">(?P<title>.*?)</title>', re.DOTALL)


def title_of(svg: str) -> str:
    """The sentence by which an SVG of ours names itself."""
    found = _TITLE.search(svg)
    return unescape(found["title"]) if found else ""


def with_title(svg: str, title: str) -> str:
    """The same picture under another name."""
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
) -> str:
    """Wrap drawn elements into a document; an id in them is written as ``id="@-name"``.

    ``rules`` are added to the style sheet; ``@scope`` stands for this document, ``@name`` for
    the beginning of names that belong to it.
    """
    w, h = math.ceil(width), math.ceil(height)
    key = f"{theme_name}\n{w} {h}\n{title}\n{description}\n{body}{''.join(rules)}"
    prefix = "gs-" + hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:8]
    added = "".join(f"\n{rule}" for rule in rules)
    added = added.replace("@scope", f".{prefix}").replace("@name", prefix)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gs {prefix}" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-desc" '
        f'viewBox="0 0 {w} {h}" width="{w}" height="{h}">'
    )
    return "\n".join(
        (
            head,
            f'<title id="{prefix}-title">{escape(title)}</title>',
            f'<desc id="{prefix}-desc">{escape(description)}</desc>',
            f"<style>\n{style(prefix, theme_name, plain)}{added}\n</style>",
            f'<rect class="bg" width="{w}" height="{h}"/>',
            body.replace('id="@-', f'id="{prefix}-'),
            "</svg>\n",
        )
    )


def style(prefix: str, theme_name: str, plain: bool = False) -> str:
    """The style sheet of one picture; every rule is bound to its class ``prefix``."""
    base = theme.DARK if theme_name == "dark" else theme.LIGHT
    scope = f".{prefix}"
    variables = "" if plain else f"{_variables(base)};"
    font = f"font-size:{theme.TEXT_SIZE}px;font-family:{theme.FONT_FAMILY}"
    rules = [f"{scope}{{{variables}{font}}}"]
    if theme_name == "auto" and not plain:
        rules += page_rules(scope, theme.LIGHT, theme.DARK)

    def paint(selector: str, extra: str = "", **properties: str) -> None:
        painted = [
            f"{name}:{base[token]}" + ("" if plain else f";{name}:var(--gs-{token})")
            for name, token in properties.items()
        ]
        rules.append(f"{scope} {selector}{{{';'.join([*painted, extra]).strip(';')}}}")

    paint(".bg", fill="bg")
    paint("text", "white-space:pre", fill="ink")
    paint(".m", f"font-size:{theme.MUTED_SIZE}px", fill="mute")
    paint(".v", f"font-size:{theme.MUTED_SIZE}px")
    paint(".h", "font-weight:600")
    paint(".t", f"font-size:{theme.TITLE_SIZE}px;font-weight:600")
    paint(".e", "text-anchor:end")
    paint(".label", "stroke-width:4px;stroke-linejoin:round;paint-order:stroke", stroke="bg")
    paint(".node rect", "stroke-width:1.2px")
    for role, (fill, stroke) in theme.BOX_ROLES.items():
        paint(f".{role}>rect", fill=fill, stroke=stroke)
    paint(".node .chip rect", "stroke-width:.8px")
    paint(".edge path", "fill:none;stroke-width:1.3px", stroke="line")
    for role, token in theme.LINE_ROLES.items():
        paint(f".{role} path", stroke=token)
        paint(f".{role} .tip", "stroke:none", fill=token)
    paint(".saved path", "stroke-dasharray:2 3")
    paint("text.x", "font-weight:600", fill="alert")
    return "\n".join(rules)


def _variables(tokens: theme.Tokens) -> str:
    return ";".join(f"--gs-{name}:{value}" for name, value in tokens.items())


def _body(picture: Picture, layout: Layout) -> Iterator[str]:
    if picture.title:
        yield text_at(theme.MARGIN, HEADER_TITLE_Y, picture.title, "t")
    for x, y, text in layout.captions:
        yield text_at(x, y, text, "m")
    for line, route in zip(picture.lines, layout.routes, strict=True):
        yield _edge(line, route)
    for line, route in zip(picture.lines, layout.routes, strict=True):
        if route.label and line.label:
            yield label_text(line, route.label, line.label)
    for box, place in zip(picture.boxes, layout.places, strict=True):
        yield _node(box, place)


def text_at(x: float, y: float, said: str, classes: str = "") -> str:
    """A text whose baseline begins at (``x``, ``y``)."""
    named = f' class="{classes}"' if classes else ""
    return f'<text x="{x:.9g}" y="{y:.9g}"{named}>{escape(said)}</text>'


def _node(box: Box, place: Place) -> str:
    x, y, width, height = place
    classes = f"node {box.role} alert" if box.alert else f"node {box.role}"
    left, baseline = f"{x + theme.PADDING:.9g}", f"{y + 19:.9g}"
    behind = ""
    if box.stacked:  # a second card, seen at the right only: arrows end above and below
        back = Place(x + theme.STACK, y + theme.STACK, width, height - 2 * theme.STACK)
        behind = rectangle(back, theme.CORNER)
    text = (
        f'<g id="@-{box.key}" class="{classes}"><title>{escape(box.tooltip)}</title>'
        f"{behind}{rectangle(place, theme.CORNER)}"
        f'<text x="{left}" y="{baseline}" class="h">{escape(box.title)}</text>'
    )
    if box.right:
        alert = "e x" if box.alert and box.right[0] == "!" else "e"
        named = "e m" if box.right_muted else alert
        right = f"{x + width - theme.PADDING:.9g}"
        text += f'<text x="{right}" y="{baseline}" class="{named}">{escape(box.right)}</text>'
    if box.detail:
        named = "m x" if box.detail[0] == "!" else "m"
        text += f'<text x="{left}" y="{y + 36:.9g}" class="{named}">{escape(box.detail)}</text>'
    if box.chips:
        top = y + height - 4 - len(box.chips) * (CHIP_ROW + CHIP_GAP)
        for chip in box.chips:
            text += _chip(chip, Place(x + 6, top, width - 12, CHIP_ROW))
            top += CHIP_ROW + CHIP_GAP
    return text + "</g>"


def _chip(chip: Chip, place: Place) -> str:
    inset, baseline = theme.PADDING - 4, place.y + 13
    classes = f"chip {chip.role} alert" if chip.alert else f"chip {chip.role}"
    name = text_at(place.x + inset, baseline, chip.name, "v")
    right = ""
    if chip.right:
        right = text_at(place.right - inset, baseline, chip.right, "e m" + " x" * chip.alert)
    return f'<g class="{classes}">{rectangle(place, 4)}{name}{right}</g>'


def rectangle(place: Place, corner: int) -> str:
    """A rectangle with rounded corners."""
    x, y, width, height = place
    return (
        f'<rect x="{x:.9g}" y="{y:.9g}" width="{width:.9g}" height="{height:.9g}" rx="{corner}"/>'
    )


def _edge(line: Line, route: Route) -> str:
    classes = f"edge {line.kind} alert" if line.alert else f"edge {line.kind}"
    return (
        f'<g id="@-{line.key}" class="{classes}"><title>{escape(line.tooltip)}</title>'
        f"{arrow(route)}</g>"
    )


def label_text(line: Line, place: Label, said: str) -> str:
    """What is written at a line."""
    classes = "label m" if line.kind == "saved" else "label v"
    classes += " x" * line.alert + " e" * (place.anchor == "end")
    return text_at(place.x, place.y, said, classes)


_COMMANDS = {
    0: "M{:.9g} {:.9g}",
    2: "L{:.9g} {:.9g}",
    4: "Q{:.9g} {:.9g} {:.9g} {:.9g}",
    6: "C{:.9g} {:.9g} {:.9g} {:.9g} {:.9g} {:.9g}",
}
"""Drawing commands, by how many numbers they take; the first one is where the pen is put down."""


def arrow(route: Route) -> str:
    """The path of a line, ended a little before its tip, and the tip."""
    start, segments, _ = route
    if not segments:
        return ""
    dx, dy = _direction(route)
    (x, y), inner, last = route.end, TIP_LENGTH - 1.5, segments[-1]
    tip = f"{x:.9g} {y:.9g}{_tip(dx, dy)}"
    if len(segments) == 1 and len(last) == 2 and dx == 0:
        course = f"M{start[0]:.9g} {start[1]:.9g}V{y - dy * inner:.9g}"
    else:
        course = _COMMANDS[0].format(*start)
        for segment in segments[:-1]:
            course += _COMMANDS[len(segment)].format(*segment)
        course += _COMMANDS[len(last)].format(*last[:-2], x - dx * inner, y - dy * inner)
    return f'<path d="{course}"/><path class="tip" d="M{tip}"/>'


@functools.lru_cache(maxsize=4096)
def _tip(dx: float, dy: float) -> str:
    """The sides of an arrow's tip, from its point on."""
    back_x, back_y = -dx * TIP_LENGTH, -dy * TIP_LENGTH
    side_x, side_y = -dy * TIP_HALF_WIDTH, dx * TIP_HALF_WIDTH
    over_x, over_y = 0.0 - 2 * side_x, 0.0 - 2 * side_y
    return f"l{back_x + side_x:.4g} {back_y + side_y:.4g} {over_x:.4g} {over_y:.4g}z"


def _direction(route: Route) -> tuple[float, float]:
    """The unit vector along which a line arrives."""
    last = route.segments[-1]
    start = route.segments[-2][-2:] if len(route.segments) > 1 else route.start
    before = last[-4:-2] or start
    if before[0] == last[-2] and before[1] != last[-1]:
        return 0.0, 1.0 if before[1] < last[-1] else -1.0
    points = (*start, *last)
    x, y = last[-2:]
    for index in range(len(points) - 4, -1, -2):
        dx, dy = x - points[index], y - points[index + 1]
        if dx == 0 and dy != 0:
            return 0.0, math.copysign(1.0, dy)
        length = math.hypot(dx, dy)
        if length > 0.01:
            return round(dx / length, 3), round(dy / length, 3)
    return 0.0, 1.0

"""A picture of rows as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from gradstep_viz import theme
from gradstep_viz.flow.layout import (
    CORNER,
    OFF,
    TEXT,
    Block,
    Dot,
    FlowPicture,
    RowPicture,
    Stroke,
    Words,
)
from gradstep_viz.flow.measure import FAMILY, width_of
from gradstep_viz.flow.text import alternative_text, describe_rows
from gradstep_viz.output.svg import escape
from gradstep_viz.output.svg.document import finish
from gradstep_viz.output.svg.elements import escape_drawn, number
from gradstep_viz.output.svg.style import both_rule

# fmt: off
LIGHT: Final[theme.Tokens] = {
    "lane": "#9bd0b9", "bar": "#3f9c7e", "memory": "#a788cb", "broken": "#e0857d",
    "zero": "#7c8793", "panel": "#f2f5f8", "badge": "#d3d8dd", "rule": "#cfd5db",
    "warn": "#8a5a00", "second": "#0b62a8",
}
DARK: Final[theme.Tokens] = {
    "lane": "#1f6b52", "bar": "#3fae8a", "memory": "#9a78c9", "broken": "#a8433b",
    "zero": "#7d8894", "panel": "#1d2228", "badge": "#39414a", "rule": "#3c444e",
    "warn": "#e5b454", "second": "#6cb6ff",
}
# fmt: on
"""Colours that only pictures of rows have."""

HALO: Final = 4.8


def write_flow_svg(
    picture: FlowPicture, theme_name: str = "auto", *, plain: bool = False,
    pixels: float | None = None, aspect: float | None = None,
) -> bytes:  # fmt: skip
    """Write the whole document; ``plain`` keeps to the CSS that converters know, ``pixels`` and
    ``aspect`` are those of :func:`~gradstep_viz.output.svg.write_svg`."""
    return finish(
        _body(picture),
        picture.width,
        picture.height,
        title=alternative_text(picture),
        description=describe_rows(picture),
        theme_name=theme_name,
        rules=flow_rules(theme_name, plain=plain),
        plain=plain,
        pixels=pixels,
        aspect=aspect,
    )


def flow_rules(theme_name: str, *, plain: bool) -> tuple[str, ...]:
    """Return the rules of pictures of rows, in addition to those of all pictures."""
    base = DARK if theme_name == "dark" else LIGHT
    common = theme.DARK if theme_name == "dark" else theme.LIGHT
    every = {**common, **base}
    rules = [f"@scope{{font-family:{FAMILY};font-size:{TEXT}px;font-variant-numeric:tabular-nums}}"]
    if not plain:
        variables = ";".join(f"--gs-{name}:{value}" for name, value in base.items())
        rules.append(f"@scope{{{variables}}}")
        if theme_name == "auto":
            rules.append(both_rule("@scope", LIGHT, DARK))

    def paint(selector: str, extra: str = "", **properties: str) -> None:
        painted = [
            f"{name}:{every[token]}" + ("" if plain else f";{name}:var(--gs-{token})")
            for name, token in properties.items()
        ]
        rules.append(f"@scope {selector}{{{';'.join([*painted, extra]).strip(';')}}}")

    paint(".m", "font-size:inherit", fill="mute")
    paint(".b", "font-weight:600")
    paint(".x,@scope .alert", "font-weight:600", fill="alert")
    paint(".warn", fill="warn")
    paint(".second", fill="second")
    for tone, token in (
        ("line", "rule"), ("panel", "panel"), ("badge", "badge"), ("bar", "bar"),
        ("memory", "memory"), ("brokenbar", "alert"), ("zerobar", "zero"), ("second", "second"),
    ):  # fmt: skip
        paint(f"rect.{tone}", fill=token)
    paint("rect.mark", "fill:none;stroke-width:1px", stroke="ink")
    paint("rect.hollow", "fill:none;stroke-dasharray:2 2", stroke="zero")
    paint(".curve", "fill:none;stroke-width:1.4px", stroke="bar")
    paint(".halo", "fill:none;stroke-linecap:butt", stroke="bg")
    for tone in ("lane", "broken", "none", "zero"):
        paint(f".edge .{tone}", "fill:none", stroke={"none": "zero"}.get(tone, tone))
    paint(".edge .zero", "stroke-dasharray:3 3")
    paint(".way", "fill:none;stroke-width:2px", stroke="ink")
    paint(".arc", "fill:none;stroke-width:1.6px", stroke="bwd")
    paint(".dot", "stroke-width:1.6px", fill="bwd", stroke="bwd")
    paint(".dot.open", fill="bg")
    paint(".dot.dotbroken", fill="alert", stroke="alert")
    paint(".dot.open.dotbroken", fill="bg", stroke="alert")
    paint(".dot.dotzero", fill="zero", stroke="zero")
    paint(".dot.open.dotzero", fill="bg", stroke="zero")
    paint(".dot.in", "stroke-width:1.4px", fill="bg", stroke="zero")
    return tuple(rules)


def _body(picture: FlowPicture) -> Iterator[str]:
    for block in picture.blocks:
        yield draw_block(block)
    for words in picture.words:
        yield draw_words(words)
    for _, lane in groupby(picture.strokes, lambda one: one.lane_x):
        strokes = list(lane)
        for stroke in strokes:
            yield (
                f'<path class="halo" d="{upright_of(stroke)}" '
                f'stroke-width="{_number(stroke.width + HALO)}"/>'
            )
        for stroke in strokes:
            yield (
                f'<g id="@-e{stroke.source}-{stroke.target}" class="edge"><path '
                f'class="{stroke.tone}" d="{path_of(stroke)}" '
                f'style="stroke-width:{_number(stroke.width)}px"/></g>'
            )
    for stroke in dict.fromkeys(picture.way):
        yield f'<path class="way" d="{path_of(stroke)}"/>'
    for row in picture.rows:
        yield draw_row(row)


def upright_of(stroke: Stroke) -> str:
    """Return the part of a line along its lane: what crosses it there has a gap."""
    (x1, y1), (x2, y2), lane = stroke.start, stroke.end, stroke.lane_x
    if y1 == y2:
        return f"M{_number(x1)} {_number(y1)}h0"
    top = y1 if lane == x1 else y1 + OFF + CORNER
    bottom = y2 if lane == x2 else y2 - OFF - CORNER
    return f"M{_number(lane)} {_number(top)}V{_number(max(top, bottom))}"


def path_of(stroke: Stroke) -> str:
    """Return the course of a line, with round corners."""
    (x1, y1), (x2, y2), lane = stroke.start, stroke.end, stroke.lane_x
    if y1 == y2:
        return f"M{_number(x1)} {_number(y1)}H{_number(x2)}"
    if lane == x1 == x2:
        return f"M{_number(x1)} {_number(y1)}V{_number(y2)}"
    below, above = y1 + OFF, y2 - OFF
    deep, at = max(0.0, (above - below) / 2), _number(lane)
    course = f"M{_number(x1)} {_number(y1 if lane == x1 else below)}"
    if lane != x1:
        corner = min(CORNER, abs(lane - x1), deep)
        before = lane - corner if lane > x1 else lane + corner
        course += f"H{_number(before)}Q{at} {_number(below)} {at} {_number(below + corner)}"
    if lane == x2:
        return f"{course}V{_number(y2)}"
    corner = min(CORNER, abs(lane - x2), deep)
    behind = lane + corner if x2 > lane else lane - corner
    turn = f"V{_number(above - corner)}Q{at} {_number(above)} {_number(behind)} {_number(above)}"
    return f"{course}{turn}H{_number(x2)}"


def _number(value: float) -> str:
    return number[round(value, 2)]


def draw_row(row: RowPicture, attributes: str = "", front: str = "n") -> str:
    """Draw what stands in a row; its id begins with ``front``."""
    inside = "".join(draw_block(block) for block in row.blocks)
    inside += "".join(draw_words(words) for words in row.words)
    if row.curve:
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in row.curve)
        inside += f'<polyline class="curve" points="{points}"/>'
    if row.dot is not None:
        inside += _dot(row.dot)
    alert = " alert-row" if row.tone else ""
    more = f" {attributes}" if attributes else ""
    return (
        f'<g id="@-{front}{row.number}" class="node row{alert}"{more}>'
        f"<title>{escape(row.tooltip)}</title>{inside}</g>"
    )


def _dot(dot: Dot) -> str:
    x, y = _number(dot.x), number[dot.y]
    tone = f" dot{dot.tone}" if dot.tone else ""
    if dot.kind == "square":
        left, top = _number(dot.x - 3.5), number[dot.y - 3.5]
        return f'<rect class="dot in" x="{left}" y="{top}" width="7" height="7"/>'
    if dot.kind == "ring":
        return (
            f'<circle class="dot open{tone}" cx="{x}" cy="{y}" r="5.5"/>'
            f'<circle class="dot{tone}" cx="{x}" cy="{y}" r="1.8"/>'
        )
    if dot.kind == "hollow":
        return f'<circle class="dot open{tone}" cx="{x}" cy="{y}" r="3.6"/>'
    arc = (
        f'<path class="arc" d="M{x} {_number(dot.y - 10)}q13 10 0 20"/>' if dot.is_residual else ""
    )
    return f'{arc}<circle class="dot{tone}" cx="{x}" cy="{y}" r="4.4"/>'


def draw_block(block: Block) -> str:
    """Draw a rectangle."""
    corner = f' rx="{number[block.corner]}"' if block.corner else ""
    places = zip(("x", "y", "width", "height"), block[:4], strict=True)
    place = " ".join(f'{name}="{_number(value)}"' for name, value in places)
    return f'<rect class="{block.tone}" {place}{corner}/>'


def _span(text: str, tone: str) -> str:
    """Write a part of a text; blanks before it are a distance, as some readers drop them."""
    own = text.lstrip(" ")
    shift = "" if own == text else f' dx="{number[round(width_of(text[: -len(own)]), 1)]}"'
    named = f' class="{tone}"' if tone else ""
    return f"<tspan{named}{shift}>{escape_drawn(own)}</tspan>"


def draw_words(words: Words) -> str:
    """Draw a text."""
    size = "" if words.size == TEXT else f' style="font-size:{number[words.size]}px"'
    place = f'x="{_number(words.x)}" y="{_number(words.y)}"'
    end = "e" if words.at_end else ""
    if len(words.parts) == 1:
        text, tone = words.parts[0]
        named = f' class="{f"{end} {tone}".strip()}"' if end or tone else ""
        return f"<text {place}{named}{size}>{escape_drawn(text)}</text>"
    spans = "".join(_span(text, tone) for text, tone in words.parts)
    named = f' class="{end}"' if end else ""
    return f"<text {place}{named}{size}>{spans}</text>"

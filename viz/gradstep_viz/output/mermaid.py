"""Mermaid: a picture for Markdown pages that draw it themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep_viz import theme
from gradstep_viz.picture.legend import legend_of
from gradstep_viz.picture.magnitude import ZERO, ZERO_SIGN
from gradstep_viz.picture.model import Box, Picture

_ENTITIES = str.maketrans({c: f"#{ord(c)};" for c in '#"<>&`;\\*_~|[]{}()'} | {"\n": " "})


def escape(text: str) -> str:
    """Escape text inside quotes: everything that Mermaid or Markdown would read as a sign.

    >>> escape('a"b[0]')
    'a#34;b#91;0#93;'
    """
    return text.translate(_ENTITIES)


_STROKES: Final = {
    "value": "fwd",
    "gradient": "bwd",
    "saved": "saved",
    "zero": "mute",
    "undefined": "line",
}
_DASHES: Final = "stroke-dasharray:5 3"


def _box(box: Box) -> str:
    parts = [f"<b>{escape(box.title)}</b> {escape(box.right)}".rstrip(), escape(box.detail)]
    parts += [f"{escape(chip.name)} {escape(chip.right)}".rstrip() for chip in box.chips]
    label = "<br/>".join(part for part in parts if part)
    return f'  {box.key}["{label}"]:::{"alert" if box.alert else box.role}'


def _line_colours(picture: Picture) -> list[str]:
    """Colour lines by what they carry; those with a gradient of 0 are dashed, and those without
    any are gray."""
    kinds: list[str] = [
        "zero" if step == ZERO else "undefined" if is_undefined else kind
        for kind, step, is_undefined in picture.lines.rows("kind", "step", "undefined")
    ]
    rows = []
    for kind, token in _STROKES.items():
        numbers = ",".join(str(number) for number, one in enumerate(kinds) if one == kind)
        if numbers:
            dashes = f",{_DASHES}" if kind == "zero" else ""
            rows.append(f"  linkStyle {numbers} stroke:{theme.LIGHT[token]}{dashes}")
    return rows


def write_mermaid(picture: Picture, legend: bool = False) -> str:
    """Write a flowchart; backward pictures run upwards, as everywhere.  ``legend`` adds a group of
    boxes that says what the colours mean."""
    view = picture.view
    rows = [f"flowchart {picture.direction('backward' if view == 'backward' else 'forward')}"]
    halves = picture.halves if picture.view == "both" or picture.zeros else ()
    for half, caption in zip(halves, picture.captions, strict=False):
        words = caption.partition(" · ")[0]
        if half == "backward" and picture.zeros:
            words += f" · {ZERO_SIGN} {picture.zeros}"
        rows.append(f'  subgraph {half}["{escape(words)}"]')
        rows.append(f"    direction {picture.direction(half)}")
        rows += [f"  {_box(box)}" for box in picture.boxes if box.half == half]
        rows.append("  end")
    if not halves:
        rows += [_box(box) for box in picture.boxes]
    rows += [*_links(picture), *_line_colours(picture), *_classes(picture)]
    if legend:
        rows += _legend(picture)
    return "\n".join(rows) + "\n"


def _links(picture: Picture) -> Iterator[str]:
    arrows = {"value": "-->", "gradient": "-->", "saved": "-.->"}
    for line in picture.lines:
        label = f'|"{escape(line.label)}"|' if line.label else ""
        source, target = picture.boxes[line.source].key, picture.boxes[line.target].key
        yield f"  {source} {arrows[line.kind]}{label} {target}"


def _classes(picture: Picture) -> Iterator[str]:
    """Yield what readers can click, and the colours of boxes."""
    for box in picture.boxes:
        if box.href:
            yield f'  click {box.key} href "{escape(box.href)}"'
    for role, (fill, stroke) in theme.BOX_ROLES.items():
        colours = f"fill:{theme.LIGHT[fill]},stroke:{theme.LIGHT[stroke]}"
        yield f"  classDef {role} {colours},color:{theme.LIGHT['ink']}"
    if picture.zeros:
        yield f"  classDef zero fill:{theme.LIGHT['bg']},{_DASHES}"
        if zeros := [box.key for box in picture.boxes if box.step == ZERO]:
            yield f"  class {','.join(zeros)} zero"


def _legend(picture: Picture) -> Iterator[str]:
    yield "  subgraph legend"
    for number, entry in enumerate(legend_of(picture)):
        if entry.kind == "box" or entry.shade == ZERO:
            role = "zero" if entry.shade == ZERO else entry.role
            yield f'    legend{number}["{escape(entry.words)}"]:::{role}'
    yield "  end"

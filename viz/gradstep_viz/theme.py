"""Colours, fonts and measures of every picture, as data.

A *token* names a colour by its meaning; each theme gives every token a value.  A *role*
is the class of a box or a line and says which tokens paint it.  Colour never stands alone:
what a colour says, an arrow's direction, a dash or a word says too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

Tokens = dict[str, str]

LIGHT: Final[Tokens] = {
    "ink": "#1b1f24",
    "mute": "#57606c",
    "line": "#8a94a0",
    "bg": "#ffffff",
    "card": "#f7f8fa",
    "fwd": "#0b62a8",
    "fwdbg": "#eef5fb",
    "bwd": "#0a7a5a",
    "bwdbg": "#ecf8f3",
    "leaf": "#ad6200",
    "leafbg": "#fdf5e3",
    "alert": "#b3261e",
    "alertbg": "#fdeeec",
    "saved": "#86287e",
    "g1": "#5f9c87",
    "g2": "#2f8468",
    "g3": "#0a6349",
    "g4": "#043d2c",
}

DARK: Final[Tokens] = {
    "ink": "#e8ebef",
    "mute": "#9aa4b0",
    "line": "#6b7683",
    "bg": "#14171b",
    "card": "#1c2026",
    "fwd": "#6cb6ff",
    "fwdbg": "#16273a",
    "bwd": "#56d4a8",
    "bwdbg": "#12302a",
    "leaf": "#e5b454",
    "leafbg": "#33290f",
    "alert": "#ff8177",
    "alertbg": "#3a1a1a",
    "saved": "#d97fcb",
    "g1": "#3d8069",
    "g2": "#4aae8b",
    "g3": "#6fdcb5",
    "g4": "#c4ffea",
}

THEMES: Final = ("auto", "light", "dark")


class Role(NamedTuple):
    """The tokens that paint a box: its fill and its border."""

    fill: str
    stroke: str


BOX_ROLES: Final[dict[str, Role]] = {
    "fwd": Role("fwdbg", "fwd"),
    "bwd": Role("bwdbg", "bwd"),
    "leaf": Role("leafbg", "leaf"),
    "const": Role("card", "line"),
    "out": Role("card", "ink"),
    "alert": Role("alertbg", "alert"),
}

LINE_ROLES: Final[dict[str, str]] = {
    "value": "fwd",
    "gradient": "bwd",
    "saved": "saved",
    "alert": "alert",
}

SHADES: Final = ("g1", "g2", "g3", "g4")
"""Gradients from small to large: the larger, the stronger against the background."""

SHADE_WIDTHS: Final = (1.0, 1.6, 2.4, 3.4)
"""How wide lines are in each shade, so that it does not take colour to tell them apart."""

FONT_FAMILY: Final = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace'
TITLE_SIZE: Final = 14
TEXT_SIZE: Final = 12
MUTED_SIZE: Final = 10.5
CHARACTER_WIDTH: Final = 0.605
"""The width of a character in the fonts above, as a part of the font size."""

ROW_GAP: Final = 54
COLUMN_GAP: Final = 40
PADDING: Final = 10
CORNER: Final = 6
MARGIN: Final = 20
STACK: Final = 4
"""How far the card behind a stacked box is shifted."""

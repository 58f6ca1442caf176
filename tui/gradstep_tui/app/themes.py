"""The themes: the colours of the pictures, on a dark and a light ground, and in high contrast."""

from __future__ import annotations

import os
from collections.abc import Mapping

from textual.theme import Theme

# green is backward, amber leaves, purple saved, red trouble
DARK = {
    "backward": "#56d4a8",
    "leaf": "#e5b454",
    "saved": "#d97fcb",
    "trouble": "#ff8177",
    "muted": "#9aa4b0",
    "faint": "#5a6470",
    "selection": "#2a323c",
}
LIGHT = {
    "backward": "#0a7a5a",
    "leaf": "#8a5c00",
    "saved": "#7440a8",
    "trouble": "#b3261e",
    "muted": "#5b6572",
    "faint": "#a3acb7",
    "selection": "#dfe7f0",
}
CONTRAST = {
    "backward": "#5fffbf",
    "leaf": "#ffd75f",
    "saved": "#d7afff",
    "trouble": "#ff9f97",
    "muted": "#e4e4e4",
    "faint": "#b2b2b2",
    "selection": "#0000af",
}


def _theme(
    name: str, meanings: dict[str, str], *, primary: str, ink: str, ground: str, panel: str
) -> Theme:
    return Theme(
        name=name,
        primary=primary,
        secondary=meanings["backward"],
        accent=meanings["backward"],
        success=meanings["backward"],
        warning=meanings["leaf"],
        error=meanings["trouble"],
        foreground=ink,
        background=ground,
        surface=ground,
        panel=panel,
        dark=ground != "#ffffff",
        variables=meanings,
    )


THEMES = (
    _theme("gradstep-dark", DARK, primary="#6cb6ff", ink="#e8ebef", ground="#14171b",
           panel="#1c2026"),
    _theme("gradstep-light", LIGHT, primary="#0b62a8", ink="#1b1f24", ground="#ffffff",
           panel="#f0f2f5"),
    _theme("gradstep-contrast", CONTRAST, primary="#87d7ff", ink="#ffffff", ground="#000000",
           panel="#262626"),
)  # fmt: skip


def light_terminal(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal says (in ``COLORFGBG``) that its background is light.

    >>> light_terminal({"COLORFGBG": "0;15"}), light_terminal({})
    (True, False)
    """
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")

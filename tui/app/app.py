"""The application: themes, the screen, and how it ends."""

from __future__ import annotations

import os
from typing import Any, ClassVar, Literal

from textual.app import App
from textual.theme import Theme

from autograd_core.debug.protocol import DebugSession
from tui.app.screens import DebuggerScreen

Outcome = Literal["continue", "detach", "abort"]

# The colours of the pictures: green is backward, amber leaves, purple saved, red trouble.
DARK = {
    "backward": "#56d4a8",
    "leaf": "#e5b454",
    "saved": "#c69bf5",
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
THEMES = (
    Theme(
        name="gradstep-dark",
        primary="#6cb6ff",
        secondary=DARK["backward"],
        accent=DARK["backward"],
        success=DARK["backward"],
        warning=DARK["leaf"],
        error=DARK["trouble"],
        foreground="#e8ebef",
        background="#14171b",
        surface="#14171b",
        panel="#1c2026",
        dark=True,
        variables=DARK,
    ),
    Theme(
        name="gradstep-light",
        primary="#0b62a8",
        secondary=LIGHT["backward"],
        accent=LIGHT["backward"],
        success=LIGHT["backward"],
        warning=LIGHT["leaf"],
        error=LIGHT["trouble"],
        foreground="#1b1f24",
        background="#ffffff",
        surface="#ffffff",
        panel="#f0f2f5",
        dark=False,
        variables=LIGHT,
    ),
)


class DebuggerApp(App[Outcome]):
    """The full-screen debugger over a :class:`DebugSession`.

    ``run()`` returns "continue" (the script goes on), "detach" (it goes on and is to halt no
    more) or "abort" (it is to end, with ``.grad`` as before the call; all that is for the caller
    to do).
    """

    CSS_PATH = "app.tcss"
    TITLE = "gradstep"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = True

    def __init__(self, session: DebugSession, title: str = "") -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        if "TEXTUAL_THEME" not in os.environ:
            self.theme = "gradstep-light" if light_terminal(os.environ) else "gradstep-dark"
        self._debugger_screen = DebuggerScreen(session, title)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of meaning under a theme that is not ours."""
        return DARK if self.current_theme.dark else LIGHT

    def on_mount(self) -> None:
        self.push_screen(self._debugger_screen)

    def run(self, *args: Any, **kwargs: Any) -> Outcome:
        """Show the screen until the user leaves it; see the class for what is returned."""
        return super().run(*args, **kwargs) or "continue"


def light_terminal(environment: os._Environ[str] | dict[str, str]) -> bool:
    """Whether the terminal says (in ``COLORFGBG``) that its background is light.

    >>> light_terminal({"COLORFGBG": "0;15"}), light_terminal({})
    (True, False)
    """
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")

"""The application: themes, the screen, and how it ends."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

from textual import events
from textual.app import App, SystemCommand
from textual.command import Provider
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender

from gradstep.debugger.session import Session
from gradstep_tui.app.screen import DebuggerScreen
from gradstep_tui.app.themes import DARK, LIGHT, THEMES, light_terminal
from gradstep_tui.app.widgets.line_view import LineView
from gradstep_tui.app.widgets.palette import DebuggerCommands
from gradstep_tui.app.widgets.text import has_marks

Outcome = Literal["continue", "detach", "abort"]


class _PlainBar(ScrollBarRender):
    """A scrollbar of spaces."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


class DebuggerApp(App[Outcome]):
    """The full-screen debugger over a session.

    ``run()`` returns "continue" (the script goes on), "detach" (it goes on and is to stop no
    more) or "abort" (it is to end, with ``.grad`` as before the call; all that is for the caller
    to do).
    """

    CSS_PATH = "app.tcss"
    TITLE = "gradstep"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {
        *App.COMMANDS,
        DebuggerCommands,
    }

    def __init__(self, session: Session, title: str = "") -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        if "TEXTUAL_THEME" not in os.environ:
            self.theme = "gradstep-light" if light_terminal() else "gradstep-dark"
        LineView.plain = not has_marks(getattr(sys.__stderr__, "encoding", None) or "utf-8")
        if LineView.plain:
            ScrollBar.renderer = _PlainBar
        self.debugger_screen = DebuggerScreen(session, title)

    @property
    def printed(self) -> list[tuple[str, bool]]:
        """The texts that the script printed meanwhile, each with whether it went to stderr."""
        return self.debugger_screen.printed

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colours of meaning under a theme that is not ours."""
        return DARK if self.current_theme.dark else LIGHT

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """List what the palette offers besides the debugger's commands."""
        unwanted = {"Quit", "Keys", "Maximize", "Minimize", "Screenshot"}
        for command in super().get_system_commands(screen):
            if command.title not in unwanted:
                yield command

    async def on_event(self, event: events.Event) -> None:
        """Let each key, and each paste, be done with before the next one is looked at.

        What a key has the session do is done and shown before the next one, too, unless it lasts.

        Textual hands a key to the widget with the focus, and runs its action when the key has come
        back from there.  Of keys that come fast, those behind the one that opens the prompt are
        under way by then, to where they are commands.
        """
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        await self.debugger_screen.worker.settled()
        if self.screen is not self.debugger_screen:
            await super().on_event(event)
        elif isinstance(event, events.Paste):
            self.debugger_screen.paste(event.text)
        else:
            await self._press(event)

    async def _press(self, event: events.Key) -> None:
        self.app_focus = True
        if await self._check_bindings(event.key, priority=True):
            return
        typed = event.character if event.is_printable else None
        if typed is None or not self.debugger_screen.type_character(typed):
            await self._check_bindings(event.key)

    async def on_mount(self) -> None:
        await self.push_screen(self.debugger_screen)
        # a full collection looks at every object of the program, and a frame may take 20 ms; what
        # is there already is set aside until the screen closes
        self._froze = gc.get_freeze_count() == 0
        if self._froze:
            gc.freeze()

    def on_unmount(self) -> None:
        if self._froze:
            gc.unfreeze()

    def run(self, *args: Any, **kwargs: Any) -> Outcome:
        """Show the screen until the user leaves it; see the class for what is returned."""
        return super().run(*args, **kwargs) or "continue"

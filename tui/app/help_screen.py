"""The help page over the main screen."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.app.widgets.help import HelpText


class HelpScreen(ModalScreen[None]):
    """All keys; any of the usual keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]

    def compose(self) -> ComposeResult:
        self._text = HelpText()
        self._text.border_title = "keys"
        self._text.border_subtitle = "esc closes · j k scroll"
        yield self._text

    def action_scroll(self, step: int) -> None:
        self._text.scroll_relative(y=step, animate=False)

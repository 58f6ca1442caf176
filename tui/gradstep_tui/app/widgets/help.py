"""The help page: every key, grouped, and the marks of the execution list."""

from __future__ import annotations

from typing import ClassVar, cast

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from gradstep_tui.app.keys import KEY_GROUPS
from gradstep_tui.app.widgets.line_view import LinesView
from gradstep_tui.app.widgets.text import Line, Part

KEY_WIDTH = 11
MARKS = (
    ("▶ ✓ ● ◆ ◌", "runs next · has run · breakpoint · with a condition · off"),
    ("○ ● □ ■ ▸", "node and leaf, before and after they ran · folded module"),
    ("⋯+3 →#7", "lanes that are not drawn · where the edge goes"),
    ("▸ 12 │", "the line of this node; a list too narrow for its column leaves it out"),
    ("1 of 3", "one of the three gradients of this sum has arrived"),
    ("~.7.mlp", "a name without what most begin with, which the head tells: ~=model.layers"),
    ("+= w", "what arrives is added to the .grad of the leaf w"),
    ("N I 0 ∅", "nan · inf · all zero · undefined (no gradient, not zero)"),
    ("H E >", "has hooks · was changed by you · a pass ran inside"),
    ("▁▄█ ! ╌", "timeline: size of the gradient (log) · nan or inf · not run"),
)


class HelpText(LinesView):
    """The lines of the help page."""

    def on_mount(self) -> None:
        self.show_lines(help_lines(cast("App[object]", self.app)))
        self.refresh(layout=True)  # its height is that of its lines


def help_lines(app: App[object]) -> list[Line]:
    """Return two columns of text: what to press, what happens."""
    lines: list[Line] = [[Part("marks", "backward")]]
    lines += [_entry(mark, meaning) for mark, meaning in MARKS]
    for group in KEY_GROUPS:
        lines.append([Part(group.title, "backward")])
        lines += [_entry(_display(app, binding), binding.tooltip) for binding in group.bindings]
    return lines


def _entry(left: str, right: str) -> Line:
    return [Part("  " + left.ljust(KEY_WIDTH), "strong"), Part(right)]


def _display(app: App[object], binding: Binding) -> str:
    return binding.key_display or app.get_key_display(binding)


class HelpScreen(ModalScreen[None]):
    """All keys; any of the usual keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("g,home", "end(0)", show=False),
        Binding("G,end", "end(1)", show=False),
    ]

    def compose(self) -> ComposeResult:
        self._text = HelpText()
        self._text.border_title = "marks and keys"
        self._text.border_subtitle = "esc closes · j k g G scroll"
        yield self._text

    def action_end(self, end: int) -> None:
        self._text.scroll_to(y=self._text.max_scroll_y if end else 0, animate=False)

    def action_scroll(self, step: int) -> None:
        self._text.scroll_relative(y=step, animate=False)

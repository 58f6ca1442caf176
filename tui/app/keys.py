"""Every key of the main screen, in the groups in which the help screen lists them.

Lower case goes forward in time, upper case backward.
"""

from __future__ import annotations

from typing import NamedTuple

from textual.binding import Binding


class KeyGroup(NamedTuple):
    """Keys that belong together, under a title."""

    title: str
    bindings: tuple[Binding, ...]


def _key(key: str, action: str, hint: str, help: str, display: str | None = None) -> Binding:
    """A binding; ``hint`` is its word in the footer ("" leaves it out)."""
    return Binding(key, action, hint, show=bool(hint), key_display=display, tooltip=help)


KEY_GROUPS = (
    KeyGroup(
        "move through the backward pass",
        (
            _key("n", "step('next')", "next", "run the next node (10 n: the next ten)"),
            _key("N", "step('back')", "back", "go back one node (10 N: ten)"),
            _key("c", "command('continue')", "continue", "run to the next breakpoint or the end"),
            _key(
                "C",
                "command('reverse-continue')",
                "",
                "go back to the previous breakpoint or the start",
            ),
            _key("u", "until", "until", "go to the selected node (7 u: to node #7)"),
            _key("enter", "until", "", "the same"),
            _key("r", "command('restart')", "", "go back to the start"),
        ),
    ),
    KeyGroup(
        "look around (nothing runs)",
        (
            _key("j,down", "select(1)", "", "select the next row", "j ↓"),
            _key("k,up", "select(-1)", "", "select the previous row", "k ↑"),
            _key("pagedown", "select_page(1)", "", "one page down", "PgDn"),
            _key("pageup", "select_page(-1)", "", "one page up", "PgUp"),
            _key("g,home", "select_first", "", "select the first row", "g Home"),
            _key("G,end", "select_last", "", "select the last row", "G End"),
            _key("full_stop", "select_current", "", "select the current node again", "."),
            _key("tab", "section(1)", "", "next section (3 tab: the third), in a narrow terminal"),
            _key("shift+tab", "section(-1)", "", "previous section", "shift+tab"),
            _key("left_square_bracket", "scroll_detail(-1)", "", "scroll the detail up", "["),
            _key("right_square_bracket", "scroll_detail(1)", "", "scroll the detail down", "]"),
        ),
    ),
    KeyGroup(
        "stop and ask",
        (
            _key("b", "toggle_breakpoint", "break", "set or delete a breakpoint on this row"),
            _key("colon", "prompt", "command", "type a command, such as: until mul:2", ":"),
            _key("question_mark", "help", "help", "this page", "?"),
        ),
    ),
    KeyGroup(
        "leave",
        (
            _key(
                "q,ctrl+q",
                "leave('continue')",
                "go on",
                "close this, the script goes on",
                "q",
            ),
            _key("D", "leave('detach')", "", "the same, and halt at no later backward()"),
            _key("Q", "leave('abort')", "abort", "end the script, .grad as before this call"),
        ),
    ),
)

ALL_BINDINGS = [binding for group in KEY_GROUPS for binding in group.bindings]

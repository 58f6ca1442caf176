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


def _key(key: str, action: str, help: str, display: str | None = None) -> Binding:
    return Binding(key, action, help, show=False, key_display=display, tooltip=help)


KEY_GROUPS = (
    KeyGroup(
        "move through the backward pass",
        (
            _key("n", "step('next')", "run the next node (#10 n: the next ten)"),
            _key("N", "step('reverse-next')", "go back one node (#10 N: ten)"),
            _key("s", "step('step')", "step inside the node: hook, formula, delivery"),
            _key("S", "step('reverse-step')", "go back inside the node"),
            _key("o", "step('over')", "run the module that begins here"),
            _key("O", "step('reverse-over')", "go back before the module that ends here"),
            _key("f", "step('finish')", "run to the end of the module around here"),
            _key("F", "step('reverse-finish')", "go back before the module around here"),
            _key("c", "step('continue')", "run to the next breakpoint or the end"),
            _key("C", "step('reverse-continue')", "go back to the previous breakpoint"),
            _key("u,enter", "until", "go to the selected row (#7 u: to node #7)", "u enter"),
            _key("r", "command('restart')", "go back to the start"),
            _key("left_square_bracket", "along(-1)", "a twentieth of the pass back", "["),
            _key("right_square_bracket", "along(1)", "a twentieth of the pass ahead", "]"),
            _key("right_curly_bracket", "command('next difference')",
                 "two passes (diff --screen): the next node that differs", "}"),
            _key("left_curly_bracket", "command('reverse-next difference')",
                 "the difference before", "{"),
            _key("greater_than_sign", "command('enter {node}')",
                 "enter a backward pass that ran in the node", ">"),
            _key("less_than_sign", "command('leave')", "leave that pass", "<"),
        ),
    ),
    KeyGroup(
        "navigate (nothing runs)",
        (
            _key("j,down", "select(1)", "select the next row", "j ↓"),
            _key("k,up", "select(-1)", "select the previous row", "k ↑"),
            _key("pagedown", "select_page(1)", "one page down (#3 PgDn: three)", "PgDn"),
            _key("pageup", "select_page(-1)", "one page up", "PgUp"),
            _key("g,home", "select_end(0)", "select the first row", "g Home"),
            _key("G,end", "select_end(1)", "select the last row (#7 G: #7)", "G End"),
            _key("ctrl+d", "select_page(0.5)", "half a page down", "ctrl+d"),
            _key("ctrl+u", "select_page(-0.5)", "half a page up", "ctrl+u"),
            _key("H", "select_shown(0)", "select the top row of the view"),
            _key("M", "select_shown(1)", "select the middle row"),
            _key("L", "select_shown(2)", "select the bottom row"),
            _key("full_stop", "select_current", "select the current node again", "."),
            _key("h,left", "edge(0)", "select the node that sent to it (#2 h: the second)", "h ←"),
            _key("l,right", "edge(1)", "select the node that it sends to", "l →"),
            _key("exclamation_mark", "trouble", "select the next nan or inf seen so far", "!"),
            _key("slash", "search", "find an op, module, leaf or file", "/"),
            _key("semicolon", "search_again(1)", "the next match", ";"),
            _key("comma", "search_again(-1)", "the previous match", ","),
            _key("a", "order", "sort the list: as it runs, largest, jumps, smallest"),
            _key("i", "prompt('only ')", "list only: nan, module, a word (all: every node)"),
            _key("v", "shown", "list gradients, forward values, or both"),
            _key("z", "fold", "fold or unfold the module or loop (z z: center the row)"),
            _key("Z", "fold_all", "fold all modules and loops, or unfold all"),
        ),
    ),
    KeyGroup(
        "panes",
        (
            _key("1", "section_of('1')", "turn to the section of that number", "1 … 9"),
            _key("tab", "section(1)", "next section of the pane"),
            _key("shift+tab", "section(-1)", "previous section", "shift+tab"),
            _key("w", "next_pane", "move j, k and enter to the next pane (esc: back)"),
            _key("J", "scroll(1)", "scroll the pane down"),
            _key("K", "scroll(-1)", "scroll the pane up"),
        ),
    ),
    KeyGroup(
        "stop",
        (
            _key("b", "toggle_breakpoint", "set or delete a breakpoint on the row"),
            _key("B", "prompt('break {node} if ')", "set one with a condition"),
            _key("W", "prompt('watch ')", "watch the .grad of a leaf, or a sum"),
            _key("space", "toggle_point", "switch the marked breakpoint off or on"),
            _key("delete,backspace", "delete_point", "delete the marked breakpoint", "Del"),
        ),
    ),
    KeyGroup(
        "change the pending sum of the row, and check",
        (
            _key("e", "prompt('set {node} ')", "set it"),
            _key("asterisk", "prompt('scale {node} ')", "multiply it", "*"),
            _key("tilde", "prompt('clip {node} ')", "limit its elements", "~"),
            _key("x", "prompt('mute {node} out.0')", "mute an edge or hook of the node"),
            _key("X", "prompt('unmute {node} out.0')", "unmute it"),
            _key("U", "command('undo')", "undo the last change"),
            _key("d", "difference", "show the effect of the changes on each leaf"),
            _key("t", "check", "compare the node's rule with finite differences"),
        ),
    ),
    KeyGroup(
        "commands, copies, quit",
        (
            _key("number_sign", "number", "begin a number for the next key: #10 n", "#"),
            _key("colon", "prompt('')", "type a command, such as: until mul:2", ":"),
            _key("y", "copy('value')", "copy the gradient that arrived"),
            _key("Y", "copy('address')", "copy the address of the node"),
            _key("p", "picture", "save the graph around here as SVG"),
            _key("P", "photograph", "save this screen as SVG"),
            _key("escape,ctrl+c", "escape", "pause a run (twice: its node); back to the list",
                 "esc ctrl+c"),
            _key("question_mark", "help", "this page", "?"),
            _key("ctrl+l", "redraw", "draw the screen again", "ctrl+l"),
            _key("ctrl+z", "app.suspend_process", "suspend; fg in the shell comes back",
                 "ctrl+z"),
            _key("q,ctrl+q", "leave('continue')", "close, and continue the script (#3 q: 3 calls)",
                 "q"),
            _key("D", "leave('detach')", "the same, without opening in later calls"),
            _key("Q", "leave('abort')", "end the script, with .grad as before this call"),
        ),
    ),
)  # fmt: skip

ALL_BINDINGS = [binding for group in KEY_GROUPS for binding in group.bindings]

"""What a small terminal shows besides its panes: two lines of the program, and the leaves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from gradstep.debugger.snapshot import LeafGradient
from gradstep.findings.reports.source import lines_around
from gradstep.text import printable
from gradstep_tui.app.arrangement import NEEDED_HEIGHT, NEEDED_WIDTH
from gradstep_tui.app.sections.leaves import arrival_bar
from gradstep_tui.app.sections.page import ScreenView
from gradstep_tui.app.sections.source import numbered
from gradstep_tui.app.widgets.line_view import LineView, ViewWidget
from gradstep_tui.app.widgets.text import Line, Part, changed, fit, value_part, wrapped
from gradstep_tui.errors import AtWork

_MOST_DISPLAYS = 4  # rows; more of them scroll
_NAME = 18  # cells of a name of a leaf


class SourceStrip(ViewWidget):
    """The forward line of the selected node, and the line before it."""

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view, id="source-strip")
        self._lines: list[Line] = []

    def on_mount(self) -> None:
        self.watch_view()

    def watch_view(self) -> None:
        """Show the lines of the node that is selected now."""
        try:
            self._lines = self._of_node()
        except AtWork:  # as it was
            return
        self.update_lines()

    def _of_node(self) -> list[Line]:
        view = self.view
        origin = view.facts.forward_line(view.node) if view.node >= 0 else None
        if origin is None:
            hint = view.snapshot.hint or "this node has no line in the program"
            return wrapped([Part(f" source: {printable(hint)}", "muted")], self.text_width or 80)
        lines = lines_around(origin[1], 1, 0)
        width = len(str(origin[1].line))
        return [numbered(line, width) for line in lines]

    def line_count(self) -> int:
        return len(self._lines)

    def line(self, y: int) -> Line:
        return self._lines[y]


class LeafStrip(ViewWidget):
    """The ``.grad`` of the leaves that change around now, in one line."""

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view, id="leaf-strip")

    def on_mount(self) -> None:
        self.update_lines()

    def watch_view(self) -> None:
        """Show what the leaves have now."""
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        snapshot = self.view.snapshot
        leaves = snapshot.leaves
        reached = [leaf for leaf in leaves.reached if leaf.arrived]
        done = [leaf for leaf in reached if leaf.arrived >= leaf.expected]
        waiting = [leaf for leaf in reached if leaf.arrived < leaf.expected]
        # those that have just changed, those that change next, then the others
        untouched = (leaf for leaf in leaves if not leaf.arrived)  # a model has thousands
        chosen = chain(done[-1:], waiting, untouched, reversed(done[:-1]))
        line: Line = [Part(" .grad ", "leaf")]
        shown = 0
        for leaf in chosen:
            parts = _leaf(leaf, self.view)
            used = sum(len(part.text) for part in [*line, *parts])
            more = f"{len(leaves) - shown - 1} more" if shown + 1 < len(leaves) else ""
            if used + len(more) > self.text_width and shown:
                break
            line, shown = [*line, *parts], shown + 1
        if shown < len(leaves):
            line.append(Part(f"{len(leaves) - shown} more", "muted"))
        return line


class DisplayStrip(ViewWidget):
    """The displays with their values, one each, which stay in view; what the last move changed is
    marked."""

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view, id="display-strip")
        self._before: Mapping[int, str] = {}

    def on_mount(self) -> None:
        self._fit()

    def watch_view(self, before: ScreenView, view: ScreenView) -> None:
        """Show the values at this stop."""
        if view.snapshot is not before.snapshot:
            self._before = dict(before.snapshot.displays)
            self._fit()

    def _fit(self) -> None:
        count = min(len(self.view.snapshot.displays), _MOST_DISPLAYS)
        self.display = count > 0
        if self.styles.height is None or self.styles.height.value != count:
            self.styles.height = count
        self.update_lines()

    def line_count(self) -> int:
        return len(self.view.snapshot.displays)

    def line(self, y: int) -> Line:
        number, text = self.view.snapshot.displays[y]
        name, equals, value = printable(text).partition(" = ")
        is_new = self._before.get(number, text) != text
        return [Part(f" {number}: ", "muted"), Part(name + equals), changed(Part(value), is_new)]


def _leaf(leaf: LeafGradient, view: ScreenView) -> Line:
    name = printable(leaf.name)
    name = fit(name, _NAME, keep_end=True) if len(name) > _NAME else name
    line: Line = [Part(f" {name} ", "leaf")]
    now = Part("None", "muted") if leaf.now is None else value_part(leaf.now)
    line.append(changed(now, leaf.index in view.last_move))
    grew = leaf.index in view.changed
    if leaf.pending is not None:
        line += [Part(" + ", "muted"), changed(value_part(leaf.pending), grew)]
    if leaf.expected > 1:
        bar = Part(arrival_bar(leaf.arrived, leaf.expected), "leaf")
        line += [Part(" "), changed(bar, grew)]
    return [*line, Part("  ")]


class TooSmall(LineView):
    """The size that is needed, the size that is there, and the way out."""

    def __init__(self) -> None:
        super().__init__(id="too-small")

    def line_count(self) -> int:
        return 3

    def line(self, y: int) -> Line:
        width, height = self.app.size
        return [
            [Part(f"gradstep needs {NEEDED_WIDTH}x{NEEDED_HEIGHT}", "strong")],
            [Part(f"this terminal: {width}x{height}")],
            [Part("enlarge it, or q: continue", "muted")],
        ][y]

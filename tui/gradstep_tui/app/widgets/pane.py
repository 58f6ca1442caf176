"""A pane: one of several sections, chosen by the tabs in its first line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.message import Message

from gradstep_tui.app.plan.listing import Order
from gradstep_tui.app.sections.page import (
    Page,
    ScreenView,
    Section,
    Target,
    sentence,
    tab_text,
)
from gradstep_tui.app.widgets.line_view import ViewWidget
from gradstep_tui.app.widgets.text import Line, Part
from gradstep_tui.errors import AtWork


@dataclass(eq=False)
class SectionChosen(Message):
    """A tab was clicked."""

    name: str


@dataclass(eq=False)
class TargetClicked(Message):
    """A line of a pane was clicked that speaks of something; ``pane`` is the pane's id."""

    pane: str
    target: Target
    twice: bool


class Pane(ViewWidget):
    """Shows sections; ``chosen`` says that the keys go here, and marks a line."""

    def __init__(self, view: ScreenView, id: str) -> None:
        super().__init__(view, id=id)
        self.sections: tuple[Section, ...] = ()
        self.active = 0
        self.cursor = 0
        self.chosen = False
        self._page = Page([])
        self._shown: tuple[str, int, Order] = ("", -1, "plan")

    @property
    def section(self) -> Section | None:
        return self.sections[self.active] if self.sections else None

    @property
    def target(self) -> Target | None:
        """The target of the marked line."""
        if not 0 <= self.cursor < self.line_count():
            return None
        return self._page.target(self.cursor, 0)

    @property
    def along(self) -> Callable[[int], int] | None:
        """What finds the node so many columns to the right, on a page that has such columns."""
        return self._page.along

    def take_sections(self, sections: Sequence[Section]) -> None:
        """Offer these sections, and keep the one that is shown if it is among them."""
        before = self.section
        self.sections = tuple(sections)
        self.active = self.sections.index(before) if before in self.sections else 0
        self.display = bool(sections)
        self.call_after_refresh(self.show_page)

    def activate(self, name: str) -> bool:
        """Turn to a section; whether it is one of this pane."""
        for place, section in enumerate(self.sections):
            if section.name == name:
                self.turn_to(place)
                return True
        return False

    def turn_to(self, place: int) -> None:
        """Turn to section number ``place``, counted round."""
        self.active = place % len(self.sections)
        self.show_page()

    def watch_view(self) -> None:
        self.show_page()

    def show_page(self) -> None:
        """Show what the section says now."""
        view, section = self.view, self.section
        if section is None or not self.display:
            return
        node = view.node if section.per_node else -1
        subject = (section.name, node, view.listing.order)
        # one column is left to the scrollbar, which these lines may call for
        room = replace(view, width=max(1, self.size.width - 1), height=self.visible_height)
        try:
            self._page = section.page(room) if view.node >= 0 or not section.per_node else Page([])
        except AtWork:
            if section.name == self._shown[0]:  # as it was
                self.update_lines()
                return
            self._page, subject = sentence(room, "shown once it pauses"), ("", -1, "plan")
        self.cursor = max(0, min(self.cursor, self.line_count() - 1))
        self.update_lines()
        if subject != self._shown:
            self._shown, self.cursor = subject, 0
            self.scroll_to(y=0, animate=False, immediate=True)
        if self._page.focus is not None and not self.chosen:
            self.reveal(self._page.focus)

    def on_resize(self) -> None:
        # what a section says depends on its width, which is known now
        self.call_after_refresh(self.show_page)

    # -- the marked line ---------------------------------------------------

    def choose(self, chosen: bool) -> None:
        """Let the keys go here, or no more."""
        self.chosen = chosen
        self.set_class(chosen, "-chosen")
        self.update_lines()

    def move_cursor(self, step: int) -> None:
        """Mark another line; a page without anything to mark scrolls."""
        self.cursor = max(0, min(self.line_count() - 1, self.cursor + step))
        self.update_lines()
        self.reveal(self.cursor)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset_capture(self)
        if offset.y == 0:
            name = self._tab_at(offset.x)
            if name:
                self.post_message(SectionChosen(name))
            return
        line = self.line_at(offset.y)
        if line is None:
            return
        target = self._page.target(line, offset.x)
        if target is not None:
            self.cursor = line
            self.post_message(TargetClicked(self.id or "", target, event.chain > 1))

    # -- lines ---------------------------------------------------------------

    def fixed_lines(self) -> list[Line]:
        heading = self._page.heading
        return [self._tabs_line(), *([] if heading is None else [heading])]

    def line_count(self) -> int:
        return len(self._page.lines)

    def line(self, y: int) -> Line:
        return self._page.lines[y]

    def is_selected(self, y: int) -> bool:
        return self.chosen and y == self.cursor

    def _tabs(self) -> list[tuple[str, str]]:
        """Return the tabs that fit, as text and name, around the active one."""
        tabs = []
        for place, section in enumerate(self.sections):
            text = tab_text(section.name)
            tabs.append((f"[{text}]" if place == self.active else f" {text} ", section.name))
        room = self.text_width - 8
        first = self.active
        used = len(tabs[first][0]) if tabs else 0
        while first and used + len(tabs[first - 1][0]) <= room // 2:
            first -= 1
            used += len(tabs[first][0])
        last = self.active + 1
        while last < len(tabs) and used + len(tabs[last][0]) <= room:
            used += len(tabs[last][0])
            last += 1
        while first and used + len(tabs[first - 1][0]) <= room:
            first -= 1
            used += len(tabs[first][0])
        before = [("‹", "")] if first else []
        after = [("›", "")] if last < len(tabs) else []
        return [*before, *tabs[first:last], *after]

    def _tabs_line(self) -> Line:
        edge = "━" if self.chosen else "─"
        line: Line = [Part(edge * 2, "strong" if self.chosen else "faint")]
        for text, name in self._tabs():
            active = text.startswith("[")
            line.append(Part(text, "strong" if active else "muted" if name else "faint"))
        used = sum(len(part.text) for part in line)
        rest = edge * max(0, self.text_width - used)
        return [*line, Part(rest, "strong" if self.chosen else "faint")]

    def _tab_at(self, x: int) -> str:
        left = 2
        for text, name in self._tabs():
            if left <= x < left + len(text):
                return name
            left += len(text)
        return ""

"""The keys that look around: selecting, following edges, searching, folding, panes."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.records.snapshot import Reply
from tui.app.commanding import CommandScreen
from tui.app.sections.page import ScopeTarget
from tui.app.widgets.execution import ExecutionList
from tui.app.widgets.hints import Hints
from tui.app.widgets.pane import Pane
from tui.app.widgets.prompt import MessageLine, Prompt
from tui.app.widgets.timeline import Timeline


class Looking(CommandScreen):
    """What the keys do to the view, over the widgets that a subclass makes and shows.

    ``chosen`` is the pane to which the keys go, None for the execution list.
    """

    rows: ExecutionList
    panes: dict[str, Pane]
    timeline: Timeline
    message: MessageLine
    prompt: Prompt
    hints: Hints

    def __init__(self, session: DebugSession) -> None:
        super().__init__(session)
        self.chosen: Pane | None = None
        self.count = ""
        self._sought = ""

    def show_panes(self) -> None:
        raise NotImplementedError

    def show_hints(self) -> None:
        raise NotImplementedError

    def choose_pane(self, pane: Pane | None) -> None:
        raise NotImplementedError

    def show_section(self, name: str) -> None:
        raise NotImplementedError

    # -- the prompt ----------------------------------------------------------

    @property
    def prompting(self) -> bool:
        """Whether what is typed goes to the prompt."""
        return self.has_class("-prompting")

    def open_prompt(self, text: str, *, search: bool = False) -> None:
        """Ask for a command, or for a word to look for."""
        self.take_count()
        self.add_class("-prompting")
        self.prompt.open(text, search=search)
        self.set_focus(self.prompt)

    def action_close_prompt(self) -> None:
        self.set_focus(None)
        self.remove_class("-prompting")
        self.show_hints()

    async def action_enter_line(self) -> None:
        line = self.prompt.take_line()
        self.action_close_prompt()
        if self.prompt.search:
            self.look_for(line)
        elif line := line or self.last_line:
            await self.send(line, max(0, self.rows.selected))

    def action_complete(self) -> None:
        if self.busy_with or self.prompt.search:
            return
        words = self.session.complete(self.prompt.value, self.prompt.cursor_position)
        self.prompt.take(words)
        self.hints.offer(words if len(words) > 1 else ())

    def type_character(self, character: str) -> bool:
        """Put a character into the prompt, or add a digit to the count for the next key; False
        where it is for neither."""
        if self.prompting:
            self.prompt.insert_text(character)
        elif character.isdecimal() and character != "0":
            self.add_digit(character)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Put the first line of ``text`` into the prompt."""
        if self.prompting and text:
            self.prompt.insert_text(text.splitlines()[0])

    # -- counts --------------------------------------------------------------

    def add_digit(self, digit: str) -> None:
        self.count = (self.count + digit)[:9]
        self.message.show_count(self.count)

    def take_count(self, default: int = 1) -> int:
        count = int(self.count) if self.count else default
        if self.count:
            self.count = ""
            self.message.show_count("")
        return count

    def take_turn(self) -> int:
        """The node whose number was typed; without one, the selected node."""
        count = self.take_count(0)
        return count - 1 if count else self.rows.selected

    # -- selecting -----------------------------------------------------------

    def select_node(self, index: int) -> None:
        """Let the panes speak of a node."""
        self.rows.select(index)
        self.show_panes()

    def action_select(self, step: int) -> None:
        step *= self.take_count()
        if self.chosen is not None:
            self.chosen.move_cursor(step)
        else:
            self.select_node(self.rows.neighbour(step))

    def action_select_page(self, step: int) -> None:
        view = self.chosen or self.rows
        rows = step * max(1, view.visible_height - 1)
        if self.chosen is not None:
            self.chosen.move_cursor(rows)
        else:
            self.select_node(self.rows.neighbour(rows))

    def action_select_end(self, end: int) -> None:
        if self.chosen is not None:
            self.chosen.move_cursor(self.chosen.line_count() if end else -self.chosen.line_count())
        else:
            self.select_node(self.snapshot.length - 1 if end else 0)

    def action_select_current(self) -> None:
        self.select_node(self.snapshot.position)

    def action_edge(self, forward: int) -> None:
        """Follow an edge: to whom the node sends, or to who sends to it."""
        edges, node = self.rows.edges, self.rows.selected
        if node < 0:
            return
        sources = self.snapshot.graph.edge_sources
        found = edges.targets_of(node) if forward else [
            sources[edge] for edge in edges.producers_of(node)
        ]  # fmt: skip
        found = list(dict.fromkeys(found))
        place = self.take_count() - 1
        if place < len(found):
            self.select_node(found[place])
        else:
            who = "it sends to" if forward else "sends to it"
            self.show_reply(Reply(f"there is no node {place + 1} that {who}"))

    def action_trouble(self) -> None:
        seen = self.timeline.troubled
        ahead = [index for index in seen if index > self.rows.selected]
        if seen:
            self.select_node(ahead[0] if ahead else seen[0])
        else:
            self.show_reply(Reply("no nan or inf has been seen so far; catch nan stops at one"))

    def action_search(self) -> None:
        self.open_prompt("", search=True)

    def look_for(self, text: str) -> None:
        """Select the next node whose op, module, leaf or file has ``text`` in its name."""
        self._sought = text = (text or self._sought).lower()
        graph, start = self.snapshot.graph, self.rows.selected + 1
        known: dict[str, bool] = {}

        def has(name: str) -> bool:
            if name not in known:
                known[name] = text in name.lower()
            return known[name]

        for index in chain(range(start, self.snapshot.length), range(start)):
            source = graph.sources.get(index)
            if (
                has(graph.names[index])
                or has(graph.scopes[index])
                or has(graph.variables.get(index, ""))
                or (source is not None and has(Path(source.file).name))
                or text in graph.address(index).lower()
            ):
                self.select_node(index)
                return
        self.show_reply(Reply(f"nothing in this plan is called '{text}'", error=True))

    # -- folding -------------------------------------------------------------

    def action_fold(self) -> None:
        target = self.chosen.target if self.chosen is not None else None
        if isinstance(target, ScopeTarget):
            scope = target.scope
        else:
            here = self.rows.modules.scope_of(self.rows.selected)
            folded = (each for each in self.rows.folded if f"{here}.".startswith(f"{each}."))
            scope = next(folded, here)
        if scope:
            self._fold(self.rows.folded ^ {scope})
        else:
            self.show_reply(Reply("this node is in no module, or was not traced"))

    def action_fold_all(self) -> None:
        outermost = {branch.scope for branch in self.rows.modules.tree if not branch.depth}
        self._fold(frozenset() if self.rows.folded else frozenset(outermost))

    def _fold(self, folded: frozenset[str]) -> None:
        self.rows.fold(folded)
        self.show_panes()

    # -- panes ---------------------------------------------------------------

    def _shown_panes(self) -> list[Pane]:
        return [pane for pane in self.panes.values() if pane.sections]

    def action_section(self, step: int) -> None:
        counted = bool(self.count)
        panes = [pane for pane in self._shown_panes() if len(pane.sections) > 1]
        pane = self.chosen if self.chosen in panes else panes[0] if panes else None
        if pane is not None:
            pane.turn_to(self.take_count() - 1 if counted else pane.active + step)

    def action_next_pane(self) -> None:
        panes: list[Pane | None] = [None, *self._shown_panes()]
        place = panes.index(self.chosen) + 1
        self.choose_pane(panes[place % len(panes)])

    def action_scroll(self, step: int) -> None:
        pane = self.chosen or self.panes["node"]
        pane.scroll_relative(y=step * 3 * self.take_count(), animate=False)

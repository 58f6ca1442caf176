"""The main screen: it reads snapshots and sends commands, and decides nothing else."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from autograd_core.dag.turns import turn
from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.records.snapshot import Reply, Snapshot
from tui.app.actions import Actions
from tui.app.arrangement import ARRANGEMENTS, PANES, Arrangement, arrangement
from tui.app.keys import ALL_BINDINGS
from tui.app.messages import (
    HintClicked,
    NodeClicked,
    PositionChosen,
    SectionChosen,
    TargetClicked,
)
from tui.app.sections.page import View
from tui.app.widgets.execution import ExecutionList
from tui.app.widgets.hints import Hints, hints_for
from tui.app.widgets.pane import Pane
from tui.app.widgets.prompt import MessageLine, Prompt
from tui.app.widgets.status import StatusLine
from tui.app.widgets.timeline import Timeline
from tui.app.widgets.too_small import TooSmall


class DebuggerScreen(Actions):
    """Lanes, panes, timeline and prompt; what the keys do stands in :class:`Actions`."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*ALL_BINDINGS]

    def __init__(self, session: DebugSession, title: str) -> None:
        super().__init__(session)
        self.status = StatusLine(title)
        self.rows = ExecutionList(session, self.snapshot)
        self.panes = {name: Pane(name) for name in PANES}
        self.timeline = Timeline(session)
        self.message = MessageLine()
        self.prompt = Prompt()
        self.hints = Hints()
        self.arrangement: Arrangement | None = None

    def compose(self) -> ComposeResult:
        yield self.status
        with Container(id="body"):
            first, *others = PANES
            yield self.panes[first]
            yield self.rows
            yield from (self.panes[name] for name in others)
        yield self.timeline
        yield self.message
        yield self.prompt
        yield self.hints
        yield TooSmall()

    def on_mount(self) -> None:
        super().on_mount()
        self.show_everything()
        self.show_reply(Reply(self.snapshot.hint))

    def on_resize(self, event: events.Resize) -> None:
        chosen = arrangement(*event.size)
        if chosen is self.arrangement:
            return
        self.arrangement = chosen
        for each in ARRANGEMENTS:
            self.set_class(each is chosen, f"-{each.name}")
        for name, pane in self.panes.items():
            pane.take_sections(chosen.sections(name))
            pane.display = bool(pane.sections)
        self.choose_pane(None)
        self.call_after_refresh(self.show_panes)

    # -- showing -------------------------------------------------------------

    def show_everything(self) -> None:
        self.status.show(self.snapshot)
        self.timeline.show(self.snapshot)
        self.show_panes()

    def show_panes(self) -> None:
        """The panes speak of the selected node."""
        if not self.busy_with:
            view = View(
                self.session,
                self.snapshot,
                self.rows.selected,
                self.rows.edges,
                self.rows.modules,
                self.notes,
                self.rows.folded,
            )
            for pane in self.panes.values():
                pane.show(view)
        self.show_hints()

    def show_hints(self) -> None:
        section = self.chosen.section if self.chosen is not None else None
        name = "" if section is None else section.name
        self.hints.show(hints_for(self.snapshot, name, busy=bool(self.busy_with)))

    def show_reply(self, reply: Reply) -> None:
        self.message.show(reply)

    def keep_off(self, busy: bool) -> None:
        self.rows.busy = self.timeline.busy = busy
        for pane in self.panes.values():
            pane.busy = busy

    def show_busy(self, work: str) -> None:
        if work:
            self.status.show_busy(work, self.session.position)
            self.show_hints()

    def show_snapshot(self, previous: Snapshot, reply: Reply) -> None:
        now = self.snapshot
        moved = (now.position, now.graph) != (previous.position, previous.graph)
        self.rows.show(now, follow=moved)
        spoken_of = self.session.selected
        if spoken_of is not None and spoken_of != now.position:
            self.rows.select(spoken_of)
        inside = (now.phase, now.position) != (previous.phase, previous.position) and now.phase
        if inside:
            self.show_section("inside")
        self.show_everything()
        if self.typed and "\n" in reply.text.strip() and not inside:
            self.show_section("console")

    def print_captured(self, text: str, stderr: bool) -> None:
        printed: list[tuple[str, bool]] = getattr(self.app, "printed", [])
        printed.append((text, stderr))

    def show_section(self, name: str) -> None:
        """Turn to a section, in the pane that has it."""
        if not any(pane.activate(name) for pane in self.panes.values()):
            self.show_reply(Reply(f"{name} has no room in this terminal"))
        self.show_hints()

    def choose_pane(self, pane: Pane | None) -> None:
        """Let the keys go to a pane, or to the execution list."""
        if self.chosen is not None:
            self.chosen.choose(False)
        self.chosen = pane
        if pane is not None:
            pane.choose(True)
        self.show_hints()

    # -- what the widgets say ------------------------------------------------

    async def on_node_clicked(self, message: NodeClicked) -> None:
        self.choose_pane(None)
        self.select_node(message.index)
        if message.twice:
            await self.go_to(message.index)

    async def on_target_clicked(self, message: TargetClicked) -> None:
        self.choose_pane(self.panes[message.pane])
        if message.target.node >= 0:
            self.select_node(message.target.node)
            if message.twice:
                await self.go_to(message.target.node)

    def on_section_chosen(self, message: SectionChosen) -> None:
        self.show_section(message.name)

    async def on_position_chosen(self, message: PositionChosen) -> None:
        await self.send(f"jump {turn(message.position)}")

    async def on_hint_clicked(self, message: HintClicked) -> None:
        await self.run_action(message.action)

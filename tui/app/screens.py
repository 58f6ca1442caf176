"""The screens: the debugger itself and the help page over it."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen, Screen
from textual.widgets import Footer

from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.snapshot import Reply, Snapshot
from tui.app.keys import ALL_BINDINGS
from tui.app.messages import CommandEntered, NodeClicked, PromptClosed
from tui.app.runner import CommandRunner
from tui.app.widgets.execution import ExecutionList
from tui.app.widgets.gradient import GradientPane
from tui.app.widgets.help import HelpText
from tui.app.widgets.leaves import LeavesPane
from tui.app.widgets.line_view import LineView
from tui.app.widgets.log import LogPane
from tui.app.widgets.prompt import MessageLine, Prompt
from tui.app.widgets.rule import RulePane
from tui.app.widgets.section_tabs import SECTIONS, SectionTabs
from tui.app.widgets.status import StatusLine
from tui.app.widgets.too_small import NEEDED_HEIGHT, NEEDED_WIDTH, TooSmall

WIDE_WIDTH = 120
WIDE_HEIGHT = 30
# a command that ends within this time never shows as busy, and keys typed ahead wait for it
GRACE_SECONDS = 0.05


class DebuggerScreen(Screen[None]):
    """The main screen: it reads snapshots and sends commands, and decides nothing else."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*ALL_BINDINGS]

    def __init__(self, session: DebugSession, title: str) -> None:
        super().__init__()
        self._session = session
        self._program = title
        self._snapshot: Snapshot = session.snapshot
        self._runner = CommandRunner(session)
        self._command = ""
        self._leaving = ""
        self._last_command = ""
        self._count = ""
        self._section = 0

    def compose(self) -> ComposeResult:
        self._status = StatusLine(self._program)
        self._list = ExecutionList(self._session, self._snapshot)
        self._tabs = SectionTabs()
        self._gradient = GradientPane("gradient")
        self._rule = RulePane("rule")
        self._leaves = LeavesPane("leaves")
        self._transcript = LogPane("console")
        self._message = MessageLine()
        self._prompt = Prompt()
        yield self._status
        with Container(id="body"):
            yield self._list
            yield self._tabs
            yield self._gradient
            yield self._leaves
            yield self._rule
            yield self._transcript
        yield self._message
        yield self._prompt
        yield Footer(compact=True, show_command_palette=False)
        yield TooSmall()

    def on_mount(self) -> None:
        self._list.border_title = "execution"
        for pane in self._panes:
            pane.border_title = pane.id
        self.app.begin_capture_print(self._transcript)
        self._show_section(0)
        self._show_everything()

    def on_unmount(self) -> None:
        self._runner.close()

    @property
    def _panes(self) -> tuple[LineView, ...]:
        return (self._gradient, self._rule, self._leaves, self._transcript)

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        tiny = width < NEEDED_WIDTH or height < NEEDED_HEIGHT
        wide = width >= WIDE_WIDTH and height >= WIDE_HEIGHT
        self.set_class(tiny, "-tiny")
        self.set_class(wide and not tiny, "-wide")
        self.set_class(not wide and not tiny, "-narrow")

    # -- showing -------------------------------------------------------------

    def _show_everything(self) -> None:
        self._status.show(self._snapshot)
        self._show_selected()

    def _show_selected(self) -> None:
        """The panes speak of the selected node."""
        index = self._list.selected
        self._leaves.show(self._snapshot, index)
        if not self._command and self._snapshot.length:
            self._gradient.show(self._session, self._snapshot, self._list.edges, index)
            self._rule.show(self._session, self._snapshot, index)

    def _show_section(self, number: int) -> None:
        self._section = number % len(SECTIONS)
        for place, pane in enumerate(self._panes):
            pane.set_class(place == self._section, "-active")
        self._tabs.show(self._section)

    # -- commands ------------------------------------------------------------

    async def _send(self, line: str) -> None:
        """Run one command line; a slow one goes on while the screen stays alive."""
        if self._command:
            self._message.show(Reply(f"busy with {self._command}; this key did nothing"))
            return
        self._count = ""
        self._last_command = self._command = line
        self._list.busy = True
        future = self._runner.start(line)
        done, _ = await asyncio.wait({future}, timeout=GRACE_SECONDS)
        if done:
            self._finish(line, future.result())
        else:
            self._status.show_busy(line)
            future.add_done_callback(
                lambda ended: self.call_later(self._finish, line, ended.result())
            )

    def _finish(self, line: str, reply: Reply) -> None:
        self._command = ""
        self._list.busy = False
        previous, self._snapshot = self._snapshot, self._session.snapshot
        moved = self._snapshot.position != previous.position
        self._list.show(self._snapshot, follow=moved)
        self._transcript.add_command(line, reply)
        self._message.show(reply)
        self._show_everything()
        if "\n" in reply.text.strip():
            self._show_section(SECTIONS.index("console"))
        if leaving := self._leaving or reply.leave:
            self.app.exit(leaving)

    async def on_command_entered(self, message: CommandEntered) -> None:
        self.set_focus(None)
        self._message.display = True
        line = message.line or self._last_command
        if line:
            await self._send(line)

    def on_prompt_closed(self, message: PromptClosed) -> None:
        self.set_focus(None)
        self._message.display = True

    # -- keys ----------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Digits collect a count for the next key; escape forgets it."""
        digit = event.character or ""
        if digit.isdecimal() and (self._count or digit != "0"):
            self._count = (self._count + digit)[:9]
            self._message.show_count(self._count)
            event.stop()
        elif event.key == "escape" and self._count:
            self._take_count()
            event.stop()

    def _take_count(self, default: int = 1) -> int:
        count = int(self._count) if self._count else default
        self._count = ""
        self._message.show_count("")
        return count

    async def action_step(self, command: str) -> None:
        count = self._take_count()
        await self._send(command if count == 1 else f"{command} {count}")

    async def action_command(self, line: str) -> None:
        await self._send(line)

    async def action_until(self) -> None:
        target = self._take_count(self._list.selected)
        if target < self._snapshot.position:
            await self._send(f"jump {target}")
        elif target > self._snapshot.position:
            await self._send(f"until #{target}")
        else:
            self._message.show(Reply(f"node #{target} is the current one already"))

    async def action_toggle_breakpoint(self) -> None:
        index = self._list.selected
        here = [stop for stop in self._snapshot.breakpoints if index in stop.indices]
        # the one that stands on this row alone goes first
        here.sort(key=lambda stop: len(stop.indices))
        await self._send(f"delete {here[0].number}" if here else f"break #{index}")

    def action_select(self, step: int) -> None:
        self._select(self._list.selected + step * self._take_count())

    def action_select_page(self, step: int) -> None:
        self._select(self._list.selected + step * max(1, self._list.visible_height - 1))

    def action_select_first(self) -> None:
        self._select(0)

    def action_select_last(self) -> None:
        self._select(self._snapshot.length - 1)

    def action_select_current(self) -> None:
        self._select(self._snapshot.position)

    def _select(self, index: int) -> None:
        self._list.select(index)
        self._show_selected()

    def on_node_clicked(self, message: NodeClicked) -> None:
        self._select(message.index)

    def action_section(self, step: int) -> None:
        counted = bool(self._count)
        number = self._take_count() - 1 if counted else self._section + step
        self._show_section(number)

    def action_scroll_detail(self, step: int) -> None:
        pane = self._gradient if self.has_class("-wide") else self._panes[self._section]
        pane.scroll_relative(y=step * 3, animate=False)

    def action_prompt(self) -> None:
        self._take_count()
        self._message.display = False
        self._prompt.open()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())

    def action_leave(self, outcome: str) -> None:
        if self._command:
            self._leaving = outcome
            self._message.show(Reply(f"will close as soon as {self._command} has ended"))
        else:
            self.app.exit(outcome)


class HelpScreen(ModalScreen[None]):
    """All keys; any of the usual keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", "close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]

    def compose(self) -> ComposeResult:
        self._text = HelpText()
        self._text.border_title = "keys"
        self._text.border_subtitle = "esc closes · j k scroll"
        yield self._text

    def action_scroll(self, step: int) -> None:
        self._text.scroll_relative(y=step, animate=False)

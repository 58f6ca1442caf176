"""The main screen: it shows snapshots and sends commands, and decides nothing else."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, cast

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.reactive import var
from textual.screen import Screen
from textual.widgets import Input

from gradstep.console.completing import command_of
from gradstep.debugger.snapshot import Reply, Snapshot
from gradstep.graph.addresses import step_index, step_number
from gradstep.user_files import write_new
from gradstep_tui.app.arrangement import ARRANGEMENTS, OTHER_RUN, PANES, Arrangement, arrangement
from gradstep_tui.app.keys import ALL_BINDINGS
from gradstep_tui.app.plan.listing import (
    IN_PLAN_ORDER,
    ORDERS,
    Listing,
    listing_words,
    read_listing,
)
from gradstep_tui.app.plan.listing import WORDS as LISTING_WORDS
from gradstep_tui.app.plan.navigation import find, receivers, senders
from gradstep_tui.app.plan.picture import tidied
from gradstep_tui.app.sections.console import add_command, add_print
from gradstep_tui.app.sections.page import (
    SECTION_DIGITS,
    CallTarget,
    Notes,
    PointTarget,
    ScopeTarget,
    ScreenView,
    Shown,
)
from gradstep_tui.app.sections.value import value_text
from gradstep_tui.app.widgets.execution import (
    ExecutionList,
    HeadClicked,
    NodeClicked,
)
from gradstep_tui.app.widgets.help import HelpScreen
from gradstep_tui.app.widgets.hints import HintClicked, Hints, hints_for
from gradstep_tui.app.widgets.pane import Pane, SectionChosen, TargetClicked
from gradstep_tui.app.widgets.prompt import MessageLine, Prompt
from gradstep_tui.app.widgets.status import StatusLine
from gradstep_tui.app.widgets.strips import DisplayStrip, LeafStrip, SourceStrip, TooSmall
from gradstep_tui.app.widgets.timeline import PositionChosen, Timeline
from gradstep_tui.app.worker import Progress, SessionWorker, SnapshotReady
from gradstep_tui.errors import AtWork

PROGRESS_SECONDS = 0.05
FLOW_SECONDS = 0.05
LOOK_AT_ONCE, LOOK_BESIDE = 0.025, 0.005  # of these, where the flow is on the screen or not
_SHOWN_WORDS: dict[Shown, str] = {
    "gradient": "the gradient that arrived at each node",
    "value": "what each op made in the forward pass, where that is kept",
    "both": "forward values and gradients",
}
MOST_FILTERED = 20_000  # nodes, for the list to follow each letter of a filter
LEAST_LIST, LEAST_PANE = 66, 40  # cells, side by side
_COUNTED = ("enter {node}", "leave")  # commands behind keys that take a count
_FIRST_WORDS = "n runs the next node; numbers are gradients; ? explains it"
_SHOWN = tuple(_SHOWN_WORDS)


def is_report(ready: SnapshotReady, before: str) -> bool:
    """Return whether an answer of several lines is about a stop, about what a node raised, or from
    ``why``; ``before`` it, a node had raised that error."""
    if "\n" not in ready.reply.text.strip():
        return False
    if ready.snapshot.error not in ("", before):
        return True
    stop = re.match(r"catch \d|breakpoint \d+: if ", ready.reply.text) is not None
    asked = ready.line.partition(" ")[0] == "why" or stop
    return asked and not ready.reply.error


def _is_inside_move(before: Snapshot, now: Snapshot) -> bool:
    """Return whether a move ended inside a node, or before it, from inside."""
    if now.phase:
        return (before.position, before.phase) != (now.position, now.phase)
    return now.position == before.position and before.phase > 0


class DebuggerScreen(Screen[None]):
    """Lanes, panes, timeline and prompt over a session.

    A key selects something, or hands a command to the worker, which answers with a
    :class:`SnapshotReady`.  What comes of either is the next ``view``, and the widgets watch it.
    The keys are in ``keys.py``: each names one of the actions here.
    """

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*ALL_BINDINGS]

    view: var[ScreenView] = var(cast(ScreenView, None))  # the first one is made with the screen
    progress: var[Progress | None] = var(None)

    def __init__(self, worker: SessionWorker, title: str) -> None:
        super().__init__()
        self.worker = worker
        self.notes = Notes()
        view = ScreenView.of(self.worker.facts, self.worker.snapshot, self.notes)
        self.set_reactive(DebuggerScreen.view, view)
        self.arrangement: Arrangement | None = None
        self.chosen: Pane | None = None  # to which the keys go; None: to the execution list
        self.count = ""  # for the next key: # and digits
        self._columns: tuple[int, ...] | None = None  # of the grid, in cells; the last has the rest
        self._completed = ""  # the line of the prompt, once words for it were offered
        self._before_filter: Listing | None = None  # the listing, while a filter is typed
        self._sought = ""
        self._folded: ScreenView | None = None  # what the last key, z, came to
        self._before_fold = view
        self._last_line = ""
        self._leaving = ""
        self._section_before = ""  # which one to turn back to
        self.status = StatusLine(view, title)
        self.rows = ExecutionList(view)
        self.panes = {name: Pane(view, name) for name in PANES}
        self.strips = (SourceStrip(view), LeafStrip(view), DisplayStrip(view))
        self.timeline = Timeline(view)
        self.message = MessageLine()
        self.prompt = Prompt()
        self.hints = Hints()

    def compose(self) -> ComposeResult:
        view, progress = DebuggerScreen.view, DebuggerScreen.progress
        yield self.status.data_bind(view, progress)
        with Container(id="body"):
            first, *others = (pane.data_bind(view) for pane in self.panes.values())
            yield first
            yield self.rows.data_bind(view)
            yield from others
        for strip in self.strips:
            yield strip.data_bind(view)
        yield self.timeline.data_bind(view)
        yield self.message
        yield self.prompt
        yield self.hints
        yield TooSmall()

    def on_mount(self) -> None:
        self.app.begin_capture_print(self)
        self.set_interval(PROGRESS_SECONDS, self._show_progress)
        self.set_interval(FLOW_SECONDS, self._look_further)
        self.message.show(Reply(self.view.snapshot.hint or _FIRST_WORDS))
        self.show_hints()
        self.call_after_refresh(self._open_on_stop)

    def _open_on_stop(self) -> None:
        """Show why the session stands at a stop already, where it was run up to one, and the other
        pass, where two are compared."""
        if self.view.facts.compares:
            self.show_section(OTHER_RUN)
            self.say("} goes to the next difference, { to the one before")
        stop = self.view.facts.stop()
        if stop is not None:
            self.notes.report = stop.text
            self.select_node(stop.node)
            self.message.show(Reply(stop.reason))
            self._open_unasked("report")

    def on_unmount(self) -> None:
        self.worker.close()

    # -- what is shown -------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        chosen = arrangement(*event.size, modules=bool(self.view.modules.tree))
        if chosen is self.arrangement:
            self.on_width_changed()
            return
        self.arrangement = chosen
        for option in ARRANGEMENTS:
            self.set_class(option is chosen, f"-{option.name}")
        for name, pane in self.panes.items():
            sections = chosen.sections(name)
            if not self.view.facts.compares:
                sections = tuple(section for section in sections if section.name != OTHER_RUN)
            pane.take_sections(sections)
        self.choose_pane(None)
        self.on_width_changed()

    def watch_view(self) -> None:
        self.show_hints()

    def watch_progress(self) -> None:
        self.show_hints()

    def show_hints(self) -> None:
        """Show the keys that matter here; a report has more room than other sections."""
        self.set_class({"report", "why"}.intersection(self._active_sections()) != set(), "-reading")
        section = self.chosen.section if self.chosen is not None else None
        name = "" if section is None else section.name
        self.hints.show(hints_for(self.view.snapshot, name, busy=self.progress is not None))

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a remark on the last key, until the next one."""
        self.message.remark(Reply(text, error=error))

    def show_section(self, name: str) -> None:
        """Turn to a section, in the pane that has it."""
        if not any(pane.activate(name) for pane in self.panes.values()):
            self.say(f"this terminal has no room for {name}")
        self.show_hints()

    def choose_pane(self, pane: Pane | None) -> None:
        """Let the keys go to a pane, or to the execution list."""
        if self.chosen is not None:
            self.chosen.choose(False)
        self.chosen = pane
        if pane is not None:
            pane.choose(True)
        self.show_hints()

    def select_node(self, index: int) -> None:
        """Let the panes speak of a node."""
        self.view = self.view.select(index)

    # -- what the session does -----------------------------------------------

    def send(self, line: str, *, typed: bool = False) -> None:
        """Have a command line carried out; one that was typed speaks of the selected node."""
        self._last_line = line
        try:
            self.worker.carry_out(line, self.view.node if typed else None)
        except AtWork as busy:
            self.say(str(busy))

    def _show_progress(self) -> None:
        self.progress = self.worker.progress

    def on_snapshot_ready(self, ready: SnapshotReady) -> None:
        self.worker.rest()
        self.progress = None
        self._note(ready)
        before, now = self.view.snapshot, ready.snapshot
        self.message.show(self._told(ready, before))
        self.view = self.view.moved(now, ready.selected)
        moved = (now.phase, now.position) != (before.phase, before.position)
        several_lines = "\n" in ready.reply.text.strip()
        if is_report(ready, before.error):
            self.notes.report = ready.reply.text
            self._open_unasked("report")
        elif now.phase and moved:
            self._open_unasked("gradient")
        elif moved and self._section_before:
            self._close_unasked()
        elif ready.typed and several_lines:
            self.show_section("console")
        if leaving := self._leaving or ready.reply.leave:
            self.app.exit(leaving)

    def _told(self, ready: SnapshotReady, before: Snapshot) -> Reply:
        """Return an answer; of a move, what it did and why it ended, for where it came to is
        seen."""
        now, reply = ready.snapshot, ready.reply
        displays = {f"{number}: {text}" for number, text in now.displays}  # in a strip
        if not reply.error and now.graph is before.graph and _is_inside_move(before, now):
            text = self.view.facts.move_text(before, now)
            phases = () if now.current is None else now.current.phases
            reason = "" if any(phase.text == now.reason for phase in phases) else now.reason
            return replace(reply, text=" · ".join(filter(None, (reason, text)))) if text else reply
        *reasons, last = [line for line in reply.text.splitlines() if line not in displays] or [""]
        if last == now.reason:
            reasons = [last]
        elif not last.startswith(f"{step_number(now.position)} "):
            return reply
        if reply.error or len(reasons) > 1 or now.graph is not before.graph:
            return reply
        text = self.view.facts.move_text(before, now)
        return replace(reply, text=" · ".join([*reasons, text])) if text else reply

    def _open_unasked(self, name: str) -> None:
        """Turn to a section that a movement calls for, and remember the one that was there."""
        active = self._active_sections()
        if name not in active:
            if not self._section_before:
                self._section_before = next(
                    (old for pane, old in zip(self.panes.values(), active, strict=True)
                     if any(section.name == name for section in pane.sections)), ""
                )  # fmt: skip
            self.show_section(name)

    def _close_unasked(self) -> None:
        """Turn back from such a section, if it is still there."""
        before, self._section_before = self._section_before, ""
        if {"report", "gradient"}.intersection(self._active_sections()):
            self.show_section(before)

    def _active_sections(self) -> list[str]:
        return ["" if pane.section is None else pane.section.name for pane in self.panes.values()]

    def _note(self, ready: SnapshotReady) -> None:
        """Keep what a pane will show."""
        line, reply, notes = ready.line, ready.reply, self.notes
        # what a key does is seen; there is no need to read of it as well
        if line and (ready.typed or reply.error or "\n" in reply.text):
            add_command(notes.transcript, line, reply)
        word, _, place = line.partition(" ")
        index = step_index(place)
        if word == "check" and index is not None:
            notes.report = f"check {place}\n{reply.text}"
        elif word in ("difference", "diff") and not reply.error:
            notes.difference = reply.text
            notes.difference_at = ready.snapshot.position

    def on_print(self, event: events.Print) -> None:
        """The script (a hook, most likely) printed something."""
        add_print(self.notes.transcript, event.text)

    def _look_further(self) -> None:
        """Look at the flow of nodes that nothing on the screen needed yet, a little at a time."""
        usage, flow = self.view.snapshot.usage, self.notes.flow
        if (usage and usage.dropped) or flow.looked >= self.view.snapshot.position:
            return
        is_waited_for = self.view.listing.needs_flow or "flow" in self._active_sections()
        known = len(flow.troubled)
        try:
            seconds = LOOK_AT_ONCE if is_waited_for else LOOK_BESIDE
            flow.look_further(self.view.facts.flow, self.view.snapshot.position, seconds)
        except AtWork:
            return
        at_first = self.view.listing.order != "plan" and self.view.node == self.rows.end(False)
        self.rows.flow_grew()
        if is_waited_for:
            if at_first:
                self.select_node(self.rows.end(False))
            for pane in self.panes.values():
                if pane.section is not None and pane.section.name == "flow":
                    pane.show_page()
        if len(flow.troubled) != known:
            self.timeline.update_lines()

    # -- counts --------------------------------------------------------------

    def add_digit(self, digit: str) -> None:
        """Add a digit to the number for the next key."""
        self.count = (self.count + digit)[:10]
        self.message.show_count(self.count)

    def action_number(self) -> None:
        """Begin a number: the digits that follow are a count, and no sections."""
        self.take_count()
        self.add_digit("#")

    def take_count(self, default: int = 1) -> int:
        """Return the count that was typed, which is used up."""
        count = int(self.count[1:] or default)
        if self.count:
            self.count = ""
            self.message.show_count("")
        return count

    # -- keys: move through the backward pass --------------------------------

    def action_step(self, command: str) -> None:
        count = self.take_count()
        self.send(command if count == 1 else f"{command} {count}")

    def action_command(self, line: str) -> None:
        count = self.take_count()
        self.send(self._filled(f"{line} {count}" if line in _COUNTED and count > 1 else line))

    def _filled(self, line: str) -> str:
        return line.replace("{node}", step_number(self.view.node))

    def action_until(self) -> None:
        target = self.chosen.target if self.chosen is not None else None
        if self.chosen is None:
            count = self.take_count(0)
            self.go_to(count - 1 if count else self.view.node)
        elif target is not None and target.node >= 0:
            self.select_node(target.node)

    def go_to(self, node: int) -> None:
        """Run on to a node, or go back to it."""
        snapshot = self.view.snapshot
        if node == snapshot.position and not snapshot.phase:
            self.say(f"node {step_number(node)} is already the current one")
        else:
            self.send(f"until {step_number(node)}")

    def action_along(self, step: int) -> None:
        stride = max(1, self.view.snapshot.length // 20) * self.take_count()
        self.send(f"{'next' if step > 0 else 'reverse-next'} {stride}")

    # -- keys: navigate ------------------------------------------------------

    def action_select(self, step: int) -> None:
        self._select_row(step * self.take_count())

    def action_select_page(self, step: float) -> None:
        page = max(1, (self.chosen or self.rows).visible_height - 1)
        self._select_row(round(step * page) * self.take_count())

    def action_select_shown(self, half: int) -> None:
        """Select the first row in view, the middle one, or the last one."""
        self.take_count()
        self.choose_pane(None)
        rows = self.rows
        last = min(rows.visible_height, rows.line_count() - rows.scroll_offset.y) - 1
        self.select_node(rows.node_at(rows.scroll_offset.y + half * last // 2))

    def action_select_end(self, end: int) -> None:
        if count := self.take_count(0):
            self.select_node(count - 1)
        elif self.chosen is not None:
            self.chosen.move_cursor(self.chosen.line_count() if end else -self.chosen.line_count())
        else:
            self.select_node(self.rows.end(bool(end)))

    def _select_row(self, step: int) -> None:
        if self.chosen is not None:
            self.chosen.move_cursor(step)
        else:
            self.select_node(self.rows.neighbour(step))

    def action_select_current(self) -> None:
        self.select_node(self.view.snapshot.position)

    def action_edge(self, forward: int) -> None:
        node, edges = self.view.node, self.view.edges
        if node < 0:
            return
        along = self.chosen.along if self.chosen is not None else None
        if along is not None:
            self.select_node(along((1 if forward else -1) * self.take_count()))
            return
        graph = self.view.snapshot.graph
        neighbours = receivers(edges, node) if forward else senders(graph, edges, node)
        place = self.take_count() - 1
        if place < len(neighbours):
            self.select_node(neighbours[place])
        else:
            who = "it sends to" if forward else "sends to it"
            self.say(f"there is no node {place + 1} that {who}")

    def action_trouble(self) -> None:
        seen = self.notes.flow.troubled
        ahead = [index for index in seen if index > self.view.node]
        if seen:
            self.select_node([*ahead, *seen][(self.take_count() - 1) % len(seen)])
        else:
            self.say("no nan or inf has been seen so far; catch nan stops at one")

    def action_search(self) -> None:
        self.open_prompt("", search=True)

    def action_search_again(self, step: int) -> None:
        count = self.take_count()
        if not self._sought:
            self.say("nothing was searched for: / finds an op, module, leaf or file")
            return
        for _ in range(min(count, self.view.snapshot.length)):
            self.search("", step)

    def search(self, text: str, step: int = 1) -> None:
        """Select the next node that has ``text``, or what was searched for last, in its name; with
        a ``step`` of -1 the previous one."""
        self._sought = (text or self._sought).lower()
        snapshot = self.view.snapshot
        node = find(snapshot.graph, snapshot.length, self.view.node, self._sought, step)
        if node is None:
            self.say(f"nothing in this pass is called '{self._sought}'", error=True)
        else:
            folded = self.view.folded.difference(self.view.modules.around(node))
            self.view = replace(self.view, folded=folded)
            self.select_node(node)

    def action_shown(self) -> None:
        """Let the list show something else of each node."""
        shown = _SHOWN[(_SHOWN.index(self.view.shown) + 1) % len(_SHOWN)]
        self.view = replace(self.view, shown=shown)
        self.say(f"the list shows {_SHOWN_WORDS[shown]}; press v for the next")

    def action_order(self) -> None:
        """Sort the list in another way."""
        order = ORDERS[(ORDERS.index(self.view.listing.order) + 1) % len(ORDERS)]
        self.show_listing(self.view.listing._replace(order=order))

    def show_listing(self, listing: Listing) -> None:
        """Let the list show other nodes, or in another order; sorted, from the first one on, unless
        the keys go to a pane, which may speak of the node that is selected."""
        self.view = replace(self.view, listing=listing)
        if listing.order != "plan" and self.chosen is None:
            self.select_node(self.rows.end(False))
        self.say(f"the list: {listing.text}")

    def action_fold(self) -> None:
        if self._folded is self.view:  # vim's zz: the fold is as before, and the row in the middle
            self.view, self._folded = self._before_fold, None
            self.rows.center(self.view.node)
            return
        self._before_fold = self.view
        self._fold()
        self._folded = self.view

    def _fold(self) -> None:
        target = self.chosen.target if self.chosen is not None else None
        if isinstance(target, ScopeTarget):
            scope = target.scope
        else:
            around = self.view.modules.around(self.view.node)
            folded = (scope for scope in around[::-1] if scope in self.view.folded)
            scope = next(folded, "".join(around[:1]))
        if scope:
            self.view = replace(self.view, folded=self.view.folded ^ {scope})
        else:
            self.say("this node is in no module and no loop, or was not traced")

    def action_fold_all(self) -> None:
        modules = self.view.modules
        outermost = [branch.scope for branch in modules.tree if not branch.depth]
        outermost += [span.scope for span in modules.loops]
        folded = frozenset[str]() if self.view.folded else frozenset(outermost)
        self.view = replace(self.view, folded=folded)

    # -- keys: panes ---------------------------------------------------------

    def _shown_panes(self) -> list[Pane]:
        return [pane for pane in self.panes.values() if pane.sections]

    def action_section(self, step: int) -> None:
        panes = [pane for pane in self._shown_panes() if len(pane.sections) > 1]
        pane = self.chosen if self.chosen in panes else panes[0] if panes else None
        if pane is not None:
            pane.turn_to(pane.active + step * self.take_count())
            self.show_hints()

    def action_section_of(self, digit: str) -> None:
        if digit in SECTION_DIGITS:
            self.show_section(SECTION_DIGITS[digit])
        else:
            self.say("1 to 9 turn to a section; # begins a number: #10 n")

    def action_next_pane(self) -> None:
        panes: list[Pane | None] = [None, *self._shown_panes()]
        place = panes.index(self.chosen) + 1
        self.choose_pane(panes[place % len(panes)])

    def action_scroll(self, step: int) -> None:
        pane = self.chosen or self.panes["node"]
        pane.scroll_relative(y=step * 3 * self.take_count(), animate=False)

    # -- keys: stop ----------------------------------------------------------

    def action_toggle_breakpoint(self) -> None:
        index = self.view.node
        here = [point for point in self.view.snapshot.breakpoints if index in point.indices]
        # the one that stands on this row alone goes first
        here.sort(key=lambda point: len(point.indices))
        self.send(f"delete {here[0].number}" if here else f"break {step_number(index)}")

    def _marked_point(self) -> int | None:
        target = self.chosen.target if self.chosen is not None else None
        if isinstance(target, PointTarget):
            return target.number
        if self.view.snapshot.breakpoints:
            self.say("choose a breakpoint first: w goes to the breakpoints pane")
        else:
            self.say("there are no breakpoints: b sets one on the row")
        return None

    def action_toggle_point(self) -> None:
        number = self._marked_point()
        for point in self.view.snapshot.breakpoints:
            if point.number == number:
                self.send(f"{'disable' if point.enabled else 'enable'} {number}")

    def action_delete_point(self) -> None:
        number = self._marked_point()
        if number is not None:
            self.send(f"delete {number}")

    # -- keys: change and check ----------------------------------------------

    def action_difference(self) -> None:
        self.send("difference")
        self.show_section("changes")

    def action_check(self) -> None:
        self.send(f"check {step_number(self.view.node)}")
        self.show_section("report")

    # -- keys: the prompt ----------------------------------------------------

    @property
    def prompting(self) -> bool:
        """True while what is typed goes to the prompt."""
        return self.has_class("-prompting")

    def open_prompt(self, text: str, *, search: bool = False) -> None:
        """Ask for a command, or for a word to search for."""
        self.take_count()
        self.add_class("-prompting")
        self.prompt.open(text, search=search)
        self.set_focus(self.prompt)

    def action_prompt(self, text: str) -> None:
        self.open_prompt(self._filled(text))

    def action_close_prompt(self) -> None:
        self.set_focus(None)
        self.remove_class("-prompting")
        self.show_hints()
        if self._before_filter is not None:
            listing, self._before_filter = self._before_filter, None
            self.view = replace(self.view, listing=listing)

    def action_enter_line(self) -> None:
        line = self.prompt.take_line()
        self.action_close_prompt()
        if self.prompt.search:
            self.search(line)
        elif line := line or self._last_line:
            self.carry_out(line)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Say what may be typed, and filter the list while a word for it is typed."""
        if not self.prompting or self.prompt.search or event.value == self._completed:
            return
        line = event.value
        command = command_of(line)
        text = "" if command is None else f"{command.usage}: {command.summary}"
        if command is not None and " " in line and command.details:
            text = f"{command.details.splitlines()[0]} · {text}"
        self.hints.explain(text)
        if line.startswith("only ") and self.view.snapshot.length <= MOST_FILTERED:
            self._before_filter = self._before_filter or self.view.listing
            scope = self.view.modules.scope_of(self.view.node)
            with suppress(ValueError):
                listing = read_listing(line, self._before_filter, scope)
                self.view = replace(self.view, listing=listing)

    def carry_out(self, line: str) -> None:
        """Carry out a line that was typed: one about the list, or a command of the session."""
        if line.partition(" ")[0] not in LISTING_WORDS:
            self.send(line, typed=True)
            return
        self._last_line = line
        try:
            scope = self.view.modules.scope_of(self.view.node)
            listing = read_listing(line, self.view.listing, scope)
        except ValueError as error:
            self.say(str(error), error=True)
        else:
            self.show_listing(listing)

    def action_complete(self) -> None:
        if self.prompt.search:
            return
        line, column = self.prompt.value, self.prompt.cursor_position
        try:
            words = self.view.facts.completions(line, column)
        except AtWork:
            return
        words = sorted([*words, *listing_words(line[:column])])
        self.prompt.take(words)
        self._completed = self.prompt.value
        self.hints.offer(words if len(words) > 1 else ())

    def type_character(self, character: str) -> bool:
        """Put a character into the prompt, add a digit to the number for the next key, or turn to
        the section of a digit; False where it is for none of these."""
        if self.prompting:
            self.prompt.insert_text(character)
        elif character.isdecimal() and self.count:
            self.add_digit(character)
        elif character.isdecimal():
            self.action_section_of(character)
        else:
            return False
        return True

    def paste(self, text: str) -> None:
        """Put the first line of ``text`` into the prompt."""
        if self.prompting and text:
            self.prompt.insert_text(text.splitlines()[0])

    # -- keys: keep and leave ------------------------------------------------

    def action_copy(self, what: str) -> None:
        index = self.view.node
        text = self.view.snapshot.graph.address(index)
        if what == "value":
            try:
                text = value_text(self.view.facts.detail(index))
            except AtWork as busy:
                self.say(str(busy))
                return
            except ValueError as error:
                self.say(str(error), error=True)
                return
        if text:
            self.app.copy_to_clipboard(text)
            number = step_number(index)
            self.say(f"copied the {what} of {number}, if this terminal has a clipboard")
        else:
            self.say(f"no gradient has arrived at {step_number(index)}", error=True)

    def action_picture(self) -> None:
        try:
            self.worker.draw(self.view.snapshot, self.view.node)
        except AtWork as busy:
            self.say(str(busy))

    def action_photograph(self) -> None:
        snapshot = self.view.snapshot
        path = Path(f"screen-{snapshot.call}-at-{snapshot.position}.svg").resolve()
        try:
            path = write_new(path, tidied(self.app.export_screenshot()))
        except OSError as error:
            self.say(f"cannot write {path}: {error.strerror}", error=True)
        else:
            self.say(f"wrote {path}")

    def action_redraw(self) -> None:
        """Paint every cell again, whatever has written over them."""
        self.app.refresh()

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())

    def action_escape(self) -> None:
        self.take_count()
        if work := self.worker.interrupt():
            if self.worker.asked > 1:
                self.say(f"{work} is being interrupted inside the node")
            else:
                self.say(
                    f"{work} will pause before the next node; press it again to interrupt the node"
                )
        elif self.chosen is None and self.view.listing != IN_PLAN_ORDER:
            self.show_listing(IN_PLAN_ORDER)
        else:
            self.choose_pane(None)

    def action_leave(self, outcome: str) -> None:
        count = self.take_count()
        if outcome == "continue" and count > 1 and not self.worker.progress:
            self.send(f"quit {count}")
        elif work := self.worker.interrupt():
            self._leaving = outcome
            self.say(f"will close as soon as {work} has paused")
        else:
            self.app.exit(outcome)

    # -- the mouse -----------------------------------------------------------

    def on_node_clicked(self, message: NodeClicked) -> None:
        self.choose_pane(None)
        self.select_node(message.index)
        if message.twice:
            self.go_to(message.index)

    def on_head_clicked(self, message: HeadClicked) -> None:
        """Sort by a column; by the gradient, again: the other way round, then not at all."""
        order, now = message.order, self.view.listing.order
        if now == order:
            order = "small" if now == "size" else "plan"
        elif now == "small" and order == "size":
            order = "plan"
        self.show_listing(self.view.listing._replace(order=order))

    def on_width_changed(self) -> None:
        """Give the list the width that its columns need, and the panes the rest."""
        width = self.size.width
        name = "" if self.arrangement is None else self.arrangement.name
        columns: tuple[int, ...] | None = None
        if name == "wide":
            columns = (min(max(self.rows.natural_width, LEAST_LIST), width - LEAST_PANE),)
        elif name in ("huge", "plain"):
            first = width * 2 // 11 if name == "huge" else width * 3 // 12
            most = width - first - 2 - width * 3 // 11
            columns = (first, min(max(self.rows.natural_width, LEAST_LIST), most))
        if columns != self._columns:
            self._columns = columns
            grid = "" if columns is None else " ".join([*map(str, columns), "1fr"])
            self.query_one("#body").styles.grid_columns = grid or None

    def on_target_clicked(self, message: TargetClicked) -> None:
        self.choose_pane(self.panes[message.pane])
        target = message.target
        if isinstance(target, CallTarget):
            self.send(f"call {target.name}")
        elif target.node >= 0:
            self.select_node(target.node)
            if message.twice:
                self.go_to(target.node)

    def on_section_chosen(self, message: SectionChosen) -> None:
        self.show_section(message.name)

    def on_position_chosen(self, message: PositionChosen) -> None:
        self.send(f"jump {step_number(message.position)}")

    async def on_hint_clicked(self, message: HintClicked) -> None:
        await self.run_action(message.action)

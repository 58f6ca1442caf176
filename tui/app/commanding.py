"""How a screen has a session do things: one at a time, in a thread, with the screen alive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import events
from textual.screen import Screen

from autograd_core.dag.turns import index_of
from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.records.snapshot import Reply, Snapshot
from tui.app.sections.console import add_command, add_print
from tui.app.sections.page import Notes
from tui.app.worker import CommandRunner

# work that ends within this time never shows as busy, and keys typed ahead wait for it
GRACE_SECONDS = 0.05
PROGRESS_SECONDS = 0.1


class CommandScreen(Screen[None]):
    """A screen that sends commands to a session; a subclass shows what comes of them."""

    def __init__(self, session: DebugSession) -> None:
        super().__init__()
        self.session = session
        self.snapshot: Snapshot = session.snapshot
        self.notes = Notes()
        self.busy_with = ""
        self.last_line = ""
        self._leaving = ""
        self.typed = False
        self._runner = CommandRunner()

    # what a subclass does

    def show_reply(self, reply: Reply) -> None:
        """Say what was answered."""
        raise NotImplementedError

    def keep_off(self, busy: bool) -> None:
        """Ask the session nothing, from here on, as long as it is ``busy`` in its thread."""
        raise NotImplementedError

    def show_busy(self, work: str) -> None:
        """Say what is being done, "" for nothing any more."""
        raise NotImplementedError

    def show_snapshot(self, previous: Snapshot, reply: Reply) -> None:
        """Show where the session stands now."""
        raise NotImplementedError

    def print_captured(self, text: str, stderr: bool) -> None:
        """Keep what the script printed."""
        raise NotImplementedError

    # work

    def on_mount(self) -> None:
        self.app.begin_capture_print(self)
        self.set_interval(PROGRESS_SECONDS, self._show_progress)

    def on_unmount(self) -> None:
        self._runner.close()

    def on_print(self, event: events.Print) -> None:
        """The script (a hook, most likely) printed something."""
        add_print(self.notes.transcript, event.text)
        self.print_captured(event.text, event.stderr)

    def _show_progress(self) -> None:
        if self.busy_with:
            self.show_busy(self.busy_with)

    async def send(self, line: str, selected: int | None = None) -> Reply | None:
        """Carry out one command line, and show what comes of it; None while it goes on.

        Of one that was typed, ``selected`` is the node that looking commands are to speak of.
        """
        self.last_line = line
        self.typed = selected is not None

        def work() -> Reply:
            if selected is not None and selected != self.session.selected and self.snapshot.length:
                self.session.select(selected)
            return self.session.do(line)

        return await self.perform(line, work, line)

    async def perform(self, name: str, work: Callable[[], Reply], line: str = "") -> Reply | None:
        """Do ``work`` in the thread; ``line`` is what the console shows as having been typed."""
        if self.busy_with:
            self.show_reply(Reply(f"busy with {self.busy_with}; this key did nothing (esc pauses)"))
            return None
        self.busy_with = name
        self.keep_off(True)
        future = self._runner.start(work)
        done, _ = await asyncio.wait({future}, timeout=GRACE_SECONDS)
        if done:
            return self._finish(line, future.result())
        self.show_busy(name)
        future.add_done_callback(lambda ended: self.call_later(self._finish, line, ended.result()))
        return None

    def _finish(self, line: str, reply: Reply) -> Reply:
        self.busy_with = ""
        self.keep_off(False)
        self.show_busy("")
        previous, self.snapshot = self.snapshot, self.session.snapshot
        if line:
            # what a key does is seen; there is no need to read of it as well
            if self.typed or reply.error or "\n" in reply.text:
                add_command(self.notes.transcript, line, reply)
            self._note(line, reply)
        self.show_reply(reply)
        self.show_snapshot(previous, reply)
        if leaving := self._leaving or reply.leave:
            self.app.exit(leaving)
        return reply

    def _note(self, line: str, reply: Reply) -> None:
        """Keep the answers that a pane shows."""
        word, _, place = line.partition(" ")
        index = index_of(place)
        if word == "check" and index is not None:
            self.notes.checks[index] = reply
        elif word in ("difference", "diff") and not reply.error:
            self.notes.difference = reply.text
            self.notes.difference_at = self.snapshot.position

    def pause(self) -> bool:
        """Ask what is being done to stop before the next node; whether there is something."""
        if not self.busy_with:
            return False
        self.session.interrupt()
        self.show_reply(Reply(f"{self.busy_with} will pause before the next node"))
        return True

    def leave(self, outcome: str) -> None:
        """Close the screen, as soon as nothing is being done."""
        if self.busy_with:
            self._leaving = outcome
            self.session.interrupt()
            self.show_reply(Reply(f"will close as soon as {self.busy_with} has paused"))
        else:
            self.app.exit(outcome)

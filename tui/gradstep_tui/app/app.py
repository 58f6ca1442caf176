"""The application: themes, the screen, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, ClassVar, Literal, TypeVar, cast

from textual import events
from textual.app import App, SystemCommand
from textual.command import Provider
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender

from gradstep.console.session import Session
from gradstep.program.settings import settings_of_program
from gradstep_tui.app.screen import DebuggerScreen
from gradstep_tui.app.themes import DARK, LIGHT, THEMES, light_terminal
from gradstep_tui.app.widgets.line_view import LineView
from gradstep_tui.app.widgets.palette import DebuggerCommands
from gradstep_tui.app.widgets.text import has_marks
from gradstep_tui.app.worker import SessionWorker
from gradstep_tui.guardian import ENDING, end_by, is_guarded
from gradstep_tui.printed import printed

T = TypeVar("T")
_HANDLED = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM")
"""Signals for which the program may have a handler; that of SIGINT the event loop replaces."""
Outcome = Literal["continue", "detach", "abort"]


class _PlainBar(ScrollBarRender):
    """A scrollbar of spaces."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


class DebuggerApp(App[Outcome]):
    """The full-screen debugger over a session.

    ``run()`` returns "continue" (the script goes on), "detach" (it goes on and is to stop no
    more) or "abort" (it is to end, with ``.grad`` as before the call; all that is for the caller
    to do).
    """

    CSS_PATH = "app.tcss"
    TITLE = "gradstep"
    ENABLE_COMMAND_PALETTE: ClassVar[bool] = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {
        *App.COMMANDS,
        DebuggerCommands,
    }

    def __init__(self, session: Session, title: str = "") -> None:
        super().__init__()
        for theme in THEMES:
            self.register_theme(theme)
        named = os.environ.get("TEXTUAL_THEME", "")
        if named in self.available_themes:  # Textual reads it before ours are known
            self.theme = named
        else:
            chosen = settings_of_program().theme
            is_light = light_terminal() if chosen == "auto" else chosen == "light"
            self.theme = "gradstep-light" if is_light else "gradstep-dark"
        LineView.plain = not has_marks(getattr(sys.__stderr__, "encoding", None) or "utf-8")
        if LineView.plain:
            ScrollBar.renderer = _PlainBar
        worker = SessionWorker(session, lambda ready: self.debugger_screen.post_message(ready))
        self.debugger_screen = DebuggerScreen(worker, title)
        self._on_interrupt = signal.getsignal(signal.SIGINT)  # the event loop has one of its own
        self._handlers: dict[int, Any] = {}  # of the program's, while those here stand for them
        self._raised: list[BaseException] = []  # by these

    def _print(self, text: str, stderr: bool = False) -> None:
        """Keep what the script prints, at once: its process may end before the screen shows it."""
        printed().add(text, stderr)
        super()._print(text, stderr)

    def outside(self, work: Callable[[], T]) -> T:
        """Return what ``work``, which has the terminal to itself, returns; from any thread."""
        failures: list[BaseException] = []

        def with_terminal() -> T | None:
            with self.suspend():
                self._listen(False)
                in_loop = signal.signal(signal.SIGINT, self._on_interrupt)
                try:
                    return work()
                except BaseException as error:  # none may go through the event loop
                    failures.append(error)
                finally:
                    signal.signal(signal.SIGINT, in_loop)
                    self._listen(True)
            return None

        in_app = self._thread_id == threading.get_ident()
        result = with_terminal() if in_app else self.call_from_thread(with_terminal)
        if failures:
            raise failures[0]
        return cast(T, result)

    def _listen(self, on: bool) -> None:
        """Leave the screen before SIGTERM and SIGHUP end the process, where no parent process does
        it; handlers of the program's own stay."""
        loop = asyncio.get_running_loop()
        self._stand_for_handlers(on, loop)
        for name in () if is_guarded() else ENDING:
            number = getattr(signal, name, None)
            if number is None or sys.platform == "win32":
                continue
            if not on:
                loop.remove_signal_handler(number)
            elif signal.getsignal(number) == signal.SIG_DFL:
                # in the loop: a handler may come while a lock of the driver's is held
                loop.add_signal_handler(number, self._end_by, number)

    def _stand_for_handlers(self, on: bool, loop: asyncio.AbstractEventLoop) -> None:
        """Let what a handler of the program's raises end the screen first: through the event loop
        it would leave tasks behind, of which Python complains in the terminal."""

        def stand_for(handler: Callable[..., Any]) -> Callable[..., None]:
            def call(number: int, frame: FrameType | None) -> None:
                try:
                    handler(number, frame)
                except BaseException as error:
                    self._raised.append(error)
                    loop.call_soon_threadsafe(self.exit)

            return call

        self._give_back_handlers()
        for name in _HANDLED if on else ():
            handled = getattr(signal, name, None)  # Windows has few
            handler = None if handled is None else signal.getsignal(handled)
            if handled is not None and callable(handler):
                self._handlers[handled] = handler
                signal.signal(handled, stand_for(handler))

    def _give_back_handlers(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers.clear()

    @property
    def _has_terminal(self) -> bool:
        writer = getattr(self._driver, "_writer_thread", None)
        return writer is not None and writer.is_alive()

    def leave_terminal(self) -> None:
        """Leave the screen, if that has not been done."""
        if self._driver is not None and self._has_terminal:
            self._driver.suspend_application_mode()

    def _resume_once(self) -> None:
        """Let Textual enter the terminal at SIGCONT only where it has left it.

        ``fg`` continues the whole group of processes, and our parent continues this one, perhaps
        while the screen is being entered.  Entered twice, two threads read the keys, and the one
        that comes too late waits for ever.
        """
        resume = signal.getsignal(signal.SIGCONT)
        entering = threading.Lock()

        def resume_once(*call: Any) -> None:
            if callable(resume) and entering.acquire(blocking=False):
                try:
                    if not self._has_terminal:
                        resume(*call)
                finally:
                    entering.release()

        if callable(resume):
            signal.signal(signal.SIGCONT, resume_once)

    def _end_by(self, number: int) -> None:
        self.leave_terminal()
        printed().show()
        end_by(number)

    def action_suspend_process(self) -> None:
        """Stop as other programs do, if there is a shell that lets it go on."""
        if os.getpgrp() == os.getsid(0):
            self.debugger_screen.say("no shell started this: there would be no way to come back")
        else:
            super().action_suspend_process()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the colours of meaning under a theme that is not ours."""
        return DARK if self.current_theme.dark else LIGHT

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """List what the palette offers besides the debugger's commands."""
        unwanted = {"Quit", "Keys", "Maximize", "Minimize", "Screenshot"}
        for command in super().get_system_commands(screen):
            if command.title not in unwanted:
                yield command

    async def on_event(self, event: events.Event) -> None:
        """Let each key, and each paste, be done with before the next one is looked at.

        What a key has the session do is done and shown before the next one, too, unless it lasts.

        Textual hands a key to the widget with the focus, and runs its action when the key has come
        back from there.  Of keys that come fast, those behind the one that opens the prompt are
        under way by then, to where they are commands.
        """
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        await self.debugger_screen.worker.settled()
        if self.screen is not self.debugger_screen:
            await super().on_event(event)
        elif isinstance(event, events.Paste):
            self.debugger_screen.paste(event.text)
        else:
            await self._press(event)

    async def _press(self, event: events.Key) -> None:
        self.app_focus = True
        self.debugger_screen.message.drop_remark()
        if await self._check_bindings(event.key, priority=True):
            return
        typed = event.character if event.is_printable else None
        if typed is None or not self.debugger_screen.type_character(typed):
            await self._check_bindings(event.key)

    async def on_mount(self) -> None:
        await self.push_screen(self.debugger_screen)
        self._listen(True)
        if sys.platform != "win32":
            self._resume_once()
        # a full collection looks at every object of the program, and a frame may take 20 ms; what
        # is there already is set aside until the screen closes
        self._froze = gc.get_freeze_count() == 0
        if self._froze:
            gc.freeze()

    def on_unmount(self) -> None:
        self._listen(False)
        if self._froze:
            gc.unfreeze()

    def run(self, *args: Any, **kwargs: Any) -> Outcome:
        """Show the screen until the user leaves it; see the class for what is returned.

        Raises:
            BaseException: what a signal handler of the program's has raised meanwhile.
        """
        try:
            outcome = super().run(*args, **kwargs) or "continue"
        finally:
            self._give_back_handlers()
        if self._raised:
            raise self._raised[0]
        return outcome

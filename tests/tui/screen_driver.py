"""Drives the debugger's screen in tests and reads what it shows as plain text."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

from textual import events
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.keys import _character_to_key
from textual.pilot import Pilot

from gradstep.console.session import Session
from gradstep.graph.addresses import step_number
from gradstep_tui.app import DebuggerApp, Outcome
from gradstep_tui.app.sections.page import DIGITS
from gradstep_tui.app.widgets.prompt import Prompt
from gradstep_tui.app.worker import SessionWorker
from tests.waiting import LIMIT, until_meanwhile

SMALL, LARGE = (80, 24), (160, 48)
SHORT = SessionWorker.grace  # how long keys wait outside of tests


class Driver:
    """A running app: press keys, read the screen."""

    outcome: str | None = None  # of the app, once it has ended

    def __init__(self, app: DebuggerApp, pilot: Pilot[Outcome]) -> None:
        self.app = app
        self.pilot = pilot
        self._started = 0.0

    async def press(self, *keys: str) -> str:
        """Press keys, wait until what they do is done and nothing moves, and return the screen."""
        await self.pilot.press(*keys)
        return await self.settled()

    async def burst(self, *keys: str) -> str:
        """Press keys that are all there before the first is looked at."""
        for key in keys:
            name = key if len(key) > 1 else _character_to_key(key)
            self.app.post_message(events.Key(name, key if len(key) == 1 else None))
        return await self.settled()

    async def type(self, line: str) -> str:
        """Enter a command at the prompt."""
        await self.press("colon")
        self.app.screen.query_one(Prompt).value = line
        return await self.press("enter")

    async def complete_line(self, rest: str) -> str:
        """Enter the line that a key has begun, with ``rest`` added."""
        self.app.screen.query_one(Prompt).value += rest
        return await self.press("enter")

    async def section(self, name: str) -> str:
        """Turn to a section by its digit, or as a click on its tab does."""
        if name in DIGITS:
            return await self.press(DIGITS[name])
        self.app.debugger_screen.show_section(name)
        return await self.settled()

    async def wait_for(self, pattern: str) -> str:
        """The screen, as soon as it shows ``pattern``."""
        await self.until(lambda: re.search(pattern, self.text()), f"{pattern} to come up")
        return self.text()

    async def until(self, happens: Callable[[], object], what: str = "it") -> None:
        """Let the app run until ``happens`` returns something true."""
        await until_meanwhile(happens, lambda: f"waited for {what}:\n{self.text()}")

    async def resize(self, width: int, height: int) -> str:
        """Resize the terminal, and wait until the screen is drawn in it."""
        await self.pilot.resize_terminal(width, height)
        await self.until(lambda: self.app.screen._compositor.size == (width, height))
        return await self.settled()

    async def tick(self) -> str:
        """Have each timer of the screen go off once."""
        for node in (self.app.screen, *self.app.screen.walk_children()):
            for timer in node._timers:
                await timer._tick(next_timer=0.0, count=0)
        return await self.settled()

    async def settled(self) -> str:
        """The screen, once nothing is being done and nothing moves any more."""
        worker = self.app.debugger_screen.worker
        rounds = 2
        while rounds:
            await self.pilot.pause()
            if worker._started == self._started:
                rounds -= 1
            else:  # what came of this work is still to be drawn
                self._started = worker._started
                await worker.settled()
        return self.text()

    def text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    def row(self, index: int) -> str:
        """The line of the execution list that shows plan node ``index``."""
        found = [
            line for line in self.text().splitlines() if f" {step_number(index)} " in line[:40]
        ]
        assert found, f"row {step_number(index)} is not on the screen:\n{self.text()}"
        return found[0]


@asynccontextmanager
async def on_screen(
    session: Session, size: tuple[int, int] = SMALL, grace: float = LIMIT
) -> AsyncIterator[Driver]:
    """The app in a terminal of ``size``.

    Keys wait ``grace`` seconds for what is being done, by default until it is done.
    """
    # A stylesheet of Textual parses all rules again for each app: a sixth of the time of a test.
    # Pilot waits for an idle processor, 40 ms per key; that all queues are empty is enough.
    # tests/conftest.py has frozen a million objects, and to count them takes 40 ms
    with (
        patch.object(Stylesheet, "_parse_rules", parse_once),
        patch("textual.app.wait_for_idle", let_others_run),
        patch("textual.pilot.wait_for_idle", let_others_run),
        patch.object(Pilot._wait_for_screen, "__defaults__", (LIMIT,)),
        patch.object(SessionWorker, "grace", grace),
        patch.object(gc, "get_freeze_count", lambda: 1),
    ):
        app = DebuggerApp(session)
        async with app.run_test(size=size) as pilot:
            driver = Driver(app, pilot)
            await driver.settled()
            yield driver
        driver.outcome = app.return_value


RULES: dict[object, list[RuleSet]] = {}
parse_rules = Stylesheet._parse_rules


def parse_once(stylesheet: Stylesheet, *given: Any, **named: Any) -> list[RuleSet]:
    """Return the rules as :meth:`Stylesheet._parse_rules` does, kept for the next app."""
    key = given, tuple(named.items()), tuple(stylesheet._variables.items())
    if key not in RULES:
        RULES[key] = parse_rules(stylesheet, *given, **named)
    return RULES[key]


async def let_others_run(seconds: float = 0.0) -> None:
    await asyncio.sleep(0)

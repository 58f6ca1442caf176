"""The command palette: the words of the command language, the sections and the keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from gradstep.console.helping import TOPICS
from gradstep.console.stopping import is_condition
from gradstep_tui.app.keys import ALL_BINDINGS
from gradstep_tui.app.sections import SECTIONS

if TYPE_CHECKING:
    from gradstep_tui.app.screen import DebuggerScreen


class Offer(NamedTuple):
    """A line of the palette: what it is called, what it does, and how."""

    title: str
    help: str
    action: Callable[[], object]


class DebuggerCommands(Provider):
    """The commands of the debugger's screen."""

    def _offers(self) -> Iterator[Offer]:
        screen = cast("DebuggerScreen", self.screen)
        for _, commands in TOPICS:
            for command in commands:
                _, _, operands = command.usage.partition(" ")
                # what needs an operand is begun at the prompt
                needs = operands and not operands.startswith("[")
                action = screen.action_prompt if needs else screen.action_command
                line = f"{command.word} " if needs else command.word
                yield Offer(command.usage, command.summary, partial(action, line))
        for section in SECTIONS.values():
            show = partial(screen.show_section, section.name)
            yield Offer(f"show {section.name}", section.summary, show)
        for binding in ALL_BINDINGS:
            key = binding.key_display or binding.key
            run = partial(screen.run_action, binding.action)
            yield Offer(f"key {key}", binding.tooltip, run)

    async def discover(self) -> Hits:
        for offer in self._offers():
            yield DiscoveryHit(offer.title, offer.action, help=offer.help)

    async def search(self, query: str) -> Hits:
        if is_condition(query):  # such as nan
            screen = cast("DebuggerScreen", self.screen)
            run_on = partial(screen.action_command, f"until {query}")
            about = "continue, through later calls too, until a gradient meets this"
            yield Hit(math.inf, f"until {query}", run_on, help=about)
        matcher = self.matcher(query)
        for offer in self._offers():
            score = matcher.match(f"{offer.title} {offer.help}")
            if score > 0:
                shown = matcher.highlight(offer.title)
                yield Hit(score, shown, offer.action, help=offer.help)

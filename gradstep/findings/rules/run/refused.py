"""Calls of a recording that raised an error: what nodes saved was freed, or changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gradstep.findings.facts import Facts, Objects
from gradstep.findings.finding import Reason, Rule
from gradstep.findings.rules.graph.saved import CHANGED, FREED, Changed, Freed


@dataclass(frozen=True)
class FreedInCall(Freed):
    """A call, by its ``title``, raised an ``error``."""

    title: str = field(kw_only=True, compare=False)
    error: str = field(kw_only=True, compare=False)

    def text(self) -> str:
        return f"{self.title} needs values that an earlier backward() freed"

    def details(self) -> str:
        return self.error


@dataclass(frozen=True)
class ChangedInCall(Changed):
    """A call, by its ``title``, raised an ``error``."""

    title: str = field(kw_only=True, compare=False)
    error: str = field(kw_only=True, compare=False)

    def text(self) -> str:
        return f"{self.title} needs a value that was changed in place after the forward pass"

    def details(self) -> str:
        return self.error


def refused(facts: Facts) -> Iterator[Reason]:
    """Yield the calls of a recording that raised such an error; of a program that runs, the
    findings of the call tell more."""
    if Objects in facts.given:
        return
    for call in facts.run.calls():
        if FREED in call.error:
            yield FreedInCall((), False, title=call.title, error=call.error, source=call.line)
        elif CHANGED in call.error:
            yield ChangedInCall(
                "", False, False, title=call.title, error=call.error, source=call.line
            )


RULES: Final = (Rule(refused, code="freed"),)

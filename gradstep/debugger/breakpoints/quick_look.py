"""Calls in which nothing meets the conditions of breakpoints, told apart at little cost.

A call runs plainly, and norms rule out what cannot be.  Where something is left, the call is undone
and runs again in a session, which knows nodes and stops there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, Final

from gradstep.capturing.names import Names
from gradstep.contract.driver import HasRun, Nested
from gradstep.contract.lookup import running_of, stepping_of
from gradstep.contract.ran import OnGradients, Ran
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.breakpoints.predicate import Expression, parse_predicate
from gradstep.debugger.breakpoints.predicate.bounds import BoundedGradient, may_hold
from gradstep.debugger.passes.recorded_pass import record_nested
from gradstep.debugger.snapshot.value import value
from gradstep.records import BackwardCall, Gradients

_OF_PLACES: Final = re.compile(r"\b(address|scope|file|line)\b")


class QuickLook:
    """Runs calls in which no point of ``breakpoints`` can be hit.

    Attributes:
        undone: whether the last call ran, and is to run again in a session.  If nothing stops
            there, because the condition holds at another node, all later ones are left to sessions.
        tells: whether a session may tell of a call that has run, as nobody moves or changes
            anything there: where code of the program's runs, which is to run once.
    """

    tells = False

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self._known: dict[str, Expression] = {}
        self._mistaken = False
        self.undone = False

    @property
    def needs_places(self) -> bool:
        """Whether it depends on lines or modules where a pass stops."""
        points = [point for point in self._breakpoints.points if point.enabled]
        return any(point.text or _OF_PLACES.search(point.condition) for point in points)

    def confirm(self) -> None:
        """Take note that a session has stopped."""
        self.undone = False

    def __call__(self, call: BackwardCall) -> bool | Gradients | HasRun | None:
        """Carry out ``call``; None where a session is to do that, or what tells it of one."""
        conditions = self._conditions()
        self._mistaken, self.undone = self._mistaken or self.undone, False
        if conditions is None or self._mistaken:
            return None
        at_places = any(point.kind != "catch" for point in self._breakpoints.points)
        suspicion = _Suspicion(conditions)
        if at_places:  # what enters the pass arrives at a node, though none sends it
            seeds = stepping_of(call).seeds(call)
            suspicion.hear(seeds, [None] * len(seeds))
        if suspicion.is_there:
            return None
        ran = self.carry_out(call, suspicion.hear)
        if ran is None:
            return None
        if not suspicion.is_there and ran.is_whole:
            return ran.answer()
        self.undone = ran.runs_again
        return told_by(ran)

    def carry_out(self, call: BackwardCall, hears: OnGradients | None = None) -> Ran | None:
        """Carry out a call, as one of which a session may tell."""
        return running_of(call).carry_out(call, _recorded_inside if self.tells else None, hears)

    def _conditions(self) -> list[Expression] | None:
        """Return the conditions of all points; None where one stops without any, or tells of what
        it sees."""
        points = [point for point in self._breakpoints.points if point.enabled]
        if any(not point.condition or point.kind in ("watch", "log") for point in points):
            return None
        texts = dict.fromkeys(point.condition for point in points)
        for text in texts:
            if text not in self._known:
                self._known[text] = parse_predicate(text)
        return [self._known[text] for text in texts]


def told_by(ran: Ran) -> HasRun | None:
    """Return what tells a session of a call that has run; None where it is undone, and the session
    is to make it again."""
    driver = ran.driver()
    return None if driver is None else HasRun(driver)


def _recorded_inside(call: BackwardCall, nested: list[Nested]) -> bool | Gradients:
    return record_nested(call, nested, Names({}))


class _Suspicion:
    """Whether a condition may hold of a gradient that was heard of."""

    def __init__(self, conditions: Sequence[Expression]) -> None:
        self._conditions = conditions
        self.is_there = False

    def hear(self, gradients: Sequence[Any], norms: Sequence[float | None]) -> None:
        """Take note of gradients, None of undefined ones, and of their norms."""
        self.is_there = self.is_there or any(self._suspicious(gradients, norms))

    def _suspicious(
        self, gradients: Sequence[Any], norms: Sequence[float | None]
    ) -> Iterator[bool]:
        known = [(g, norm) for g, norm in zip(gradients, norms, strict=True) if g is not None]
        sizes = [int(gradient.numel()) for gradient, _ in known]
        finite = [norm for _, norm in known if norm is not None and isfinite(norm)]
        together = None
        if known and all(sizes) and len(finite) == len(known):
            together = BoundedGradient.any_of(sizes, finite)
        for condition in self._conditions:
            if len(known) < len(gradients) and "undefined" in condition.text:
                yield True
            # one question for all of them, as nearly always nothing is left
            if together is not None and not may_hold(condition, together):
                continue
            for (gradient, norm), size in zip(known, sizes, strict=True):
                bounded = BoundedGradient.of(size, norm)
                yield may_hold(condition, bounded) and may_hold(condition, value(gradient))

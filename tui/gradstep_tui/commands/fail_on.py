"""``--fail-on``: a condition that no gradient of the whole run may fulfil."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from gradstep.console.session import Session
from gradstep.contract.driver import HasRun
from gradstep.contract.ran import Ran
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.breakpoints.predicate import parse_predicate
from gradstep.debugger.breakpoints.predicate.vocabulary import STATISTICS
from gradstep.debugger.breakpoints.quick_look import QuickLook, told_by
from gradstep.debugger.errors import ExpressionError
from gradstep.debugger.snapshot.value import value
from gradstep.findings.reports.stop import loss_report, stop_report
from gradstep.graph.statistics import format_statistics
from gradstep.program.calls import call_title
from gradstep.records import BackwardCall, Gradients
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.output import say


class FailOn:
    """Watches every pass that goes by ``stops``, and fails at the first gradient in question.

    Raises:
        Failure: ``condition`` is none.
    """

    def __init__(self, condition: str, option: str = "--fail-on") -> None:
        self.breakpoints = Breakpoints()
        self.look = QuickLook(self.breakpoints)
        words = {word.strip() for word in re.split(r",|\bor\b", condition)}
        self._is_trouble = words if words <= {"nan", "inf"} else set()
        self._seen_in = ""  # of a call that a session tells of, what is in question
        self._runs_again = False
        try:
            parse_predicate(condition)
            self._point = self.breakpoints.add(kind="catch", born=True, condition=condition)
        except ExpressionError as error:
            raise Failure(
                f"{option} {condition}: {error} (at character {error.column + 1})", ExitCode.USAGE
            ) from None

    @property
    def is_alone(self) -> bool:
        """True while there is no other breakpoint."""
        return len(self.breakpoints.points) == 1

    def quick_look(self, call: BackwardCall) -> bool | Gradients | HasRun | None:
        """Carry out ``call``, and see whether its loss or a gradient that it made is NaN or
        infinite, or, where the condition asks for something else, whether any gradient may meet it;
        None where it is so, and a session is to find out where and why."""
        if not self._is_trouble or not self.is_alone:
            looked = self.look(call)
            self._seen_in, self._runs_again = "", self.look.undone
            return looked
        self._seen_in, self._runs_again = "", False
        ran = self.look.carry_out(call)
        if ran is None:
            return None
        if not self._is_in_question(ran):
            return ran.answer()
        self._runs_again = ran.runs_again
        return told_by(ran)

    def _is_in_question(self, ran: Ran) -> bool:
        if ran.is_finite():
            return False
        self._seen_in = self._in_question(ran, self._is_trouble)
        # what is nan at a leaf may have been infinite on the way
        is_near = self._is_trouble == {"inf"} and self._in_question(ran, {"nan"})
        return bool(self._seen_in or is_near)

    def _in_question(self, ran: Ran, troubles: Collection[str]) -> str:
        """Return what has one of ``troubles``, "" where nothing does."""
        for what, tensor in ran.values():
            shown = value(tensor)
            if shown is not None and any(STATISTICS[word].of(shown) for word in troubles):
                return f"{what} is {format_statistics(shown.statistics)}"
        return ""

    def run_on(self, session: Session) -> None:
        """Run what is left of the pass.

        Raises:
            Failure: a gradient fulfils the condition; which one, in words.
        """
        before = None
        while before != (before := (len(session.frames), session.position)):
            session.continue_()
            self.check(session)
        if self._seen_in:
            headline, lines = loss_report(session)
            raise Failure(
                self._text(session, f"{self._seen_in}: {headline}", lines), ExitCode.FOUND
            )
        if self.look.undone:
            tell_of_second_run(session)

    def check(self, session: Session) -> None:
        """See whether the last movement has come upon such a gradient.

        Raises:
            Failure: it has.
        """
        reached = self.breakpoints.last
        if reached is not None and reached.point.number == self._point.number:
            text = self._text(session, *stop_report(session, reached.trigger))
            raise Failure(text, ExitCode.FOUND)

    def _text(self, session: Session, headline: str, lines: list[str]) -> str:
        title = call_title(session.kind, session.call)
        first = f"{title}: {headline} (--fail-on {self._point.condition})"
        last = [f"  note  {_TWICE}, to find where that began"] if self._runs_again else []
        return "\n".join([first, *lines, *last])


def tell_of_second_run(session: Session) -> None:
    """Say that a pass ran twice, though nothing came of it."""
    title = call_title(session.kind, session.call)
    say(f"{title}: {_TWICE}, to see whether a condition holds")


_TWICE: Final = "this pass ran twice"

"""``--fail-on``: a condition that no gradient of the whole run may fulfil."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from gradstep.console.session import Session
from gradstep.contract.driver import HasRun
from gradstep.contract.lookup import running_of
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.breakpoints.predicate import parse_predicate
from gradstep.debugger.breakpoints.predicate.vocabulary import STATISTICS
from gradstep.debugger.breakpoints.quick_look import QuickLook
from gradstep.debugger.errors import ExpressionError
from gradstep.debugger.snapshot.value import value
from gradstep.debugger.snapshot.wording import restore_text
from gradstep.findings.reports.stop import loss_report, stop_report
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_statistics
from gradstep.guest.fence import tell
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
        self._seen_in = ""  # of a call that runs again, what is in question
        self._runs_again = self._runs_once = False
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
        run = None if self._runs_once else running_of(call).kept_run(call)
        if run is None:
            return None
        self._seen_in, self._runs_again = "", False
        if not run.is_finite():
            self._seen_in = self._in_question(run, self._is_trouble)
            # what is nan at a leaf may have been infinite on the way
            is_near = self._is_trouble == {"inf"} and self._in_question(run, {"nan"})
            self._runs_again = bool(self._seen_in or is_near)
        why_once = ""
        if not run.repeatable:
            self._runs_once, why_once = True, "an optimizer stepped in it"
        elif self._runs_again and not self._seen_in and running_of(call).may_run_user_code(call):
            why_once = "code of its own ran in it"  # and nothing may come of a second run
        if self._runs_again and not why_once:
            run.undo()
            return None
        run.release()
        if self._seen_in:
            text = f"{_not_again(call, why_once)}: {self._seen_in}"
            raise Failure(f"{text} (--fail-on {self._point.condition})", ExitCode.FOUND)
        if self._runs_again:
            text = _not_again(call, why_once)
            tell(f"{text}: whether something was infinite on the way is not known")
            self._runs_again = False
        return run.result if call.is_grad else True

    def _in_question(self, run: Any, troubles: Collection[str]) -> str:
        """Return what has one of ``troubles``, "" where nothing does."""
        for what, tensor in run.values():
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
        last = [f"  note  {_ran_again(session)}"] if self._runs_again else []
        return "\n".join([first, *lines, *last])


def tell_of_second_run(session: Session) -> None:
    """Say that a pass ran twice, though nothing came of it."""
    text = _ran_again(session, "to see whether a condition holds")
    say(f"{call_title(session.kind, session.call)}: {text}")


def _ran_again(session: Session, why: str = "to find where that began") -> str:
    """Tell that a pass ran twice, and which nodes are known to have run code of the program's."""
    known = [index for index, effect in session.effects.items() if effect.user_code]
    if not known:
        return f"this pass ran twice, {why}"
    return restore_text(known, f"ran twice, {why}", session.cursor.driver.state.restore_note)


def _not_again(call: BackwardCall, why: str) -> str:
    """Say why a call is not to run again."""
    where = "" if call.line is None else f" at {Source(*call.line).place}"
    return f"{call.kind}(){where} cannot run again, for {why}"

"""``--fail-on``: a condition that no gradient of the whole run may fulfil."""

from __future__ import annotations

from autograd_core.debug.breakpoints import Breakpoints, Reached
from autograd_core.debug.breakpoints.predicate import parse_predicate
from autograd_core.debug.commands.stop_report import stop_report
from autograd_core.debug.errors import ExpressionError
from autograd_core.debug.session import Session
from autograd_core.program.calls import call_title
from tui.errors import ExitCode, Failure


class FailOn:
    """Watches every pass that goes by ``stops``, and fails at the first gradient in question.

    Raises:
        Failure: ``condition`` is none.
    """

    def __init__(self, condition: str) -> None:
        self.breakpoints = Breakpoints()
        try:
            parse_predicate(condition)
            self._point = self.breakpoints.add(kind="catch", born=True, condition=condition)
        except ExpressionError as error:
            raise Failure(
                f"--fail-on {condition}: {error} (at character {error.column + 1})",
                ExitCode.USAGE,
            ) from None

    def run_on(self, session: Session) -> None:
        """Run what is left of the pass.

        Raises:
            Failure: a gradient fulfils the condition; which one, in words.
        """
        before = None
        while before != (before := (len(session.frames), session.position)):
            session.continue_()
            self.check(session)

    def check(self, session: Session) -> None:
        """See whether the last movement has come upon such a gradient.

        Raises:
            Failure: it has.
        """
        reached = self.breakpoints.last
        if reached is not None and reached.point.number == self._point.number:
            raise Failure(_report(session, reached), ExitCode.FOUND)


def _report(session: Session, reached: Reached) -> str:
    headline, lines = stop_report(session, reached.trigger)
    heading = f"{call_title(session.kind, session.call)}: {headline}"
    return "\n".join([f"{heading} (--fail-on {reached.point.condition})", *lines])

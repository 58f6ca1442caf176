"""``gradstep why``: from a TARGET and the name of a leaf to the reason for its gradient."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gradstep.console.session import Session
from gradstep.contract.lookup import unseen
from gradstep.findings.finding import Program
from gradstep.findings.reports.formatting import Row
from gradstep.findings.reports.why import Explanation, explain
from gradstep.findings.reports.why.afterwards import WILL_NOT_CHANGE, Afterwards
from gradstep.graph.errors import UnknownAddress
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import ProgramError, ScriptDone
from gradstep.program.process import user_code
from gradstep.program.run import Found, chosen_call, run_target
from gradstep.program.target import Target, parse_target
from gradstep.records import Gradients
from gradstep_tui import output
from gradstep_tui.command_line import TargetParser
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import ARGUMENTS, TARGET, time_of
from gradstep_tui.ranks import add_rank_option, chooses_this_process

if TYPE_CHECKING:
    from gradstep.findings.facts import Facts

_PATIENCE: Final = 60.0
_CALL_HELP: Final = (
    "look only at this backward() call: 1, 2, ... or last; for calls of autograd.grad(): "
    "grad:1, grad:2, ... or grad:last"
)
_NOTES = f"""\
LEAF is the name of a tensor at the call of backward(): weight, fc1.weight or
model.fc1.weight; or a number in the order of the pass, such as #12.

{ARGUMENTS}
examples:
  gradstep why train.py fc1.weight
  gradstep why --call 2 train.py encoder.0.bias --epochs 1
  gradstep why models/net.py:loss weight
"""


def parser() -> TargetParser:
    """Return the options of ``gradstep why``."""
    command = TargetParser(
        "why",
        "[OPTIONS] TARGET LEAF [ARGS...]",
        "Explain the gradient of a leaf: why it is None, 0, nan, tiny or huge, which line\n"
        "causes that, and whether the leaf learns (exit code 5). why looks at the calls\n"
        "of the whole run and shows the one with a problem. With --call, it looks at\n"
        f"that call alone, and the script ends at the next one.\n\n{TARGET}",
        _NOTES,
    )
    add = command.option
    add("--call", metavar="K", help=_CALL_HELP)
    add("--calls", type=int, metavar="N", help="end after N calls and report")
    add("--for", dest="seconds", type=time_of, default=_PATIENCE, metavar="60s",
        help="end after this time and report (default: 60s)")  # fmt: skip
    add_rank_option(add, "0")
    command.operands = ("leaf",)
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep why``."""
    chooses_this_process(options.on_rank)
    target = parse_target(options.target, module=options.module)
    if options.call is None and not (target.is_recording or target.name):
        return why_in_run(target, options)
    if options.call is None and target.is_recording:
        return why_recorded(target, options)
    return why_target(
        target, options.leaf, options.arguments, call=chosen_call(target, options.call)
    )


def why_recorded(target: Target, options: argparse.Namespace) -> int:
    """Explain the gradient of a leaf over a recording, and return the exit code, as
    :func:`why_target` does.

    Raises:
        Failure, ProgramError: there is nothing to explain.
    """
    # what reads recordings is not loaded for a script
    from gradstep.findings.reports.why.recorded import where_wrong
    from gradstep.findings.whole_run.recorded import facts_of
    from gradstep.recording.reading import FileRun

    call, facts = chosen_call(target, None), None
    with FileRun(Path(target.place)) as run:
        index = where_wrong(run, options.leaf)
        if index is not None:
            chosen = run.call(index)
            call, facts = CallSelector(chosen.number, (chosen.kind,)), facts_of(run)
        return why_target(target, options.leaf, options.arguments, call=call, facts=facts)


def why_in_run(target: Target, options: argparse.Namespace) -> int:
    """Explain the gradient of a leaf over the run of a script, and return the exit code, as
    :func:`why_target` does.

    Raises:
        Failure, ProgramError: there is nothing to explain.
    """
    # late: --call needs no rules
    from gradstep.findings.reports.why.in_run import Answers, in_run
    from gradstep_tui.commands.check_run import Asked, check_run

    answers = Answers(options.leaf, target.with_arguments(options.arguments))
    asked = Asked(calls=options.calls, seconds=options.seconds, more=(answers,))
    checked = check_run(target, options.arguments, asked)
    failure, answer = checked.ran.failure, answers.best
    if answer is None or answer.verdict == "unknown":
        if failure is not None:
            raise failure
        if answers.unknown is not None:
            raise Failure(str(answers.unknown), ExitCode.TARGET)
        raise ProgramError(
            "the script calls autograd.grad(), and no backward()",
            remedy="--call grad:1 takes the first",
        )
    program = Program(str(target), tuple(options.arguments))
    answer = in_run(answer, checked.facts, program)
    output.show(f"{answers.title}\n{answer}")
    return end_as(failure, ExitCode.FOUND if answer.is_wrong else ExitCode.FINE)


def why_target(
    target: Target,
    leaf: str,
    arguments: list[str],
    *,
    call: CallSelector,
    facts: Facts | None = None,
) -> int:
    """Explain the gradient of ``leaf`` in a call of a TARGET, and return the exit code: FOUND where
    something is wrong with it; else the program's own. ``facts`` are those of the whole run.

    Raises:
        Failure, ProgramError: there is nothing to explain.
    """
    asked = _Asked(leaf, call, target.with_arguments(arguments), facts)
    if target.is_recording:
        # what reads recordings is not loaded for a script
        from gradstep.findings.reports.why.recorded import afterwards

        asked.later = afterwards
        every = call
    else:
        every = CallSelector(None, call.kinds)
    ran = run_target(
        target, arguments, every, asked.look_at, values=True, end=False, ours=(Failure,)
    )
    if ran.found is not None:
        asked.explain_tensor(ran.found)
    if ran.failure is not None and (asked.answer is None or asked.answer.verdict == "unknown"):
        raise ran.failure  # which says why
    return end_as(ran.failure, asked.show())


class _Asked:
    """The question about ``leaf``: the ``answer`` is found at the call ``wanted``, and shown at the
    end."""

    def __init__(self, leaf: str, wanted: CallSelector, program: str, facts: Facts | None) -> None:
        self._leaf, self._program, self._facts = leaf, program, facts
        self._wanted = wanted
        self._count = 0
        self._title = ""
        self.answer: Explanation | None = None
        self._afterwards: Afterwards | None = None
        self.later: Callable[[Any, str], Iterator[Row]] | None = None
        """Tells of a recorded call what became of a leaf."""

    def look_at(self, intercepted: InterceptedCall) -> bool | Gradients:
        """Answer at the call that is wanted; at the one after it, let the script end."""
        self._count = intercepted.number
        if self.answer is not None and self._wanted.number is not None:
            self._look_again("the next call")
            raise ScriptDone
        if not self._wanted.requests(intercepted.number, intercepted.call.kind):
            return False
        session = Session.of_call(
            intercepted.call, names=intercepted.names, call=intercepted.number
        )
        self._title = intercepted.title
        session.host(partial(self._explain, session))
        return session.gradients if intercepted.call.is_grad else True

    def explain_tensor(self, subject: Found) -> None:
        """Answer for ``root.backward()``, which nobody called."""
        subject.require_kept()
        with suppress(ScriptDone), user_code(Failure):
            self._title = f"{subject.target}.backward()"
            session = Session(subject.root, names=subject.names)
            session.host(partial(self._explain, session))

    def _explain(self, session: Session) -> None:
        session.program = self._program
        session.jump(session.length)
        try:
            self.answer = explain(session, self._leaf)
        except UnknownAddress as error:
            raise Failure(str(error), ExitCode.TARGET) from None
        finally:
            session.finish()
        if self.answer.is_wrong or session.kind == "grad":
            if self._wanted.number is not None:
                raise ScriptDone
            return
        tensor = self.answer.tensor
        with unseen():
            is_leaf = tensor is not None and tensor.is_leaf
        if self.later is not None:
            more = tuple(self.later(session.backward_call, self.answer.name))
            self.answer = replace(self.answer, rows=(*self.answer.rows, *more))
        elif is_leaf:
            line = session.backward_call.line
            file = "" if line is None else line[0]
            self._afterwards = Afterwards(self.answer.name, tensor, session.names, file)

    def _look_again(self, until: str) -> None:
        if self.answer is not None and self._afterwards is not None:
            with unseen():
                more = tuple(self._afterwards.rows(until))
            if any(WILL_NOT_CHANGE in text for _, text in self.answer.rows):
                more = tuple(row for row in more if row[0] != "likely")  # the cause is known
            self.answer = replace(self.answer, rows=(*self.answer.rows, *more))
        self._afterwards = None

    def show(self) -> ExitCode:
        """Print the answer; FOUND where something is wrong with the gradient.

        Raises:
            ProgramError: there was no such call.
        """
        if self.answer is None:
            times = f"{self._count} calls" if self._count != 1 else "one call"
            raise ProgramError(
                f"the script made {times} of that kind: there is no call {self._wanted.number}",
                remedy="omit --call",
            )
        self._look_again("the end of the script")
        if self._facts is not None:
            from gradstep.findings.reports.why.in_run import in_run  # late, as above

            program = Program(self._program)
            self.answer = in_run(self.answer, self._facts, program)
        output.show(f"{self._title}\n{self.answer}")
        is_known = self.answer.verdict != "unknown"
        return ExitCode.FOUND if is_known and self.answer.is_wrong else ExitCode.FINE

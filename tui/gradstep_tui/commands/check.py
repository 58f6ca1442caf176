"""``gradstep check``: from a TARGET to what is wrong with its gradients, and an exit code."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import monotonic
from traceback import extract_tb
from typing import Any

from gradstep.capturing.names import Names
from gradstep.capturing.roots import tensors_in
from gradstep.debugger.snapshot.value import array_of
from gradstep.engines.lookup import engine_of_call
from gradstep.findings.checking import check
from gradstep.findings.explanations import summary
from gradstep.findings.linting import CODES, Code, Finding, lint
from gradstep.findings.linting.between import Between
from gradstep.findings.passes import run_pass
from gradstep.graph.fence import not_shown
from gradstep.own_files import is_own_file
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import ScriptFailed
from gradstep.program.process import user_code
from gradstep.program.run import Failure as ProgramFailure
from gradstep.program.run import run_target
from gradstep.program.target import Target, parse_target
from gradstep.records import LEAF, Gradients
from gradstep.text import plural
from gradstep_tui import output
from gradstep_tui.command_line import TargetParser
from gradstep_tui.commands.check_run import Limits, check_run, run_text
from gradstep_tui.commands.report import Report, report_text
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import ARGUMENTS, CALL_HELP, TARGET, words
from gradstep_tui.ranks import add_rank_option, chooses_this_process

_NOTES = f"""\
{ARGUMENTS}
A script runs once, to its end. Its first calls are looked at closely, then
ever fewer, as far as that takes no longer than the run itself; NaN and infinity
are noticed in every call. Exit code 5 means a wrong rule, an error or a warning:
{summary()}
gradstep explain CODE tells what a finding means.

examples:
  gradstep check train.py
  gradstep check --for 60s train.py --epochs 1
  gradstep check --call 2 --ignore stale-grad train.py --epochs 1
  gradstep check -q models/net.py:loss
"""


def parser() -> TargetParser:
    """Return the options of ``gradstep check``."""
    command = TargetParser(
        prog="gradstep check",
        usage="gradstep check [OPTIONS] TARGET [ARGS...]",
        description="Run a script, and tell what is wrong with its gradients and its training: "
        "what\neach backward() call shows, and what only all of them do. The derivatives of "
        f"custom\nFunctions are compared with finite differences.\n\n{TARGET}",
        epilog=_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("--call", default=None, metavar="K",
        help=f"check only this call, with the derivatives of all ops: {CALL_HELP}; all and "
        "1,100:110 check several")  # fmt: skip
    add("--derivatives", action="store_true",
        help="compare the derivatives of all ops with finite differences, not only those of the "
        "program's own Functions")  # fmt: skip
    add("--calls", type=int, metavar="N", help="end after N calls, with the report so far")
    add("--for", dest="seconds", type=_seconds, metavar="60s",
        help="end after that time, with the report so far")  # fmt: skip
    add("--lint", dest="rules", action="store_false",
        help="only search for common mistakes, which takes seconds where the "
        "derivatives of a large model take minutes")  # fmt: skip
    add("--ignore", type=words, default=[], metavar="CODES",
        help="leave out these kinds of findings: unreached,stale-grad")  # fmt: skip
    add("--all", dest="everything", action="store_true",
        help="also list correct rules and notes")  # fmt: skip
    add_rank_option(add, "all")
    add("-q", dest="quiet", action="store_true", help="print one line per problem")
    add("-h", "--help", action="help", help="show this")
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep check``."""
    chooses_this_process(options.on_rank)
    target = parse_target(options.target, module=options.module)
    _require_codes(options.ignore)
    if target.is_recording:
        raise Failure(
            f"check runs programs, and {target} is a recording; why and debug take it",
            ExitCode.USAGE,
        )
    if options.call is None and options.rules and not target.name:
        return _check_whole(target, options)
    return check_target(
        target,
        options.arguments,
        call=CallSelector.parse(options.call or "1"),
        rules=options.rules,
        ignore=options.ignore,
        everything=options.everything,
        quiet=options.quiet,
    )


def _require_codes(ignore: Sequence[str]) -> None:
    unknown = sorted(set(ignore).difference(CODES))
    if unknown:
        raise Failure(
            f"--ignore: there is no finding '{unknown[0]}'; there are {', '.join(CODES)}",
            ExitCode.USAGE,
        )


def _seconds(text: str) -> float:
    """Read ``60s``, ``2m`` or ``60``."""
    factor = {"s": 1, "m": 60, "h": 3600}.get(text[-1:], 0)
    try:
        seconds = float(text[:-1]) * factor if factor else float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 60s or 2m")
    return seconds


def _check_whole(target: Target, options: argparse.Namespace) -> int:
    """Check the run of a whole script, or the one tensor that it leaves behind."""
    limits = Limits(options.calls, options.seconds)
    checked = check_run(target, options.arguments, derivatives=options.derivatives, limits=limits)
    failure = checked.ran.failure
    if checked.ran.found is not None:
        root, named, names = checked.ran.found
        report = _Passes().of_tensor(_examine(str(named), (root,), names, True), root, names)
        report = report.without(options.ignore)
        text, bad = (
            report_text(report, target.folder, everything=options.everything, quiet=options.quiet),
            report.is_bad,
        )
    else:
        text, bad = run_text(
            target, options.arguments, checked, options.ignore,
            everything=options.everything, quiet=options.quiet,
        )  # fmt: skip
    if text:
        output.show(text)
    if isinstance(failure, ScriptFailed):  # the report above may say the same
        told = {each.code for _, each in checked.findings}
        failure.findings = tuple(f for f in failure.findings if f.code not in told)
    return end_as(failure, ExitCode.FOUND if bad else ExitCode.FINE)


_OF_LEAVES = ("unreached", "stale-grad")
_PATIENCE = 2.0  # seconds until progress is shown


def check_target(
    target: Target,
    arguments: list[str],
    *,
    call: CallSelector,
    rules: bool,
    ignore: Sequence[str],
    everything: bool,
    quiet: bool,
) -> int:
    """Check a TARGET, print what is found, and return the exit code: FOUND where a rule is wrong,
    or lint has an error or a warning; else the program's own.

    Args:
        call: which calls of a script; of several, a finding is shown in the first that has it.
        rules: compare derivative rules; else only search for common mistakes.
        ignore: codes of findings that are to be left out.
        everything: print also what is right, and what is only good to know.
        quiet: print one line for each thing that is wrong, and nothing else.

    Raises:
        Failure, ProgramError: there is nothing to check.
    """
    folder = target.folder
    bad, shown = False, _Shown()

    def show(report: Report) -> None:
        nonlocal bad
        report = shown.news_of(report.without(ignore), several=call.number is None)
        bad = bad or report.is_bad
        text = report_text(report, folder, everything=everything, quiet=quiet)
        one = call.last or call.number is not None
        is_told = everything and bool(report.findings or report.checks)
        if text and (one or report.is_bad or is_told):
            output.show(text)

    count, failure = _report_on(target, arguments, call, rules, show)
    if call.number is None and not call.last and not quiet:
        output.show(f"{plural(count, 'call')} checked")
    if isinstance(failure, ScriptFailed):  # a report above may say the same
        failure.findings = tuple(f for f in failure.findings if f.code not in shown.codes)
    return end_as(failure, ExitCode.FOUND if bad else ExitCode.FINE)


class _Shown:
    """The findings that earlier calls had: a loop has the same ones in each; and the ``codes`` of
    all that were shown."""

    def __init__(self) -> None:
        self.codes: set[Code] = set()
        self._findings: set[Finding] = set()
        self._wrong: set[str] = set()

    def news_of(self, report: Report, *, several: bool) -> Report:
        """Leave out of ``report`` what was in an earlier one, whatever its numbers were there."""
        self.codes.update(found.code for found in report.findings)
        if not several:
            return report
        causes = {found: found.cause for found in report.findings}
        findings = tuple(found for found, cause in causes.items() if cause not in self._findings)
        checks = tuple(
            each
            for each in report.checks
            if each.verdict != "wrong" or each.address not in self._wrong
        )
        self._findings.update(causes.values())
        self._wrong.update(each.address for each in checks if each.verdict == "wrong")
        return replace(report, findings=findings, checks=checks)


def _report_on(
    target: Target,
    arguments: list[str],
    call: CallSelector,
    rules: bool,
    show: Callable[[Report], None],
) -> tuple[int, ProgramFailure | None]:
    """Show a report on each call that is requested, or on the last one; how many there were, and
    how the program failed after that."""
    reports: list[Report] = []
    count, between, passes = 0, Between(), _Passes()
    lines: dict[int, set[Any]] = {}  # of the calls that the .grad of a leaf, by identity, is from

    def examine(found: InterceptedCall) -> bool | Gradients:
        nonlocal count
        count += 1
        title = f"{target}, {found.title}"
        elsewhere = {leaf for leaf, known in lines.items() if found.call.line not in known}
        report = _examine(title, tuple(found.call.roots), found.names, rules, elsewhere)
        # grad() leaves .grad alone, and returns what it was asked for
        reports[:] = [report.without(_OF_LEAVES) if found.call.is_grad else report]
        plan = None
        if call.number is None and not found.call.is_grad:
            plan = _plan(found)
            told = [(leaf, lines.get(id(leaf), set())) for leaf, _ in plan[1]]
            more = [
                *between.left_over(found.call.line, told, found.names),
                *between.findings(found.call.line, _leaves(found), found.names),
            ]
            reports[:] = [replace(report, findings=(*report.findings, *more))]
        try:
            reports[:], answer = passes.run(reports[0], found)
        finally:
            if not call.last:
                show(reports.pop())
        if plan is not None:
            look_back(found, *plan)
        return answer

    def look_back(found: InterceptedCall, losses: list[Any], leaves: list[tuple[Any, Any]]) -> None:
        """See what the call has made, where several of them are checked."""
        for leaf, before in leaves:
            if before is None or not before.any():
                lines[id(leaf)] = set()
            lines.setdefault(id(leaf), set()).add(found.call.line)
        more = tuple(between.afterwards(found.call.line, losses, leaves, found.names))
        if more:
            show(Report(f"{target}, after {found.title}", more, ()))

    ran = run_target(target, arguments, call, examine, values=True)
    if ran.found is not None:
        root, named, names = ran.found
        reports = [passes.of_tensor(_examine(str(named), (root,), names, rules), root, names)]
    for report in reports:
        show(report)
    if more := passes.at_the_end():
        show(Report(f"{target}, all calls", more, ()))
    return count, ran.failure


class _Passes:
    """The passes of the calls that are checked: each runs, and of each line the first in which
    something is not finite is explained."""

    def __init__(self) -> None:
        self._explained: set[Any] = set()
        self._skipped: list[bool] = []  # of each pass from a scaled loss, whether its step is

    def run(self, report: Report, found: InterceptedCall) -> tuple[list[Report], bool | Gradients]:
        """Carry out a call; ``report`` with what is found of its pass, and what to answer."""
        if report.of("wrong") or any(each.severity == "error" for each in report.findings):
            return [report], False  # it may well raise what they say
        line = found.call.line
        is_known = any(each.code == "not-finite" for each in report.findings)
        explains = not is_known and line not in self._explained
        passed = run_pass(found.call, found.names, found.number, explains=explains)
        if passed.findings:
            self._explained.add(line)
        findings = report.findings
        if passed.scaling is not None:
            self._skipped.append(not passed.finite)
            findings = tuple(passed.scaling.softened(each, found.call) for each in findings)
        return [replace(report, findings=(*findings, *passed.findings))], passed.answer

    def of_tensor(self, report: Report, root: Any, names: Names) -> Report:
        """Return ``report`` with what is found of the pass from ``root``, for which nobody asks."""
        if any(each.severity == "error" or each.code == "not-finite" for each in report.findings):
            return report
        tensors, engine = tensors_in(root)
        seed = None if root.numel() == 1 else root.detach().new_ones(root.shape)
        passed = None
        with user_code():
            call = engine.call(tensors, seed, True, False)
            passed = run_pass(call, names, 1, keep=True)
        more = () if passed is None else passed.findings
        return replace(report, findings=(*report.findings, *more))

    def at_the_end(self) -> tuple[Finding, ...]:
        """Return what only all calls together show."""
        count = len(self._skipped)
        if count < 2 or not all(self._skipped):
            return ()
        return (
            Finding(
                "warning", "not-finite",
                f"the gradients were not finite in any of the {count} calls with a scaled loss: "
                "every step was skipped, and nothing was learned",
                "run more steps, as the factor shrinks with each; if it goes on, gradstep check "
                "without the scaler finds what is not finite",
            ),
        )  # fmt: skip


def _leaves(found: InterceptedCall) -> list[Any]:
    """Return the leaves among the program's named tensors that the call may change."""
    engine = engine_of_call(found.call)
    return [
        tensor
        for tensor in found.names.tensors()
        if engine.owns(tensor) and tensor.is_leaf and tensor.requires_grad
    ]


def _plan(found: InterceptedCall) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """Return the losses of a call, and the leaves in the order in which it comes to them, each with
    a copy of its ``.grad``."""
    tensors, engine = tensors_in(found.call.roots)
    order = engine.plan(engine.tensors(tensors)).order
    leaves = [engine.user_tensor(engine.leaf(node)) for node in order if node.kind == LEAF]
    grads = [
        (leaf, None if leaf.grad is None else array_of(leaf.grad).copy())
        for leaf in leaves
        if leaf is not None
    ]
    return [engine.user_tensor(each) for each in tensors], grads


def _examine(
    title: str,
    roots: tuple[Any, ...],
    names: Names,
    rules: bool,
    elsewhere: Collection[int] = frozenset(),
) -> Report:
    if not rules:
        return Report(title, lint(roots, names=names, elsewhere=elsewhere), ())
    progress = _Progress()
    try:
        findings = lint(roots, names=names, elsewhere=elsewhere)
        with user_code():  # a custom backward may raise, or end the process
            try:
                return Report(title, findings, check(roots, names=names, progress=progress))
            except Exception as error:
                if not is_own_file(extract_tb(error.__traceback__)[-1].filename):
                    raise
                not_shown(f"which rules of {title} are right", error)
        return Report(title, findings, ())
    finally:
        progress.close()


class _Progress:
    """A line on a terminal that counts nodes, for a check that takes long."""

    def __init__(self) -> None:
        self._start = self._shown = monotonic()
        self._written = False

    def __call__(self, done: int, length: int) -> None:
        now = monotonic()
        late = now - self._start > _PATIENCE and now - self._shown > 0.2
        if late and output.progress_is_seen():
            self._written, self._shown = True, now
            output.progress(f"checked {done:,} of {length:,} nodes")

    def close(self) -> None:
        if self._written:
            output.progress("")

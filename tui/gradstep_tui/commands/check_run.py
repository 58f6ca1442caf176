"""Runs a TARGET for ``gradstep check``, and looks at its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from gradstep.capturing.roots import tensors_in
from gradstep.findings.finding import Finding
from gradstep.findings.reports.checked import Checked, left
from gradstep.findings.rules.run.no_leaf import refused_by_optimizer
from gradstep.findings.whole_run.conclusions import certain, conclusions
from gradstep.findings.whole_run.watch import Evidence, Watch
from gradstep.guest.fence import has_failed, tell_anew
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import ScriptDone, ScriptFailed
from gradstep.program.process import user_code
from gradstep.program.recorded_calls import keep_texts
from gradstep.program.run import Found, Ran, run_target
from gradstep.program.target import Target
from gradstep.recording.facts import CallFacts
from gradstep.recording.reading import FileRun
from gradstep.records import Gradients
from gradstep.text import plural
from gradstep_tui import output
from gradstep_tui.waiting import ProgressLine

EVERY: Final = CallSelector(None, ("backward", "grad"))
_PATIENCE: Final = 2.0
"""Seconds until progress is shown."""
_LONG: Final = 60.0
"""Seconds until it is told how to end the run."""


class Asked(NamedTuple):
    """What is to be looked at: which calls, all derivatives or those of custom Functions only; the
    run ends early after so many calls, or so many seconds; ``tells`` is given what is certain
    before a long run ends."""

    selected: CallSelector = EVERY
    derivatives: bool = False
    calls: int | None = None
    seconds: float | None = None
    tells: Callable[[Finding], None] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all calls are."""
        return self.selected == EVERY


class RunChecked(NamedTuple):
    """A run that is over: how it went, what is known of it, and what ended it early."""

    ran: Ran
    evidence: Evidence
    ended_by: str = ""


def check_run(target: Target, arguments: list[str], asked: Asked) -> RunChecked:
    """Run a TARGET, look at its calls, and return what is known of it; of a tensor that it names or
    leaves behind, the pass is run, too.

    Raises:
        ProgramError: there is nothing to check.
    """
    tell_anew()
    progress = _Progress(asked.tells)

    def new_watch() -> Watch:
        return Watch(
            derivatives=asked.derivatives, is_whole=asked.is_whole, progress=progress.of_nodes
        )

    watch, count, ended_by = new_watch(), 0, ""

    def look(intercepted: InterceptedCall) -> bool | Gradients:
        nonlocal watch, count, ended_by
        if asked.selected.last:
            watch = new_watch()
        answer = watch(intercepted.call, intercepted.names, intercepted.number)
        count += 1
        progress.of_calls(count, watch.evidence)
        if asked.is_whole and watch.trouble:
            ended_by = f"the {watch.trouble}, which ended the run"
        elif asked.calls is not None and count >= asked.calls:
            ended_by = f"--calls {asked.calls}"
        elif asked.seconds is not None and progress.seconds >= asked.seconds:
            ended_by = f"--for {asked.seconds:g}s"
        if ended_by:
            raise ScriptDone
        return answer

    try:
        ran = run_target(
            target, arguments, asked.selected, look, values=True, end=not asked.is_whole
        )
        if ran.found is not None:
            watch = Watch(derivatives=True, progress=progress.of_nodes)
            _look_at_tensor(watch, ran.found)
    except ScriptFailed as failure:
        refused = refused_by_optimizer(failure.error)
        if refused is not None:
            failure.findings = (refused,)
        if not failure.findings:
            raise
        ran = Ran(failure=failure)
    finally:
        progress.close()
    if isinstance(ran.failure, KeyboardInterrupt):
        ended_by = "ctrl+c"
    watch.evidence.is_cut_short = bool(ended_by or ran.failure)
    return RunChecked(ran, watch.evidence, ended_by)


def _look_at_tensor(watch: Watch, subject: Found) -> None:
    """Look at the pass from a tensor for which the program called none."""
    subject.require_kept()
    tensors, engine = tensors_in(subject.root)
    seed = None if subject.root.numel() == 1 else subject.root.detach().new_ones(subject.root.shape)
    with user_code():
        watch(engine.call(tensors, seed, True, False), subject.names, 1)


def report_on(
    target: Target,
    arguments: Sequence[str],
    checked: RunChecked,
    asked: Asked,
    ignored: Sequence[str],
) -> Checked:
    """Return what is said of a run, without findings of the ``ignored`` codes."""
    evidence, subject = checked.evidence, checked.ran.found
    program = str(target if subject is None else subject.target)
    concluded = conclusions(evidence)
    failure = checked.ran.failure
    if isinstance(failure, ScriptFailed):
        codes = {finding.code for _, finding in concluded}
        concluded = [
            ("", finding) for finding in failure.findings if finding.code not in codes
        ] + concluded
        failure.findings = ()  # they are in this report
    findings = left(concluded, ignored, program)
    calls = list(evidence.run.calls())
    closely = len(evidence.looked_at)
    some = "" if closely == len(calls) else f", {closely:,} of them with their graphs"
    lines = plural(len({call.line for call in calls}), "line")
    looked_at = f"{plural(len(calls), 'call')} on {lines}{some}" if calls else "no backward() ran"
    return Checked(
        program, tuple(findings), len(calls),
        f"{looked_at if subject is None else f'{program}.backward()'}{_derivatives(evidence)}",
        tuple(_not_looked_at(checked, asked, len(calls) - closely)),
        _next(" ".join([program, *arguments]), findings, calls),
        f"its {type(failure.error).__name__}" if isinstance(failure, ScriptFailed) else "",
    )  # fmt: skip


def report_on_recording(target: Target, ignored: Sequence[str]) -> Checked:
    """Return what the facts in a recording tell, without findings of the ``ignored`` codes.

    Raises:
        RecordingError: the file cannot be read, or has no call.
    """
    program = str(target)
    with FileRun(Path(target.place)) as run:
        run.require_calls()
        calls = list(run.calls())
        keep_texts(run, {call.line.file for call in calls if call.line is not None})
        evidence = Evidence(run)
        findings = left(conclusions(evidence), ignored, program)
        leaves = plural(len(run.leaves), "leaf", "leaves")
        left_out = ["where values left the graph, and derivatives: check runs the program for them"]
        left_out[:0] = _incomplete(evidence)
        if not run.is_finished:
            left_out.insert(0, "what comes after the recording was interrupted")
        return Checked(
            program, tuple(findings), len(calls),
            f"the losses of {plural(len(calls), 'call')}, and {leaves} in them",
            tuple(left_out), _next(program, findings, calls),
        )  # fmt: skip


def _derivatives(evidence: Evidence) -> str:
    """Say how many derivatives were compared with finite differences."""
    own = {(check.op, check.rule) for check in evidence.checks if check.rule is not None}
    others = [check for check in evidence.checks if check.rule is None]
    right = sum(other.verdict == "right" for other in others)
    compared = [plural(len(own), "custom Function")] if own else []
    if others:
        compared.append(f"{plural(len(others), 'node')}, {right:,} of them right")
    return f"; the derivatives of {' and '.join(compared)}" if compared else ""


def _not_looked_at(checked: RunChecked, asked: Asked, rest: int) -> Iterator[str]:
    if has_failed():
        yield "what gradstep failed at (not shown, as said above)"
    yield from _incomplete(checked.evidence)
    if checked.evidence.dry_runs:
        calls = plural(checked.evidence.dry_runs, "call")
        yield f"{calls} on memory that nobody has written (a dry run)"
    if checked.ended_by:
        yield f"what comes after {checked.ended_by}"
    if not asked.is_whole:
        yield "calls that --call leaves out"
    if not any(check.rule is None for check in checked.evidence.checks):
        yield "derivatives of built-in ops (--derivatives)"
    reasons = {
        check.why_not for check in checked.evidence.checks if check.verdict == "not checkable"
    }
    yield from sorted(reasons)[:_REASONS]
    if rest:
        yield f"the graphs of {plural(rest, 'call')}"


def _incomplete(evidence: Evidence) -> Iterator[str]:
    """Say what a defect of ours leaves open."""
    if not evidence.is_complete:
        yield "what all calls have in common, as gradstep failed at some of them"


_REASONS: Final = 3


def _next(program: str, findings: Sequence[tuple[str, Finding]], calls: Sequence[CallFacts]) -> str:
    """Return the command that shows more, with the names of this program."""
    for title, finding in findings:
        if finding.is_bad and finding.code == "not-finite" and not finding.leaves:
            return f"gradstep debug --fail-on nan,inf {program}"
        name = next((leaf for leaf in finding.leaves if " " not in leaf), "")
        number = title.rpartition(" ")[2] if title else "1"
        if finding.is_bad and name and number.isdecimal():
            call = f"--call {number} " if number != "1" else ""
            script, _, rest = program.partition(" ")
            return f"gradstep why {call}{script} {name} {rest}".rstrip()
    is_grad = bool(calls) and all(call.kind == "grad" for call in calls)
    return f"gradstep debug {'--call grad:1 ' * is_grad}{program}"


class _Progress:
    """Tells how far a run is that takes long: a line on a terminal, and what is certain already."""

    def __init__(self, tells: Callable[[Finding], None] | None) -> None:
        self._nodes = ProgressLine(output.progress, pause=0.2, patience=_PATIENCE)
        # between calls the program runs, which may print
        self._calls = ProgressLine(output.progress_beside, pause=0.2, patience=_PATIENCE)
        self._has_offered = False
        self._tells = tells
        self._told = 0

    @property
    def seconds(self) -> float:
        return self._calls.seconds

    def of_nodes(self, done: int, length: int) -> None:
        self._nodes.show(f"checked {done:,} of {length:,} nodes")

    def of_calls(self, count: int, evidence: Evidence) -> None:
        self._nodes.close()
        if self.seconds > _PATIENCE:
            self._tell(certain(evidence))
        if self.seconds > _LONG and not self._has_offered:
            self._has_offered = True
            self.close()
            output.say(
                f"{count:,} calls in {self.seconds:.0f} s; ctrl+c ends the run with the report so "
                "far, as --calls N and --for 60s do"
            )
        counts = Counter(finding.severity for _, finding in evidence.seen if finding.is_bad)
        kinds = [plural(counts[kind], kind) for kind in ("error", "warning") if counts[kind]]
        self._calls.show(", ".join([f"call {count:,}", f"{self.seconds:.0f} s", *kinds]))

    def _tell(self, findings: Sequence[tuple[str, Finding]]) -> None:
        for _, finding in findings[self._told :]:
            if self._tells is not None:
                self.close()
                self._tells(finding)
        self._told = len(findings)

    def close(self) -> None:
        """Clear the lines."""
        self._nodes.close()
        self._calls.close()

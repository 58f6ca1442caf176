"""Runs a TARGET for ``gradstep check``, and looks at its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from gradstep.capturing.roots import tensors_in
from gradstep.contract.budget import SMALL_BUDGET, Budget
from gradstep.contract.events import noting_events
from gradstep.contract.lookup import running_of
from gradstep.findings.facts import Fact, Facts
from gradstep.findings.finding import Finding, Program
from gradstep.findings.report import Ended, Report, Scope, report_on_run
from gradstep.findings.rules.run.no_leaf import refused_by_optimizer
from gradstep.findings.thresholds import Thresholds
from gradstep.findings.whole_run.conclusions import certain
from gradstep.findings.whole_run.watch import Watch
from gradstep.guest.fence import has_failed, tell_anew
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import ScriptDone, ScriptExited, ScriptFailed
from gradstep.program.process import user_code
from gradstep.program.run import Found, Ran, run_target
from gradstep.program.target import Target
from gradstep.program.tracebacks import raised_by
from gradstep.program.watching import EVERY
from gradstep.records import Gradients
from gradstep.text import plural
from gradstep_tui import output
from gradstep_tui.errors import ExitCode
from gradstep_tui.waiting import ProgressLine

_PATIENCE: Final = 2.0
"""Seconds until progress is shown."""
_LONG: Final = 60.0
"""Seconds until it is told how to end the run."""


class Asked(NamedTuple):
    """What is to be looked at: which calls, all derivatives or those of custom Functions only; the
    run ends early after so many calls, or so many seconds; ``tells`` is given what is certain
    before a long run ends; ``tells_failure`` where a report is wanted of a program that fails
    before its first call, too; ``thresholds`` are those of the project; ``more`` is gathered."""

    selected: CallSelector = EVERY
    derivatives: bool = False
    calls: int | None = None
    seconds: float | None = None
    tells: Callable[[Finding], None] | None = None
    tells_failure: bool = False
    thresholds: Thresholds | None = None
    more: tuple[Fact, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all calls are."""
        return self.selected == EVERY


class RunChecked(NamedTuple):
    """A run that is over: how it went, what is known of it, and what ended it early, None where
    nothing did."""

    ran: Ran
    facts: Facts
    ended: Ended | None = None


def check_run(
    target: Target,
    arguments: list[str],
    asked: Asked,
    show: Callable[[Callable[[], RunChecked]], None] = lambda so_far: None,
) -> RunChecked:
    """Run a TARGET, look at its calls, and return what is known of it; of a tensor that it names or
    leaves behind, the pass is run, too. After each call, ``show`` is given what returns all that is
    known so far.

    Raises:
        ProgramError: there is nothing to check.
    """
    tell_anew()
    progress = _Progress(asked.tells)

    def new_watch() -> Watch:
        return Watch(
            derivatives=asked.derivatives, is_whole=asked.is_whole, progress=progress.of_nodes,
            thresholds=asked.thresholds, more=asked.more,
        )  # fmt: skip

    watch, count = new_watch(), 0
    ended: Ended | None = None

    def look(intercepted: InterceptedCall) -> bool | Gradients:
        nonlocal watch, count, ended
        if asked.selected.last:
            watch = new_watch()
        if asked.is_whole and watch.trouble and not watch.was_skipped(intercepted.call):
            ended = Ended("not_finite", f"the {watch.trouble}, which ended the run")
            raise ScriptDone
        find_names = partial(getattr, intercepted, "names")
        answer = watch.look(intercepted.call, find_names, intercepted.number)
        count += 1
        progress.of_calls(count, watch.facts)
        with running_of(intercepted.call).unseen():
            show(lambda: RunChecked(Ran(), watch.facts_so_far(is_cut_short=True)))
        if asked.is_whole and watch.trouble and not watch.may_be_skipped():
            ended = Ended("not_finite", f"the {watch.trouble}, which ended the run")
        elif asked.calls is not None and count >= asked.calls:
            ended = Ended("calls", f"--calls {asked.calls}")
        elif asked.seconds is not None and progress.seconds >= asked.seconds:
            ended = Ended("time", f"--for {asked.seconds:g}s")
        if ended:
            raise ScriptDone
        return answer

    try:
        with noting_events():
            ran = run_target(
                target, arguments, asked.selected, look, values=True, end=not asked.is_whole,
                budget=None if asked.derivatives or not asked.is_whole
                else Budget(SMALL_BUDGET, reruns=False),
                rests=None if asked.is_whole else lambda: True,
            )  # fmt: skip
        if ran.found is not None:
            watch = Watch(derivatives=True, progress=progress.of_nodes, more=asked.more)
            _look_at_tensor(watch, ran.found)
    except ScriptExited as exited:
        if not asked.tells_failure:
            raise
        ran = Ran(failure=exited)
    except ScriptFailed as failure:
        refused = refused_by_optimizer(failure.error)
        if refused is not None:
            failure.findings = (refused,)
        if not (failure.findings or asked.tells_failure):
            raise
        ran = Ran(failure=failure)
    finally:
        progress.close()
    if isinstance(ran.failure, KeyboardInterrupt):
        ended = Ended("interrupt", "ctrl+c")
    facts = watch.facts_so_far(is_cut_short=bool(ended or ran.failure))
    return RunChecked(ran, facts, ended)


def _look_at_tensor(watch: Watch, subject: Found) -> None:
    """Look at the pass from a tensor for which the program called none."""
    subject.require_kept()
    tensors, engine = tensors_in(subject.root)
    seed = None if subject.root.numel() == 1 else subject.root.detach().new_ones(subject.root.shape)
    with user_code():
        running = engine.running or engine.cannot("run a backward pass")
        call = running.call(tensors, seed, True, False)
        watch.look(call, partial(getattr, subject, "names"), 1)


def report_on(
    target: Target,
    arguments: Sequence[str],
    checked: RunChecked,
    asked: Asked,
    ignored: Sequence[str],
) -> Report:
    """Return the report on a run, without findings of the ``ignored`` codes."""
    subject, failure = checked.ran.found, checked.ran.failure
    program = str(target if subject is None else subject.target)
    scope = Scope(
        Program(program, tuple(arguments)), ignored, asked.is_whole, subject is not None,
        checked.ended, has_failed=has_failed(), exit_code=_exit_code(checked, asked),
    )  # fmt: skip
    if isinstance(failure, ScriptFailed):
        raised = raised_by(failure.error)
        scope = scope._replace(raised=raised, findings=failure.findings)
        failure.findings = ()  # they are in this report
    return report_on_run(checked.facts, scope)


def _exit_code(checked: RunChecked, asked: Asked) -> int | None:
    """Return what the program ended with, None where we ended it."""
    match checked.ran.failure:
        case ScriptExited(code=int(code)):
            return code
        case ScriptFailed() | ScriptExited():
            return ExitCode.SCRIPT_FAILED
    return ExitCode.FINE if checked.ended is None and asked.is_whole else None


class _Progress:
    """Tells how far a run is that takes long: a line on a terminal, and what is certain already."""

    def __init__(self, tells: Callable[[Finding], None] | None) -> None:
        self._nodes = ProgressLine(output.progress, pause=0.2, patience=_PATIENCE)
        # between calls the program runs, which may print
        self._calls = ProgressLine(output.progress_beside, pause=0.2, patience=_PATIENCE)
        self._has_offered = False
        self._tells = tells
        self._seen = self._told = 0

    @property
    def seconds(self) -> float:
        return self._calls.seconds

    def of_nodes(self, done: int, length: int) -> None:
        self._nodes.show(f"checked {done:,} of {length:,} nodes")

    def of_calls(self, count: int, facts: Facts) -> None:
        self._nodes.close()
        if not self._calls.is_due and len(facts.seen) == self._seen:
            return
        self._seen = len(facts.seen)
        if self.seconds > _PATIENCE:
            self._tell(certain(facts))
        if self.seconds > _LONG and not self._has_offered:
            self._has_offered = True
            self.close()
            output.say(
                f"{plural(count, 'call')} in {self.seconds:.0f} s; ctrl+c ends the run with the "
                "report so far, as --calls N and --for 60s do"
            )
        found = [Finding(reason) for _, reason in facts.seen]
        counts = Counter(finding.severity for finding in found if finding.is_bad)
        kinds = [plural(counts[kind], kind) for kind in ("error", "warning") if counts[kind]]
        self._calls.show(", ".join([f"call {count:,}", f"{self.seconds:.0f} s", *kinds]))

    def _tell(self, findings: Sequence[Finding]) -> None:
        for finding in findings[self._told :]:
            if self._tells is not None:
                self.close()
                self._tells(finding)
        self._told = len(findings)

    def close(self) -> None:
        """Clear the lines."""
        self._nodes.close()
        self._calls.close()

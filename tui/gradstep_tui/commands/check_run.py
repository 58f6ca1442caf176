"""``gradstep check train.py``: one run of the whole script, and what is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Final, NamedTuple

from gradstep.findings.linting import Finding
from gradstep.findings.reports.findings import finding_text, place_text
from gradstep.findings.whole_run.conclusions import conclusions
from gradstep.findings.whole_run.watch import Evidence, Watch
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import ScriptDone
from gradstep.program.run import Ran, run_target
from gradstep.program.target import Target
from gradstep.records import Gradients
from gradstep.text import plural
from gradstep_tui import output
from gradstep_tui.commands.report import Report, wrong_rules

_EVERY: Final = CallSelector(None, ("backward", "grad"))
_PATIENCE: Final = 2.0
"""Seconds until progress is shown."""
_BETWEEN: Final = 0.2
"""Seconds from one line of progress to the next."""


class Limits(NamedTuple):
    """Where a run ends early: after so many calls, or so many seconds."""

    calls: int | None = None
    seconds: float | None = None


class RunChecked(NamedTuple):
    """A run that is over: how it went, what is known of it, and what is wrong."""

    ran: Ran
    evidence: Evidence
    findings: list[tuple[str, Finding]]
    ended_by: str


def check_run(
    target: Target, arguments: list[str], *, derivatives: bool, limits: Limits
) -> RunChecked:
    """Run a TARGET, look at its calls, and return what is wrong with them.

    Raises:
        ProgramError: there is nothing to check.
    """
    watch = Watch(derivatives=derivatives)
    began = shown = monotonic()
    is_shown, ended_by = False, ""

    def look(found: InterceptedCall) -> bool | Gradients:
        nonlocal shown, is_shown, ended_by
        answer = watch(found.call, found.names, found.number)
        now, count = monotonic(), len(watch.evidence.run.indices)
        if now - began > _PATIENCE and now - shown > _BETWEEN and output.progress_is_seen():
            shown, is_shown = now, True
            warnings = sum(each.severity != "info" for _, each in watch.evidence.seen)
            said = f", {plural(warnings, 'finding')}" if warnings else ""
            output.progress(f"call {count:,}, {now - began:.0f} s{said}")
        if limits.calls is not None and count >= limits.calls:
            ended_by = f"--calls {limits.calls}"
            raise ScriptDone
        if limits.seconds is not None and now - began >= limits.seconds:
            ended_by = f"--for {limits.seconds:g}s"
            raise ScriptDone
        return answer

    try:
        ran = run_target(target, arguments, _EVERY, look, values=True, end=False)
    finally:
        if is_shown:
            output.progress("")
    evidence = watch.evidence
    return RunChecked(ran, evidence, [] if ran.found else conclusions(evidence), ended_by)


def run_text(
    target: Target,
    arguments: Sequence[str],
    checked: RunChecked,
    ignore: Sequence[str],
    *,
    everything: bool,
    quiet: bool,
) -> tuple[str, bool]:
    """Return the report on a run, and whether anything is wrong."""
    here = target.folder
    findings = [each for each in checked.findings if each[1].code not in ignore]
    bad = [each for each in findings if each[1].severity != "info"]
    rules = Report("", (), tuple(checked.evidence.checks))
    is_bad = bool(bad or rules.of("wrong"))
    if quiet:
        lines = [
            f"{place_text(each.source, here, each.address)}: {each.severity}: {each.what} "
            f"[{each.code}]".removeprefix(": ")
            for _, each in bad
        ]
        wrong = [
            f"{place_text(each.source, here, each.address)}: {each.sentence}"
            for each in rules.of("wrong")
        ]
        return "\n".join([*wrong, *lines]), is_bad
    blocks = [_headline(target, bad, rules)]
    blocks += wrong_rules(rules, here)
    blocks += [
        f"{finding_text(each, here)}{f'{chr(10)}  seen in {title}' if title else ''}"
        for title, each in (findings if everything else bad)
    ]
    notes = len(findings) - len(bad)
    blocks.append("\n".join(_last_lines(target, arguments, checked, bad, notes, everything)))
    return "\n\n".join(blocks), is_bad


def _headline(target: Target, bad: Sequence[tuple[str, Finding]], rules: Report) -> str:
    counts = Counter(each.severity for _, each in bad)
    wrong = len({(each.op, each.rule) for each in rules.of("wrong")})
    parts = [
        *([plural(wrong, "wrong derivative")] if wrong else []),
        *([plural(counts["error"], "error")] if counts["error"] else []),
        *([plural(counts["warning"], "warning")] if counts["warning"] else []),
    ]
    return f"{target}: {', '.join(parts) or 'nothing suspicious was found'}"


def _last_lines(
    target: Target,
    arguments: Sequence[str],
    checked: RunChecked,
    bad: Sequence[tuple[str, Finding]],
    notes: int,
    everything: bool,
) -> Iterator[str]:
    """Yield what was looked at, what was not, and what to do next."""
    evidence = checked.evidence
    calls = list(evidence.run.calls())
    closely = len(evidence.looked_at)
    lines = len({each.line for each in calls})
    where = f"{plural(len(calls), 'call')} on {plural(lines, 'line')}"
    how = "each of them" if closely == len(calls) else f"{closely:,} of them with their graphs"
    own = len({(each.op, each.rule) for each in evidence.checks if each.rule is not None})
    functions = f"; the derivatives of {plural(own, 'custom Function')}" if own else ""
    yield f"looked at: {where}, {how}{functions}"
    left = []
    if checked.ended_by:
        left.append(f"what comes after {checked.ended_by}")
    if not any(each.rule is None for each in evidence.checks):
        left.append("derivatives of built-in ops (--derivatives)")
    if closely < len(calls):
        left.append(f"the graphs of {plural(len(calls) - closely, 'call')}")
    if left:
        yield f"not looked at: {'; '.join(left)}"
    if notes and not everything:
        yield f"{plural(notes, 'note')}: --all lists {'it' if notes == 1 else 'them'}"
    if bad:
        yield f"what it means: gradstep explain {bad[0][1].code}"
    yield f"next: {_next(target, arguments, evidence, bad)}"


def _next(
    target: Target,
    arguments: Sequence[str],
    evidence: Evidence,
    bad: Sequence[tuple[str, Finding]],
) -> str:
    """Return the command that shows more, with the names of this program."""
    rest = " ".join(arguments)
    program = str(target)
    for title, each in bad:
        name = next((leaf for leaf in each.leaves if leaf in evidence.reached), "")
        number = title.rpartition(" ")[2] if title else "1"
        if name and number.isdecimal():
            call = f"--call {number} " if number != "1" else ""
            return f"gradstep why {call}{program} {name} {rest}".rstrip()
    return f"gradstep debug {program} {rest}".rstrip()

"""What a whole run shows: the rules over its facts, and which findings of its calls hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

from gradstep.capturing.names import Names
from gradstep.contract.lookup import unseen
from gradstep.contract.parameters import named_parameters
from gradstep.findings.facts import Facts
from gradstep.findings.finding import SEVERITIES, Finding, Reason, Rule
from gradstep.findings.rules.graph import RULES as GRAPH_RULES
from gradstep.findings.rules.run import RULES as RUN_RULES
from gradstep.graph.model import Source
from gradstep.recording.errors import NotRecorded
from gradstep.recording.run import Run


def _in_run() -> Mapping[str, Rule[Any]]:
    rules: tuple[Rule[Any], ...] = (*GRAPH_RULES, *RUN_RULES)
    return {
        meaning.code: rule for rule in rules if rule.in_run is not None for meaning in rule.meanings
    }


_IN_RUN: Final = _in_run()


class Conclusion(NamedTuple):
    """A finding, and the one of which it is only another symptom, None where it stands alone."""

    finding: Finding
    symptom_of: Finding | None = None


def conclusions(facts: Facts) -> list[Conclusion]:
    """Return what is wrong with a run, worst first, causes before their symptoms."""
    titled = [(title, _in_this(reason, facts)) for title, reason in _of_complete_calls(facts)]
    # what holds for all calls is unknown, if one is
    rules = [rule for rule in RUN_RULES if facts.is_complete and not facts.lacks(rule)]
    with unseen():  # by subclasses, which rules ask what they are
        of_run = [reason for rule in rules for reason in rule.find(facts.only(rule))]
    of_run.sort(key=lambda reason: reason.source.line if reason.source else 0)
    titled += [("", reason.seen_by(facts.names)) for reason in of_run]
    concluded = [Finding(_of_module(reason, facts.names), title) for title, reason in titled]
    concluded.sort(key=_place)
    return _of_causes(list(_one_each(concluded)))


def certain(facts: Facts) -> list[Finding]:
    """Return what the calls so far have shown, whatever comes."""
    findings = [Finding(reason, title) for title, reason in _of_complete_calls(facts)]
    return [each for each in findings if each.is_bad and not each.reason.is_open]


def _in_this(reason: Reason, facts: Facts) -> Reason:
    rule = _IN_RUN.get(reason.code)
    if rule is None or rule.in_run is None:
        return reason
    return rule.in_run(reason, facts.only(rule))


def _of_module(reason: Reason, names: Names) -> Reason:
    """Say of which variable all leaves are that a reason names, where their names do not."""
    leaves = set(reason.leaves)
    for variable, module in names.modules.items() if leaves else ():
        own = {names.of(tensor) for _, tensor in named_parameters(module)}
        if len(own) > 1 and own == leaves and not any(variable in name for name in own):
            return replace(reason, whole=variable)
    return reason


def _of_complete_calls(facts: Facts) -> list[tuple[str, Reason]]:
    """Return what was seen in calls of which no defect of ours has lost anything."""
    incomplete = set(_titles(facts.run))
    return [pair for pair in facts.seen if pair[0] not in incomplete]


def _titles(run: Run) -> Iterator[str]:
    """Yield the titles of calls of which a defect of ours has lost something."""
    for index in run.incomplete:
        with suppress(NotRecorded):  # lost before it was added
            yield run.call(index).title


def _place(finding: Finding) -> tuple[int, bool, int, bool]:
    is_effect = any(part.is_effect for part in _parts(finding.reason))
    severity = SEVERITIES.index(finding.severity)
    return severity, is_effect, _rank(finding.code), finding.reason.is_open


@cache
def _rank(code: str) -> int:
    """Return after how many others a finding is told, of those that have a place."""
    kinds = {kind.code: kind for kind in kinds_of(Reason)}
    return max((1 + _rank(before) for before in kinds[code].after), default=0)


def kinds_of(kind: type[Reason]) -> Iterator[type[Reason]]:
    """Yield a kind of reason, and all kinds of it."""
    yield kind
    for part in kind.__subclasses__():
        yield from kinds_of(part)


def _of_causes(concluded: Sequence[Conclusion]) -> list[Conclusion]:
    """Return symptoms as those of what stands alone; none that only explain each other."""
    because = {id(finding): cause for finding, cause in concluded}
    of_causes = []
    for finding, cause in concluded:
        seen = {id(finding)}
        while cause is not None and because.get(id(cause)) is not None and id(cause) not in seen:
            seen.add(id(cause))
            cause = because[id(cause)]
        if cause is None or because.get(id(cause), cause) is None:
            of_causes.append(Conclusion(finding, cause))
    return of_causes


def _one_each(findings: list[Finding]) -> Iterator[Conclusion]:
    """Yield each mistake once, and with it what is only another symptom of one: of leaves of which
    all is said already."""
    told: dict[str, Finding] = {}
    said: set[Any] = set()
    first = _first_of_run(findings)
    here, codes = _told_by_line(findings)
    for finding in findings:
        reason = finding.reason
        cause = next(
            (
                cause
                for part in _parts(reason)
                if (cause := _explains(part, reason.source, here, codes)) is not None
            ),
            None,
        )
        if reason.is_once_a_run and finding.is_bad and finding is not first[finding.code]:
            cause = cause or first[finding.code]
        if cause is not None:
            yield Conclusion(finding, cause)
            continue
        if reason.is_once_a_line and finding.source is not None:
            place = finding.code, finding.source, finding.other
            if place in said:
                continue
            said.add(place)
        if finding.is_bad and finding.leaves:
            if told.keys() >= set(finding.leaves):
                yield Conclusion(finding, told[finding.leaves[0]])
                continue
            told |= {name: finding for name in finding.leaves if name not in told}
        yield Conclusion(finding)


def _first_of_run(findings: list[Finding]) -> dict[str, Finding]:
    """Return, of codes of which the first finding is behind all others, that: what only the whole
    run shows, as that a step broke leaves, or what the first call does."""
    first: dict[str, Finding] = {}
    for finding in sorted(findings, key=lambda each: each.call != ""):
        if finding.reason.is_once_a_run and finding.is_bad:
            first.setdefault(finding.code, finding)
    return first


_Here = Mapping[tuple[str, Source | None], Finding]


def _told_by_line(findings: list[Finding]) -> tuple[_Here, Mapping[str, Finding]]:
    """Return the first errors and warnings by their codes, and those of the reasons in them, with
    their lines, and alone."""
    here = {
        (part.code or part.as_part, finding.source): finding
        for finding in reversed(findings)
        if finding.is_bad
        for part in _parts(finding.reason)
    }
    return here, {code: finding for (code, _), finding in reversed(here.items())}


def _parts(reason: Reason) -> Iterator[Reason]:
    """Yield a reason, and those in it."""
    yield reason
    for part in reason.parts():
        yield from _parts(part)


def _explains(
    reason: Reason, at: Source | None, here: _Here, codes: Mapping[str, Finding]
) -> Finding | None:
    """Return the finding of which a reason is only another symptom, None where it is not."""
    causes = [
        *(codes.get(code) for code in reason.explained_by),
        *(here.get((code, at)) for code in reason.explained_here_by),
    ]
    return next((cause for cause in causes if cause is not None), None)

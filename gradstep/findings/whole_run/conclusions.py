"""What a whole run shows: the rules over its facts, and which findings of its calls hold."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gradstep.capturing.names import Names
from gradstep.contract.parameters import named_parameters
from gradstep.findings.finding import Finding, Fix
from gradstep.findings.fixes import Line
from gradstep.findings.rules.run import RULES
from gradstep.findings.source_lines import calls_of
from gradstep.findings.whole_run.watch import Evidence
from gradstep.text import listed

_NEED_A_LOSS: Final = ("cut", "create-graph", "unreached")
_OPEN_TO_THE_END: Final = (*_NEED_A_LOSS, "changed", "not-finite", "dead-units", "saturated")
"""Findings that later calls may refute, or of which they may tell the reason."""
_MAKE_CONSTANT: Final = (
    "cut", "unreached", "untrained", "unchanged", "zero-grad", "small-steps", "stale-grad",
)  # fmt: skip
"""Findings of which a loss that stays the same is only another symptom."""
_SYMPTOMS: Final = {
    "dead-units": "zero-grad", "graph-kept": "graph-grows", "cut": "unreached",
    "zero-grad": "out-of-reach",
}  # fmt: skip
"""Findings that only show another one of the same line."""
_ONE_ELEMENT: Final = "runs over one element"
_TOO_LARGE: Final = "(the largest "
"""In the text of a value that is infinite because others have grown."""
_ZERO_LEAF: Final = re.compile(r": \S+ is 0 everywhere$")
_SEVERITIES: Final = ("error", "warning", "info")
_WORST_FIRST: Final = (
    "derivative", "freed", "changed", "not-finite", "cut", "create-graph", "unreached",
    "untrained", "unscaled", "unchanged", "zero-grad", "stale-grad", "initialization",
)  # fmt: skip


def conclusions(evidence: Evidence) -> list[tuple[str, Finding]]:
    """Return what is wrong with a run, worst first, each with the title of the call that shows it,
    "" of the whole run."""
    lost = {leaf.name: by for by, leaves in evidence.lost().items() for leaf in leaves}
    titled = [
        (title, held)
        for title, finding in _of_complete_calls(evidence)
        for held in _confirmed(finding, evidence, lost if evidence.is_complete else {})
    ]
    # what holds for all calls is unknown, if one is
    for rule in RULES if evidence.is_complete else ():
        titled += [("", finding) for finding in rule.find(evidence)]
    titled = [(title, _with_module(finding, evidence.names)) for title, finding in titled]
    titled.sort(key=lambda pair: _rank(pair[1]))
    return list(_one_each(titled))


def _with_module(finding: Finding, names: Names) -> Finding:
    """Say of which variable all leaves are that a finding names, where their names do not."""
    leaves = set(finding.leaves)
    for variable, module in names.modules.items():
        own = {names.of(tensor) for _, tensor in named_parameters(module)}
        if len(own) > 1 and own == leaves and not any(variable in name for name in own):
            text = listed(finding.leaves)
            return replace(finding, what=finding.what.replace(text, f"{text} (all of {variable})"))
    return finding


def certain(evidence: Evidence) -> list[tuple[str, Finding]]:
    """Return what the calls so far have shown, whatever comes."""
    return [
        pair
        for pair in _of_complete_calls(evidence)
        if pair[1].is_bad and pair[1].code not in _OPEN_TO_THE_END
    ]


def _of_complete_calls(evidence: Evidence) -> list[tuple[str, Finding]]:
    """Return what was seen in calls of which no defect of ours has lost anything."""
    known = {call.index: call.title for call in evidence.run.calls()}
    incomplete = {known.get(index) for index in evidence.run.incomplete}
    return [pair for pair in evidence.seen if pair[0] not in incomplete]


def _rank(finding: Finding) -> tuple[int, int]:
    place = _WORST_FIRST.index(finding.code) if finding.code in _WORST_FIRST else len(_WORST_FIRST)
    return _SEVERITIES.index(finding.severity), place


def _confirmed(finding: Finding, evidence: Evidence, lost: dict[str, str]) -> Iterator[Finding]:
    """Yield what a run makes of a finding in one of its calls."""
    if finding.code == "changed" and (changer := _stepper(finding)):
        finding = replace(
            finding,
            what=f"{finding.what}, by {changer}.step()",
            fix=_carried_fix(evidence) if evidence.carried else (),
            remedy=_detached(evidence)
            or f"call {changer}.step() after this backward(), or compute "
            "the loss again after the step",
        )
    if finding.code == "freed" and (remedy := _detached(evidence)):
        finding = replace(finding, remedy=remedy, fix=_carried_fix(evidence))
    learning = {trained.name for trained in evidence.trained.values()}
    if finding.code == "create-graph" and learning.isdisjoint(finding.leaves):
        # by parameters, it may be a constant on purpose, as in first-order MAML
        is_penalty = finding.source in evidence.by_inputs
        yield finding if is_penalty else replace(finding, severity="info")
    elif finding.code not in _NEED_A_LOSS or not finding.leaves:
        yield finding
    else:
        never = [name for name in finding.leaves if name not in evidence.reached]
        learn = [name for name in never if name in lost]
        if finding.code == "unreached":
            learn = []  # a rule over all calls says so
        if (
            learn
            and not evidence.has_waiting_optimizers
            and _is_of_step(finding, evidence, lost[learn[0]])
        ):
            yield replace(finding, severity="warning", leaves=tuple(learn))
        elif not never or evidence.trained or not evidence.is_complete:
            yield replace(finding, severity="info")
        else:
            yield finding


def _ended(evidence: Evidence, state: str) -> str:
    """Return the statement that ends the graph of a tensor, or of a tuple of some."""
    if evidence.names.has_elements(state):
        return f"{state} = tuple(each.detach() for each in {state})"
    return f"{state} = {state}.detach()"


def _carried_fix(evidence: Evidence) -> tuple[Fix, ...]:
    state, line = next(iter(evidence.carried.items()))
    return Line(line).replaced(f"{{line}}\n{_ended(evidence, state)}")


def _detached(evidence: Evidence) -> str:
    """Return what keeps a state from taking its graph along to the next iteration, "" where the
    program has none."""
    state = next(iter(evidence.carried), "")
    return state and (
        f"{state} is carried over from one iteration to the next with its graph: "
        f"{_ended(evidence, state)} before it is used again"
    )


def _stepper(finding: Finding) -> str:
    """Return the optimizer whose step changed a value in place, "" where none did."""
    if finding.other is None:
        return ""
    text = linecache.getline(finding.other.file, finding.other.line)
    match = re.search(r"([\w.\[\]]+)\.step\(", text)
    return match[1] if match else ""


def _is_of_step(finding: Finding, evidence: Evidence, optimizer: str) -> bool:
    """Return whether a cut is the last one before the step of ``optimizer``: in a GAN, the same
    leaves are cut off on purpose in the call before."""
    if finding.source is None:
        return True
    steps = calls_of("step", finding.source.file, optimizer)
    if not steps:
        return True
    others = [
        other.source.line
        for _, other in evidence.seen
        if other.source is not None
        and other.code == finding.code
        and set(finding.leaves) & set(other.leaves)
        and other.source.file == finding.source.file
        and other.source.line <= steps[-1].line
    ]
    return not others or finding.source.line == max(others)


def _one_each(titled: list[tuple[str, Finding]]) -> Iterator[tuple[str, Finding]]:
    """Leave out what is only another symptom: of leaves of which all is said already."""
    told: set[str] = set()
    refused: set[Any] = set()  # two nodes of a line that saved what one line changed
    not_finite = [pair for pair in titled if pair[1].code == "not-finite" and pair[1].is_bad]
    # what a step broke is behind all that follows, else the first call is
    first = [pair for pair in not_finite if not pair[0]] or not_finite
    # units are 0 because a leaf is
    zeros = {finding.source for _, finding in titled if _ZERO_LEAF.search(finding.what)}
    single = {finding.source for _, finding in titled if _ONE_ELEMENT in finding.what}
    lines = {(finding.code, finding.source) for _, finding in titled if finding.is_bad}
    codes = {code for code, _ in lines}
    is_explained = any(finding.is_bad and finding.code in _MAKE_CONSTANT for _, finding in titled)
    for title, finding in titled:
        if finding.code == "constant-loss" and is_explained:
            continue
        if finding.code in ("changed", "freed") and finding.source is not None:
            if (finding.code, finding.source, finding.other) in refused:
                continue
            refused.add((finding.code, finding.source, finding.other))
        if finding.code in ("dead-units", "saturated") and finding.source in zeros:
            continue
        if finding.code == "saturated" and finding.source in single:
            continue
        if (_SYMPTOMS.get(finding.code), finding.source) in lines:
            continue
        if _TOO_LARGE in finding.what and codes & {"exploding", "large-steps"}:
            continue
        if (
            finding.code == "zero-grad"
            and "multiplies it by" in finding.what
            and "overflow" in codes
        ):
            continue
        if finding.code == "not-finite" and finding.is_bad and (title, finding) != first[0]:
            continue
        if finding.is_bad and finding.leaves:
            if told.issuperset(finding.leaves):
                continue
            told.update(finding.leaves)
        yield title, finding

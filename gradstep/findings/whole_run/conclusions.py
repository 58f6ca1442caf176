"""What a whole run shows: the rules over its facts, and which findings of its calls hold."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gradstep.capturing.names import Names
from gradstep.engines.parameters import named_parameters
from gradstep.findings.fixes import Line
from gradstep.findings.linting import Finding
from gradstep.findings.linting.finding import Fix, listed
from gradstep.findings.source_lines import calls_of
from gradstep.findings.whole_run.rules import RULES
from gradstep.findings.whole_run.watch import Evidence

_NEED_A_LOSS: Final = ("cut", "create-graph", "unreached")
_OPEN_TO_THE_END: Final = (*_NEED_A_LOSS, "changed", "not-finite", "dead-units", "saturated")
"""Findings that later calls may refute, or of which they may tell the reason."""
_MAKE_CONSTANT: Final = (
    "cut", "unreached", "untrained", "unchanged", "zero-grad", "small-steps", "stale-grad",
)  # fmt: skip
"""Findings of which a loss that stays the same is only another symptom."""
_SYMPTOMS: Final = {
    "dead-units": "zero-grad", "graph-kept": "graph-grows", "cut": "unreached",
}  # fmt: skip
"""Findings that only show another one of the same line."""
_ONE_ELEMENT: Final = "runs over one element"
_TOO_LARGE: Final = "(the largest "
"""In the text of a value that is infinite because others have grown."""
_ZERO_LEAF: Final = re.compile(r": \S+ is 0 everywhere$")
_SEVERITIES: Final = ("error", "warning", "info")
_WORST_FIRST: Final = (
    "derivative", "freed", "changed", "not-finite", "cut", "create-graph", "unreached",
    "untrained", "unchanged", "zero-grad", "stale-grad",
)  # fmt: skip


def conclusions(evidence: Evidence) -> list[tuple[str, Finding]]:
    """Return what is wrong with a run, worst first, each with the title of the call that shows it,
    "" of the whole run."""
    lost = {each.name: by for by, leaves in evidence.lost().items() for each in leaves}
    found = [
        (title, held) for title, each in evidence.seen for held in _confirmed(each, evidence, lost)
    ]
    for rule in RULES:
        found += [("", each) for each in rule.find(evidence)]
    found = [(title, _with_module(each, evidence.names)) for title, each in found]
    found.sort(key=lambda each: _rank(each[1]))
    return list(_one_each(found))


def _with_module(finding: Finding, names: Names) -> Finding:
    """Say of which variable all leaves are that a finding names, where their names do not."""
    leaves = set(finding.leaves)
    for variable, module in names.modules.items():
        own = {names.of(each) for _, each in named_parameters(module)}
        if len(own) > 1 and own == leaves and not any(variable in each for each in own):
            text = listed(finding.leaves)
            return replace(finding, what=finding.what.replace(text, f"{text} (all of {variable})"))
    return finding


def certain(evidence: Evidence) -> list[tuple[str, Finding]]:
    """Return what the calls so far have shown, whatever comes."""
    return [
        each for each in evidence.seen if each[1].is_bad and each[1].code not in _OPEN_TO_THE_END
    ]


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
    if finding.code == "create-graph" and not finding.leaves:
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
        elif not never or evidence.trained:
            yield replace(finding, severity="info")
        else:
            yield finding


def _ended(evidence: Evidence, state: str) -> str:
    """Return the statement that ends the graph of a tensor, or of a tuple of some."""
    names = map(evidence.names.of, evidence.names.tensors())
    if any(each.startswith(f"{state}[") for each in names):
        return f"{state} = tuple(each.detach() for each in {state})"
    return f"{state} = {state}.detach()"


def _carried_fix(evidence: Evidence) -> tuple[Fix, ...]:
    state, made = next(iter(evidence.carried.items()))
    return Line(made).replaced(f"{{line}}\n{_ended(evidence, state)}")


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
    found = re.search(r"([\w.\[\]]+)\.step\(", text)
    return found[1] if found else ""


def _is_of_step(finding: Finding, evidence: Evidence, optimizer: str) -> bool:
    """Return whether a cut is the last one before the step of ``optimizer``: in a GAN, the same
    leaves are cut off on purpose in the call before."""
    if finding.source is None:
        return True
    steps = calls_of("step", finding.source.file, optimizer)
    if not steps:
        return True
    others = [
        each.source.line
        for _, each in evidence.seen
        if each.source is not None
        and each.code == finding.code
        and set(finding.leaves) & set(each.leaves)
        and each.source.file == finding.source.file
        and each.source.line <= steps[-1].line
    ]
    return not others or finding.source.line == max(others)


def _one_each(found: list[tuple[str, Finding]]) -> Iterator[tuple[str, Finding]]:
    """Leave out what is only another symptom: of leaves of which all is said already."""
    told: set[str] = set()
    refused: set[Any] = set()  # two nodes of a line that saved what one line changed
    not_finite = [each for each in found if each[1].code == "not-finite" and each[1].is_bad]
    # what a step broke is behind all that follows, else the first call is
    first = [each for each in not_finite if not each[0]] or not_finite
    # units are 0 because a leaf is
    zeros = {each.source for _, each in found if _ZERO_LEAF.search(each.what)}
    single = {each.source for _, each in found if _ONE_ELEMENT in each.what}
    lines = {(each.code, each.source) for _, each in found if each.is_bad}
    codes = {code for code, _ in lines}
    is_explained = any(each.is_bad and each.code in _MAKE_CONSTANT for _, each in found)
    for title, each in found:
        if each.code == "constant-loss" and is_explained:
            continue
        if each.code in ("changed", "freed") and each.source is not None:
            if (each.code, each.source, each.other) in refused:
                continue
            refused.add((each.code, each.source, each.other))
        if each.code in ("dead-units", "saturated") and each.source in zeros:
            continue
        if each.code == "saturated" and each.source in single:
            continue
        if (_SYMPTOMS.get(each.code), each.source) in lines:
            continue
        if _TOO_LARGE in each.what and codes & {"exploding", "large-steps"}:
            continue
        if each.code == "zero-grad" and "multiplies it by" in each.what and "overflow" in codes:
            continue
        if each.code == "not-finite" and each.is_bad and (title, each) != first[0]:
            continue
        if each.is_bad and each.leaves:
            if told.issuperset(each.leaves):
                continue
            told.update(each.leaves)
        yield title, each

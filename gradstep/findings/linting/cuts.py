"""Values that leave the graph on their way to the loss: no gradient comes back through them.

Needs what tracing left behind; the records lead from the loss to all that it was computed from,
over the places where the graph itself ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from gradstep.capturing.op_records import (
    WITHOUT_GRAPH,
    Cut,
    LeafRecord,
    OpRecord,
    Record,
    reachable,
)
from gradstep.capturing.statement import comparison_at
from gradstep.findings.linting.finding import Finding, listed
from gradstep.findings.linting.leaves import find_unreached
from gradstep.findings.linting.rule import Meaning, Rule
from gradstep.findings.linting.subject import Subject

_TAKING_OUT: Final = {"detach": "detach() or .data"}
"""Ops that take a value out of the graph, where that is recorded as an op, as users write it."""
_UNDER: Final = " ran under no_grad()"
_CASTS: Final = ("cast", "to")
_INEXACT: Final = ("float", "bfloat", "complex")
_ON_PURPOSE: Final = (
    "nothing to do if they are not to learn, as those of a teacher or a target network: no "
    "optimizer has them"
)
_USE_IT: Final = "use the value itself where you need its gradient"


def find_cuts_and_unreached(subject: Subject) -> list[Finding]:
    """Return the cuts, and the leaves that the pass does not reach for other reasons."""
    findings, explained = _find_cuts(subject)
    return [*findings, *find_unreached(subject, explained)]


def _find_cuts(subject: Subject) -> tuple[list[Finding], set[int]]:
    """Return the cuts, and the leaves, by identity, that they keep from having any gradient."""
    findings: list[Finding] = []
    lost: dict[int, Any] = {}
    others = subject.of_other_optimizers
    trained = subject.trained
    found = list(cuts(subject))
    for number, (finding, leaves) in enumerate(found):
        lost.update((id(leaf), leaf) for leaf in leaves)
        if _is_part_of_another(number, found):
            continue
        ids = set(map(id, leaves))
        if ids and ids <= others.keys():
            finding = replace(finding, severity="info")
        elif ids and trained and ids.isdisjoint(trained) and _UNDER in finding.what:
            finding = replace(finding, severity="info", remedy=_ON_PURPOSE)
        findings.append(finding)
    return findings, set(lost)


def _is_part_of_another(number: int, found: Sequence[tuple[Finding, Sequence[Any]]]) -> bool:
    """Return whether a later cut of the line keeps the same leaves, and more, from a gradient: the
    ops of a module under no_grad() come one after the other."""
    finding, leaves = found[number]
    ids, place = set(map(id, leaves)), (finding.source, finding.remedy)
    return any(
        ids < set(map(id, more)) and (other.source, other.remedy) == place
        for other, more in found[number + 1 :]
    )


def cuts(subject: Subject) -> Iterator[tuple[Finding, Sequence[Any]]]:
    """Find each cut, and the leaves that it keeps from any gradient."""
    records = subject.records
    first = min((r.number for r in records if isinstance(r, OpRecord)), default=0)
    for record in records:
        yield from _cut_at(subject, record, first)


def _cut_at(
    subject: Subject, record: Record, first: int
) -> Iterator[tuple[Finding, Sequence[Any]]]:
    """Yield the cut at ``record``, if it is one, and the leaves that it keeps from any gradient."""
    if isinstance(record, LeafRecord):
        cut = record.cut
        if cut is None:
            return
        lost = _lost(subject, (leaf() for leaf in cut.leaves))
        if cut.how == WITHOUT_GRAPH:
            yield _constant_gradient(subject, cut, lost), lost
            return
        if not lost and cut.departure is not None and cut.departure.number < first:
            return  # made from an array of this iteration, after one of an earlier had gone
        yield _taken_out(subject, cut, lost), lost
        return
    if record.requires_grad or not any(_needs_gradient(each) for each in record.inputs):
        return
    lost = _lost(subject, _leaves_behind(record))
    if not lost and record.attributes.get("in place"):
        return  # as a parameter begins, and as an optimizer changes it
    if record.name in _TAKING_OUT:
        what, remedy = f"{_TAKING_OUT[record.name]} takes a value out of the graph", _USE_IT
    elif not record.grad_mode:
        what, remedy = f"{record.name}{_UNDER}", "compute it outside no_grad()"
    elif record.dtype.startswith(_INEXACT):
        what, remedy = f"{record.name} has no derivative", "use an op that has one"
    elif lost and (compared := comparison_at(record.source, record.name)) is not None:
        what, remedy = f"{compared.text} is True or False", compared.smooth
    elif lost or (record.name in _CASTS and record.dtype != "bool"):
        name = "a cast" if record.name in _CASTS else record.name
        what = f"{name} gives numbers of dtype {record.dtype}"
        remedy = "keep it in floating point; only floating-point tensors have gradients"
    else:
        return  # a mask or an index, as there should be
    yield _finding(subject, what, remedy, record.source, lost), lost


def _constant_gradient(subject: Subject, cut: Cut, lost: Sequence[Any]) -> Finding:
    """Return what is found of a gradient that the loss uses as a number."""
    names = listed([subject.name(leaf) for leaf in lost]) if lost else ""
    so = f", so {names} {'gets' if len(lost) == 1 else 'get'} no gradient" if lost else ""
    return Finding(
        "warning", "create-graph",
        f"{cut.how} returned a constant, and the loss uses it: no gradient flows back through it"
        f"{so}",
        "pass create_graph=True to differentiate a penalty on gradients; if it is meant as a "
        "constant, leave this finding out with --ignore create-graph",
        source=cut.source, leaves=tuple(subject.name(leaf) for leaf in lost),
    )  # fmt: skip


def _taken_out(subject: Subject, cut: Cut, lost: Sequence[Any]) -> Finding:
    if cut.departure is None:
        what = f"{cut.how} takes a value out of the graph"
        return _finding(subject, what, _USE_IT, cut.source, lost)
    what = f"a value was converted to NumPy, and {cut.how} later made a constant from an array"
    remedy = (
        "if the array depends on that value, use ops of this package or a custom Function with "
        "its own backward"
    )
    return _finding(subject, what, remedy, cut.departure.source, lost, cut.source)


def _finding(
    subject: Subject, what: str, remedy: str, source: Any, lost: Sequence[Any], other: Any = None
) -> Finding:
    if not lost:
        text = f"{what}; no gradient flows back through it"
        return Finding("info", "cut", text, f"nothing if this is intended; otherwise {remedy}",
                       source=source, other=other)  # fmt: skip
    names = [subject.name(leaf) for leaf in lost]
    verb = "gets" if len(names) == 1 else "get"
    text = f"{what}, so {listed(names)} {verb} no gradient"
    return Finding("warning", "cut", text, remedy, source=source, other=other, leaves=tuple(names))


def _lost(subject: Subject, leaves: Iterable[Any]) -> list[Any]:
    """Return those of ``leaves`` that the pass does not reach in any way."""
    own = (subject.user_tensor(leaf) for leaf in leaves)
    unique = {id(leaf): leaf for leaf in own if leaf is not None}
    return [
        leaf for key, leaf in unique.items() if key not in subject.leaves and leaf.requires_grad
    ]


def _needs_gradient(found: Any) -> bool:
    return isinstance(found, tuple) and found[0].requires_grad


def _leaves_behind(record: OpRecord) -> Iterator[Any]:
    for each in reachable([record]):
        if isinstance(each, LeafRecord):
            if each.requires_grad:
                yield each.tensor()
            if each.cut is not None:
                yield from (leaf() for leaf in each.cut.leaves)


RULES: Final = (
    Rule(find_cuts_and_unreached, Meaning(
        "cut", "warning", "a value left the graph, so leaves have no gradient",
        "detach(), no_grad(), a cast to integers or NumPy took a value out of the graph, and no "
        "call of the run reached the leaves behind it in another way.",
        "loss = criterion(D(G(z).detach()), ones)", "loss = criterion(D(G(z)), ones)",
        "When these leaves are not to learn: take them out of the optimizer.",
    ), Meaning(
        "create-graph", "warning", "autograd.grad() returned a constant, and the loss uses it",
        "Without create_graph=True, the result of autograd.grad() has no graph.",
        "(g,) = torch.autograd.grad(f, x)", "(g,) = torch.autograd.grad(f, x, create_graph=True)",
        "When the gradient is meant as a constant, as in first-order MAML.",
    )),
)  # fmt: skip

"""Values that leave the graph on their way to the loss: no gradient comes back through them.

Needs what tracing left behind; the records lead from the loss to all that it was computed from,
over the places where the graph itself ends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from linecache import getline
from typing import Any, Final

from gradstep.capturing.statement import comparison_at, nodes_on
from gradstep.contract.op_records import (
    WITHOUT_GRAPH,
    Cut,
    LeafRecord,
    OpRecord,
    Record,
    reachable,
)
from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import called_on, with_argument, without
from gradstep.findings.rules.graph.leaves import find_unreached
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.source_lines import under_no_grad
from gradstep.graph.model import Source
from gradstep.text import listed

_TAKING_OUT: Final = ("detach",)
"""Ops that take a value out of the graph, where that is recorded as an op."""
_INDICES: Final = ("argmax", "argmin", "argsort", "bincount", "searchsorted", "bucketize")
_UNDER: Final = " ran under no_grad()"
_CASTS: Final = ("cast", "to")
_INEXACT: Final = ("float", "bfloat", "complex")
_ON_PURPOSE: Final = (
    "nothing to do if they are not to learn, as those of a teacher or a target network: no "
    "optimizer has them"
)
_USE_IT: Final = "use the value itself where you need its gradient"
_OF_SCORES: Final = (
    "compute the loss from the scores, as cross_entropy(scores, labels) does; to choose by them in "
    "the network, use softmax(), or gumbel_softmax(scores, hard=True)"
)
_OF_INTEGERS: Final = (
    "an index or an integer has no derivative: weigh with floating-point numbers instead, such as "
    "those of a softmax or of an interpolation"
)


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
    all_cuts = list(cuts(subject))
    for number, (finding, leaves) in enumerate(all_cuts):
        lost.update((id(leaf), leaf) for leaf in leaves)
        if _is_part_of_another(number, all_cuts):
            continue
        ids = set(map(id, leaves))
        if ids and ids <= others.keys():
            finding = replace(finding, severity="info")
        elif ids and trained and ids.isdisjoint(trained) and _UNDER in finding.what:
            finding = replace(finding, severity="info", remedy=_ON_PURPOSE)
        findings.append(finding)
    return findings, set(lost)


def _is_part_of_another(number: int, all_cuts: Sequence[tuple[Finding, Sequence[Any]]]) -> bool:
    """Return whether a later cut of the line keeps the same leaves, and more, from a gradient: the
    ops of a module under no_grad() come one after the other."""
    finding, leaves = all_cuts[number]
    ids, place = set(map(id, leaves)), (finding.source, finding.remedy)
    return any(
        ids < set(map(id, more)) and (other.source, other.remedy) == place
        for other, more in all_cuts[number + 1 :]
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
    if record.requires_grad or not any(
        isinstance(value, tuple) and value[0].requires_grad for value in record.inputs
    ):
        return
    lost = _lost(subject, _leaves_behind(record))
    if not lost and record.attributes.get("in place"):
        return  # as a parameter begins, and as an optimizer changes it
    fix: tuple[Fix, ...] = ()
    if record.name in _TAKING_OUT:
        yield _detached(subject, "", record.source, lost), lost
        return
    if not record.grad_mode:
        what, remedy, fix = _under_no_grad(record)
    elif record.dtype.startswith(_INEXACT):
        what, remedy = f"{record.name} has no derivative", "use an op that has one"
    elif lost and (compared := comparison_at(record.source, record.name)) is not None:
        what, remedy = f"{compared.text} is True or False", compared.smooth
    elif lost or (record.name in _CASTS and record.dtype != "bool"):
        name = "a cast" if record.name in _CASTS else record.name
        what = f"{name} gives numbers of dtype {record.dtype}"
        remedy = _OF_SCORES if record.name in _INDICES else _OF_INTEGERS
    else:
        return  # a mask or an index, as there should be
    yield replace(_finding(subject, what, remedy, record.source, lost), fix=fix), lost


def _detached(subject: Subject, how: str, source: Source | None, lost: Sequence[Any]) -> Finding:
    """Return what is found of a value that detach(), or ``how``, took out of the graph."""
    line = "" if source is None else getline(source.file, source.line)
    if not how:
        written = [text for text in ("detach()", ".data") if text.rstrip(")") in line]
        how = " or ".join(written or ["detach()", ".data"])
    if how.removesuffix("()") in _INDICES:
        return _finding(subject, f"{how} gives indices", _OF_SCORES, source, lost)
    if lost and (estimated := _straight_through(source)):
        names = listed([subject.name(leaf) for leaf in lost])
        return _finding(
            subject, f"a straight-through estimator passes on the gradient to other values than "
            f"{estimated}", f"use {estimated}, as it is before this line, in the loss that is to "
            f"train {names}", source, lost,
        )  # fmt: skip
    finding = _finding(subject, f"{how} takes a value out of the graph", _USE_IT, source, lost)
    return replace(finding, fix=without(source, "detach", "data")) if lost else finding


def _straight_through(source: Source | None) -> str:
    """Return ``z`` where a line has ``x + (z - x).detach()``, else ""."""
    for node in () if source is None else nodes_on(source):
        match node:
            case ast.BinOp(
                op=ast.Add(),
                left=passed,
                right=ast.Call(
                    func=ast.Attribute(
                        attr="detach", value=ast.BinOp(op=ast.Sub(), left=used, right=other)
                    )
                ),
            ) if ast.unparse(passed) == ast.unparse(other):
                return ast.unparse(used)
    return ""


def _under_no_grad(record: OpRecord) -> tuple[str, str, tuple[Fix, ...]]:
    """Return what is told of an op that ran while gradients were off, the remedy, and its lines."""
    source = record.source
    if called_on(source, "checkpoint"):
        what = "checkpoint() keeps no graph where none of its inputs requires a gradient"
        fix = with_argument(source, "checkpoint", "use_reentrant", "False")
        return what, "pass use_reentrant=False to checkpoint()", fix
    switch = None if source is None else under_no_grad(source)
    is_alone = switch is not None and getline(switch.file, switch.line).lstrip().startswith("@")
    where = "" if switch is None else f", that of line {switch.line}"
    fix = (Fix(switch, ""),) if switch is not None and is_alone else ()
    return f"{record.name}{_UNDER}", f"compute it outside no_grad(){where}", fix


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
        fix=with_argument(cut.source, "grad", "create_graph", "True", without="retain_graph"),
    )  # fmt: skip


def _taken_out(subject: Subject, cut: Cut, lost: Sequence[Any]) -> Finding:
    if cut.departure is None:
        return _detached(subject, cut.how, cut.source, lost)
    what = f"a value was converted to NumPy, and {cut.how} later made a constant from an array"
    remedy = (
        "compute it with the functions of the library instead of NumPy's, or in a custom Function "
        "with its own backward"
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


def _leaves_behind(record: OpRecord) -> Iterator[Any]:
    """Yield the leaves that a value was computed from; those behind another detach() are lost
    there."""
    given = [origin[0] for origin in record.inputs if isinstance(origin, tuple)]
    for earlier in reachable(given, _TAKING_OUT):
        if isinstance(earlier, LeafRecord):
            if earlier.requires_grad:
                yield earlier.tensor()
            if earlier.cut is not None:
                yield from (leaf() for leaf in earlier.cut.leaves)


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

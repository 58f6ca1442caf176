"""Values that leave the graph on their way to the loss: no gradient comes back through them.

Needs what tracing left behind; the records lead from the loss to all that it was computed from,
over the places where the graph itself ends.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from linecache import getline
from typing import Any, ClassVar, Final

from gradstep.capturing.statement import comparison_at, nodes_on
from gradstep.contract.op_records import (
    WITHOUT_GRAPH,
    LeafRecord,
    OpRecord,
    Record,
)
from gradstep.contract.op_records import (
    Cut as CutRecord,
)
from gradstep.findings.facts import Facts, Forward
from gradstep.findings.facts.happened import Happened
from gradstep.findings.facts.history import histories
from gradstep.findings.facts.learning import ByInputs, Learning, confirmed
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import called_by, called_on, with_argument, without
from gradstep.findings.rules.graph.leaves import find_unreached
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.source_lines import calls_of, under_no_grad
from gradstep.graph.model import Source
from gradstep.text import listed

_LAYERS: Final = ("addmm", "mm", "bmm", "matmul", "linear", "convolution")
_TAKING_OUT: Final = ("detach",)
"""Ops that take a value out of the graph, where that is recorded as an op."""
_WAYS: Final = ("detach()", ".data")
_INDICES: Final = ("argmax", "argmin", "argsort", "bincount", "searchsorted", "bucketize")
_CASTS: Final = ("cast", "to")
_INEXACT: Final = ("float", "bfloat", "complex")


class Cut(Reason):
    """Something took a value out of the graph; ``leaves`` get no gradient for that."""

    code = "cut"
    is_open = True
    blames_line = True
    after = ("not-finite",)
    explained_here_by: ClassVar[tuple[str, ...]] = ("unreached",)

    def clause(self) -> str:
        """Return what happened there."""
        return self.says

    def guess(self) -> str:
        """Return the same where it may be why leaves get no gradient."""
        return f"likely because {self.clause()}"

    def advice(self) -> str:
        """Return what helps where leaves get no gradient."""
        return self.helps

    def text(self) -> str:
        if not self.leaves:
            return f"{self.clause()}; no gradient flows back through it"
        return f"{self.clause()}, so {self.named} {self.of('gets', 'get')} no gradient"

    def remedy(self) -> str:
        if not self.leaves:
            return f"nothing if this is intended; otherwise {self.advice()}"
        return self.advice()


@dataclass(frozen=True)
class TakenOut(Cut):
    """One of the ``ways`` to take values out of the graph."""

    keeps_loss = True
    helps = "use the value itself where you need its gradient"
    ways: tuple[str, ...]

    def clause(self) -> str:
        return f"{' or '.join(self.ways)} takes a value out of the graph"

    def fix(self) -> tuple[Fix, ...]:
        return without(self.source, "detach", "data") if self.leaves else ()

    def calls(self) -> tuple[str, ...]:
        return called_by(*self.ways)


@dataclass(frozen=True)
class Numbers(Cut):
    """An op gives numbers that have no derivative, of a ``dtype``; or indices, by a call."""

    name: str
    dtype: str

    def clause(self) -> str:
        if not self.dtype:
            return f"{self.name} gives indices"
        name = "a cast" if self.name in _CASTS else self.name
        return f"{name} gives numbers of dtype {self.dtype}"

    def advice(self) -> str:
        if self.name.removesuffix("()") in _INDICES:
            return (
                "compute the loss from the scores, as cross_entropy(scores, labels) does; to "
                "choose by them in the network, use softmax(), or gumbel_softmax(scores, hard=True)"
            )
        return (
            "an index or an integer has no derivative: weigh with floating-point numbers instead, "
            "such as those of a softmax or of an interpolation"
        )

    def calls(self) -> tuple[str, ...]:
        return () if self.dtype else called_by(self.name)


@dataclass(frozen=True)
class WrongEstimator(Cut):
    """A straight-through estimator passes no gradient to what it estimates."""

    estimated: str

    def clause(self) -> str:
        return (
            "a straight-through estimator passes on the gradient to other values than "
            f"{self.estimated}"
        )

    def advice(self) -> str:
        return (
            f"use {self.estimated}, as it is before this line, in the loss that should train "
            f"{listed(self.leaves)}"
        )


@dataclass(frozen=True)
class NotRecomputed(Cut):
    """A reentrant checkpoint was given nothing with a graph."""

    keeps_loss = True
    marks = ("checkpoint",)
    helps = "pass use_reentrant=False to checkpoint()"
    says = "checkpoint() keeps no graph where none of its inputs requires a gradient"

    def guess(self) -> str:
        return (
            "likely, if checkpoint() runs them, because it keeps no graph where none of its inputs "
            "requires a gradient"
        )

    def fix(self) -> tuple[Fix, ...]:
        return with_argument(self.source, "checkpoint", "use_reentrant", "False")


@dataclass(frozen=True)
class UnderNoGrad(Cut):
    """An op ran while gradients were off; ``is_meant`` if the leaves are not to learn."""

    keeps_loss = True
    marks = ("no_grad",)
    name: str
    is_meant: bool = False

    def clause(self) -> str:
        return f"{self.name} ran under no_grad()"

    def advice(self) -> str:
        where = "" if self._switch is None else f", that of line {self._switch.line}"
        return f"compute it outside no_grad(){where}"

    def remedy(self) -> str:
        if self.is_meant:
            return (
                "nothing to do if they should not learn, like those of a teacher or a target "
                "network"
            )
        return super().remedy()

    def fix(self) -> tuple[Fix, ...]:
        switch = self._switch
        is_alone = switch is not None and getline(*switch).lstrip().startswith("@")
        return (Fix(switch, ""),) if switch is not None and is_alone else ()

    @property
    def _switch(self) -> Source | None:
        return None if self.source is None else under_no_grad(self.source)


@dataclass(frozen=True)
class NoDerivative(Cut):
    """An op has no derivative."""

    helps = "use an op that has one"
    name: str

    def clause(self) -> str:
        return f"{self.name} has no derivative"


@dataclass(frozen=True)
class Compared(Cut):
    """A comparison, as it is written, and what is ``smooth``."""

    written: str
    smooth: str

    def clause(self) -> str:
        return f"{self.written} is True or False"

    def advice(self) -> str:
        return self.smooth


@dataclass(frozen=True)
class ThroughNumPy(Cut):
    """A value went through NumPy; ``how`` made a tensor of it again, at ``other``."""

    helps = (
        "compute it with the functions of the library instead of NumPy's, or in a custom "
        "Function with its own backward"
    )
    how: str

    def clause(self) -> str:
        return f"a value was converted to NumPy, and {self.how} later made a constant from an array"

    def calls(self) -> tuple[str, ...]:
        return called_by(self.how)


@dataclass(frozen=True)
class ConstantGradient(Cut):
    """``how`` returned a gradient without a graph, which the loss uses."""

    keeps_loss = True

    code = "create-graph"
    is_open = True
    after = ("cut",)
    explained_here_by = ()
    helps = "pass create_graph=True to differentiate a penalty on gradients"
    how: str

    def clause(self) -> str:
        return (
            f"{self.how} returned a constant, and the loss uses it: no gradient flows back through "
            "it"
        )

    def text(self) -> str:
        return super().text() if self.leaves else self.clause()

    def remedy(self) -> str:
        return (
            f"{self.advice()}; if it is meant as a constant, leave this finding out with --ignore "
            "create-graph"
        )

    def fix(self) -> tuple[Fix, ...]:
        return with_argument(self.source, "grad", "create_graph", "True", without="retain_graph")

    def calls(self) -> tuple[str, ...]:
        return called_by(self.how)


def find_cuts_and_unreached(subject: Subject) -> list[Reason]:
    """Return the cuts, and the leaves that the pass does not reach for other reasons."""
    findings, explained = _find_cuts(subject)
    return [*findings, *find_unreached(subject, explained)]


def _find_cuts(subject: Subject) -> tuple[list[Reason], set[int]]:
    """Return the cuts, and the leaves, by identity, that they keep from having any gradient."""
    found: list[Reason] = []
    lost: dict[int, Any] = {}
    others = subject.of_other_optimizers
    trained = subject.trained
    all_cuts = cuts(subject)
    for number, (reason, leaves) in enumerate(all_cuts):
        lost.update((id(leaf), leaf) for leaf in leaves)
        if _is_part_of_another(number, all_cuts):
            continue
        ids = set(map(id, leaves))
        if ids and ids <= others.keys():
            reason = replace(reason, is_note=True)
        elif ids and trained and ids.isdisjoint(trained) and isinstance(reason, UnderNoGrad):
            reason = replace(reason, is_note=True, is_meant=True)
        found.append(reason)
    return found, set(lost)


def _is_part_of_another(number: int, all_cuts: Sequence[tuple[Cut, Sequence[Any]]]) -> bool:
    """Return whether a later cut of the line keeps the same leaves, and more, from a gradient: the
    ops of a module under no_grad() come one after the other."""
    reason, leaves = all_cuts[number]
    ids = set(map(id, leaves))
    return bool(ids) and any(
        ids < set(map(id, more)) and (type(other), other.source) == (type(reason), reason.source)
        for other, more in all_cuts[number + 1 :]
    )


def cuts(subject: Subject) -> list[tuple[Cut, Sequence[Any]]]:
    """Find each cut, how often it was made, and the leaves that it keeps from any gradient."""
    records = subject.records
    first = min((r.number for r in records if isinstance(r, OpRecord)), default=0)
    behind = _lost_behind(subject)
    every: dict[Any, tuple[Cut, Sequence[Any]]] = {}
    times: Counter[Any] = Counter()
    alike: dict[Any, list[Any]] = {}  # a line in a loop cuts the same way in each round
    for record in records:
        kind: Any = record
        if isinstance(record, OpRecord):
            if not _may_cut(record):
                continue
            in_place = bool(record.attributes.get("in place"))
            op = record.source, record.name, record.dtype, record.grad_mode, in_place
            kind = op, behind[record]
        if kind not in alike:
            here = list(_cut_at(subject, record, first, behind[record]))
            alike[kind] = [(reason, tuple(map(id, lost))) for reason, lost in here]
            for key, cut in zip(alike[kind], here, strict=True):
                every.setdefault(key, cut)
        times.update(alike[kind])
    return [(replace(reason, found=times[key]), lost) for key, (reason, lost) in every.items()]


def _lost_behind(subject: Subject) -> dict[Record, frozenset[LeafRecord]]:
    """Return, for each record, what its value was computed from that leads to leaves which the pass
    does not reach; those behind another detach() are lost there."""
    nothing: frozenset[LeafRecord] = frozenset()
    behind: dict[Record, frozenset[LeafRecord]] = {}
    for record in subject.records:  # in the order in which they were made
        if isinstance(record, LeafRecord):
            behind[record] = frozenset([record] if _lost(subject, _leaves_of(record)) else [])
            continue
        parts = {
            behind[origin[0]]
            for origin in record.inputs
            if isinstance(origin, tuple) and not _takes_out(origin[0])
        }
        whole = nothing.union(*parts)
        # one for all that have the same, as there may be a hundred thousand
        behind[record] = next((part for part in parts if part == whole), whole)
    return behind


def _leaves_of(record: LeafRecord) -> Iterator[Any]:
    """Yield the leaf that a record is of, if it requires a gradient, and those behind its cut."""
    if record.requires_grad:
        yield record.tensor()
    if record.cut is not None:
        yield from (leaf() for leaf in record.cut.leaves)


def _takes_out(record: Record) -> bool:
    return isinstance(record, OpRecord) and record.name in _TAKING_OUT


def _may_cut(record: OpRecord) -> bool:
    """Return whether an op made a value without a gradient of one that has one."""
    return not record.requires_grad and any(
        isinstance(value, tuple) and value[0].requires_grad for value in record.inputs
    )


def _cut_at(
    subject: Subject, record: Record, first: int, behind: Collection[LeafRecord]
) -> Iterator[tuple[Cut, Sequence[Any]]]:
    """Yield the cut at ``record``, if it is one, and the leaves that it keeps from any gradient,
    those of what is ``behind``."""
    if isinstance(record, LeafRecord):
        cut = record.cut
        lost = () if cut is None else _lost(subject, (leaf() for leaf in cut.leaves))
        if cut is None or (
            cut.how != WITHOUT_GRAPH
            and not lost
            and cut.departure is not None
            and cut.departure.number < first
        ):
            return  # made from an array of this iteration, after one of an earlier had gone
        made = _of_leaf(subject, record, cut, lost)
        own = filter(subject.names.of, lost) if isinstance(made, ConstantGradient) else lost
        yield replace(made, leaves=tuple(map(subject.name, own))), lost
        return
    makers = sorted(behind, key=lambda maker: maker.number)
    lost = _lost(subject, (leaf for maker in makers for leaf in _leaves_of(maker)))
    if not lost and record.attributes.get("in place"):
        return  # as a parameter begins, and as an optimizer changes it
    if (reason := _of_op(record, is_lost=bool(lost))) is not None:
        leaves = tuple(map(subject.name, lost))
        yield replace(reason, leaves=leaves, is_note=not lost), lost


def _of_leaf(subject: Subject, record: LeafRecord, cut: CutRecord, lost: Sequence[Any]) -> Cut:
    """Return why a tensor was made anew that was computed from leaves."""
    if cut.how == WITHOUT_GRAPH:
        # as forces of a known potential, which a network is to learn
        behind = {id(subject.user_tensor(leaf())) for leaf in cut.leaves}
        is_known = bool(subject.trained) and subject.trained.isdisjoint(behind)
        is_note = is_known or _is_input(subject, record)
        return ConstantGradient(cut.how, source=cut.source, is_note=is_note)
    if cut.departure is None:
        reason = _detached(cut.how, cut.source, is_lost=bool(lost))
    else:
        reason = ThroughNumPy(cut.how, source=cut.departure.source, other=cut.source)
    return replace(reason, is_note=not lost)


def _is_input(subject: Subject, record: Record) -> bool:
    """Return whether what is made of a constant meets what learns in layers only, as the input of a
    network does: an attack moves an image along the gradient."""
    made, meets = {record}, False
    for op in subject.records:
        given = op.inputs if isinstance(op, OpRecord) else ()
        if not any(isinstance(each, tuple) and each[0] in made for each in given):
            continue
        if not op.requires_grad:
            made.add(op)
        elif isinstance(op, OpRecord) and op.name in _LAYERS:
            meets = True
        else:
            return False
    return meets


def _checkpoint_around(source: Source | None) -> Source | None:
    """Return the line that calls ``checkpoint``, where that is why an op ran without a graph: it is
    the line of the op, or the only thing in its file that turns gradients off."""
    if source is None or called_on(source, "checkpoint"):
        return source
    switches = ("no_grad", "inference_mode", "set_grad_enabled")
    if any(calls_of(switch, source.file) for switch in switches):
        return None
    return next(iter(calls_of("checkpoint", source.file)), None)


def _of_op(record: OpRecord, *, is_lost: bool) -> Cut | None:
    """Return why the result of an op has no graph; None of a mask or an index, as there should
    be."""
    name, source = record.name, record.source
    if name in _TAKING_OUT:
        return _detached("", source, is_lost=is_lost)
    if not record.grad_mode:
        if (at := _checkpoint_around(source)) is not None:
            return NotRecomputed(source=at)
        return UnderNoGrad(name, source=source)
    if record.dtype.startswith(_INEXACT):
        return NoDerivative(name, source=source)
    if is_lost and (compared := comparison_at(source, name)) is not None:
        return Compared(compared.text, compared.smooth, source=source)
    if is_lost or (name in _CASTS and record.dtype != "bool"):
        return Numbers(name, record.dtype, source=source)
    return None


def _detached(how: str, source: Source | None, *, is_lost: bool) -> Cut:
    """Return what is found of a value that detach(), or ``how``, took out of the graph."""
    line = "" if source is None else getline(*source)
    written = tuple(way for way in _WAYS if way.rstrip(")") in line)
    if how.removesuffix("()") in _INDICES:
        return Numbers(how, "", source=source)
    if is_lost and (estimated := _straight_through(source)):
        return WrongEstimator(estimated, source=source)
    return TakenOut((how,) if how else written or _WAYS, source=source)


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


def _lost(subject: Subject, leaves: Iterable[Any]) -> list[Any]:
    """Return those of ``leaves`` that the pass does not reach in any way."""
    own = (subject.user_tensor(leaf) for leaf in leaves)
    unique = {id(leaf): leaf for leaf in own if leaf is not None}
    return [
        leaf for key, leaf in unique.items() if key not in subject.leaves and leaf.requires_grad
    ]


def _in_run(reason: Reason, facts: Facts) -> Reason:
    learning = {trained.name for trained in facts[Learning].trained.values()}
    if isinstance(reason, ConstantGradient) and learning.isdisjoint(reason.leaves):
        # by parameters, it may be a constant on purpose, as in first-order MAML
        return reason if reason.source in facts[ByInputs].lines else replace(reason, is_note=True)
    if isinstance(reason, UnderNoGrad) and not learning and _is_of_copy(reason, facts):
        return replace(reason, is_note=True, is_meant=True)
    return confirmed(reason, facts)


def _is_of_copy(reason: Reason, facts: Facts) -> bool:
    """Return whether the leaves are those of a copy of what learns, as a target network is."""
    changes = any(seen.facts.update_rms for one in histories(facts.run) for seen in one.seen)
    return changes and all(map(facts[Learning].is_of_copy, reason.leaves))


RULES: Final = (
    Rule(find_cuts_and_unreached, Meaning(
        "cut", "warning", "a value left the graph, so leaves have no gradient",
        "detach(), no_grad(), a cast to integers or NumPy took a value out of the graph, and no "
        "call of the run reached the leaves behind it on another path.",
        "loss = criterion(D(G(z).detach()), ones)", "loss = criterion(D(G(z)), ones)",
        "When these leaves should not learn: take them out of the optimizer.",
    ), Meaning(
        "create-graph", "warning", "autograd.grad() returned a constant, and the loss uses it",
        "Without create_graph=True, the result of autograd.grad() has no graph.",
        "(g,) = torch.autograd.grad(f, x)", "(g,) = torch.autograd.grad(f, x, create_graph=True)",
        "When the gradient should be a constant, as in first-order MAML.",
    ), needs=(Forward, Learning, ByInputs), uses=(Happened,), in_run=_in_run),
)  # fmt: skip

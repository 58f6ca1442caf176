"""Targets of losses that learn, too, so that the network moves its own target."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from linecache import getline
from typing import Final

from gradstep.capturing.statement import nodes_on, operands_of
from gradstep.contract.op_records import OpRecord, Record
from gradstep.findings.facts import Facts, Forward
from gradstep.findings.facts.happened import Happened
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import detached
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.rules.graph.terms import learning_leaves, terms_of
from gradstep.graph.model import Source

LOSSES: Final = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_OF_CLASSES: Final = ("nll_loss", "cross_entropy")
_CHOOSING: Final = ("argmax", "max", "topk")
_FAR: Final = 6
_CALLED: Final = re.compile(r"target|label|goal|teacher", re.IGNORECASE)


@dataclass(frozen=True)
class LearningTarget(Reason):
    """The target ``name`` of a loss, "" where it has none, learns, too."""

    code = "target-graph"
    blames_line = True
    keeps_loss = True
    name: str

    def text(self) -> str:
        whose = f"its target {self.name}" if self.name else "its target"
        return (
            f"the loss compares two results of the same leaves, and {whose} has a graph: the "
            "network learns to move the target to its output, too, and both may become constant"
        )

    def remedy(self) -> str:
        how = f": {self.name}.detach()" if self.name.isidentifier() else ""
        return f"detach() the target{how}, or compute it under no_grad()"

    def fix(self) -> tuple[Fix, ...]:
        return _detached(self.source)


@dataclass(frozen=True)
class LearningWeight(Reason):
    """What weighs the logarithm of a probability learns, too."""

    code = "target-graph"
    is_open = True
    blames_line = True
    keeps_loss = True
    helps = "detach() the weight"
    weight: str

    def text(self) -> str:
        return (
            f"{self.weight} weighs the logarithm of a probability, and has a graph of other "
            "leaves: this loss also teaches them to make it small, or large"
        )

    def fix(self) -> tuple[Fix, ...]:
        return detached(self.source, [operand for _, operand in _weights(self.source)].__contains__)


@dataclass(frozen=True)
class OwnPredictions(Reason):
    """The targets of a ``loss`` are what the op ``choice`` chose among its own scores."""

    code = "own-target"
    helps = "give the loss the labels of the data"
    loss: str
    choice: str

    def text(self) -> str:
        return (
            f"the targets of {self.loss} are what {self.choice} chose among its own scores: the "
            "network learns to be sure of itself, right or wrong"
        )


def find_targets(subject: Subject) -> Iterator[Reason]:
    """Yield losses that compare two results of the same leaves, both of which get gradients: where
    the program calls one of them a target, or where the loss consists of nothing else, so that
    equal constants are its minimum."""
    learning = terms_of(record for record, _ in subject.origins).learning
    pairs = [(term, pair) for term in learning if (pair := _pair(term)) is not None]
    shared = [item for item in pairs if _share(*item[1])]
    for term, (_, target) in shared:
        name = _name_of(subject, target)
        if len(shared) == len(learning) or _CALLED.search(name):
            yield LearningTarget(name, source=term.source, other=target.source)
            return


def find_own_predictions(subject: Subject) -> Iterator[Reason]:
    """Yield a loss that has no other term than one that compares scores with the classes that are
    largest among these very scores."""
    learning = terms_of(record for record, _ in subject.origins).learning
    for term in learning if len(learning) == 1 else ():
        if not term.name.startswith(_OF_CLASSES):
            continue
        scores, chosen = (_behind(value) for value in term.inputs[:2])
        choice = next((one for one in chosen if one.name in _CHOOSING), None)
        if choice is not None and {*scores} & {*_behind((choice, 0))[1:]}:
            loss = term.name.removesuffix("_forward")
            yield OwnPredictions(loss, choice.name, source=term.source, other=choice.source)


def find_weighted_log_probs(subject: Subject) -> Iterator[Reason]:
    """Yield products of the logarithm of a probability and of what other leaves make, as where the
    loss of an actor also moves the advantage that a critic gives."""
    for record in subject.records:
        line = "" if record.source is None else getline(*record.source)
        if not isinstance(record, OpRecord) or record.name != "mul" or "log_prob" not in line:
            continue
        given = [origin[0] for origin in record.inputs if isinstance(origin, tuple)]
        if len(given) != 2 or not all(value.requires_grad for value in given):
            continue
        sides = [learning_leaves(value) for value in given]
        weights = _weights(record.source)
        if sides[0] & sides[1] or len(weights) != 1:
            continue
        ((nr, weight),) = weights
        leaves = [subject.names.of(leaf.tensor()) for leaf in sides[nr]]
        names = tuple(sorted(filter(None, leaves)))
        yield LearningWeight(ast.unparse(weight), leaves=names, source=record.source)
        return


def _weights(at: Source | None) -> list[tuple[int, ast.expr]]:
    """Return what a line multiplies by that is no logarithm of a probability: which operand."""
    return [
        (nr, operand)
        for node in (nodes_on(at) if at is not None else ())
        for nr, operand in enumerate(operands_of(node, "mul") or ())
        if "log_prob" not in ast.unparse(operand)
    ]


def _in_run(reason: Reason, facts: Facts) -> Reason:
    """Return what a run makes of it: a gradient that no step uses does no harm."""
    is_wasted = isinstance(reason, LearningWeight) and facts[Happened].wastes(reason.leaves)
    return replace(reason, is_note=True) if is_wasted else reason


def _behind(value: object) -> tuple[OpRecord, ...]:
    """Return the ops behind a value, one after the other, each by what it is given first."""
    before: tuple[OpRecord, ...] = ()
    while isinstance(value, tuple) and isinstance(value[0], OpRecord) and len(before) < _FAR:
        before = (*before, value[0])
        value = next(iter(value[0].inputs), None)
    return before


def _detached(at: Source | None) -> tuple[Fix, ...]:
    """Return a line whose loss gets its second argument without a graph."""
    compares = [
        node.args[1]
        for node in (nodes_on(at) if at is not None else ())
        if isinstance(node, ast.Call)
        and len(node.args) > 1
        and re.search("loss|similarity", ast.unparse(node.func), re.IGNORECASE)
    ]
    return detached(at, compares.__contains__) if len(compares) == 1 else ()


def _pair(term: OpRecord) -> tuple[Record, Record] | None:
    """Return what a loss compares: its two inputs, or those of a cosine similarity."""
    given = [origin[0] for origin in term.inputs if isinstance(origin, tuple)]
    if len(given) != 2 or not all(record.requires_grad for record in given):
        return None
    if term.name in LOSSES:
        return given[0], given[1]
    sides = [_divided(side) for side in given]
    if term.name == "mul" and sides[0] is not None and sides[1] is not None:
        return sides[0], sides[1]
    return None


def _divided(record: Record) -> Record | None:
    """Return what was divided by its norm, None where nothing was."""
    if not isinstance(record, OpRecord) or record.name != "div":
        return None
    first = record.inputs[0]
    return first[0] if isinstance(first, tuple) and len(record.inputs) == 2 else None


def _share(one: Record, other: Record) -> bool:
    return one is not other and not learning_leaves(one).isdisjoint(learning_leaves(other))


def _name_of(subject: Subject, record: Record) -> str:
    """Return what the program calls a result, "" where it has no name."""
    for tensor in subject.names.tensors():
        if subject.engine.reading.owns(tensor) and not tensor.is_leaf:
            (seen,) = subject.engine.reading.tensors([tensor])
            if isinstance(seen.record, tuple) and seen.record[0] is record:
                return subject.names.of(tensor)
    return ""


RULES: Final = (
    Rule(find_targets, Meaning(
        "target-graph", "warning", "the target of a loss also gets gradients",
        "Both sides of the loss come from the same leaves, and one of them is called a target, or "
        "the loss has no other term: then equal constants are its minimum.",
        "F.mse_loss(q, r + net(s2).max(1).values)",
        "F.mse_loss(q, r + net(s2).max(1).values.detach())",
        "When other terms of the loss keep the outputs apart.",
    ), needs=(Forward,), uses=(Happened,), in_run=_in_run),
    Rule(find_weighted_log_probs, needs=(Forward,), code="target-graph"),
    Rule(find_own_predictions, Meaning(
        "own-target", "warning", "a network is taught its own predictions",
        "The only term of the loss takes its targets from the scores that it should improve.",
        "F.cross_entropy(out, out.argmax(1))", "F.cross_entropy(out, labels)",
        "When you minimize the entropy on purpose.",
    ), needs=(Forward,)),
)  # fmt: skip

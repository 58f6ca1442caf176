"""The test whether a breakpoint is hit at a position, and by what.

A point with a place is hit before its node runs; a watch after a node that has changed the
``.grad`` of its leaf, be it the leaf's own or one with user code; and a point that has
only a condition after the node that made such a gradient, or before the node at which such a sum
has come together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gradstep.debugger.breakpoints.predicate import Expression, NodeSubject, arriving, sent
from gradstep.debugger.passes.inspector import Inspector
from gradstep.debugger.snapshot import Incoming
from gradstep.debugger.snapshot.breakpoint import Breakpoint
from gradstep.debugger.snapshot.wording import headline, summary
from gradstep.graph.addresses import node_text, step_number

Holds = Callable[[NodeSubject], bool]


class Trigger(NamedTuple):
    """The cause of a hit: the gradient in question, and how it came to be, in words.

    ``computed`` says that it began in what the node itself computes, not in a hook or a sum.
    """

    subject: NodeSubject
    explanation: str
    computed: bool = False

    @property
    def cause(self) -> str:
        """The gradient in one phrase: ``out.1 of #4 mul:2 is nan 1/3``."""
        graph, index = self.subject.inspector.graph, self.subject.index
        where = f"{self.subject.label} of {node_text(graph, index)}"
        if self.subject.label.endswith(".grad"):
            where = self.subject.label
        return f"{where} is {headline(self.subject.gradient)}"


def triggered(
    point: Breakpoint, condition: Expression | None, inspector: Inspector, position: int
) -> Trigger | None:
    """Find what hits ``point`` at ``position``, None for nothing.

    A point with a place is asked about at its positions only.

    Raises:
        Unanswerable: its condition has no value here.
    """
    holds: Holds = condition.holds if condition is not None else lambda subject: True
    if point.kind == "watch":
        return _changed(point, holds, inspector, position)
    if point.kind == "catch":
        return _produced(point, holds, inspector, position)
    subjects = list(arriving(inspector, position, point.hits))
    subjects = subjects or [NodeSubject(inspector, position, None, "in", hits=point.hits)]
    return next((Trigger(subject, "") for subject in subjects if holds(subject)), None)


def _changed(
    point: Breakpoint, holds: Holds, inspector: Inspector, position: int
) -> Trigger | None:
    if point.sums:
        return _grown(point, holds, inspector, position)
    for index in point.indices:
        change = inspector.change(index, position)
        leaf = inspector.leaf(index)
        if change is None or leaf is None:
            continue
        old, new = change
        subject = NodeSubject(inspector, index, new, f"{leaf.name}.grad", hits=point.hits)
        if holds(subject):
            explanation = f"old {summary(old, 'None')}, new {summary(new, 'None')}"
            if index != position - 1:
                explanation += f", by code that ran in {step_number(position - 1)}"
            return Trigger(subject, explanation)
    return None


def _grown(point: Breakpoint, holds: Holds, inspector: Inspector, position: int) -> Trigger | None:
    """Return a sum of a watched node, to which the node before ``position`` has added."""
    for index in point.indices:
        for incoming in inspector.incoming(index):
            parts = [part for part in incoming.contributions if part.producer == position - 1]
            subject = NodeSubject(inspector, index, incoming.total, "in", hits=point.hits)
            if parts and holds(subject):
                added = ", ".join(summary(part.value) for part in parts)
                explanation = (
                    f"{step_number(position - 1)} added {added}: {incoming.arrived} of "
                    f"{incoming.expected} have arrived, sum {summary(incoming.total)}"
                )
                return Trigger(subject, explanation)
    return None


def _produced(
    point: Breakpoint, holds: Holds, inspector: Inspector, position: int
) -> Trigger | None:
    if position:
        for subject in sent(inspector, position - 1, point.hits):
            if holds(subject):
                trigger = explained(subject, holds)
                if trigger.explanation or not point.born:
                    return trigger._replace(
                        explanation=trigger.explanation
                        or "the incoming gradient already met the condition"
                    )
    if position < inspector.length:
        return _summed(point, holds, inspector, position)
    return None


def explained(subject: NodeSubject, holds: Holds) -> Trigger:
    """Explain how the condition came to hold; no explanation when it held of what arrived
    already."""
    inspector, index = subject.inspector, subject.index
    leaf = inspector.leaf(index)
    if leaf is not None and holds(subject.of(leaf.before)):
        return Trigger(subject, "")
    for incoming in inspector.incoming(index):
        if holds(subject.of(incoming.total)):
            seeds = [part.value for part in incoming.contributions if part.producer is None]
            given = any(holds(subject.of(seed)) for seed in seeds)
            return Trigger(
                subject,
                "the gradient passed to backward() already met the condition" if given else "",
            )
    for phase in inspector.phases(index):
        if phase.kind != "delivery" and any(holds(subject.of(value)) for value in phase.after):
            if phase.kind == "hook":
                return Trigger(
                    subject, f"{phase.text} caused it: its input did not meet the condition"
                )
            break
    return Trigger(subject, _began_here(subject), computed=True)


def _began_here(subject: NodeSubject) -> str:
    trouble = subject.gradient.statistics.trouble if subject.gradient is not None else ""
    if not trouble:
        return "the incoming gradient did not meet the condition: it began at this node"
    arrived = [incoming.total for incoming in subject.inspector.incoming(subject.index)]
    finite = not any(value.statistics.trouble for value in arrived if value is not None)
    what = "is finite" if finite else f"has no {trouble}"
    return f"the incoming gradient {what}: it began in the backward pass, at this node"


def _summed(point: Breakpoint, holds: Holds, inspector: Inspector, position: int) -> Trigger | None:
    """Return a sum that fulfils what none of its terms does."""
    incoming = inspector.incoming(position)
    if all(arrival.expected < 2 for arrival in incoming):
        return None
    for arrival, subject in zip(incoming, arriving(inspector, position, point.hits)):
        if arrival.expected > 1 and holds(subject) and not _a_term(arrival, subject, holds):
            return Trigger(
                subject,
                f"none of the {arrival.expected} terms of this sum meets the condition, "
                f"only their sum",
            )
    return None


def _a_term(incoming: Incoming, subject: NodeSubject, holds: Holds) -> bool:
    return any(holds(subject.of(part.value)) for part in incoming.contributions)

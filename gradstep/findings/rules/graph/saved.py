"""Saved values that the pass would miss: freed by an earlier one, or changed in place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from linecache import getline
from typing import Final

from gradstep.findings.facts import Facts, Objects
from gradstep.findings.facts.carried import Carried, CarriedStates
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import not_in_place
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.zeros import called_at
from gradstep.graph.model import Source
from gradstep.records import LEAF, Node, resolve
from gradstep.text import listed

FREED: Final = "backward through the graph a second time"
CHANGED: Final = "modified by an inplace operation"
"""In the message of either library, where a pass misses a saved value."""


@dataclass(frozen=True)
class Freed(Reason):
    """An earlier backward() freed what nodes had saved; ``has_newer`` where others of the graph
    have not lost theirs. ``carried`` is what took the graph along, as a run tells."""

    code = "freed"
    keeps_loss = True
    other_is = "freed at"
    severity = "error"
    is_once_a_line = True
    after = ("derivative",)
    addresses: tuple[str, ...]
    has_newer: bool
    carried: Carried | None = None

    def text(self) -> str:
        one = len(self.addresses) == 1
        verb = "has lost the values that it" if one else "have lost the values that they"
        return f"{listed(self.addresses)} {verb} saved: an earlier backward() freed them"

    def remedy(self) -> str:
        if self.carried is not None:
            return self.carried.remedy()
        if not self.has_newer:
            return "call that earlier backward() with retain_graph=True, or compute the loss again"
        return (
            "call detach() on what is carried over from the earlier step, at or just after "
            f"{self.addresses[0]}; or, if no step() changes what it needs, call that earlier "
            "backward() with retain_graph=True"
        )

    def fix(self) -> tuple[Fix, ...]:
        return () if self.carried is None else self.carried.fix()

    def calls(self) -> tuple[str, ...]:
        return (*map(called_at, self.addresses), "backward")


@dataclass(frozen=True)
class Changed(Reason):
    """What a node had ``saved`` was changed in place, or taken out of its graph; ``by_step`` where
    an optimizer did so: ``changer``, as a run tells."""

    code = "changed"
    keeps_loss = True
    other_is = "changed at"
    severity = "error"
    is_open = True
    is_once_a_line = True
    after = ("freed",)
    saved: str
    is_detached: bool
    by_step: bool
    changer: str = ""
    carried: Carried | None = None

    def text(self) -> str:
        change = "detached" if self.is_detached else "changed"
        by = self.changer and f", by {self.changer}.step()"
        return f"{self.address} saved {self.saved}, which was {change} in place afterwards{by}"

    def remedy(self) -> str:
        if self.changer and self.carried is not None:
            return self.carried.remedy()
        if self.changer:
            return (
                f"call {self.changer}.step() after this backward(), or compute the loss again "
                "after the step"
            )
        if self.is_detached:
            return "use x = x.detach() instead of x.detach_()"
        return (
            "change a copy (x = x + 1 instead of x += 1), or make the change earlier, or after "
            "backward()"
        )

    def fix(self) -> tuple[Fix, ...]:
        if self.changer:
            return () if self.carried is None else self.carried.fix()
        return () if self.by_step else not_in_place(self.other)


def find_freed(subject: Subject, *, begun: bool = False) -> Iterator[Reason]:
    """Yield one reason for all nodes whose saved values are gone: they all have one cause.

    A pass that has ``begun`` has freed some itself, of which no line is known.
    """
    freed = [
        index
        for index, node in subject.ops()
        if any(state == "freed" for _, _, state in node.saved())
    ]
    if begun:
        freed = [index for index in freed if subject.order[index].freed_at is not None] or freed
    if not freed:
        return
    addresses = tuple(map(subject.graph.address, freed))
    line = subject.order[freed[0]].freed_at
    newer = any(next(iter(node.saved()), None) for index, node in subject.ops() if index < freed[0])
    reason = Freed(addresses, newer, other=None if line is None else Source(*line))
    yield reason.at_node(subject.graph, freed[0])


def find_changed(subject: Subject) -> Iterator[Reason]:
    """Yield one reason for each saved value that an in-place op changed since; its ``other`` line
    is that of the first change."""
    for index, node in subject.ops():
        for name, value, state in node.saved():
            if state == "changed":
                lines = node.changed_at(name)
                detached = subject.engine.reading.is_detached(value)
                by_step = bool(lines) and ".step(" in getline(*lines[0][:2])
                saved = (by_step and _leaf(subject, node)) or name  # it changes nothing but leaves
                other = Source(*lines[0]) if lines else None
                reason = Changed(saved, detached, by_step, other=other)
                yield reason.at_node(subject.graph, index)


def _leaf(subject: Subject, node: Node) -> str:
    """Return the name of the one leaf that a node was given, or a view of it; "" where it was given
    none, or several."""
    names = []
    nodes = [resolve(edge)[0] for edge in node.edges]
    for base in nodes:
        while base is not None and subject.engine.reading.stem(base) in _VIEWS:
            base = resolve(base.edges[0])[0]
        if (
            base is not None
            and base.kind == LEAF
            and (leaf := subject.engine.leaf(base)) is not None
        ):
            names.append(subject.name(leaf))
    return names[0] if len(names) == 1 else ""


_VIEWS: Final = ("t", "transpose", "permute", "view", "expand", "unsqueeze")


def _freed_in_run(freed: Freed, facts: Facts) -> Freed:
    return replace(freed, carried=facts[CarriedStates].first)


def _changed_in_run(changed: Changed, facts: Facts) -> Changed:
    return replace(changed, changer=_stepper(changed.other), carried=facts[CarriedStates].first)


def _stepper(at: Source | None) -> str:
    """Return the optimizer whose step() a line calls, "" where it calls none."""
    step = None if at is None else re.search(r"([\w.\[\]]+)\.step\(", getline(*at))
    return step[1] if step else ""


RULES: Final = (
    Rule(find_freed, Meaning(
        "freed", "error", "a saved value was freed by an earlier backward()",
        "A backward pass frees what its nodes saved. A second pass through the same nodes fails.",
        "state = cell(state)\nloss(state).backward()",
        "state = cell(state.detach())\nloss(state).backward()",
    ), needs=(Objects,), uses=(CarriedStates,), in_run=_freed_in_run),
    Rule(find_changed, Meaning(
        "changed", "error", "a saved value was changed in place",
        "A node needs a value of the forward pass. An in-place operation, or a "
        "step of an optimizer, has changed it since, and backward() will fail.",
        "y = x.exp()\ny += 1\ny.sum().backward()", "y = x.exp() + 1\ny.sum().backward()",
    ), needs=(Objects,), uses=(CarriedStates,), in_run=_changed_in_run),
)  # fmt: skip

"""Saved values that the pass would miss: freed by an earlier one, or changed in place."""

from __future__ import annotations

from collections.abc import Iterator
from linecache import getline
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import not_in_place
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.model import Source
from gradstep.records import LEAF, Node, resolve
from gradstep.text import listed

FREED: Final = "backward through the graph a second time"
CHANGED: Final = "modified by an inplace operation"
"""In the message of either library, where a pass misses a saved value."""
_AGAIN = "call that earlier backward() with retain_graph=True, or compute the loss again"
_CARRIED = (
    "call detach() on what is carried over from the earlier step, at or just after {}; or, if no "
    "step() changes what it needs, call that earlier backward() with retain_graph=True"
)
_CHANGED = (
    "changed",
    "change a copy (x = x + 1 instead of x += 1), or make the change earlier, or after backward()",
)
_DETACHED = "detached", "use x = x.detach() instead of x.detach_()"


def find_freed(subject: Subject, *, begun: bool = False) -> Iterator[Finding]:
    """Yield one finding for all nodes whose saved values are gone: they all have one cause.

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
    addresses = [subject.graph.address(index) for index in freed]
    verb = "has lost the values that it" if len(freed) == 1 else "have lost the values that they"
    line = subject.order[freed[0]].freed_at
    newer = any(next(iter(node.saved()), None) for index, node in subject.ops() if index < freed[0])
    remedy = _AGAIN if not newer else _CARRIED.format(addresses[0])
    yield Finding(
        "error", "freed",
        f"{listed(addresses)} {verb} saved: an earlier backward() freed them",
        remedy,
        addresses[0], freed[0], subject.source(freed[0]), None if line is None else Source(*line),
    )  # fmt: skip


def find_changed(subject: Subject) -> Iterator[Finding]:
    """Yield one finding for each saved value that an in-place op changed since; its ``other`` line
    is that of the first change."""
    for index, node in subject.ops():
        for name, value, state in node.saved():
            if state == "changed":
                address = subject.graph.address(index)
                lines = node.changed_at(name)
                detached = subject.engine.is_detached(value)
                change, remedy = _DETACHED if detached else _CHANGED
                by_step = lines and ".step(" in getline(*lines[0][:2])
                saved = (by_step and _leaf(subject, node)) or name  # it changes nothing but leaves
                yield Finding(
                    "error", "changed",
                    f"{address} saved {saved}, which was {change} in place afterwards",
                    remedy,
                    address, index, subject.source(index), Source(*lines[0]) if lines else None,
                    fix=not_in_place(Source(*lines[0])) if lines and not by_step else (),
                )  # fmt: skip


def _leaf(subject: Subject, node: Node) -> str:
    """Return the name of the one leaf that a node was given, or a view of it; "" where it was given
    none, or several."""
    names = []
    nodes = [resolve(edge)[0] for edge in node.edges]
    for base in nodes:
        while base is not None and subject.engine.stem(base) in _VIEWS:
            base = resolve(base.edges[0])[0]
        if base is not None and base.kind == LEAF and (leaf := subject.leaf(base)) is not None:
            names.append(subject.name(leaf))
    return names[0] if len(names) == 1 else ""


_VIEWS: Final = ("t", "transpose", "permute", "view", "expand", "unsqueeze")


RULES: Final = (
    Rule(find_freed, Meaning(
        "freed", "error", "a saved value was freed by an earlier backward()",
        "A backward pass frees what its nodes saved. A second pass through the same nodes fails.",
        "state = cell(state)\nloss(state).backward()",
        "state = cell(state.detach())\nloss(state).backward()",
    )),
    Rule(find_changed, Meaning(
        "changed", "error", "a saved value was changed in place",
        "A node needs a value as it was in the forward pass. An in-place operation, or a step of "
        "an optimizer, has changed it since, and backward() will fail.",
        "y = x.exp()\ny += 1\ny.sum().backward()", "y = x.exp() + 1\ny.sum().backward()",
    )),
)  # fmt: skip

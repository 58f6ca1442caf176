"""Leaves to which passes inside nodes add: reentrant checkpoints, and hooks that call backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.passes.recorded_pass import RecordedPass
from gradstep.findings.reports.formatting import Row
from gradstep.findings.reports.why.explanation import Explanation
from gradstep.findings.reports.why.target import Asked
from gradstep.graph.addresses import node_text
from gradstep.text import listed


def nodes_that_add(session: PassSession, tensor: Any) -> list[int]:
    """List the nodes inside which a call of ``backward`` ran that adds to ``tensor.grad``."""
    return [
        index
        for index, effects in session.effects.items()
        if _adds(_recorded(effects.nested), tensor)
    ]


def _adds(passes: list[RecordedPass], tensor: Any) -> bool:
    waiting = list(passes)
    while waiting:
        session = waiting.pop()
        if not session.call.is_grad and session.inspector.index_of_leaf(tensor) is not None:
            return True
        waiting += _recorded(session.driver.inner_passes())
    return False


def _recorded(passes: Any) -> list[RecordedPass]:
    return [inner for inner in passes if isinstance(inner, RecordedPass)]


def rows_of(session: PassSession, indices: Sequence[int]) -> tuple[Row, ...]:
    """Return rows that name the nodes ``indices``, of passes inside."""
    shown = listed([node_text(session.graph, index) for index in indices], 3, ", ")
    return (
        ("inside", f"{shown}: code there calls backward() itself, which adds to it"),
        ("see", "`gradstep debug`: next until behind such a node, then enter opens its pass"),
    )


def added_inside(session: PassSession, asked: Asked, indices: Sequence[int]) -> Explanation:
    """Say that only passes inside the nodes ``indices`` add to a leaf: why is not known here."""
    headline = f"it is not known why {asked.name}.grad is what it is: this pass does not add to it"
    return Explanation(asked.name, "unknown", headline, rows_of(session, indices), certain=False)

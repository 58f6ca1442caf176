"""What a command of the debugger did, as data: for programs that drive ``debug --batch``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gradstep.debugger.breakpoints import Reached
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Reply, Value
from gradstep.findings.as_data import evidence, place, plain
from gradstep.findings.reports.stop import beginning_of
from gradstep.graph.addresses import step_number

_MOST: Final = 16  # elements that are listed
_MOST_ASKED: Final = 256  # of a tensor that was asked for


def reply_as_data(
    session: PassSession, reply: Reply, shown: dict[str, object], here: Path
) -> dict[str, Any]:
    """Return what a command came to, and where the pass stands now.

    Args:
        shown: the leaves that were told of, with their gradients then; those that are still the
            same are left out.
        here: files are named as seen from there.
    """
    error = {"message": reply.problem, "column": reply.column} if reply.error else None
    return {
        "error": error,
        "text": "" if reply.error else reply.text,
        "values": {
            name: value_as_data(value, here, _MOST_ASKED) for name, value in reply.values.items()
        },
        **_state(session, shown, here),
        "leave": reply.leave or None,
    }


def _state(session: PassSession, shown: dict[str, object], here: Path) -> dict[str, Any]:
    at, index = session.snapshot, session.selected
    return {
        "call": {"kind": session.kind, "number": session.call},
        "status": at.status,
        "position": at.position,
        "recorded": at.recorded,
        "length": at.length,
        "stopped_by": _stop(session, session.breakpoints.last, here),
        "raised": at.error or None,
        "node": None if index is None else node_as_data(session, index, here),
        "leaves": _changed(session, shown, here),
    }


def _changed(session: PassSession, shown: dict[str, object], here: Path) -> dict[str, Any]:
    """Return the gradients of leaves that have changed since they were told of."""
    changed = {}
    for leaf in session.snapshot.leaves:
        known = leaf.arrived, repr(None if leaf.now is None else leaf.now.statistics)
        if shown.get(leaf.name, (0, "None")) != known:
            changed[leaf.name] = value_as_data(leaf.now, here)
        shown[leaf.name] = known
    return changed


def _stop(session: PassSession, reached: Reached | None, here: Path) -> dict[str, Any] | None:
    """Return the point that was hit, and the gradient that hit it."""
    if reached is None:
        return None
    point, (subject, _, is_computed) = reached
    began = beginning_of(session, reached.trigger)
    return {
        "number": point.number,
        "kind": point.kind,
        "place": point.text,
        "condition": point.condition,
        "node": step_number(subject.index),
        "address": session.graph.address(subject.index),
        "gradient": subject.label,
        "value": value_as_data(subject.gradient, here),
        "computed_there": is_computed,
        "began": None
        if began is None
        else {**evidence(began, here), "began": began.began, "at": place(began.source, here)},
    }


def node_as_data(session: PassSession, index: int, here: Path) -> dict[str, Any]:
    """Return a node, and the tensors at it."""
    graph, detail = session.graph, session.detail(index)
    return {
        "number": step_number(index),
        "address": graph.address(index),
        "name": graph.node(index).name,
        "status": detail.status,
        "at": place(graph.sources.get(index), here),
        "incoming": [
            {
                "input": each.input_nr, "arrived": each.arrived, "expected": each.expected,
                "value": value_as_data(each.total, here),
            }
            for each in detail.incoming
        ],
        "outgoing": [
            {
                "output": each.output_nr,
                "to": None if each.target is None else graph.address(each.target),
                "value": value_as_data(each.value, here),
            }
            for each in detail.outgoing
            if each.sent
        ],
        "saved": [
            {"name": each.name, "state": each.state, "value": value_as_data(each.value, here)}
            for each in detail.saved
        ],
    }  # fmt: skip


def value_as_data(value: Any, here: Path, most: int = _MOST) -> Any:
    """Return a tensor as its description, and its elements where they are not more than ``most``; a
    number, or what else an expression came to, as it is."""
    if not isinstance(value, Value):
        return plain(value, here)
    known: Mapping[str, Any] = {
        "shape": list(value.shape), "dtype": value.dtype, **value.statistics._asdict()
    }  # fmt: skip
    if value.has_numbers and value.array.size <= most:
        known = {**known, "elements": value.array.tolist()}
    return plain(known, here)

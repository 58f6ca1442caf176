"""Why gradients of a pass are exactly 0: the nodes that made them so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from gradstep.contract.lookup import engine_of
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.finding import Reason
from gradstep.findings.reports.why import is_zero
from gradstep.findings.reports.why.births import births
from gradstep.findings.reports.why.mechanisms import zero_reason
from gradstep.findings.zeros import Cancels, MadeByHook, PartUnused, SendsZero, ZeroSeed
from gradstep.graph.addresses import node_text

_JOINING: Final = (
    "cat", "stack", "constant_pad_nd", "pad", "index_put", "index_copy", "scatter",
    "masked_scatter", "slice_scatter", "select_scatter", "copy_slices",
)  # fmt: skip
"""Ops that send each of their inputs a part of what they are given."""
_PICKING: Final = ("index", "getitem", "gather", "index_select", "masked_select", "take")
"""Ops that pick elements as data say, and others in another call."""


def zero_causes(session: PassSession, name: Callable[[Any], str]) -> Mapping[str, Reason | None]:
    """Return, by their names, the leaves whose gradient in a pass that is over is exactly 0, with
    what made it so, None where that is unknown."""
    causes = {}
    engine = engine_of(session.roots)
    for index, node in enumerate(session.order):
        leaf = engine.leaf(node)
        totals = [] if leaf is None else session.inspector.incoming(index)
        if totals and all(is_zero(incoming.total) for incoming in totals):
            causes[name(leaf)] = _cause(session, index)
    return causes


def _cause(session: PassSession, index: int) -> Reason | None:
    graph = session.graph
    for birth in births(session, index, is_zero, every=True):
        at = birth.index
        place = node_text(graph, at)
        reason: Reason | None
        match birth.kind:
            case "hook":
                reason = MadeByHook(birth.text, place)
            case "seed":
                reason = ZeroSeed()
            case "sum":
                return _cancelled(session, at)
            case _:
                reason = zero_reason(session, at, birth.output_nr)
                given = [incoming.total for incoming in session.inspector.incoming(at)]
                if reason is None and not all(map(is_zero, given)):
                    reason = (
                        PartUnused(place, _picker(session, at))
                        if graph.stem(at) in _JOINING
                        else Cancels(place, is_sent=True)
                    )
        return replace(reason or SendsZero(place), source=graph.sources.get(at))
    return None


def _cancelled(session: PassSession, index: int) -> Cancels:
    """Name the op nearest to a node from which the parts came that cancel in the sum there."""
    graph = session.graph
    users = graph.senders()
    place = node_text(graph, index)
    parts = [_leading_to(user, users) for user in dict.fromkeys(users.get(index, ()))]
    shared = set.intersection(*parts) & set(range(len(session.order))) if len(parts) > 1 else set()
    if not shared:
        return Cancels(place, source=graph.sources.get(index))
    at = max(shared)
    return Cancels(
        place, origin=graph.address(at), is_difference=graph.stem(at) == "sub",
        source=graph.sources.get(at),
    )  # fmt: skip


def _picker(session: PassSession, index: int) -> str:
    """Return the address of what picks elements of the result of a node, "" where nothing does."""
    graph = session.graph
    above = sorted(_leading_to(index, graph.senders()), reverse=True)
    return next((graph.address(at) for at in above if graph.stem(at) in _PICKING), "")


def _leading_to(start: int, users: Mapping[int, list[int]]) -> set[int]:
    """Return a node, and those between the loss and it."""
    nodes, stack = {start}, [start]
    while stack:
        for user in users.get(stack.pop(), ()):
            if user not in nodes:
                nodes.add(user)
                stack.append(user)
    return nodes

"""Why gradients of a pass are exactly 0: the nodes that made them so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from gradstep.contract.lookup import engine_of
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.reports.why import is_zero
from gradstep.findings.reports.why.births import births
from gradstep.findings.reports.why.mechanisms import zero_reason
from gradstep.graph.addresses import node_text
from gradstep.graph.model import Source
from gradstep.records import LEAF


class ZeroCause(NamedTuple):
    """What made the gradient of a leaf 0, in words, "" where that is unknown, and its line."""

    what: str
    source: Source | None


def zero_causes(session: PassSession, name: Callable[[Any], str]) -> Mapping[str, ZeroCause]:
    """Return, by their names, the leaves whose gradient in a pass that is over is exactly 0."""
    causes = {}
    engine = engine_of(session.roots)
    for index, node in enumerate(session.order):
        leaf = engine.leaf(node) if node.kind == LEAF else None
        totals = [] if leaf is None else session.inspector.incoming(index)
        if totals and all(is_zero(incoming.total) for incoming in totals):
            causes[name(engine.user_tensor(leaf))] = _cause(session, index)
    return causes


def _cause(session: PassSession, index: int) -> ZeroCause:
    graph = session.graph
    for birth in births(session, index, is_zero, every=True):
        at = birth.index
        place = node_text(graph, at)
        source = graph.sources.get(at)
        match birth.kind:
            case "hook":
                return ZeroCause(f"{birth.text} made it 0 at {place}", source)
            case "seed":
                return ZeroCause("backward() was given a gradient of 0", source)
            case "sum":
                return _cancelled(session, at)
            case _:
                reason = zero_reason(session, at, birth.output_nr)
                given = [incoming.total for incoming in session.inspector.incoming(at)]
                if not reason and not all(map(is_zero, given)):
                    reason = f"the parts cancel in the sum that {place} sends on"
                return ZeroCause(reason or f"{place} sends 0", source)
    return ZeroCause("", None)


def _cancelled(session: PassSession, index: int) -> ZeroCause:
    """Name the op nearest to a node from which the parts came that cancel in the sum there."""
    graph = session.graph
    users: dict[int, list[int]] = {}
    for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True):
        users.setdefault(target, []).append(source)

    def leading_to(start: int) -> set[int]:
        nodes, stack = {start}, [start]
        while stack:
            for user in users.get(stack.pop(), ()):
                if user not in nodes:
                    nodes.add(user)
                    stack.append(user)
        return nodes

    what = f"the parts of a sum cancel at {node_text(graph, index)}"
    parts = [leading_to(user) for user in dict.fromkeys(users.get(index, ()))]
    shared = set.intersection(*parts) & set(range(len(session.order))) if len(parts) > 1 else set()
    if not shared:
        return ZeroCause(what, graph.sources.get(index))
    at = max(shared)
    why = ", which subtracts it from itself" if graph.stem(at) == "sub" else ""
    return ZeroCause(f"{what}; they come from {graph.address(at)}{why}", graph.sources.get(at))

"""Ops in the order in which they ran, each with its grad_fn: what folding works on.

Forward and backward half fold alike because folding sees neither: it sees units, each of which
is an op of the one half and its partner in the other.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.graph.columns import Groups, Ints, int_column
from gradstep.graph.folding.columns import FoldingColumns, positions
from gradstep.graph.model import PARAMETER_KINDS, Graph

LEAST_FAN = 8


@dataclass(frozen=True, slots=True)
class Units:
    """Unit ``u`` has the nodes ``forward[u]`` and ``backward[u]``, -1 where there is none.

    ``of`` is the unit of each node, -1 for nodes that are no ops.  ``inputs`` are the units that
    a unit reads, in the order of its inputs, all of them earlier; ``user_counts`` says how many
    read it, ``last_users`` which is the last of these.  ``final`` are the units that make an
    output, ``parameters`` the names of those that a unit reads, ``fed`` the units that read a leaf
    which gets a gradient.  ``scopes`` and ``stems`` are those of the nodes that name them.
    """

    forward: Sequence[int]
    backward: Sequence[int]
    of: Sequence[int]
    inputs: Groups
    user_counts: Sequence[int]
    last_users: Sequence[int]
    final: set[int]
    parameters: dict[int, dict[str, None]]
    fed: set[int]
    scopes: list[str]
    stems: list[str]

    def __len__(self) -> int:
        return len(self.forward)

    def node(self, unit: int) -> int:
        """Return the node that names the unit: the forward one where there is one."""
        return self.backward[unit] if self.forward[unit] < 0 else self.forward[unit]

    def without_gradient(self) -> set[int]:
        """Return the units that no gradient reaches, whose results are data; none where that is
        all."""
        reached: list[bool] = []
        fed = self.fed
        for unit, sources in enumerate(self.inputs):
            known = unit in fed
            for source in () if known else sources:
                known = known or reached[source]
            reached.append(known)
        return {unit for unit, one in enumerate(reached) if not one} if any(reached) else set()

    def nodes(self, unit: int) -> list[int]:
        """Return the nodes of a unit, one or two."""
        return [id for id in (self.forward[unit], self.backward[unit]) if id >= 0]


def make_units(graph: Graph, columns: FoldingColumns) -> Units | None:
    """Return the ops that are shown as units; None for a graph with a cycle, which nothing can
    order."""
    units = _connect(graph, columns, *_rows(graph, columns))
    if any(sources and max(sources) > unit for unit, sources in enumerate(units.inputs)):
        order = _sorted(units)
        if order is None:
            return None
        units = _reordered(graph, columns, units, order)
    order = _siblings_together(units)
    return _reordered(graph, columns, units, order) if order else units


def _reordered(graph: Graph, columns: FoldingColumns, units: Units, order: Sequence[int]) -> Units:
    forward, backward = (np.array(ids, np.int64) for ids in (units.forward, units.backward))
    return _connect(graph, columns, forward[order], backward[order])


def _siblings_together(units: Units) -> list[int]:
    """Return an order in which units of one kind that read no others, and of which many feed the
    same one, stand side by side, just before it; [] where nothing has to change for that."""
    feeding: dict[int, list[int]] = {}
    for unit, count in enumerate(units.user_counts):
        if count == 1 and not units.inputs[unit]:
            feeding.setdefault(units.last_users[unit], []).append(unit)
    moved: dict[int, list[int]] = {}
    for user, fan in feeding.items():
        if len(fan) >= LEAST_FAN:
            kinds: dict[tuple[str, str], list[int]] = {}
            for unit in fan:
                kind = units.scopes[unit], units.stems[unit]
                kinds.setdefault(kind, []).append(unit)
            if [unit for group in kinds.values() for unit in group] != fan:
                moved[user] = [unit for group in kinds.values() for unit in group]
    if not moved:
        return []
    away = {unit for fan in moved.values() for unit in fan}
    return [
        one
        for unit in range(len(units))
        if unit not in away
        for one in (*moved.get(unit, ()), unit)
    ]


def _rows(graph: Graph, columns: FoldingColumns) -> tuple[Ints, Ints]:
    """Forward and backward node of each unit, in the order of the forward pass.

    A grad_fn without a forward op stands behind the one that ran just after it.
    """
    is_op, partners = columns.is_op & columns.shown, columns.partners
    forward = np.flatnonzero(is_op & ~columns.is_backward)
    backward = np.flatnonzero(is_op & columns.is_backward)
    order_of = graph.orders.get
    orders = np.array([order_of(id, id) for id in backward.tolist()], np.int64)
    late_first = backward[np.argsort(-orders, kind="stable")]
    rank = np.full(len(graph) + 1, -1, np.int64)  # of each forward op; the last one is none
    rank[forward] = np.arange(len(forward))
    known = np.zeros(len(graph) + 1, np.bool_)
    known[backward] = True
    ranks = rank[partners[late_first]]
    alone = np.flatnonzero(ranks < 0)
    if not len(alone):
        return forward, np.where(known[partners[forward]], partners[forward], -1)
    paired = np.maximum.accumulate(np.where(ranks < 0, -1, np.arange(len(ranks))))[alone]
    behind = np.where(paired < 0, -1, ranks[paired])
    row = np.argsort(np.concatenate([np.arange(len(forward)), behind]), kind="stable")
    partner = np.where(known[partners[forward]], partners[forward], -1)
    return (
        np.concatenate([forward, np.full(len(alone), -1, np.int64)])[row],
        np.concatenate([partner, late_first[alone]])[row],
    )


def _connect(graph: Graph, columns: FoldingColumns, forward: Ints, backward: Ints) -> Units:
    count = len(forward)
    of = np.maximum(positions(forward, len(graph)), positions(backward, len(graph)))
    first, second = forward.tolist(), backward.tolist()
    producer, reader = of[columns.producers], of[columns.readers]
    links = columns.flows & (producer >= 0) & (reader >= 0) & (producer != reader)
    # of several edges between two units the first counts
    _, firsts = np.unique(reader[links] * count + producer[links], return_index=True)
    firsts.sort()
    sources, users = producer[links][firsts], reader[links][firsts]
    last_users = np.full(count, -1, np.int64)
    np.maximum.at(last_users, sources, users)
    ends = columns.flows & (producer >= 0) & (reader < 0)
    final = zip(columns.readers[ends].tolist(), producer[ends].tolist(), strict=True)
    starts = columns.flows & (producer < 0) & (reader >= 0)
    parameters: dict[int, dict[str, None]] = {}
    fed: set[int] = set()
    for leaf, unit in zip(columns.producers[starts].tolist(), reader[starts].tolist(), strict=True):
        if graph.kinds[leaf] in PARAMETER_KINDS and leaf in graph.variables:
            parameters.setdefault(unit, {})[graph.variables[leaf]] = None
        if graph.kinds[leaf] in ("leaf", "parameter"):
            fed.add(unit)
    return Units(
        forward=int_column(forward),
        backward=int_column(backward),
        of=int_column(of),
        inputs=Groups.by_key(users, sources, count),
        user_counts=int_column(np.bincount(sources, minlength=count)),
        last_users=int_column(last_users),
        final={unit for end, unit in final if graph.kinds[end] in ("output", "seed")},
        parameters=parameters,
        fed=fed,
        scopes=_scopes(graph, first, second),
        stems=[graph.stem(b if f < 0 else f) for f, b in zip(first, second, strict=True)],
    )


def _scopes(graph: Graph, forward: Sequence[int], backward: Sequence[int]) -> list[str]:
    """Return the scope of each unit, on whichever of its nodes it is known."""
    of = graph.scopes
    return [
        (of[f] if f >= 0 else "") or (of[b] if b >= 0 else "")
        for f, b in zip(forward, backward, strict=True)
    ]


def _sorted(units: Units) -> list[int] | None:
    """Return the units so that each comes after its inputs, otherwise as they stand."""
    users: list[list[int]] = [[] for _ in units.inputs]
    for unit, sources in enumerate(units.inputs):
        for source in sources:
            users[source].append(unit)
    missing = [len(sources) for sources in units.inputs]
    ready = [unit for unit, count in enumerate(missing) if not count]
    order = []
    while ready:
        unit = heapq.heappop(ready)
        order.append(unit)
        for user in users[unit]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, user)
    return order if len(order) == len(units) else None

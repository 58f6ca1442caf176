"""The story of a film: which boxes come into the picture when, and which one is at work.

First the graph grows: each op that runs leaves its derivative beside it.  Then the seed gradient
enters, and the backward pass runs through what was left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from gradstep.graph.addresses import step_number
from gradstep.graph.model import Graph, View
from gradstep.graph.statistics import format_shape, format_statistics
from gradstep.text import plural
from gradstep_viz.picture import formatting
from gradstep_viz.picture.formatting import MOST_NAMES, listed

MOST_SHOTS: Final = 120

LONGEST_TEXT: Final = 120
"""So many characters of what is said about a frame are shown."""

_OPS: Final = ("op", "group")


class Shot(NamedTuple):
    """One frame: what is new in it, what works, and what is said about it."""

    headline: str
    detail: str
    appears: tuple[int, ...] = ()
    at_work: tuple[int, ...] = ()


def make_shots(before: Graph, after: Graph, named: Graph, view: View) -> list[Shot]:
    """Make the shots of a film of that view; long runs of nodes share one, so that there are no
    more than about :data:`MOST_SHOTS`. ``named`` is the graph ``after`` with the names that the
    boxes have."""
    ops = [id for id in _half(after, "forward") if after.kinds[id] in _OPS]
    ran = (
        id
        for id in after.orders
        if id in after.statistics or id in after.undefined or after.kinds[id] == "group"
    )
    plan = sorted(ran, key=after.orders.__getitem__)
    at_once = -(-(len(ops) + len(plan)) // MOST_SHOTS) or 1
    shots: list[Shot] = []
    if view == "backward":
        shots.append(
            Shot("The graph, before the backward pass", "", tuple(_half(after, "backward")))
        )
    else:
        shots += _building(after, named, ops, at_once)
    if view != "forward":
        shots += _running(before, named, plan, at_once)
    return [
        shot._replace(
            headline=formatting.shorten(shot.headline, LONGEST_TEXT),
            detail=_without_end(shot.detail),
        )
        for shot in shots
    ]


def _without_end(text: str) -> str:
    """Leave out the last parts of a text that is too long."""
    if len(text) <= LONGEST_TEXT:
        return text
    ends = [each.start() for each in re.finditer(r", | · ", text[: LONGEST_TEXT - 2])]
    return f"{text[: ends[-1]]}, …" if ends else formatting.shorten(text, LONGEST_TEXT)


def _groups(ids: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    return (tuple(ids[start : start + size]) for start in range(0, len(ids), size))


def _half(graph: Graph, half: str) -> Iterable[int]:
    return (id for id in range(len(graph)) if graph.halves[id] == half)


def _building(graph: Graph, named: Graph, ops: Sequence[int], at_once: int) -> Iterator[Shot]:
    inputs, ends, kept = _inputs(graph), set(_ends(graph)), _kept(graph, named)
    forward = [id for id in _half(graph, "forward") if id not in ends]
    leaves = tuple(id for id in forward if graph.kinds[id] not in _OPS)
    yield Shot("The inputs", listed([formatting.title(named, id) for id in leaves]), leaves)
    shown = set(leaves)
    for group in _groups(ops, at_once):
        new = []
        for op in group:
            # the node that accumulates into a leaf comes with the first op that uses the leaf
            partners = [graph.pairs.get(id) for id in (op, *inputs.get(op, ()))]
            new += [id for id in (op, *partners) if id is not None and id not in shown]
            shown.update(new)
        yield Shot(*_said_of_ops(graph, named, group, kept), tuple(new), tuple(group))
    rest = tuple(id for id in range(len(graph)) if id not in shown)
    seeds = [id for id in rest if graph.kinds[id] == "seed"]
    results = [formatting.title(named, id) for id in rest if graph.kinds[id] == "output"]
    headline = (
        f"{listed(results)} is computed" if len(results) == 1 else "The forward pass is complete"
    )
    entering = f"the gradient {listed([named.names[id] for id in seeds])} enters" if seeds else ""
    yield Shot(headline, entering, rest, tuple(seeds))


def _inputs(graph: Graph) -> Mapping[int, list[int]]:
    inputs: dict[int, list[int]] = {}
    for id, kind in enumerate(graph.edge_kinds):
        if kind == "value":
            inputs.setdefault(graph.edge_targets[id], []).append(graph.edge_sources[id])
    return inputs


def _ends(graph: Graph) -> Iterable[int]:
    return (id for id in range(len(graph)) if graph.kinds[id] in ("output", "seed"))


def _said_of_ops(
    graph: Graph, named: Graph, group: Sequence[int], kept_by: Mapping[int, Sequence[str]]
) -> tuple[str, str]:
    if len(group) > 1:
        return f"{len(group)} ops run", listed([named.names[id] for id in group])
    (op,) = group
    name = named.names[op]
    if graph.kinds[op] == "group":
        return f"{name} runs", plural(graph.groups[op].ops, "op")
    runs = f"{name} runs" if name == graph.names[op] else f"{name}: {graph.names[op]} runs"
    stats = graph.statistics.get(op)
    shape = format_shape(graph.shapes[op]) if graph.shapes[op] else ""
    result = " · ".join(part for part in (shape, format_statistics(stats) if stats else "") if part)
    partner = graph.pairs.get(op)
    if partner is None:
        return runs, f"{result} · no gradient needed".removeprefix(" · ")
    kept = kept_by.get(partner, ())
    note = f"{named.names[partner]} is recorded" + (f", which saves {listed(kept)}" if kept else "")
    return runs, f"{result} · {note}".removeprefix(" · ")


def _kept(graph: Graph, named: Graph) -> Mapping[int, list[str]]:
    """Name what each node saves, as the lines to it do: by the variable, else by the op."""
    kept: dict[int, list[str]] = {}
    for edge, kind in enumerate(graph.edge_kinds):
        if kind != "saved":
            continue
        source, node = graph.edge_sources[edge], graph.edge_targets[edge]
        own = "its result" if graph.pairs.get(node) == source else formatting.title(named, source)
        name = graph.edge_labels.get(edge) or own
        if name not in kept.setdefault(node, []):
            kept[node].append(name)
    return kept


def _running(before: Graph, after: Graph, plan: Sequence[int], at_once: int) -> Iterator[Shot]:
    sent, count = _sent(after), len(plan)
    if after.unfolded is not None:
        count = after.unfolded.grad_fns + after.unfolded.leaf_gradients
    for group in _groups(plan, at_once):
        first, last = step_number(after.orders[group[0]]), step_number(after.orders[group[-1]])
        if len(group) > 1:
            names = listed([formatting.title(after, id) for id in group])
            yield Shot(f"{first} to {last} of {count}", names, (), tuple(group))
            continue
        (node,) = group
        first = f"from {first}" if after.kinds[node] == "group" else first
        headline = f"{first} of {count} · {formatting.title(after, node)}"
        yield Shot(headline, _said_of_node(before, after, node, sent.get(node, ())), (), group)


def _sent(graph: Graph) -> Mapping[int, list[int]]:
    edges: dict[int, list[int]] = {}
    for id, kind in enumerate(graph.edge_kinds):
        if kind == "gradient":
            edges.setdefault(graph.edge_sources[id], []).append(id)
    return edges


def _said_of_node(before: Graph, after: Graph, node: int, sent: Sequence[int]) -> str:
    """Say what a node did: ``0.2 comes in, g · a: 0.6 to x, 0.4 to y``."""
    stats = after.statistics.get(node)
    if node in after.undefined:
        return "no gradient arrives"
    if after.kinds[node] not in _OPS:
        sum_of = after.details[node]
        return f"{sum_of} = {format_statistics(stats)}" if sum_of and stats else sum_of
    arriving = f"{format_statistics(stats)} arrives" if stats else ""
    parts = []
    for edge in sent[:MOST_NAMES]:
        value = after.edge_statistics.get(edge)
        shown = format_statistics(value) if value else "nothing"
        parts.append(f"{shown} to {formatting.title(after, after.edge_targets[edge])}")
    if len(sent) > MOST_NAMES:
        parts.append(f"and {len(sent) - MOST_NAMES} more")
    formula = before.formulas[node]
    return " · ".join(part for part in (arriving, formula, ", ".join(parts)) if part)

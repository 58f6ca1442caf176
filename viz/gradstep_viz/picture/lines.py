"""The lines of a picture: their ends and their texts."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from gradstep.graph.folding.totals import saved_of_edges
from gradstep.graph.model import Graph, Shape, View
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import Statistics, format_shape
from gradstep.graph.statistics_table import StatisticsTable
from gradstep_viz.picture import formatting
from gradstep_viz.picture.formatting import SavedText
from gradstep_viz.picture.magnitude import Gradients, sign
from gradstep_viz.picture.model import Line
from gradstep_viz.picture.records import MANY, Records, read_late
from gradstep_viz.picture.tooltips import line_tooltip

LONGEST_LABEL = 64


def lines_of(
    graph: Graph,
    said: Graph,
    view: View,
    hosts: Mapping[int, tuple[int, ...]],
    index: Mapping[int, int],
    gradients: Gradients,
    addresses: Sequence[str],
    saved: SavedColumns,
    *,
    shows_saved: bool = True,
    narrow: bool = False,
) -> Records[Line]:
    """Write the lines between the boxes of ``index``, which has the position of each node, with
    what ``said`` has of the facts of ``graph``; ``addresses`` are those of all nodes, and ``saved``
    what they keep; ``narrow`` leaves out the shapes of gradients, which values have, too."""
    text = SavedText(graph, saved, saved_of_edges(graph, saved) if view == "both" else {})
    drawn = _ends(graph, hosts, index, shows_saved and view == "both")
    ends, bundles = _bundled(graph, drawn, text)
    ids, sources, targets = ([end[at] for end in ends] for at in range(3))
    kinds = [graph.edge_kinds[id] for id in ids]
    if said.edge_statistics or said.statistics:
        stats = [formatting.flowing(said, id) for id in ids]
    else:  # a fifth of the time that lines take
        stats = [None] * len(ids)
    flows = [kind == "gradient" for kind in kinds]
    steps = [gradients.step(one) if flow else 0 for one, flow in zip(stats, flows)]
    waits = [
        flow and one is None and _waits(graph, source, gradients)
        for source, one, flow in zip(sources, stats, flows)
    ]
    of_saved = functools.partial(_label_of_saved, text, bundles)
    labels = [
        of_saved(id) if kind == "saved" else _label(said, id, one, step, wait)
        for id, kind, one, step, wait in zip(ids, kinds, stats, steps, waits)
    ]
    if not (said.edge_undefined or said.edge_hooks or said.edge_others or any(waits)):
        _join_parallel(said, ids, sources, targets, stats, labels, gradients)
    if narrow and view == "both":
        labels = [
            label.rpartition(" · ")[2] if flow else label for label, flow in zip(labels, flows)
        ]
    inputs, outputs = graph.edge_input_nrs, graph.edge_output_nrs
    any_changed = "changed" in saved.states

    def tooltip(line: int) -> str:
        id, whole = ids[line], None
        if kinds[line] == "saved":
            shortened = "." in graph.edge_labels.get(id, "") and id not in bundles
            whole = text.label(id, whole=True) if shortened else labels[line]
        between = f"{addresses[graph.edge_sources[id]]} → {addresses[graph.edge_targets[id]]}"
        return line_tooltip(graph, id, between, whole, bundles.get(id, ()))

    return Records(
        Line,
        edge=ids,
        kind=kinds,
        source=[index[source] for source in sources],
        target=[index[target] for target in targets],
        operand=[(outputs if flow else inputs)[id] for id, flow in zip(ids, flows)],
        label=formatting.shorten_all(labels, LONGEST_LABEL),
        tooltip=read_late(len(ids), lambda places: list(map(tooltip, places))),
        alert=[
            bool(one and one.trouble)
            or (any_changed and kind == "saved" and text.state(id) == "changed")
            for id, kind, one in zip(ids, kinds, stats)
        ],
        step=steps,
        waits=waits,
        undefined=[id in said.edge_undefined for id in ids],
        hooked=[id in graph.edge_hooks for id in ids],
    )


def _label_of_saved(text: SavedText, bundles: Mapping[int, Sequence[int]], id: int) -> str:
    return text.label_of_bundle(bundles[id]) if id in bundles else text.label(id)


def _join_parallel(
    said: Graph,
    ids: Sequence[int],
    sources: Sequence[int],
    targets: Sequence[int],
    stats: Sequence[Statistics | None],
    labels: list[str],
    gradients: Gradients,
) -> None:
    """Give lines that run side by side one label, at the last of them."""
    for parallel in _parallel(said, ids, sources, targets, labels):
        labels[parallel[-1]] = _label_of_all(said, ids, stats, parallel, gradients)
        for line in parallel[:-1]:
            labels[line] = ""


def _bundled(
    graph: Graph, ends: list[tuple[int, int, int]], text: SavedText
) -> tuple[list[tuple[int, int, int]], dict[int, list[int]]]:
    """Draw one line for the saved values that run between the same two boxes, and are all in the
    same state; returns the ends without the others, and of each such line the edges."""
    kinds, bundles = graph.edge_kinds, dict[tuple[int, int, str], list[int]]()
    for id, source, target in ends:
        if kinds[id] == "saved":
            bundles.setdefault((source, target, text.said_state(id)), []).append(id)
    several = {ids[0]: ids for ids in bundles.values() if len(ids) > 1}
    left_out = {id for ids in several.values() for id in ids[1:]}
    return [end for end in ends if end[0] not in left_out], several


def _parallel(
    graph: Graph,
    ids: Sequence[int],
    sources: Sequence[int],
    targets: Sequence[int],
    labels: Sequence[str],
) -> list[list[int]]:
    """Find the lines that run side by side between two boxes, and share one label: those with the
    same one, and three or more of the same shape."""
    groups, stats = dict[tuple[int, int, Shape], list[int]](), graph.edge_statistics
    ends = zip(ids, sources, targets, strict=True)
    for line, (id, source, target) in enumerate(ends) if len(ids) <= MANY else ():
        shape = graph.edge_shapes[id]
        alike = id not in graph.edge_counts and not (id in stats and stats[id].trouble)
        if graph.edge_kinds[id] != "saved" and shape and alike:
            groups.setdefault((source, target, shape), []).append(line)
    return [
        lines
        for lines in groups.values()
        if len(lines) > 2 or (len(lines) == 2 and labels[lines[0]] == labels[lines[1]])
    ]


def _label_of_all(
    graph: Graph,
    ids: Sequence[int],
    stats: Sequence[Statistics | None],
    lines: Sequence[int],
    gradients: Gradients,
) -> str:
    """Write the label that parallel lines share; of gradients with the size of all."""
    id = ids[lines[0]]
    known = _what_flows(len(lines), graph.edge_shapes[id])
    numbers = [stats[line] for line in lines]
    if graph.edge_kinds[id] != "gradient" or None in numbers:
        return known
    pooled = StatisticsTable.of(numbers).pooled()
    number = f"{formatting.value(pooled)} {sign(gradients.step(pooled))}".rstrip()
    return f"{known} · {number}"


def _waits(graph: Graph, source: int, gradients: Gradients) -> bool:
    """Tell whether no gradient has left an op yet; of a group it is not known which of its nodes
    ran."""
    return gradients.begun and graph.kinds[source] == "op" and gradients.awaits(graph, source)


def _ends(
    graph: Graph,
    hosts: Mapping[int, tuple[int, ...]],
    index: Mapping[int, int],
    shows_saved: bool,
) -> list[tuple[int, int, int]]:
    """Find the edges that are drawn, with the nodes whose boxes they join."""
    ends = []
    consumers = {leaf: dict.fromkeys(users) for leaf, users in hosts.items()}
    rows = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
    for id, (kind, source, target) in enumerate(rows):
        if kind == "saved":
            if not shows_saved:
                continue
            if source in consumers:
                source = _saved_source(graph, source, target, consumers)
        if source in index and target in index:
            ends.append((id, source, target))
    return ends


def _saved_source(
    graph: Graph, source: int, target: int, hosts: Mapping[int, dict[int, None]]
) -> int:
    """Find the node whose box a saved line leaves; a leaf inside its consumer lends that box."""
    consumers = hosts.get(source)
    if not consumers:
        return source
    pair = graph.pairs.get(target)
    return pair if pair in consumers else next(iter(consumers))


def _label(graph: Graph, id: int, stats: Statistics | None, step: int, waits: bool) -> str:
    kind = graph.edge_kinds[id]
    known = _what_flows(
        None if id in graph.edge_undefined else graph.edge_counts.get(id, 1),
        graph.edge_shapes[id],
    )
    if id in graph.edge_undefined:
        return known
    number, change = "", graph.edge_hooks.get(id)
    if waits:
        number = formatting.NOT_YET
    elif change is not None and change.after is not None:
        number = formatting.hooked(change)
    elif stats is not None and (stats.trouble or kind == "gradient" or _is_news(graph, id, stats)):
        flows = (
            formatting.value(stats)
            if kind == "gradient"
            else formatting.value_of(graph, graph.edge_sources[id], stats)
        )
        number = formatting.beside(flows, graph.edge_others.get(id))
        number = f"{number} {sign(step)}".rstrip()
        number += f" {formatting.HOOK}" * (change is not None)
    return f"{known} · {number}" if known and number else known or number


@functools.lru_cache(maxsize=4096)
def _what_flows(count: int | None, shape: Shape | None) -> str:
    """Say how many flow of which shape; None: undefined."""
    if count is None:
        return "undefined"
    if count > 1 and shape:
        return f"{count:,} × {format_shape(shape)}"
    if count > 1:  # single numbers, or of several shapes
        return f"{count:,} {'values' if shape is None else 'numbers'}"
    return format_shape(shape) if shape else ""


def _is_news(graph: Graph, edge: int, stats: Statistics) -> bool:
    """Tell whether a number that flows forward stands in neither of the boxes at its ends."""
    stated = (
        graph.kinds[graph.edge_sources[edge]] != "op"
        or graph.kinds[graph.edge_targets[edge]] == "output"
    )
    return stats.scalar is not None and not stated

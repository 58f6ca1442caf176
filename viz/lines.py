"""What the lines of a picture say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from autograd_core.dag.model import Graph
from autograd_core.dag.statistics import Statistics, format_shape
from autograd_core.dag.totals import values_of_edges
from viz import wording
from viz.magnitude import Gradients, sign
from viz.picture import Line, View
from viz.tooltips import line_tooltip

LONGEST_LABEL = 64


def lines_of(
    graph: Graph,
    view: View,
    hosts: Mapping[int, tuple[int, ...]],
    index: Mapping[int, int],
    gradients: Gradients,
    addresses: Sequence[str],
) -> Iterator[Line]:
    """The lines between the boxes of ``index``, which has the position of each node; ``addresses``
    are those of all nodes."""
    values = values_of_edges(graph) if view == "both" else {}
    several = _sources_with_several_outputs(graph)
    rows = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
    for id, (kind, source, target) in enumerate(rows):
        if target not in index or (kind == "saved" and view != "both"):
            continue
        if kind == "saved":
            source = _saved_source(graph, source, target, hosts)
        if source not in index:
            continue
        stats = wording.flowing(graph, id)
        step = gradients.step(stats) if kind == "gradient" else 0
        waits = (
            kind == "gradient"
            and stats is None
            and graph.kinds[source] == "op"  # of a group it is not known which of its nodes ran
            and gradients.awaits(graph, source)
        )
        if kind == "saved":
            label = wording.saved_label(graph, id, values.get(id))
        else:
            label = _label(graph, id, stats, source in several, step, waits)
        yield Line(
            edge=id,
            kind=kind,
            source=index[source],
            target=index[target],
            operand=(graph.edge_output_nrs if kind == "gradient" else graph.edge_input_nrs)[id],
            label=wording.shorten(label, LONGEST_LABEL),
            tooltip=line_tooltip(graph, id, addresses, label),
            alert=wording.in_trouble(stats, values.get(id)),
            step=step,
            waits=waits,
        )


def _saved_source(
    graph: Graph, source: int, target: int, hosts: Mapping[int, tuple[int, ...]]
) -> int:
    """The node whose box a saved line leaves; a leaf inside its consumer lends that box."""
    consumers = hosts.get(source)
    if not consumers:
        return source
    pair = graph.pairs.get(target)
    return pair if pair in consumers else consumers[0]


def _sources_with_several_outputs(graph: Graph) -> set[int]:
    """Nodes whose lines need ``out 1`` to be told apart."""
    rows = zip(graph.edge_kinds, graph.edge_sources, graph.edge_output_nrs, strict=True)
    return {source for kind, source, output_nr in rows if output_nr > 0 and kind != "saved"}


def _label(
    graph: Graph, id: int, stats: Statistics | None, several_outputs: bool, step: int, waits: bool
) -> str:
    kind, shape = graph.edge_kinds[id], graph.edge_shapes[id]
    parts = [f"out {graph.edge_output_nrs[id]}"] if several_outputs else []
    if kind == "gradient" and graph.edge_input_nrs[id] > 0:
        parts.append(f"into output {graph.edge_input_nrs[id]}")
    if id in graph.edge_undefined:
        parts.append("undefined")
        return " · ".join(parts)
    count = graph.edge_counts.get(id, 1)
    if count > 1:
        parts.append(f"{count:,} × {format_shape(shape) or 'values'}")
    elif shape:
        parts.append(format_shape(shape))
    if waits:
        parts.append(wording.NOT_YET)
    elif stats is not None and (stats.trouble or kind == "gradient" or _is_news(graph, id, stats)):
        parts.append(f"{wording.value(stats)} {sign(step)}".rstrip())
    return " · ".join(parts)


def _is_news(graph: Graph, edge: int, stats: Statistics) -> bool:
    """Whether a number that flows forward stands in neither of the boxes at its ends."""
    stated = (
        graph.kinds[graph.edge_sources[edge]] != "op"
        or graph.kinds[graph.edge_targets[edge]] == "output"
    )
    return stats.scalar is not None and not stated

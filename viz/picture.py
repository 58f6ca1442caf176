"""What a picture says: the one place that decides the content of boxes and lines.

A Graph becomes a :class:`Picture` in a few pure steps: choose the nodes of the view, decide
which leaves sit inside their consumer, write the boxes, write the lines, write the captions.
DOT, SVG, Mermaid and plain text only differ in how they write a Picture down.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from autograd_core.dag.model import Edge, Graph, Half
from autograd_core.dag.statistics import format_shape
from viz import box_text, wording
from viz.captions import captions
from viz.leaves import chip_hosts, count_uses, host_leaves

View = Literal["forward", "backward", "both"]
VIEWS: tuple[View, ...] = ("forward", "backward", "both")
HALVES: tuple[Half, Half] = ("forward", "backward")

LONGEST_TEXT = 40
MOST_CHIPS = 6


class Chip(NamedTuple):
    """An amber row inside a box: a leaf that is used there and nowhere else."""

    node: int
    name: str
    right: str
    role: str
    alert: bool


class Box(NamedTuple):
    """One box.  ``node`` is its id in the graph, ``role`` one of ``theme.BOX_ROLES``.

    ``order`` is the place in the backward plan, ``pair`` the position of the box in the other
    half that belongs to this one.  ``ops`` are those that it stands for, ``stacked`` says
    that it stands for several things alike.
    """

    node: int
    half: Half
    role: str
    title: str
    right: str
    right_muted: bool
    detail: str
    chips: tuple[Chip, ...]
    tooltip: str
    alert: bool
    order: int | None
    pair: int | None
    ops: int = 1
    stacked: bool = False

    @property
    def key(self) -> str:
        """A name for the box that is stable, short and safe in every format."""
        return f"n{self.node}"


class Line(NamedTuple):
    """One line between two boxes, given by their positions in the picture.

    ``operand`` says which input of the forward op it belongs to.
    """

    edge: int
    kind: Literal["value", "gradient", "saved"]
    source: int
    target: int
    operand: int
    label: str
    tooltip: str
    alert: bool

    @property
    def key(self) -> str:
        return f"e{self.edge}"


class Picture(NamedTuple):
    """All that is said, and nothing about where it stands."""

    title: str
    view: View
    captions: tuple[str, ...]
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]

    @property
    def halves(self) -> tuple[Half, ...]:
        """The halves that have boxes; there is one caption for each."""
        present = {box.half for box in self.boxes}
        return tuple(half for half in HALVES if half in present)


def make_picture(
    graph: Graph, view: View = "both", *, leaves: bool | None = None, title: str | None = None
) -> Picture:
    """Write down what a picture of ``graph`` says.

    ``leaves=True`` gives every leaf and every AccumulateGrad a box of its own, ``False`` puts
    all that have one consumer inside it, ``None`` does the latter when there are many.
    """
    hosts = host_leaves(graph, view, leaves)
    chips: dict[int, list[int]] = {}
    for leaf, consumers in hosts.items():
        for consumer in chip_hosts(graph, leaf, consumers):
            chips.setdefault(consumer, []).append(leaf)
    shown = [
        id for id in range(len(graph)) if id not in hosts and view in ("both", graph.halves[id])
    ]
    position = {id: index for index, id in enumerate(shown)}
    pairs = _pairs(graph)
    uses = count_uses(graph, hosts)
    boxes = tuple(
        _box(graph, view, id, chips.get(id, ()), uses, position.get(pairs.get(id, -1)))
        for id in shown
    )
    return Picture(
        title=wording.clean(graph.title if title is None else title),
        view=view,
        captions=captions(graph, view),
        boxes=boxes,
        lines=tuple(_lines(graph, view, hosts, position)),
    )


def _box(
    graph: Graph,
    view: View,
    id: int,
    chip_ids: Iterable[int],
    uses: dict[int, int],
    pair: int | None,
) -> Box:
    stats = graph.statistics.get(id)
    right, muted = box_text.right_text(graph, id, stats)
    group = graph.groups.get(id)
    return Box(
        node=id,
        half=graph.halves[id],
        role=box_text.role(graph, id),
        title=wording.shorten(wording.title(graph, id), LONGEST_TEXT),
        right=right,
        right_muted=muted,
        detail=box_text.detail(graph, id, view),
        chips=_chips(graph, list(chip_ids), uses),
        tooltip=wording.tooltip(graph, id),
        alert=bool(stats and stats.trouble) or bool(wording.changed_value(graph.saved.get(id, ()))),
        order=graph.orders.get(id),
        pair=pair,
        ops=1 if group is None else group.ops,
        stacked=group is not None and group.instances > 1,
    )


def _pairs(graph: Graph) -> dict[int, int]:
    """The two halves of each op and leaf; an output is paired with the seed of its gradient."""
    pairs = dict(graph.pairs)
    ends = list(zip(graph.edge_sources, graph.edge_targets, strict=True))
    outputs = {
        source: target
        for source, target in reversed(ends)
        if graph.kinds[target] == "output" and target not in pairs
    }
    for source, target in ends:
        if graph.kinds[source] == "seed" and source not in pairs:
            output = outputs.pop(pairs.get(target, -1), None)
            if output is not None:
                pairs[source], pairs[output] = output, source
    return pairs


def _chips(graph: Graph, ids: list[int], uses: dict[int, int]) -> tuple[Chip, ...]:
    shown = ids if len(ids) <= MOST_CHIPS else ids[: MOST_CHIPS - 1]
    chips = []
    for id in shown:
        stats = graph.statistics.get(id)
        right = wording.value(stats) if stats else ""
        if id in graph.undefined:
            right = "undefined"
        elif not stats and graph.shapes[id]:
            right = format_shape(graph.shapes[id])
        if uses[id] > 1:
            right = f"{right} · used {uses[id]} times".removeprefix(" · ")
        name = wording.shorten(wording.title(graph, id), LONGEST_TEXT)
        chips.append(Chip(id, name, right, box_text.role(graph, id), bool(stats and stats.trouble)))
    if len(shown) < len(ids):
        rest, first = f"… and {len(ids) - len(shown)} more", ids[len(shown)]
        chips.append(Chip(first, rest, "", box_text.role(graph, first), False))
    return tuple(chips)


def _lines(
    graph: Graph, view: View, hosts: dict[int, tuple[int, ...]], position: dict[int, int]
) -> Iterable[Line]:
    several = _sources_with_several_outputs(graph)
    for id in range(graph.edge_count):
        saved = graph.edge_kinds[id] == "saved"
        if graph.edge_targets[id] not in position or (saved and view != "both"):
            continue
        edge = graph.edge(id)
        source = _saved_source(graph, edge, hosts) if saved else edge.source
        if source not in position:
            continue
        yield Line(
            edge=edge.id,
            kind=edge.kind,
            source=position[source],
            target=position[edge.target],
            operand=edge.output_nr if edge.kind == "gradient" else edge.input_nr,
            label=wording.shorten(
                wording.saved_label(graph, edge)
                if edge.kind == "saved"
                else _line_label(graph, edge, edge.source in several),
                LONGEST_TEXT,
            ),
            tooltip=wording.line_tooltip(graph, edge),
            alert=wording.line_in_trouble(graph, edge),
        )


def _saved_source(graph: Graph, edge: Edge, hosts: dict[int, tuple[int, ...]]) -> int:
    """The node whose box a saved line leaves; a leaf inside its consumer lends that box."""
    consumers = hosts.get(edge.source)
    if not consumers:
        return edge.source
    pair = graph.pairs.get(edge.target)
    return pair if pair in consumers else consumers[0]


def _sources_with_several_outputs(graph: Graph) -> set[int]:
    """Nodes whose lines need ``out 1`` to be told apart."""
    return {
        graph.edge_sources[id]
        for id in range(graph.edge_count)
        if graph.edge_output_nrs[id] > 0 and graph.edge_kinds[id] != "saved"
    }


def _line_label(graph: Graph, edge: Edge, several_outputs: bool) -> str:
    parts = [f"out {edge.output_nr}"] if several_outputs else []
    if edge.kind == "gradient" and edge.input_nr > 0:
        parts.append(f"into output {edge.input_nr}")
    if edge.undefined:
        parts.append("undefined")
        return " · ".join(parts)
    stated = edge.kind == "value" and (
        graph.kinds[edge.source] != "op" or graph.kinds[edge.target] == "output"
    )
    if edge.multiplicity > 1:
        parts.append(f"{edge.multiplicity:,} × {format_shape(edge.shape) or 'values'}")
    elif edge.shape:
        parts.append(format_shape(edge.shape))
    stats = edge.statistics
    if stats is None and edge.kind == "value" and edge.output_nr == 0:
        stats = graph.statistics.get(edge.source)
    if stats is not None and (
        stats.trouble or edge.kind == "gradient" or (stats.scalar is not None and not stated)
    ):
        parts.append(wording.value(stats))
    return " · ".join(parts)

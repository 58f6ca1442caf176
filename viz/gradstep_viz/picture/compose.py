"""From a graph to what a picture of it says: the one place that decides this.

A few pure steps: choose the nodes of the view, decide which leaves sit inside their consumer,
write the boxes, write the lines, write the captions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from gradstep.graph.common_module import without_module
from gradstep.graph.folding.totals import totals
from gradstep.graph.infinities import without_absorbed
from gradstep.graph.model import Graph, HookChange, View
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import Statistics, format_shape
from gradstep.guest.collector import collector_paused
from gradstep.text import plural, printable
from gradstep_viz.picture import box_text, formatting
from gradstep_viz.picture.captions import captions, zeros_text
from gradstep_viz.picture.leaves import count_uses, host_leaves
from gradstep_viz.picture.lines import lines_of
from gradstep_viz.picture.links import Links
from gradstep_viz.picture.magnitude import (
    ZERO,
    ZERO_SIGN,
    Gradients,
    Scale,
    has_gradients,
    sign,
)
from gradstep_viz.picture.model import HALVES, Box, Chip, Frame, Picture
from gradstep_viz.picture.records import Records, read_late
from gradstep_viz.picture.tooltips import node_tooltip
from gradstep_viz.picture.wording import (
    DEFAULT_FACTS,
    in_words_of_author,
    labels_within,
    with_facts,
    with_labels,
)

LONGEST_TEXT = 40
MOST_CHIPS = 6
CHIPS_OF_CARD = 1
"""Of what is like another one that is open, and uses the like of its leaves."""


@collector_paused()
def make_picture(
    graph: Graph,
    view: View = "both",
    *,
    leaves: bool | None = None,
    title: str | None = None,
    scale: Scale | None = None,
    position: int | None = None,
    links: Links | None = None,
    module: str = "",
    facts: Collection[str] = DEFAULT_FACTS,
    labels: Mapping[str, str] = MappingProxyType({}),
    narrow: bool = False,
) -> Picture:
    """Write down what a picture of ``graph`` says.

    ``leaves=True`` gives every leaf and every AccumulateGrad a box of its own, ``False`` puts
    all that have one consumer inside it, ``None`` does the latter when there are many.
    ``scale`` is that by which magnitudes of gradients are shown, ``position`` the order of the
    node that a debugger runs next, ``links`` says where lines of the program are found.  Names
    of what is in ``module`` are given within it, but for those in tooltips.  ``facts`` are those of
    :data:`~gradstep_viz.picture.wording.FACTS` that are shown, ``labels`` names that the user has
    for nodes, by their addresses; ``narrow`` says less, for little room.
    """
    graph = without_absorbed(_read(graph))
    hosts = host_leaves(graph, view, leaves)
    inside = _leaves_by_box(hosts)
    shown = [
        id for id in range(len(graph)) if id not in hosts and view in ("both", graph.halves[id])
    ]
    index = {id: index for index, id in enumerate(shown)}
    pairs = _pairs(graph)
    addresses = [printable(graph.address(id)) for id in range(len(graph))]
    known = without_module(with_facts(graph, facts), module)
    named = with_labels(in_words_of_author(known), known, labels_within(labels, module))
    gradients = Gradients("rms" in facts and has_gradients(named), scale)
    chips = _Chips(
        named,
        count_uses(graph, hosts),
        gradients,
        _contributions(graph, hosts),
        {graph.edge_targets[id]: change for id, change in graph.edge_hooks.items()},
        {},
        narrow,
    )
    saved = SavedColumns.of(graph.saved)
    boxes = _boxes(
        graph,
        named,
        view,
        shown,
        chips=[chips.of(id, inside[id]) if id in inside else () for id in shown],
        pairs=[index.get(pairs.get(id, -1)) for id in shown],
        gradients=gradients,
        next_box=_box_of(graph, position),
        hrefs=["" if links is None else links.href(graph.sources.get(id)) for id in shown],
        addresses=addresses,
        saved=saved,
        hooked=_hooked(graph, shown, inside),
        lines="lines" in facts,
        narrow=narrow,
    )
    return Picture(
        title=printable(title_of_graph(graph) if title is None else title),
        view=view,
        captions=captions(graph, view, scale, position, module, _skips(graph, hosts)),
        boxes=boxes,
        lines=lines_of(
            graph,
            named,
            view,
            hosts,
            index,
            gradients,
            addresses,
            saved,
            shows_saved="saved" in facts,
            narrow=narrow,
        ),
        scale=scale,
        zeros=zeros_text(graph) if view != "forward" else "",
        part="" if graph.part is None else printable(graph.part.which),
        frames=tuple(_frames(named, shown)),
    )


def _skips(graph: Graph, hosts: Mapping[int, tuple[int, ...]]) -> bool:
    """Tell whether nodes that run have no number in the picture: they stand in the box of another
    one."""
    joined = any(graph.halves[id] == "backward" for id in graph.groups)
    return joined or any(id in graph.orders for id in hosts)


def _frames(graph: Graph, shown: Sequence[int]) -> Iterator[Frame]:
    for frame in graph.frames:
        for half in HALVES:
            inside = (
                index
                for index, id in enumerate(shown)
                if id in frame.members and graph.halves[id] == half
            )
            if boxes := tuple(inside):
                yield Frame(printable(frame.label), boxes)


def _hooked(
    graph: Graph, shown: Sequence[int], inside: Mapping[int, Sequence[int]]
) -> Sequence[bool]:
    """Tell which boxes show a gradient that a hook changed, at themselves or at a leaf inside."""
    changed = {*graph.hooks, *(graph.edge_targets[id] for id in graph.edge_hooks)}
    if not changed:  # 2 % of the time that a picture takes
        return [False] * len(shown)
    return [id in graph.hooks or not changed.isdisjoint(inside.get(id, ())) for id in shown]


def title_of_graph(graph: Graph) -> str:
    """Find the statement that made what is drawn and gave it its name; else take the name."""
    ends = (id for id, kind in enumerate(graph.kinds) if kind in ("output", "seed"))
    details = (graph.details[id] for id in ends)
    return next((text for text in details if text.startswith(f"{graph.title} =")), graph.title)


def _read(graph: Graph) -> Graph:
    """Read columns that are worked out where somebody looks, once each, and count once."""
    return replace(
        graph,
        unfolded=totals(graph),
        stems=dict(graph.stems),
        formulas=list(graph.formulas),
        sources=dict(graph.sources),
        orders=dict(graph.orders),
        saved=SavedColumns.of(graph.saved),
        edge_shapes=list(graph.edge_shapes),
        edge_dtypes=list(graph.edge_dtypes),
    )


def _leaves_by_box(hosts: Mapping[int, tuple[int, ...]]) -> dict[int, list[int]]:
    inside: dict[int, list[int]] = {}
    for leaf, consumers in hosts.items():
        for consumer in consumers:
            inside.setdefault(consumer, []).append(leaf)
    return inside


def _boxes(
    graph: Graph,
    named: Graph,
    view: View,
    shown: Sequence[int],
    *,
    chips: Sequence[tuple[Chip, ...]],
    pairs: Sequence[int | None],
    gradients: Gradients,
    next_box: int,
    hrefs: Sequence[str],
    addresses: Sequence[str],
    saved: SavedColumns,
    hooked: Sequence[bool],
    lines: bool,
    narrow: bool,
) -> Records[Box]:
    """Write the boxes of the nodes ``shown``, with the names that ``named`` has for them;
    ``addresses`` are those of all nodes, ``saved`` what they keep, and ``lines`` says that the
    lines of the program are shown."""
    halves = [graph.halves[id] for id in shown]
    stats = [named.statistics.get(id) for id in shown]
    groups = [graph.groups.get(id) for id in shown]
    idle = _idle_groups(named)
    changed_values = formatting.changed_values(saved)
    changed = [changed_values.get(id, "") for id in shown]
    shapes = box_text.shapes_through(named)
    details = [
        box_text.detail(named, id, view, one, shapes.get(id, ""), lines)
        for id, one in zip(shown, changed)
    ]
    if narrow:
        scopes = [box_text.said_scope(graph, id) for id in shown]
        details = list(map(box_text.narrowed, details, scopes))
    rights = [box_text.right_text(named, id, one, gradients) for id, one in zip(shown, stats)]
    return Records(
        Box,
        node=shown,
        half=halves,
        role=[box_text.role(graph, id) for id in shown],
        title=formatting.shorten_all([formatting.title(named, id) for id in shown], LONGEST_TEXT),
        right=[text for text, _ in rights],
        right_muted=[muted for _, muted in rights],
        detail=details,
        chips=chips,
        tooltip=read_late(
            len(shown),
            lambda places: [
                node_tooltip(graph, saved, id, addresses[id])
                for id in shown[places.start : places.stop]
            ],
        ),
        alert=[bool(one and one.trouble) or bool(what) for one, what in zip(stats, changed)],
        order=[graph.orders.get(id) for id in shown],
        pair=pairs,
        ops=[1 if group is None else group.ops for group in groups],
        stacked=[group is not None and group.instances > 1 for group in groups],
        step=[
            ZERO if id in idle else gradients.step(one) if half == "backward" else 0
            for id, half, one in zip(shown, halves, stats)
        ],
        runs_next=[id == next_box for id in shown],
        href=hrefs,
        opens=[formatting.name_to_open(graph, id) for id in shown],
        hooked=hooked,
        mark=[graph.marks[id].what if id in graph.marks else "" for id in shown],
        block=read_late(
            len(shown),
            lambda places: [_block(graph, id) for id in shown[places.start : places.stop]],
        ),
    )


def _block(graph: Graph, id: int) -> str:
    """Name what a node is a part of: a round of the outermost loop of the program, in a module of
    the outermost list, or in the outermost module."""
    scope = graph.scopes[id]
    name = scope[: match.end()] if (match := _BLOCK.match(scope)) else scope.partition(".")[0]
    rounds = graph.rounds.get(id, ())
    return f"{name} {rounds[0].loop} {rounds[0].number}" if rounds else name


_BLOCK: Final = re.compile(r"(?:[^.]*\.)*?\d+(?=\.|$)")
"""A path as far as to its first number."""


def _idle_groups(graph: Graph) -> frozenset[int]:
    """Find the groups at which no gradient arrives but such that are 0."""
    zeros, others = set[int](), set[int]()
    for id, kind in enumerate(graph.edge_kinds) if graph.groups else ():
        if kind == "gradient" and graph.edge_targets[id] in graph.groups:
            stats = graph.edge_statistics.get(id)
            is_zero = stats is not None and stats.is_zero
            (zeros if is_zero else others).add(graph.edge_targets[id])
    return frozenset(id for id in zeros - others if graph.kinds[id] == "group")


def _box_of(graph: Graph, position: int | None) -> int:
    """Find the node that runs at ``position``, or the group in which it does; -1 for none."""
    if position is None:
        return -1
    before = [
        (order, id)
        for id, order in graph.orders.items()
        if order == position or (order < position and graph.kinds[id] == "group")
    ]
    return max(before)[1] if before else -1


def _pairs(graph: Graph) -> dict[int, int]:
    """Pair the two halves of each op and leaf, and an output with the seed of its gradient."""
    pairs = dict(graph.pairs)
    kinds, ends = graph.kinds, list(zip(graph.edge_sources, graph.edge_targets, strict=True))
    outputs = {
        source: target
        for source, target in reversed(ends)
        if kinds[target] == "output" and target not in pairs
    }
    for source, target in ends:
        if kinds[source] == "seed" and source not in pairs:
            output = outputs.pop(pairs.get(target, -1), None)
            if output is not None:
                pairs[source], pairs[output] = output, source
    return pairs


def _contributions(
    graph: Graph, hosts: Mapping[int, tuple[int, ...]]
) -> dict[tuple[int, int], Statistics]:
    """Find how much each op adds to the gradient of a leaf that several share, by op and leaf."""
    shared = {leaf for leaf, consumers in hosts.items() if len(consumers) > 1}
    sums: dict[tuple[int, int], Statistics] = {}
    for id, stats in graph.edge_statistics.items() if shared else ():
        source, target = graph.edge_sources[id], graph.edge_targets[id]
        if target in shared and graph.edge_kinds[id] == "gradient":
            sums[source, target] = stats
    return sums


class _Chips(NamedTuple):
    """Writes the rows inside boxes."""

    graph: Graph
    uses: Mapping[int, int]
    gradients: Gradients
    contributions: Mapping[tuple[int, int], Statistics]
    hooks: Mapping[int, HookChange]  # of the edges that lead to leaves
    made: dict[int, Chip]  # the rows that are the same in every box
    narrow: bool

    def of(self, box: int, leaves: Sequence[int]) -> tuple[Chip, ...]:
        group = self.graph.groups.get(box)
        most = CHIPS_OF_CARD if group is not None and group.like else MOST_CHIPS
        shown = leaves if len(leaves) <= most else leaves[: most - 1]
        chips = [self._known(box, leaf) for leaf in shown]
        if len(shown) < len(leaves):
            left, first = len(leaves) - len(shown), leaves[len(shown)]
            rest = f"… and {left} more" if shown else f"{left} leaves"
            chips.append(Chip(first, rest, "", box_text.role(self.graph, first), False))
        return tuple(chips)

    def _known(self, box: int, leaf: int) -> Chip:
        """Return the row of a leaf, which is the same in every box unless one adds something."""
        if self.narrow or (box, leaf) in self.contributions:
            return self._chip(box, leaf)
        chip = self.made.get(leaf)
        if chip is None:
            chip = self.made[leaf] = self._chip(box, leaf)
        return chip

    def _chip(self, box: int, leaf: int) -> Chip:
        graph, stats = self.graph, self.graph.statistics.get(leaf)
        parts = list(self._value_with_hooks(box, leaf))
        if self.uses[leaf] > 1 and not self._is_told_already(box, leaf):
            parts.append(f"used {self.uses[leaf]} times")
        name = formatting.title(graph, leaf)
        if self.narrow:  # where the box says which module this is of
            for module in (graph.names[box], graph.scopes[box]):
                name = name.removeprefix(f"{module}.")
        return Chip(
            leaf,
            formatting.shorten(name, LONGEST_TEXT),
            " · ".join(filter(None, [*parts, formatting.marked(graph, leaf)])),
            box_text.role(graph, leaf),
            bool(stats and stats.trouble),
            self._step(stats, leaf),
        )

    def _step(self, stats: Statistics | None, leaf: int) -> int:
        return self.gradients.step(stats) if self.graph.halves[leaf] == "backward" else 0

    def _value_with_hooks(self, box: int, leaf: int) -> Iterator[str]:
        """Yield a value, or what hooks made of it, or both where these are two things."""
        shown = self._value(box, leaf)
        changes = [self.hooks[leaf]] if leaf in self.hooks else []
        changes += self.graph.hooks.get(leaf, ())
        after = changes[0].after if len(changes) == 1 else None
        if after is None or formatting.value(after) != shown:
            yield shown
        if changes:
            one = len(changes) == 1
            yield formatting.hooked(changes[0]) if one else plural(len(changes), formatting.HOOK)

    def _is_told_already(self, box: int, leaf: int) -> bool:
        """Tell whether the leaf itself is drawn, with its uses, and this says what one of them
        adds."""
        return (box, leaf) in self.contributions and self.graph.pairs.get(leaf) in self.uses

    def _value(self, box: int, leaf: int) -> str:
        graph, stats = self.graph, self.graph.statistics.get(leaf)
        if leaf in graph.undefined:
            return "undefined"
        if stats is None:
            shape = format_shape(graph.shapes[leaf] or None)
            return formatting.NOT_YET if self.gradients.awaits(graph, leaf) else shape
        part = self.contributions.get((box, leaf))
        if part is not None:
            total = f"{formatting.value(stats)} {ZERO_SIGN * stats.is_zero}".rstrip()
            return f"{self._number(part, leaf)}, sum {total}"
        number = self._number(stats, leaf)
        if graph.shapes[leaf] and graph.halves[leaf] == "forward":  # as the leaves around it
            return f"{format_shape(graph.shapes[leaf])} {number}"
        return number

    def _number(self, stats: Statistics, leaf: int) -> str:
        number = formatting.value_of(self.graph, leaf, stats)
        if stats is self.graph.statistics.get(leaf):
            number = formatting.beside(number, self.graph.others.get(leaf))
        return f"{number} {sign(self._step(stats, leaf))}".rstrip()

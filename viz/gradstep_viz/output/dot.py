"""DOT: a picture for anyone's Graphviz.

Pure text, in the order of the graph, quoted by the PyPI package ``graphviz``.  Labels are plain
(the first line is padded so that its number stands at the right edge), because not every
Graphviz is built with HTML-like labels; every box and line has an ``id`` and a ``class``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import TYPE_CHECKING, Final

from gradstep_viz import theme
from gradstep_viz.picture.geometry import box_size, text_columns, text_width, wrap
from gradstep_viz.picture.legend import LegendEntry, legend_of
from gradstep_viz.picture.magnitude import ZERO, shade
from gradstep_viz.picture.model import Box, Line, Picture

if TYPE_CHECKING:
    import graphviz  # takes 25 ms to import, and the ladder needs no DOT

POINTS_PER_INCH = 72
NODE_GAP = 0.5
"""The distance in inches between boxes of one rank, or a part of it."""

CAPTION_WIDTH = 340
SIDES = ("_left", "_right")


def write_dot(picture: Picture, legend: bool = False) -> str:
    """Write the picture as DOT text."""
    return str(make_digraph(picture, legend).source)


def make_digraph(picture: Picture, legend: bool = False) -> graphviz.Digraph:
    """Make a ``graphviz.Digraph`` of the picture, which callers may extend; ``legend`` adds one,
    in a cluster of its own."""
    import graphviz  # slow to load, and only DOT needs it

    digraph = graphviz.Digraph(
        "gradstep",
        graph_attr=_graph_attributes(picture),
        node_attr={
            "shape": "box",
            "style": "rounded,filled",
            "fontname": "Courier",
            "fontsize": str(theme.TEXT_SIZE),
            "fontcolor": theme.LIGHT["ink"],
            "margin": "0.12,0.05",
        },
        edge_attr={
            "fontname": "Courier",
            "fontsize": str(theme.MUTED_SIZE),
            "fontcolor": theme.LIGHT["ink"],
            "arrowsize": "0.6",
        },
    )
    if _is_ladder(picture):
        _add_halves(digraph, picture)
    else:
        for box in picture.boxes:
            _add_box(digraph, box)
    for line in picture.lines:
        _add_line(digraph, picture, line)
    if legend:
        _add_legend(digraph, picture)
    return digraph


def _is_ladder(picture: Picture) -> bool:
    """Tell whether two halves stand side by side."""
    return len(picture.halves) == 2


def _graph_attributes(picture: Picture) -> dict[str, str]:
    ladder = _is_ladder(picture)
    header = [picture.title] if picture.title else []
    if not ladder:
        header += picture.captions
    return {
        "rankdir": picture.direction("forward" if ladder else picture.halves[0]),
        "label": _flush_left(header),
        "labelloc": "t",
        "labeljust": "l",
        "fontname": "Courier",
        "fontsize": str(theme.TEXT_SIZE),
        "nodesep": str(NODE_GAP),
        "ranksep": "0.6",
        "bgcolor": theme.LIGHT["bg"],
        "outputorder": "edgesfirst",
        # with it, boxes of two clusters can have one rank
        **({"newrank": "true"} if ladder else {}),
    }


def _flush_left(rows: Iterable[str]) -> str:
    return "".join(escape(row) + r"\l" for row in rows)


def _add_halves(digraph: graphviz.Digraph, picture: Picture) -> None:
    """Add a cluster for each half, under its caption: the forward one on the left, each pair of
    boxes on one rank."""
    for half, caption in zip(picture.halves, picture.captions, strict=True):
        with digraph.subgraph(name=f"cluster_{half}") as cluster:
            cluster.attr(
                label=_flush_left(wrap(caption, CAPTION_WIDTH)),
                labeljust="l",
                fontcolor=theme.LIGHT["mute"],
                fontsize=str(theme.MUTED_SIZE),
                peripheries="0",
                margin="8",
            )
            for box in picture.boxes:
                if box.half == half:
                    _add_box(cluster, box)
    for index, box in enumerate(picture.boxes):
        if box.pair is not None and index < box.pair:
            pair = f"{box.key}; {picture.boxes[box.pair].key}"
            digraph.body.append(f"\t{{rank=same; {pair}}}\n")
    _keep_sides(digraph, picture)


def _keep_sides(digraph: graphviz.Digraph, picture: Picture) -> None:
    """Keep the halves on their sides.

    Graphviz ignores the order of boxes in different clusters.  It does among boxes outside them:
    of two that cannot be seen, the left one hangs on the forward half, the right one on the other,
    and if the halves changed sides, the lines to them would cross.
    """
    pairs = [(box, box.pair) for box in picture.boxes if box.half == "forward"]
    last = next(((box, pair) for box, pair in reversed(pairs) if pair is not None), None)
    if last is not None:
        with digraph.subgraph() as rank:
            rank.attr(rank="same")
            for side in SIDES:
                rank.node(side, style="invis", shape="point", width="0")
            rank.edge(*SIDES, style="invis")
        for box, side in zip((last[0], picture.boxes[last[1]]), SIDES, strict=True):
            digraph.edge(box.key, side, style="invis", weight="0")


_MARK_LOOKS: Final[dict[str, dict[str, str]]] = {
    "added": {"penwidth": "3"},
    "removed": {"style": "filled,rounded,dashed"},
    "changed": {"penwidth": "3"},
}


def _add_box(digraph: graphviz.Digraph, box: Box) -> None:
    width, height = box_size(box)
    role = theme.BOX_ROLES["alert" if box.alert else box.role]
    more = {"URL": escape(box.href)} if box.href else {}
    fill = role.fill
    if box.step == ZERO:  # a gradient of 0 is hollow everywhere
        fill, more["style"] = "bg", "rounded,filled,dashed"
    more |= _MARK_LOOKS.get(box.mark, {})
    if box.runs_next:
        more["penwidth"] = "3"
    digraph.node(
        box.key,
        label=_box_label(box),
        tooltip=_tooltip(box.tooltip),
        width=_inches(width),
        height=_inches(height),
        fillcolor=theme.LIGHT[fill],
        color=theme.LIGHT[role.stroke],
        id=box.key,
        peripheries="2" if box.stacked else None,
        **more,
        **{"class": f"{box.role} alert" if box.alert else box.role},
    )


def _add_line(digraph: graphviz.Digraph, picture: Picture, line: Line) -> None:
    colour = theme.LINE_ROLES["alert" if line.alert else line.kind]
    if line.step:
        colour = ("mute", *theme.SHADES)[shade(line.step)]
    elif line.undefined:
        colour = "line"
    attributes = {
        "tooltip": _tooltip(line.tooltip),
        "color": theme.LIGHT[colour],
        "id": line.key,
        "class": f"{line.kind} alert" if line.alert else line.kind,
    }
    if line.step > 0:
        attributes["penwidth"] = str(theme.SHADE_WIDTHS[shade(line.step) - 1])
    if line.undefined:
        attributes["penwidth"] = "0.6"
    if line.waits or line.step == ZERO:
        attributes["style"] = "dashed"
    if line.step == ZERO:
        attributes["arrowhead"] = "empty"
    if line.hooked:
        attributes["arrowhead"] = "emptyodot" if line.step == ZERO else "normalodot"
    source, target = picture.boxes[line.source], picture.boxes[line.target]
    kind_of_label = "label"
    if line.kind == "saved":
        # Graphviz loses edges within a rank that have a label with room of its own
        kind_of_label = "xlabel"
        attributes |= {"style": "dotted", "weight": "0"}
        if source.pair == line.target:  # on one rank, with room between them for the name
            room = text_width(f" {line.label} ", theme.MUTED_SIZE)
            attributes["minlen"] = str(1 + ceil(room / (POINTS_PER_INCH * NODE_GAP)))
        else:
            attributes["constraint"] = "false"
        attributes["fontcolor"] = theme.LIGHT["mute"]
    elif line.kind == "gradient" and _is_ladder(picture):
        attributes["constraint"] = "false"  # it runs up, and ranks go down
        if None in (source.pair, target.pair):
            digraph.edge(target.key, source.key, style="invis")
    if line.label:
        attributes[kind_of_label] = escape(f" {line.label} ")
    digraph.edge(source.key, target.key, **attributes)


def _add_legend(digraph: graphviz.Digraph, picture: Picture) -> None:
    """Add a cluster of boxes one below the other; lines are written in their colours."""
    entries = list(legend_of(picture))
    with digraph.subgraph(name="cluster_legend") as cluster:
        cluster.attr(label="legend", labeljust="l", color=theme.LIGHT["line"], style="rounded")
        for number, entry in enumerate(entries):
            cluster.node(f"legend{number}", label=escape(_sample(entry)), **_sample_look(entry))
        for number in range(len(entries) - 1):
            cluster.edge(f"legend{number}", f"legend{number + 1}", style="invis")


def _sample(entry: LegendEntry) -> str:
    if entry.kind != "line":
        return entry.words
    if entry.role == "saved":
        arrow = "┄┄▸"
    elif entry.waits:
        arrow = "╌╌▸"
    elif entry.shade == ZERO:
        arrow = "╌╌▷"
    else:
        arrow = "─○▸" if entry.hooked else "──▸"
    return f"{arrow} {entry.words}"


def _sample_look(entry: LegendEntry) -> dict[str, str]:
    if entry.kind == "line":
        shades = (theme.LINE_ROLES[entry.role], *theme.SHADES, "mute")  # the last is that of 0
        token = "line" if entry.undefined else shades[entry.shade]
        return {"shape": "plaintext", "style": "", "fontcolor": theme.LIGHT[token]}
    role = theme.BOX_ROLES["out" if entry.kind == "mark" else entry.role]
    look = {"fillcolor": theme.LIGHT[role.fill], "color": theme.LIGHT[role.stroke]}
    if entry.kind == "stack":
        look["peripheries"] = "2"
    if entry.kind == "mark":
        return look | _MARK_LOOKS[entry.role]
    return look | {"penwidth": "3"} if entry.kind == "ring" else look


def _box_label(box: Box) -> str:
    """Write the lines of a box: each ends in ``\\l``, which sets it flush left; spaces push the
    number to the right."""
    rows = [(box.title, box.right), (box.detail, "")]
    rows += [(f"▪ {chip.name}", chip.right) for chip in box.chips]
    rows = [row for row in rows if row[0] or row[1]]
    columns = max(
        (text_columns(left) + (text_columns(right) + 2 if right else 0) for left, right in rows),
        default=0,
    )
    label = ""
    for left, right in rows:
        space = " " * (columns - text_columns(left) - text_columns(right)) if right else ""
        label += escape(f"{left}{space}{right}") + r"\l"
    return label


def _tooltip(text: str) -> str:
    """Write the facts one below the other, and no HTML, though they may begin with < and end in
    >."""
    import graphviz  # slow to load, and only DOT needs it

    plain: str = graphviz.nohtml("\\n".join(escape(fact) for fact in text.split("\n")))
    return plain


def escape(text: str) -> str:
    r"""Escape text, so that Graphviz shows it as it is: no escape sequence, no entity, no HTML-like
    label.

    >>> print(escape(r"a\N &lt;"))
    a\\N &amp;lt;
    """
    import graphviz  # slow to load, and only DOT needs it

    return str.__str__(graphviz.escape(text.replace("&", "&amp;")))


def _inches(pixels: float) -> str:
    return f"{pixels / POINTS_PER_INCH:.3f}".rstrip("0").rstrip(".")

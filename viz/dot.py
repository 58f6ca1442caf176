"""DOT: a picture for anyone's Graphviz.

Pure text, in the order of the graph, quoted by the PyPI package ``graphviz``.  Labels are plain
(the first line is padded so that its number stands at the right edge), because not every
Graphviz is built with HTML-like labels; every box and line has an ``id`` and a ``class``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from viz import theme
from viz.geometry import box_size, text_columns
from viz.legend import Entry, legend_of
from viz.magnitude import shade
from viz.picture import Box, Line, Picture

if TYPE_CHECKING:
    import graphviz  # takes 25 ms to import, and the ladder needs no DOT

POINTS_PER_INCH = 72


def write_dot(picture: Picture, legend: bool = False) -> str:
    """The picture as DOT text."""
    return str(make_digraph(picture, legend).source)


def make_digraph(picture: Picture, legend: bool = False) -> graphviz.Digraph:
    """The picture as a ``graphviz.Digraph``, to go on with; ``legend`` explains in a cluster of its
    own what occurs."""
    import graphviz  # slow to load, and only DOT needs it

    upwards = picture.view == "backward"
    digraph = graphviz.Digraph(
        "gradstep",
        graph_attr=_graph_attributes(picture, upwards),
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
    for box in picture.boxes:
        _add_box(digraph, box)
    for line in picture.lines:
        _add_line(digraph, picture, line)
    if picture.view == "both":
        for index, box in enumerate(picture.boxes):
            if box.pair is not None and index < box.pair:
                keys = f"{box.key}; {picture.boxes[box.pair].key}"
                digraph.body.append(f"\t{{rank=same; {keys}}}\n")
    if legend:
        _add_legend(digraph, picture)
    return digraph


def _graph_attributes(picture: Picture, upwards: bool) -> dict[str, str]:
    header = [picture.title, *picture.captions] if picture.title else [*picture.captions]
    return {
        "rankdir": "BT" if upwards else "TB",
        "label": "".join(escape(line) + r"\l" for line in header),
        "labelloc": "t",
        "labeljust": "l",
        "fontname": "Courier",
        "fontsize": str(theme.TEXT_SIZE),
        "nodesep": "0.5",
        "ranksep": "0.6",
        "bgcolor": theme.LIGHT["bg"],
        "outputorder": "edgesfirst",
    }


def _add_box(digraph: graphviz.Digraph, box: Box) -> None:
    width, height = box_size(box)
    role = theme.BOX_ROLES["alert" if box.alert else box.role]
    more = {"URL": escape(box.href)} if box.href else {}
    if box.runs_next:
        more["penwidth"] = "3"
    digraph.node(
        box.key,
        label=_box_label(box),
        tooltip=_tooltip(box.tooltip),
        width=_inches(width),
        height=_inches(height),
        fillcolor=theme.LIGHT[role.fill],
        color=theme.LIGHT[role.stroke],
        id=box.key,
        peripheries="2" if box.stacked else None,
        **more,
        **{"class": f"{box.role} alert" if box.alert else box.role},
    )


def _add_line(digraph: graphviz.Digraph, picture: Picture, line: Line) -> None:
    colour = theme.LINE_ROLES["alert" if line.alert else line.kind]
    if line.step:
        colour = ("line", *theme.SHADES)[shade(line.step)]
    attributes = {
        "tooltip": _tooltip(line.tooltip),
        "color": theme.LIGHT[colour],
        "id": line.key,
        "class": f"{line.kind} alert" if line.alert else line.kind,
    }
    if line.step > 0:
        attributes["penwidth"] = str(theme.SHADE_WIDTHS[shade(line.step) - 1])
    if line.waits:
        attributes["style"] = "dashed"
    if line.hooked:
        attributes["arrowhead"] = "normalodot"
    if line.kind == "saved":
        attributes |= {"style": "dotted", "constraint": "false"}
    elif line.kind == "gradient" and picture.view == "both":
        ends = (picture.boxes[line.source].pair, picture.boxes[line.target].pair)
        if None not in ends:
            attributes["constraint"] = "false"
    digraph.edge(
        picture.boxes[line.source].key,
        picture.boxes[line.target].key,
        label=escape(f" {line.label} ") if line.label else None,
        **attributes,
    )


def _add_legend(digraph: graphviz.Digraph, picture: Picture) -> None:
    """A cluster of boxes one below the other; lines are written in their colours."""
    entries = list(legend_of(picture))
    with digraph.subgraph(name="cluster_legend") as cluster:
        cluster.attr(label="legend", labeljust="l", color=theme.LIGHT["line"], style="rounded")
        for number, entry in enumerate(entries):
            cluster.node(f"legend{number}", label=escape(_sample(entry)), **_sample_look(entry))
        for number in range(len(entries) - 1):
            cluster.edge(f"legend{number}", f"legend{number + 1}", style="invis")


def _sample(entry: Entry) -> str:
    if entry.kind != "line":
        return entry.words
    if entry.role == "saved":
        arrow = "┄┄▸"
    elif entry.waits:
        arrow = "╌╌▸"
    else:
        arrow = "─○▸" if entry.hooked else "──▸"
    return f"{arrow} {entry.words}"


def _sample_look(entry: Entry) -> dict[str, str]:
    if entry.kind == "line":
        shades = (theme.LINE_ROLES[entry.role], *theme.SHADES, "line")  # the last is that of 0
        token = shades[entry.shade]
        return {"shape": "plaintext", "style": "", "fontcolor": theme.LIGHT[token]}
    role = theme.BOX_ROLES[entry.role]
    look = {"fillcolor": theme.LIGHT[role.fill], "color": theme.LIGHT[role.stroke]}
    if entry.kind == "stack":
        look["peripheries"] = "2"
    return look | {"penwidth": "3"} if entry.kind == "ring" else look


def _box_label(box: Box) -> str:
    """Lines that end in ``\\l`` are set flush left; spaces push the number to the right."""
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
    """The facts one below the other, and no HTML, though they may begin with < and end in >."""
    import graphviz  # slow to load, and only DOT needs it

    plain: str = graphviz.nohtml("\\n".join(escape(fact) for fact in text.split("\n")))
    return plain


def escape(text: str) -> str:
    r"""Text that Graphviz shows as it is: no escape sequence, no entity, no HTML-like label.

    >>> print(escape(r"a\N &lt;"))
    a\\N &amp;lt;
    """
    import graphviz  # slow to load, and only DOT needs it

    return str.__str__(graphviz.escape(text.replace("&", "&amp;")))


def _inches(pixels: float) -> str:
    return f"{pixels / POINTS_PER_INCH:.3f}".rstrip("0").rstrip(".")

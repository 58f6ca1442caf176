"""The picture as data: its boxes, its lines and its captions.

:func:`gradstep_viz.picture.compose.make_picture` makes one of a graph; DOT, SVG, Mermaid and plain
text only differ in how they write it down.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from gradstep.graph.model import Half, View
from gradstep_viz.picture.magnitude import Scale
from gradstep_viz.picture.records import Records

RankDir = Literal["TB", "LR"]
LineKind = Literal["value", "gradient", "saved"]
VIEWS: tuple[View, ...] = ("forward", "backward", "both")
HALVES: tuple[Half, Half] = ("forward", "backward")


class Chip(NamedTuple):
    """An amber row inside a box: a leaf that is used there and nowhere else.  ``step`` is how large
    its gradient is, as that of a box."""

    node: int
    name: str
    right: str
    role: str
    alert: bool
    step: int = 0


class Box(NamedTuple):
    """One box.  ``node`` is its id in the graph, ``role`` one of ``theme.BOX_ROLES``.

    ``order`` is the place in the backward plan, ``pair`` the position of the box in the other
    half that belongs to this one.  ``ops`` are those that it stands for, ``stacked`` says
    that it stands for several things alike.  ``step`` is how large the gradient is that arrives,
    see :meth:`~gradstep_viz.picture.magnitude.Gradients.step`.  ``runs_next`` marks where a
    debugger stands, ``href`` leads to the line of the program, ``opens`` is the name by which a
    group is expanded.  ``hooked`` says that it tells of a gradient that a hook changed, and
    ``mark`` how it differs from the graph that is compared: "added", "removed", "changed", or "".
    ``block`` names the round of a loop, or the module, that it is a part of.
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
    step: int = 0
    runs_next: bool = False
    href: str = ""
    opens: str = ""
    hooked: bool = False
    mark: str = ""
    block: str = ""

    @property
    def key(self) -> str:
        """A name for the box that is stable, short and safe in every format."""
        return f"n{self.node}"


class Line(NamedTuple):
    """One line between two boxes, given by their positions in the picture.

    ``operand`` says which input of the forward op it belongs to, ``step`` how large the gradient
    is that flows (see :meth:`~gradstep_viz.picture.magnitude.Gradients.step`), ``waits`` that none
    has flowed yet while others have, ``undefined`` that none flows at all, and ``hooked`` that a
    hook changed it on its way.
    """

    edge: int
    kind: LineKind
    source: int
    target: int
    operand: int
    label: str
    tooltip: str
    alert: bool
    step: int = 0
    waits: bool = False
    undefined: bool = False
    hooked: bool = False

    @property
    def key(self) -> str:
        return f"e{self.edge}"


class Frame(NamedTuple):
    """A name for boxes of one half that stand together, given by their positions."""

    label: str
    boxes: tuple[int, ...]


class Picture(NamedTuple):
    """All that is said, and nothing about where it stands; ``scale`` is that of the gradients,
    where their magnitudes are shown, ``zeros`` says how many of them are 0, ``part`` says which
    part of a graph this is, "around mul:1".  ``frames`` are around what is open of several things
    alike, and ``rankdir`` is the direction of the forward half, as far as a format or a layout has
    a choice.
    """

    title: str
    view: View
    captions: tuple[str, ...]
    boxes: Records[Box]
    lines: Records[Line]
    scale: Scale | None = None
    zeros: str = ""
    part: str = ""
    frames: tuple[Frame, ...] = ()
    rankdir: RankDir = "TB"

    def direction(self, half: Half) -> str:
        """Return the direction of ``half``: the backward one runs against the forward one."""
        return self.rankdir if half == "forward" else self.rankdir[::-1]

    @property
    def halves(self) -> tuple[Half, ...]:
        """The halves that have boxes; there is one caption for each."""
        present = set(self.boxes.column("half"))
        return tuple(half for half in HALVES if half in present)

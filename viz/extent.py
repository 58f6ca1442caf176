"""How much of a graph a picture shows, and how finely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict, Unpack

from autograd_core.dag.addresses import UnknownAddress, find_nodes, find_turn
from autograd_core.dag.folding import Folding, neighbourhood, part_between
from autograd_core.dag.folding.fold import BOTH
from autograd_core.dag.model import Graph
from viz.errors import NothingToDraw, UnknownNode, VizError
from viz.leaves import box_count

MAX_BOXES = 60
MAX_BOXES_OF_BOTH = 40
"""Two halves side by side, on one screen: twenty rows of two."""

ROOM_TO_OPEN = 30
HOPS = 2


class Shown(TypedDict, total=False):
    """The options of :func:`viz.render` that say how much of a graph is shown."""

    full: bool
    max_boxes: int | None
    depth: int | None
    expand: str | Sequence[str]
    around: str | None
    hops: int | None
    path: str | None


class Extent(NamedTuple):
    """The same with everything said; None is the usual."""

    full: bool = False
    max_boxes: int | None = None
    depth: int | None = None
    expand: Sequence[str] = ()
    around: str | None = None
    hops: int | None = None
    path: str | None = None

    @classmethod
    def of(cls, **shown: Unpack[Shown]) -> Extent:
        """
        >>> Extent.of(depth=2, expand="layers.3").expand
        ('layers.3',)
        """
        extent = cls(**shown)
        names = extent.expand
        return extent._replace(expand=(names,) if isinstance(names, str) else tuple(names))

    def check(self) -> None:
        """Refuse options that contradict each other.

        Raises:
            VizError: with what does, and what to leave out.
        """
        if self.full and self.folds:
            raise VizError(
                "full folds nothing, so max_boxes, depth and expand mean nothing",
                remedy="leave full out, or these",
            )
        if self.hops is not None and self.around is None:
            raise VizError("hops says how near, but not to what", remedy="add around")
        if any(number is not None and number < 1 for number in (self.max_boxes, self.depth)):
            raise VizError("max_boxes and depth count from 1 on", remedy="give a larger number")

    def opening(self, names: Sequence[str], view: str) -> Extent:
        """With the groups of these names open, and room for them, so that little else has to
        close."""
        if not names:
            return self
        most = self.most_boxes(view) + ROOM_TO_OPEN * len(names)
        return self._replace(expand=(*self.expand, *names), max_boxes=most)

    def most_boxes(self, view: str) -> int:
        """How many boxes there may be."""
        if self.max_boxes is not None:
            return self.max_boxes
        return MAX_BOXES_OF_BOTH if view == "both" else MAX_BOXES

    @property
    def folds(self) -> bool:
        """Whether folding was asked for."""
        return self.max_boxes is not None or self.depth is not None or bool(self.expand)


USUAL = Extent()


def chosen_part(graph: Graph, extent: Extent) -> Graph:
    """The part of ``graph`` that ``extent`` speaks of.

    Raises:
        UnknownNode: nothing in the graph goes by the name of ``around`` or of an end of ``path``.
        NothingToDraw: no way leads from the one end of ``path`` to the other.
    """
    try:
        if extent.path is not None:
            start, dots, end = extent.path.partition("..")
            if not (start and dots and end):
                raise UnknownNode(
                    f"'{extent.path}' is no path", remedy="write two nodes, as in loss..fc1.weight"
                )
            between = part_between(graph, _find(graph, start), _find(graph, end))
            if between is None:
                raise NothingToDraw(
                    f"no way leads from '{start}' to '{end}'", remedy="choose other ends"
                )
            graph = between
        if extent.around is not None:
            hops = HOPS if extent.hops is None else extent.hops
            graph = neighbourhood(graph, _find(graph, extent.around), hops)
    except UnknownAddress as error:
        raise UnknownNode(error.what, remedy=error.remedy) from None
    return graph


def _find(graph: Graph, text: str) -> tuple[int, ...]:
    return find_turn(graph, text) if text.startswith("#") else find_nodes(graph, text)


def folding_of(graph: Graph, view: str) -> Folding:
    """``graph`` made ready for pictures of ``view``."""
    return Folding(graph, tuple(half for half in BOTH if view in ("both", half)))


def folded(
    folding: Folding, view: str, extent: Extent, leaves: bool | None
) -> tuple[Graph, tuple[str, ...]]:
    """Its graph in no more boxes than ``extent`` allows, and notes on where that was not possible.

    Raises:
        UnknownNode: nothing that is folded goes by a name in ``extent.expand``.
    """
    if extent.full:
        return folding.graph, ()
    graph = folding.graph
    most = extent.most_boxes(view)
    allowed = most
    for _ in range(2):
        try:
            small = folding.fold(allowed, extent.depth, extent.expand)
        except UnknownAddress as error:
            raise UnknownNode(error.what, remedy=error.remedy) from None
        boxes = box_count(small, view, leaves)
        if boxes <= most or extent.depth is not None or len(small) == len(graph):
            break
        allowed -= boxes - most  # leaves with boxes of their own
    if boxes <= most or extent.folds:
        return small, ()
    note = f"{boxes:,} boxes: there are no more scopes or repeats to fold"
    return small, (f"{note}; the options around and path show a part",)

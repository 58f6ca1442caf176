"""How much of a graph is drawn: the part that the options choose, in the finest boxes that fit a
screen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from gradstep.graph.addresses import find_nodes, find_step
from gradstep.graph.common_module import common_module
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.folding import Folded, Folding, Item, neighbourhood, part_between
from gradstep.graph.folding.fold import BOTH
from gradstep.graph.model import Graph
from gradstep_viz.errors import NothingToDraw, UnknownNode
from gradstep_viz.layout import lay_out
from gradstep_viz.layout.stacking import lay_out_stacked, without_saved
from gradstep_viz.layout.wrapping import WIDE
from gradstep_viz.options import HOPS, MAX_BOXES, MOST_BOXES, PAGE_WIDTH, RenderOptions, Room
from gradstep_viz.picture.compose import make_picture
from gradstep_viz.picture.geometry import Layout
from gradstep_viz.picture.leaves import box_count
from gradstep_viz.picture.links import Links
from gradstep_viz.picture.magnitude import scale_of
from gradstep_viz.picture.model import Picture
from gradstep_viz.picture.saved_names import with_names_of_program
from gradstep_viz.theme import MARGIN, MUTED_SIZE

SCREEN_WIDTH: Final = 1920
SCREEN_HEIGHT: Final = 1080

LEAST_TEXT: Final = 8
"""So many pixels high is the smallest text that can be read."""

GOOD_SCALE: Final = 10 / MUTED_SIZE
"""All text is ten pixels high or higher, as it is to be on a page, where one cannot zoom."""

LEAST_SCALE: Final = LEAST_TEXT / MUTED_SIZE
"""The smallest text is so high when a picture is scaled down so far."""

GUTTER: Final = 80
"""About the space between two halves."""

SHARES: Final = (1, 0.7, 0.4)
"""So much of the room of a half its boxes may take: labels and lanes need the rest."""

FEWER: Final = 0.9
"""By this factor less boxes are asked for where a picture does not fit."""

MOST_SCREENS: Final = 2
"""So many screens high a picture may be rather than hide what it is about."""

MOST_COLUMNS: Final = 4
"""In so many columns a picture may stand to fill a shape."""

MOST_NODES_IN_ROWS: Final = 100_000
"""Larger graphs are drawn in boxes unasked: rows take twice the time and memory."""

ENOUGH: Final = 0.5
"""With this share of its boxes a picture of one half still shows what it is about."""


def chosen_part(graph: Graph, options: RenderOptions) -> Graph:
    """Take the part of ``graph`` that the options ``around`` and ``path`` choose.

    Raises:
        UnknownNode: nothing in the graph goes by the name of ``around`` or of an end of ``path``.
        NothingToDraw: no way leads from the one end of ``path`` to the other.
    """
    try:
        if options.path is not None:
            start, dots, end = options.path.partition("..")
            if not (start and dots and end):
                raise UnknownNode(
                    f"'{options.path}' is not a path",
                    remedy="write two nodes, as in loss..fc1.weight",
                )
            ends = _find(graph, start), _find(graph, end)
            between = part_between(graph, *ends, (start, end))
            if between is None:
                raise NothingToDraw(
                    f"there is no path from '{start}' to '{end}'", remedy="choose other ends"
                )
            graph = between
        if options.around is not None:
            hops = HOPS if options.hops is None else options.hops
            graph = neighbourhood(graph, _find(graph, options.around), hops, options.around)
        for address in options.labels:
            _see_known(graph, address)
    except UnknownAddress as error:
        raise UnknownNode(error.what, remedy=error.remedy) from None
    return graph


def _see_known(graph: Graph, address: str) -> None:
    """See that a label is that of something: an address, a round, or several modules alike.

    Raises:
        UnknownAddress: it is not.
    """
    known = {one.label for rounds in graph.rounds.values() for one in rounds}
    first = address.partition(" … ")[0]
    if not known.intersection((address.replace("=", " = "), first)):
        _find(graph, first)


def _find(graph: Graph, text: str) -> tuple[int, ...]:
    if text.startswith("#"):
        return find_step(graph, text)
    try:
        return find_nodes(graph, text)
    except UnknownAddress:
        module = common_module(graph)
        with suppress(UnknownAddress):
            if module:  # the picture leaves it out of all names
                return find_nodes(graph, f"{module}.{text}")
        raise


def has_rows(graph: Graph) -> bool:
    """Tell whether a graph has two halves, is whole, and not very large: only then rows tell more
    than boxes do."""
    halves = set(graph.halves) if len(graph) <= MOST_NODES_IN_ROWS else ()
    return len(halves) == 2 and graph.unfolded is None and graph.part is None


def folding_of(graph: Graph, view: str) -> Folding:
    """Make ``graph`` ready for pictures of ``view``, in the words of its program."""
    graph = with_names_of_program(graph)
    return Folding(graph, tuple(half for half in BOTH if view in ("both", half)))


def folded(folding: Folding, options: RenderOptions) -> tuple[Folded, tuple[str, ...]]:
    """Fold the graph into no more boxes than the options allow, with notes on where that was not
    possible.

    Raises:
        UnknownNode: nothing that is folded goes by a name in ``expand``.
    """
    if options.full:
        return Folded(folding.graph, {}), ()
    graph = folding.graph
    most = options.most_boxes
    allowed = most
    for _ in range(2):
        small = _folded(folding, allowed, options)
        boxes = box_count(small.graph, options.halves, options.leaves)
        if boxes <= most or options.depth is not None or len(small.graph) == len(graph):
            break
        allowed -= boxes - most  # leaves with boxes of their own
    if boxes <= max(most, MAX_BOXES) or options.folds:
        return small, ()
    note = f"{boxes:,} boxes: there are no more scopes or repeats to fold"
    return small, (f"{note}; the options around and path show a part",)


def _folded(folding: Folding, allowed: int, options: RenderOptions) -> Folded:
    classes = set(folding.graph.modules.values())

    def whole(names: Sequence[str]) -> list[str]:
        front = f"{folding.module}."
        return [
            name if name.startswith(front) or name in classes else front + name for name in names
        ]

    try:
        return folding.folded(allowed, options.depth, options.expand, options.fold)
    except UnknownAddress as error:
        with suppress(UnknownAddress):
            if folding.module:  # the picture leaves it out of all names
                return folding.folded(
                    allowed, options.depth, whole(options.expand), whole(options.fold)
                )
        raise UnknownNode(error.what, remedy=error.remedy) from None


class Composed(NamedTuple):
    """A picture, notes on where folding did not do, and the own layout of the picture, if that had
    to be known to choose it; ``graph`` is what is drawn, and ``items`` are what its groups stand
    for."""

    picture: Picture
    notes: tuple[str, ...] = ()
    layout: Layout | None = None
    graph: Graph | None = None
    items: Mapping[int, Item] = MappingProxyType({})


class Composer(NamedTuple):
    """The pictures of one graph, as fine as options ask; ``position``, ``links`` and ``narrow`` are
    those of :func:`~gradstep_viz.picture.compose.make_picture`."""

    folding: Folding
    position: int | None = None
    links: Links | None = None
    narrow: bool = False

    def compose(self, options: RenderOptions) -> Composed:
        """Make the picture that the options ask for, however large it is."""
        small, notes = folded(self.folding, options)
        return self._composed(small, options, notes)

    def compose_inside(self, item: Item, name: str, options: RenderOptions) -> Composed:
        """Make a picture of what is inside a group that is called ``name``."""
        small = self.folding.inside(item, name, options.most_boxes)
        return self._composed(small, options, ())

    def _composed(self, small: Folded, options: RenderOptions, notes: tuple[str, ...]) -> Composed:
        graph, items = small
        picture = make_picture(
            graph, options.halves, leaves=options.leaves, title=options.title,
            scale=scale_of(graph, options.magnitude) if "rms" in options.facts else None,
            facts=options.facts, labels=options.labels, position=self.position, links=self.links,
            module=self.folding.module, narrow=self.narrow,
        )  # fmt: skip
        if options.captions is False:
            picture = picture._replace(captions=("",) * len(picture.captions))
        if options.rankdir == "LR":
            picture = _turned(picture)
        return Composed(picture, notes, graph=graph, items=items)

    def compose_for_a_screen(self, options: RenderOptions) -> Composed:
        """Make the finest picture that fits a screen, or two screens where none fits one; else that
        which is scaled down least.

        Where the options say how fine the picture is to be, it is as fine as that. Two screens are
        also taken where both halves would have to close something to fit one, or one half nearly
        all.
        """
        finest = self.compose(options)
        if options.room is not None:
            return self._compose_for_room(finest, options, options.room)
        if options.full or options.folds or len(finest.picture.boxes) > options.most_boxes:
            return finest
        picture, layout = finest.picture, lay_out(finest.picture)
        choices = [(finest, layout)]
        boxes = len(picture.boxes)
        enough = boxes if options.halves == "both" else boxes * ENOUGH
        for tall in (layout, lay_out(picture, pages=1)):
            if not fits_a_screen(layout) and fits_a_screen(tall, MOST_SCREENS):
                choices = [(finest, tall)]
                break
        for composer in (self, self._replace(folding=self.folding.for_little_room())):
            allowed = boxes
            while not fits_a_screen(layout) and allowed > 1:
                # leaves may get boxes of their own where there is less else
                allowed = min(boxes - 1, int(allowed * FEWER))
                if allowed < enough and fits_a_screen(choices[-1][1], MOST_SCREENS):
                    break
                coarser = composer.compose(replace(options, max_boxes=allowed))
                if len(coarser.picture.boxes) < boxes:
                    layout = lay_out(coarser.picture)
                    boxes = len(coarser.picture.boxes)
                    choices.append((coarser, layout))
            if any(fits_a_screen(one, MOST_SCREENS) for _, one in choices):
                break
        best, layout = min(choices, key=lambda choice: _screens(choice[1]))
        return best._replace(notes=finest.notes, layout=layout)

    def compose_for_a_page(self, options: RenderOptions) -> Composed | None:
        """Make the whole picture, where that can be read at the width of a page; None where it
        cannot, or modules and rounds would have to be folded."""
        if len(self.folding.graph) > MOST_BOXES:
            return None
        finest = self.compose(options)
        groups = {} if finest.graph is None else finest.graph.groups
        if any(group.kind not in ("chain", "data") for group in groups.values()):
            return None
        room = options.room or Room(PAGE_WIDTH)
        best = _laid_out_for(finest, room)
        if _scale_in(best, room) < GOOD_SCALE:
            best = _laid_out_for(self._replace(narrow=True).compose(options), room)
        assert best.layout is not None
        is_low = best.layout.height <= MOST_SCREENS * SCREEN_HEIGHT
        return best if _scale_in(best, room) >= GOOD_SCALE and is_low else None

    def _compose_for_room(self, finest: Composed, options: RenderOptions, room: Room) -> Composed:
        """Make the finest picture that can be read where it is shown; else that which is scaled
        down least, with a note."""
        best = _laid_out_for(finest, room)
        folds = not (options.full or options.folds)
        composer = self
        if _scale_in(best, room) < GOOD_SCALE and options.rankdir == "TB":
            composer = self._replace(narrow=True)
            best = composer._better(best, composer.compose(options), room)
        if folds:
            best = composer._coarser(best, options, room)
        if folds and _scale_in(best, room) < LEAST_SCALE:
            composer = composer._replace(folding=self.folding.for_little_room())
            best = composer._coarser(best, options, room)
        notes, scale = finest.notes, _scale_in(best, room)
        if scale < LEAST_SCALE:
            high = math.floor(10 * MUTED_SIZE * scale) / 10
            width = options.width or f"{room.width:.0f} pixels"
            small = f"at a width of {width}, the smallest text is {high:.1f} pixels high"
            notes += (f"{small}; one half (view) or a part (around, path) needs less",)
        return best._replace(notes=notes)

    def _coarser(self, best: Composed, options: RenderOptions, room: Room) -> Composed:
        """Ask for fewer and fewer boxes until they can be read; return the first picture
        that can, else that which is scaled down least."""
        boxes = allowed = len(best.picture.boxes)
        while _scale_in(best, room) < LEAST_SCALE and allowed > 1:
            allowed = min(boxes - 1, int(allowed * FEWER))
            coarser = self.compose(replace(options, max_boxes=allowed))
            if len(coarser.picture.boxes) < boxes:
                boxes = len(coarser.picture.boxes)
                best = self._better(best, coarser, room)
        return best

    def _better(self, best: Composed, other: Composed, room: Room) -> Composed:
        """Return that which is scaled down less; where boxes are narrow already, the ``other`` one
        also with one half below the other, if nothing can be read without that."""
        ways = (_laid_out_for, GOOD_SCALE), (_stacked_for, LEAST_SCALE)
        for lay_out_for, least in ways[: 1 + self._may_stack(other.picture)]:
            if _scale_in(best, room) < least:
                best = max(best, lay_out_for(other, room), key=lambda one: _scale_in(one, room))
        return best

    def _may_stack(self, picture: Picture) -> bool:
        return self.narrow and len(picture.halves) == 2 and len(picture.boxes) <= MOST_BOXES


def lay_out_in(picture: Picture, room: Room) -> Layout:
    """Lay a picture out so that it can be read where it is shown: with branches one below the other
    where it takes that; in as many columns as fill the room, where that has a height."""

    def scale(layout: Layout) -> float:
        return room.scale(layout.width, layout.height)

    best = lay_out(picture, pages=1)
    if picture.rankdir == "LR" or len(picture.boxes) > MOST_BOXES:
        return best
    if room.height < math.inf:
        columns = (lay_out(picture, pages=count) for count in range(2, MOST_COLUMNS + 1))
        return max(best, *columns, key=scale)
    wide = room.width / GOOD_SCALE - 2 * MARGIN - GUTTER * (len(picture.halves) - 1)
    for share in SHARES:
        if scale(best) >= GOOD_SCALE:
            break
        narrow = lay_out(picture, pages=1, wide=wide * share / max(1, len(picture.halves)))
        best = max(best, narrow, key=scale)
    return best


def _laid_out_for(composed: Composed, room: Room) -> Composed:
    return composed._replace(layout=lay_out_in(composed.picture, room))


def _stacked_for(composed: Composed, room: Room) -> Composed:
    """Lay a picture out with one half below the other, and without lines between them."""
    picture = without_saved(composed.picture)
    wide = room.width / GOOD_SCALE - 2 * MARGIN
    layouts = (lay_out_stacked(picture, each) for each in (WIDE, *(wide * x for x in SHARES)))
    best = composed._replace(picture=picture, layout=next(layouts))
    for layout in layouts:
        if _scale_in(best, room) >= GOOD_SCALE:
            break
        best = max(best, best._replace(layout=layout), key=lambda one: _scale_in(one, room))
    return best


def _scale_in(composed: Composed, room: Room) -> float:
    layout = composed.layout
    return 1 if layout is None else room.scale(layout.width, layout.height)


def _turned(picture: Picture) -> Picture:
    """Let the forward half run to the right."""
    turn = str.maketrans("↓↑", "→←")
    captions = tuple(caption.translate(turn) for caption in picture.captions)
    return picture._replace(rankdir="LR", captions=captions)


def fits_a_screen(layout: Layout, screens: int = 1) -> bool:
    """Tell whether a picture can be read when it is shown whole on so many screens, one below the
    other."""
    return _scale(layout, screens) >= LEAST_SCALE


def _screens(layout: Layout) -> tuple[int, float]:
    """Order pictures by the screens that they need, and what needs too many by how small it gets
    there."""
    for screens in range(1, MOST_SCREENS + 1):
        if fits_a_screen(layout, screens):
            return screens, 0
    return MOST_SCREENS + 1, -_scale(layout, MOST_SCREENS)


def _scale(layout: Layout, screens: int) -> float:
    """Return the scale at which a picture fits so many screens."""
    return min(SCREEN_WIDTH / layout.width, SCREEN_HEIGHT * screens / layout.height)

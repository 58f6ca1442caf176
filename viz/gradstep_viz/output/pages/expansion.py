"""Groups that open: the pictures within a picture, for pages whose reader opens a card.

They are made beforehand, because a page has no program to fold a graph anew: first the whole
picture with a group open, for the groups of the picture and those within them, as far as there is
room; then, for each other group, at every level, a picture of its inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from gradstep.graph.folding import Item
from gradstep_viz.output.pages.measures import BoxMeasures
from gradstep_viz.picture.geometry import Layout
from gradstep_viz.picture.model import Picture

MOST_PICTURES: Final = 16
MOST_BYTES: Final = 5_000_000
MOST_NODES: Final = 200_000
"""So many nodes may be folded for all pictures together: at 20 microseconds each, some seconds."""

MOST_INSIDES: Final = 100
MOST_KINDS_INSIDE: Final = 300  # of groups that are built alike one has a picture in any case
MOST_BYTES_INSIDE: Final = 7_000_000
MOST_NODES_INSIDE: Final = 300_000
"""The same for the pictures of insides, each of which folds only what it shows."""


class PagePicture(NamedTuple):
    """A picture of a page; ``name`` is what was opened for it in picture ``parent``, and ``opens``
    says which picture each box opens that has one.  ``alike`` are the boxes that open the picture
    of another group, which is built alike, and ``measures`` what its boxes can be coloured by."""

    picture: Picture
    layout: Layout
    svg: str
    name: str
    parent: int
    opens: dict[int, int]
    alike: set[int]
    measures: Sequence[BoxMeasures]


class Drawn(NamedTuple):
    """A picture, what its boxes stand for that are groups, and what is known of each."""

    picture: Picture
    layout: Layout
    svg: str
    items: Mapping[int, Item]
    measures: Sequence[BoxMeasures]

    def on_page(self, name: str = "", parent: int = -1) -> PagePicture:
        """Return it as a picture of a page, which opens nothing yet."""
        return PagePicture(
            self.picture, self.layout, self.svg, name, parent, {}, set(), self.measures
        )


Draw = Callable[[tuple[str, ...]], Drawn]
DrawInside = Callable[[Item, str], Drawn]


def pictures_within(draw: Draw, draw_inside: DrawInside, nodes: int) -> list[PagePicture]:
    """Draw the picture, and after it those that its groups open, theirs, and so on; ``draw`` makes
    the picture of a graph of so many ``nodes`` in which the groups of these names are open, and
    ``draw_inside`` that of the inside of a group."""
    most = min(MOST_PICTURES, max(2, MOST_NODES // max(nodes, 1)))
    first = draw(())
    pictures = [first.on_page()]
    items = [first.items]
    opened: list[tuple[str, ...]] = [()]
    known = {frozenset[str](): 0}
    size = len(first.svg)
    for number, one in enumerate(pictures):  # which grows
        for index, box in enumerate(one.picture.boxes):
            if not box.opens:
                continue
            names = (*opened[number], box.opens)
            if frozenset(names) not in known:
                if len(pictures) >= most or size >= MOST_BYTES:
                    continue
                picture = draw(names)
                pictures.append(picture.on_page(box.opens, number))
                items.append(picture.items)
                known[frozenset(names)] = len(opened)
                opened.append(names)
                size += len(picture.svg)
            one.opens[index] = known[frozenset(names)]
    _add_insides(pictures, items, draw_inside)
    return pictures


def _add_insides(
    pictures: list[PagePicture], items: list[Mapping[int, Item]], draw_inside: DrawInside
) -> None:
    """Add pictures of what is inside groups that open none yet, level by level; those for which
    there is no room open that of another one that is built alike."""
    inside: dict[object, int] = {}
    alike: dict[object, int] = {}
    most, size, nodes = len(pictures) + MOST_INSIDES, 0, 0
    for number, one in enumerate(pictures):  # which grows
        for index, item in items[number].items():
            if index in one.opens:
                continue
            box = one.picture.boxes[index]
            built = item.fold.signature, item.instances
            if item.key not in inside:
                heads = sum(part.heads for part in item.parts)
                full = len(pictures) >= most or size >= MOST_BYTES_INSIDE
                if (full or nodes + heads > MOST_NODES_INSIDE) and built in alike:
                    one.opens[index] = alike[built]
                    one.alike.add(index)
                    continue
                if len(inside) >= MOST_KINDS_INSIDE:
                    continue
                drawn = draw_inside(item, box.title)
                inside[item.key] = alike[built] = len(pictures)
                pictures.append(drawn.on_page(box.title, number))
                items.append(drawn.items)
                size, nodes = size + len(drawn.svg), nodes + heads
            one.opens[index] = inside[item.key]

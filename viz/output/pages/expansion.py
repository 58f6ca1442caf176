"""Groups that open: the pictures within a picture, for pages whose reader opens a card.

They are made beforehand, because a page has no program to fold a graph anew: first all that the
picture itself can open, then what those can, until there are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from viz.picture.model import Picture

MOST_PICTURES: Final = 16
MOST_BYTES: Final = 5_000_000
MOST_NODES: Final = 200_000
"""So many nodes may be folded for all pictures together: at 20 microseconds each, some seconds."""


class PagePicture(NamedTuple):
    """A picture of a page; ``name`` is what was opened for it in picture ``parent``, and ``opens``
    says which picture each box opens that has one."""

    picture: Picture
    svg: str
    name: str
    parent: int
    opens: dict[int, int]


Draw = Callable[[tuple[str, ...]], tuple[Picture, str]]


def pictures_within(draw: Draw, nodes: int) -> list[PagePicture]:
    """Draw the picture, and after it those that its groups open, theirs, and so on; ``draw`` makes
    the picture of a graph of so many ``nodes`` in which the groups of these names are open."""
    most = min(MOST_PICTURES, max(2, MOST_NODES // max(nodes, 1)))
    pictures = [PagePicture(*draw(()), "", -1, {})]
    opened: list[tuple[str, ...]] = [()]
    known = {frozenset[str](): 0}
    size = len(pictures[0].svg)
    for number, one in enumerate(pictures):  # which grows
        for index, box in enumerate(one.picture.boxes):
            if not box.opens:
                continue
            names = (*opened[number], box.opens)
            if frozenset(names) not in known:
                if len(pictures) >= most or size >= MOST_BYTES:
                    continue
                pictures.append(PagePicture(*draw(names), box.opens, number, {}))
                known[frozenset(names)] = len(opened)
                opened.append(names)
                size += len(pictures[-1].svg)
            one.opens[index] = known[frozenset(names)]
    return pictures

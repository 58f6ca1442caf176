"""One screen: a picture that would be larger is drawn coarser, if there is a coarser one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from viz.extent import Extent
from viz.geometry import Layout
from viz.layout import lay_out
from viz.picture import Picture

WIDTH: Final = 1920
HEIGHT: Final = 1080

LEAST_SCALE: Final = 0.75
"""The smallest text is 8 pixels high when a picture is scaled down so far."""

MOST_TRIES: Final = 3


class Fitted(NamedTuple):
    """A picture, and where its own layout puts things, if that had to be known to choose it."""

    picture: Picture
    layout: Layout | None = None


def fits(layout: Layout) -> bool:
    """Whether a picture can be read when it is shown whole on a screen."""
    return min(WIDTH / layout.width, HEIGHT / layout.height) >= LEAST_SCALE


def on_one_screen(compose: Callable[[Extent], Picture], extent: Extent, view: str) -> Fitted:
    """The finest picture that fits a screen; the finest of all where ``extent`` says what is to be
    shown, or where none that is coarser fits either.

    ``compose`` makes the picture of an extent.
    """
    picture = compose(extent)
    if extent.full or extent.folds or len(picture.boxes) > extent.most_boxes(view):
        return Fitted(picture)
    layout = lay_out(picture)
    finest = Fitted(picture, layout)
    for _ in range(MOST_TRIES):
        if fits(layout):
            return Fitted(picture, layout)
        boxes = len(picture.boxes)
        if boxes < 2:
            break
        picture = compose(extent._replace(max_boxes=boxes - 1))
        if len(picture.boxes) >= boxes:
            break
        layout = lay_out(picture)
    return finest

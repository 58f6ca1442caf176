"""One screen: a picture that would be larger is drawn coarser, if there is a coarser one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from viz.layout import lay_out
from viz.options import RenderOptions
from viz.picture.geometry import Layout
from viz.picture.model import Picture

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


def on_one_screen(compose: Callable[[RenderOptions], Picture], options: RenderOptions) -> Fitted:
    """The finest picture that fits a screen; the finest of all where the options say how fine it
    is to be, or where none that is coarser fits either.

    ``compose`` makes the picture that options ask for.
    """
    picture = compose(options)
    if options.full or options.folds or len(picture.boxes) > options.most_boxes:
        return Fitted(picture)
    layout = lay_out(picture)
    finest = Fitted(picture, layout)
    for _ in range(MOST_TRIES):
        if fits(layout):
            return Fitted(picture, layout)
        boxes = len(picture.boxes)
        if boxes < 2:
            break
        picture = compose(replace(options, max_boxes=boxes - 1))
        if len(picture.boxes) >= boxes:
            break
        layout = lay_out(picture)
    return finest

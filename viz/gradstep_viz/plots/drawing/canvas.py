"""A sheet to draw on, measured in pixels from its upper left corner, and its way into a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gradstep_viz.extras import load_extra
from gradstep_viz.plots.drawing import palette
from gradstep_viz.theme import MUTED_SIZE, TEXT_SIZE, Tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DPI: Final = 72  # so that a point is a pixel
ZOOM: Final = 2
"""PNGs have twice as many pixels as an SVG has units, as all pictures."""


class Box(NamedTuple):
    """A part of the sheet."""

    x: float
    y: float
    width: float
    height: float


class Swatch(NamedTuple):
    """A colour and a sign, as a legend shows them; ``veil`` is the part that the ground covers."""

    fill: str
    sign: str = ""
    ink: str = "ink"
    veil: float = 0.0


class Canvas:
    """A sheet; ``colours`` are those of its theme, by token.

    Attributes:
        cells: the box of each map on it, and what is in it; see :mod:`.cells`.
    """

    def __init__(self, width: float, height: float, colours: Tokens, *, vector: bool) -> None:
        from matplotlib.figure import Figure  # only where something is drawn

        self.width, self.height = width, height
        self.colours = colours
        self.is_vector = vector
        self.figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
        self.figure.set_facecolor(colours["bg"])
        self.cells: list[tuple[Box, Any]] = []

    def axes(self, box: Box, *, below: Axes | None = None, beside: Axes | None = None) -> Axes:
        """Return axes in a part of the sheet, that go with those above or beside it."""
        axes = self.figure.add_axes(
            (
                box.x / self.width,
                1 - (box.y + box.height) / self.height,
                box.width / self.width,
                box.height / self.height,
            ),
            sharex=below,
            sharey=beside,
        )
        colours = self.colours
        axes.set_facecolor("none")
        axes.tick_params(
            colors=colours["line"], labelcolor=colours["mute"], labelsize=MUTED_SIZE,
            length=0, pad=5,
        )  # fmt: skip
        for side, spine in axes.spines.items():
            spine.set_color(colours["line"])
            spine.set_linewidth(0.8)
            spine.set_visible(side in ("left", "bottom"))
        return axes

    def text(
        self, x: float, y: float, words: str, token: str = "ink", size: float = TEXT_SIZE,
        *, bold: bool = False, align: str = "left",
    ) -> None:  # fmt: skip
        """Write a text whose baseline begins at a place, or ends there."""
        self.figure.text(
            x / self.width, 1 - y / self.height, words, color=self.colours[token], fontsize=size,
            fontweight="bold" if bold else "normal", ha=align, va="baseline",
        )  # fmt: skip

    def swatch(self, box: Box, swatch: Swatch) -> None:
        """Show a colour and a sign."""
        from matplotlib.patches import Rectangle  # with the axes

        axes = self._overlay
        x, y, width, height = box
        fill, sign, ink, veil = swatch
        paint = self.colours[ink]
        for colour, alpha in ((fill, 1.0), ("bg", veil)):
            axes.add_patch(
                Rectangle(
                    (x, y), width, height, facecolor=self.colours[colour], linewidth=0, alpha=alpha
                )
            )
        middle = x + width / 2, y + height / 2
        if sign == "_":
            axes.hlines([middle[1]], x, x + width, colors=paint, linewidth=1.2)
        elif sign:
            axes.scatter(*middle, s=30, marker=sign, color=paint, linewidths=1.4)

    @cached_property
    def _overlay(self) -> Axes:
        """Axes over the whole sheet, in its pixels."""
        axes = self.axes(Box(0, 0, self.width, self.height))
        axes.set_axis_off()
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)
        return axes

    def write(self, format: str) -> bytes:
        """Return the file."""
        file = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format)
        self.figure.savefig(
            file, format=format, dpi=_DPI * (ZOOM if format == "png" else 1), metadata=metadata
        )
        return file.getvalue()


@contextmanager
def drawing() -> Iterator[None]:
    """Draw with our own settings, whatever those of the user; they are back afterwards.

    Raises:
        RendererUnavailable: matplotlib is not installed.
    """
    matplotlib = load_extra("matplotlib")  # takes a while to load
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("ignore")  # such as of characters that no font has
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


_SETTINGS: Final[dict[str, Any]] = {
    "font.family": ["DejaVu Sans Mono"],
    "font.size": TEXT_SIZE,
    "text.parse_math": False,  # a name may have a $
    "axes.unicode_minus": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "gradstep",
    "svg.id": None,
    "pdf.fonttype": 42,
    "path.simplify": False,
}


def colours_of(theme_name: str) -> Tokens:
    """Return the colours of a theme; those of ``auto`` are light, where nothing can follow it."""
    return palette.DARK if theme_name == "dark" else palette.LIGHT

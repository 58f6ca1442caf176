"""The cells of a map: shades for sizes, and marks that need no colour to be told apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep_viz.plots.drawing.canvas import Box, Canvas
from gradstep_viz.plots.drawing.palette import shade_tokens
from gradstep_viz.plots.maps import Map
from gradstep_viz.plots.shading import Shading
from gradstep_viz.plots.sizes import Flags, Ints, State
from gradstep_viz.theme import MUTED_SIZE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROOM_FOR_MARKS: Final = 7.0
"""Pixels of a row that marks need; in lower rows there are colours only."""
NEAR: Final = 9.0
"""Pixels within which marks in a row are one mark."""
VEIL: Final = 0.65
"""How much of the ground lies over calls that were not recorded."""
PLAIN: Final = "s1"
"""The shade of sizes that are not to be told apart."""


class Mark(NamedTuple):
    """How something is marked: the colour of its cells, and the sign in them."""

    fill: str
    sign: str
    ink: str
    said: str


MARKS: Final[dict[State, Mark]] = {
    State.NAN: Mark("alert", "x", "bg", "NaN"),
    State.INF: Mark("saved", "^", "bg", "Inf"),
    State.ZERO: Mark("leafbg", "_", "leaf", "0"),
    State.NONE: Mark("bg", ".", "line", "no gradient arrived"),
}
JUMP: Final = Mark("", "^", "alert", "jump")


def fills_of(shown: Map, shading: Shading | None) -> tuple[Ints, list[str]]:
    """Return the colour of each cell, as a place in a list of tokens; a call that was not recorded
    has that of the one before."""
    tokens = ["bg", *(MARKS[state].fill for state in MARKS)]
    before = last_recorded(shown)
    states, values = shown.states[:, before], shown.values[:, before]
    fills = np.zeros_like(states)
    for at, state in enumerate(MARKS):
        fills[states == state] = 1 + at
    sizes = states == State.SIZE
    if shading is None:
        fills[sizes] = len(tokens)
        return fills, [*tokens, PLAIN]
    fills[sizes] = len(tokens) + shading.of(values[sizes])
    return fills, [*tokens, *shade_tokens(shading.count)]


def last_recorded(shown: Map) -> Ints:
    """Return for each column the last one up to it with a call that was recorded, or itself."""
    columns = np.arange(shown.states.shape[1])
    known = (shown.states != State.UNRECORDED).any(axis=0)
    before = np.maximum.accumulate(np.where(known, columns, -1))
    return np.where(before < 0, columns, before)


def draw_cells(canvas: Canvas, axes: Axes, box: Box, shown: Map, shading: Shading | None) -> None:
    """Draw a map into axes; a row is 1 high, a column 1 wide."""
    rows, columns = shown.states.shape
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    fills, tokens = fills_of(shown, shading)
    if canvas.is_vector:
        canvas.cells.append((box, (fills, tokens)))
    else:
        axes.imshow(
            _painted(canvas, fills, tokens), extent=(0, columns, rows, 0), aspect="auto",
            interpolation="none", zorder=1,
        )  # fmt: skip
    height = box.height / rows
    if height >= ROOM_FOR_MARKS:
        axes.hlines(
            np.arange(1, rows), 0, columns, colors=canvas.colours["bg"],
            linewidth=1 if height > 14 else 0.6, zorder=2,
        )  # fmt: skip
        for state, mark in MARKS.items():
            _draw_marks(canvas, axes, box, shown.states == state, mark)
        _draw_marks(canvas, axes, box, shown.jumps, JUMP)
    for start, end in runs_of((shown.states == State.UNRECORDED).all(axis=0)):
        axes.axvspan(start, end, color=canvas.colours["bg"], alpha=VEIL, linewidth=0, zorder=2.5)


def _painted(canvas: Canvas, fills: Ints, tokens: list[str]) -> NDArray[np.uint8]:
    colours = [canvas.colours[token] for token in tokens]
    table = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours])
    return np.asarray(table[fills], np.uint8)


def _draw_marks(canvas: Canvas, axes: Axes, box: Box, where: Flags, mark: Mark) -> None:
    """Draw a sign in each run of cells, or a line through it."""
    rows, columns = where.shape
    scale = box.width / columns
    places = [
        (column, row + 0.5)
        for row in np.flatnonzero(where.any(axis=1)).tolist()
        for column in spots_of(where[row], scale)
    ]
    if not places:
        return
    size = min(box.height / rows * 0.55, 6.0)
    if mark.sign == "_":
        spans = [
            (row, *run)
            for row in np.flatnonzero(where.any(axis=1)).tolist()
            for run in runs_of(where[row])
        ]
        axes.hlines(
            [row + 0.5 for row, *_ in spans], [start for _, start, _ in spans],
            [end for *_, end in spans], colors=canvas.colours[mark.ink], linewidth=1.2, zorder=3,
        )  # fmt: skip
        return
    is_cross = mark.sign == "x"
    x, y = zip(*places, strict=True)
    axes.scatter(
        x, y, s=size**2, marker=mark.sign,
        color=canvas.colours[mark.ink],
        edgecolors=None if is_cross else canvas.colours["bg" if mark is JUMP else mark.ink],
        linewidths=1.4 if is_cross else 0.5, zorder=4, clip_on=False,
    )  # fmt: skip


def spots_of(where: Flags, scale: float) -> Iterator[float]:
    """Yield where the signs of a row stand: in the middle of its runs, one for those that are near
    each other; a column is ``scale`` pixels wide."""
    last = -np.inf
    for start, end in runs_of(where):
        middle = (start + end) / 2
        if (middle - last) * scale >= NEAR:
            yield middle
            last = middle


def runs_of(where: Flags) -> list[tuple[int, int]]:
    """Return from where to where a row of flags is set.

    >>> runs_of(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([0], where.astype(np.int8), [0]))))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def row_labels(canvas: Canvas, axes: Axes, box: Box, names: list[str], tokens: list[str]) -> None:
    """Write the names of rows, as many as there is room for, each in the colour of its token."""
    rows = len(names)
    every = max(int(np.ceil(11.5 / (box.height / max(rows, 1)))), 1)
    shown = range(0, rows, every)
    axes.set_yticks([row + 0.5 for row in shown], [names[row] for row in shown])
    axes.tick_params(axis="y", length=0, labelsize=MUTED_SIZE)
    for row, label in zip(shown, axes.get_yticklabels(), strict=True):
        label.set_color(canvas.colours[tokens[row]])

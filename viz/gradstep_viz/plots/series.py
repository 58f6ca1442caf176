"""A number of each call over a whole run: the loss, the memory in use, the time that it took."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from gradstep.graph.statistics import format_bytes, format_number, format_seconds
from gradstep.recording.facts import CallFacts
from gradstep_viz.picture.formatting import place
from gradstep_viz.plots.columns import MOST_COLUMNS, Columns, columns_of
from gradstep_viz.plots.sizes import Ints, Numbers

Quantity = Literal["loss", "memory", "time"]

MOST_SERIES: Final = 4
SPREAD: Final = 30.0
"""Where the largest number is so many times the smallest, the scale is logarithmic."""
FORMATS: Final[dict[Quantity, Callable[[float], str]]] = {
    "loss": format_number,
    "memory": lambda value: format_bytes(int(value)),
    "time": format_seconds,
}


@dataclass(frozen=True)
class Series:
    """What the calls of one line of the program had, by columns, NaN where there is nothing.

    Attributes:
        name: which calls.
        columns: the calls that each number stands for.
        least, mean, greatest: of the finite numbers of a column.
        troubled: how many of its calls had one that is NaN or infinite.
        count: of how many calls there is a number.
    """

    name: str
    columns: Columns
    least: Numbers
    mean: Numbers
    greatest: Numbers
    troubled: Ints
    count: int


def number_of(call: CallFacts, quantity: Quantity) -> float | None:
    """Return what a call had: its loss, bytes or seconds; None where that is not known."""
    if quantity == "loss":
        return call.loss
    if quantity == "memory":
        return None if call.memory is None else float(call.memory)
    return call.seconds


def all_series(
    calls: Sequence[CallFacts], quantity: Quantity, most: int = MOST_COLUMNS
) -> tuple[list[Series], int]:
    """Return the series of the lines that made most calls, and how many others there are.

    Calls that were watched node by node took longer for that, and are a series of time of their
    own.  There are ``most`` columns at most.
    """
    numbers: dict[tuple[str, bool], list[tuple[int, float]]] = {}
    for call in calls:
        number = number_of(call, quantity)
        if number is not None:
            watched = quantity == "time" and call.level in ("stats", "all")
            numbers.setdefault((_made_by(call), watched), []).append((call.index, number))
    if not numbers:
        return [], 0
    chosen = columns_of([call.index for call in calls], most=most)
    several = len({made_by for made_by, _ in numbers}) > 1
    kept = sorted(numbers, key=lambda key: -len(numbers[key]))[:MOST_SERIES]
    return [
        _series(_name(*number, several), chosen, numbers[number])
        for number in numbers
        if number in kept
    ], len(numbers) - len(kept)


def _made_by(call: CallFacts) -> str:
    line = "" if call.line is None else place(call.line)
    return f"{'' if call.kind == 'backward' else 'autograd.grad() '}{line}".strip()


def _name(made_by: str, watched: bool, several: bool) -> str:
    told = "watched node by node" if watched else ""
    return ", ".join(filter(None, (made_by if several else "", told))) or "others"


def _series(name: str, columns: Columns, numbers: Sequence[tuple[int, float]]) -> Series:
    calls = np.array([index for index, _ in numbers], np.int64)
    values = np.array([value for _, value in numbers])
    column, finite = columns.of(calls), np.isfinite(values)
    inside, values = column[finite], values[finite]
    least, greatest = np.full(len(columns), math.inf), np.full(len(columns), -math.inf)
    np.minimum.at(least, inside, values)
    np.maximum.at(greatest, inside, values)
    count = np.bincount(inside, minlength=len(columns))
    with np.errstate(invalid="ignore", divide="ignore"):
        # summed in parts, so that large numbers do not overflow
        share = values / np.maximum(count, 1)[inside]
        mean = np.where(count, np.bincount(inside, share, len(columns)), math.nan)
    return Series(
        name, columns, np.where(count, least, math.nan), mean,
        np.where(count, greatest, math.nan), np.bincount(column[~finite], minlength=len(columns)),
        len(numbers),
    )  # fmt: skip

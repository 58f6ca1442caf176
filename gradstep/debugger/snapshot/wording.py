"""Tensors in words: a few of them in a line, or all that statistics can tell."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradstep.debugger.snapshot.value import NOT_HERE, THIS_PART, Value
from gradstep.graph.addresses import step_number
from gradstep.graph.statistics import Statistics, first_place, format_number, format_statistics
from gradstep.text import listed


def summary(value: Value | None, nothing: str = "undefined") -> str:
    """Return a tensor in one line that hides no zero and no extreme: ``rms 1.7, 0 to 3.56, 8 of 32
    are 0``."""
    if value is None:
        return nothing
    return _of_part(value, of_statistics(value.statistics)) if value.is_here else NOT_HERE


def _of_part(value: Value, text: str) -> str:
    """Say of a text about numbers that they are those of this process, where others have some."""
    return f"{text} ({THIS_PART})" if value.is_part else text


SHORT = 12  # characters


def short(stats: Statistics) -> str:
    """Return the same in at most 12 characters, with the sign where all elements are one number.

    >>> from gradstep.graph.statistics import statistics
    >>> [short(statistics(np.array(each))) for each in ([-2.0, -2.0], [-2.0, 1.0], 3.0)]
    ['all −2', 'rms 1.58', '3']
    """
    if not is_constant(stats):
        return format_statistics(stats)
    number = format_number(stats.minimum)
    return f"all {number}" if len(f"all {number}") <= SHORT else number


def is_constant(stats: Statistics) -> bool:
    """Return whether all of several elements are the same finite number."""
    return stats.size > 1 and stats.minimum == stats.maximum and not stats.trouble


def of_statistics(stats: Statistics) -> str:
    """Return the same, of a tensor of which only statistics are known."""
    if stats.size <= 1 or math.isnan(stats.minimum):
        return format_statistics(stats) if stats.size else "no elements"
    if is_constant(stats):
        return f"{format_number(stats.minimum)} everywhere"
    ends = f"{format_number(stats.minimum)} to {format_number(stats.maximum)}"
    rare = ((stats.nans, "nan"), (stats.infs, "infinite"), (stats.zeros, "0"))
    counts = [f"{count:,} of {stats.size:,} are {word}" for count, word in rare if count]
    return ", ".join([f"rms {format_number(stats.rms)}", ends, *counts])


def headline(value: Value | None) -> str:
    """Return a tensor in a sentence that goes on: what is wrong with it, or :func:`summary`."""
    if value is not None and value.statistics.trouble:
        return _of_part(value, format_statistics(value.statistics))
    return summary(value)


def described(value: Value | None, nothing: str = "undefined") -> list[str]:
    """Return all that statistics tell of a tensor, in two lines; a single number, or ``nothing``,
    in one."""
    if value is None or value.statistics.size <= 1:
        return [summary(value, nothing)]
    return [_of_part(value, extremes(value)), counts(value)]


def extremes(value: Value) -> str:
    """Root mean square, minimum and maximum of the finite elements, and where these are."""
    stats = value.statistics
    if math.isnan(stats.minimum):
        return "no finite element"
    parts = [f"rms {format_number(stats.rms)}"]
    for word, number in (("min", stats.minimum), ("max", stats.maximum)):
        is_known = value.has_numbers and not math.isnan(number)
        place = f" at {list(_place_of(value, number))}" if is_known else ""
        parts.append(f"{word} {format_number(number)}{place}")
    return "  ".join(parts)


def _place_of(value: Value, number: float) -> tuple[int, ...]:
    array = np.asarray(value.array)
    return tuple(map(int, np.unravel_index(int((array == number).argmax()), array.shape)))


def counts(value: Value) -> str:
    """Return how many elements are NaN, infinite, zero, negative and positive; of the first two,
    the first place. Of what was only described, the signs and places are unknown."""
    stats = value.statistics
    if not value.has_numbers:
        troubles = ((stats.nans, "nan"), (stats.infs, "inf"), (stats.zeros, "zero"))
        return "  ".join(f"{count:,} {word}" for count, word in troubles if count or word == "zero")
    array = np.asarray(value.array)
    negative = int((array < 0).sum()) - int(np.isneginf(array).sum()) if array.size else 0
    positive = stats.size - stats.nans - stats.infs - stats.zeros - negative
    parts = []
    for trouble in ("nan", "inf"):
        if count := stats.amount(trouble):
            parts.append(f"{count:,} {trouble}, first at {list(first_place(array, trouble))}")
    parts += [f"{stats.zeros:,} zero", f"{negative:,} negative", f"{positive:,} positive"]
    return "  ".join(parts)


def restore_text(indices: Sequence[int], called: str, restore_note: str) -> str:
    """Say that user code at nodes ``indices`` runs again, and what is put back before.

    >>> restore_text([3], "are called again", ".grad is put back")
    'the hooks or Functions of #4 are called again: .grad is put back'
    """
    nodes = listed([*map(step_number, indices)], 8, ", ")
    return f"the hooks or Functions of {nodes} {called}: {restore_note}"

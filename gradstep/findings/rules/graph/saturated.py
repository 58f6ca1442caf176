"""Results that pass on no gradient: units that are always 0, and curves at their ends."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gradstep.contract.op_records import OpRecord
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.facts import Forward, Graphs, Numbers
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.statistics import Range
from gradstep.recording.errors import NotRecorded

_ENDS: Final = {
    "sigmoid": ((0.0, 1.0), "0 or 1"),
    "tanh": ((-1.0, 1.0), "−1 or 1"),
    "softmax": ((1.0,), "1"),
    "log_softmax": ((0.0,), "0"),
}
_SAMPLES: Final = 8  # rows from which on one may speak of always
_UNITS: Final = 8  # from which on a share of them is more than chance
_SHARE: Final = 0.75  # of the units: half of them may be so by chance when a training begins
_LEARNED: Final = 0.1
_GAP: Final = 16.0  # with a smaller one between its inputs, no result of a softmax is exactly 1
_SHARPEST: Final = 128.0  # a factor that programs multiply cosines by, or logits, for a softmax
_VIEWS: Final = ("view", "reshape", "transpose", "t", "permute", "squeeze", "unsqueeze", "flatten")
_MOST: Final = 1 << 22  # elements that are looked at


@dataclass(frozen=True)
class DeadUnits(Reason):
    """So many of the ``units`` or channels of a relu are 0 for all ``samples``."""

    code = "dead-units"
    blames_line = True
    is_open = True
    is_effect = True
    explained_by = ("input-scale", "not-transposed", "rows-mixed", "loss-rises")
    explained_here_by = ("zero-grad", "zero-leaf")
    helps = (
        "use a smaller learning rate or smaller initial weights, or leaky_relu, which passes "
        "some gradient"
    )
    what: str
    dead: int = field(compare=False)
    units: int = field(compare=False)
    samples: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.dead:,} of the {self.units:,} {self.what} of {self.address} are 0 for all "
            f"{self.samples:,} samples: no gradient passes through them"
        )


@dataclass(frozen=True)
class SoftmaxOfOne(Reason):
    """A softmax runs along a dimension of size 1."""

    code = "saturated"
    blames_line = True
    is_open = True
    explained_here_by = ("zero-leaf", "one-element")
    helps = "check its dim: the one along which the classes, or the keys of an attention, are"
    ends: str
    dim: int = field(compare=False)
    shape: tuple[int, ...] = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.address} runs along dimension {self.dim} of {list(self.shape)}, which has one "
            f"element: its result is {self.ends} everywhere, and its gradient is 0"
        )


@dataclass(frozen=True)
class Saturated(Reason):
    """Most results of a curve, or rows of a softmax, are at its ``ends``; a note where the program
    multiplies by a number to have it so."""

    code = "saturated"
    blames_line = True
    is_open = True
    is_effect = True
    explained_by = ("cancelled", "input-scale", "loss-rises")
    explained_here_by = ("zero-leaf", "one-element", "at-ends")
    is_softmax: bool
    ends: str
    hit: int = field(compare=False)
    size: int = field(compare=False)
    inputs: Range | None = field(compare=False)

    def text(self) -> str:
        what, has = ("rows", "have an element of") if self.is_softmax else ("elements", "are")
        given = "" if self.inputs is None else f"; its inputs are {self.inputs}"
        return (
            f"{self.hit:,} of the {self.size:,} {what} of {self.address} {has} exactly "
            f"{self.ends}: its gradient is 0 there{given}"
        )

    def remedy(self) -> str:
        if self.is_note:
            return "nothing to do if the factor by which they are multiplied is intended"
        return (
            "its inputs are too large: scale them down, normalize the data, or use smaller initial "
            "weights"
        )


def find_saturated(subject: Subject) -> Iterator[Reason]:
    """Yield nodes of which half of what they kept passes on nothing."""
    for index, node in subject.ops():
        name = subject.graph.stem(index)
        if name != "relu" and name not in _ENDS:
            continue
        result = next((kept for word, kept, state in node.saved()
                       if word == "result" and state == "kept"), None)  # fmt: skip
        tensor = subject.numbers.kept_tensor(node, "result", result) if result is not None else None
        array = None
        with suppress(NotRecorded):  # a recording has no room for large ones
            array = None if tensor is None else array_of(tensor)
        if array is None or array.ndim < 2 or not 0 < array.size <= _MOST:
            continue
        if name == "relu":
            yield from _dead(subject, index, array)
        else:
            yield from _at_an_end(subject, index, name, array)


def _dead(subject: Subject, index: int, array: Any) -> Iterator[Reason]:
    """Units, or channels, that are 0 for every sample."""
    samples = array.size // array.shape[1]
    if samples < _SAMPLES:
        return
    others = tuple(axis for axis in range(array.ndim) if axis != 1)
    dead = int((array <= 0).all(others).sum())
    units = array.shape[1]
    if units == 1 or dead < _SHARE * units or (dead < units and units < _UNITS):  # 1: a hinge
        return
    what = "units" if array.ndim == 2 else "channels"
    yield DeadUnits(what, dead, units, samples).at_node(subject.graph, index)


def _at_an_end(subject: Subject, index: int, name: str, array: Any) -> Iterator[Reason]:
    """Results that are exactly at an end of their range; of a softmax, rows that are."""
    ends, words = _ENDS[name]
    hit: Any = np.isin(array, ends)
    if "softmax" in name:  # a row that has one choice only, as under a mask, is no mistake
        dim = _dim(subject, index)
        if array.shape[dim] == 1:
            one = SoftmaxOfOne(words, dim, tuple(array.shape))
            yield one.at_node(subject.graph, index)
            return
        hit = hit.any(dim)
    if 2 * int(hit.sum()) <= hit.size or ("softmax" in name and _is_learned(subject)):
        return
    given, is_softmax = subject.range_given(index), "softmax" in name
    is_meant = is_softmax and _is_sharpened(subject, index)
    reason = Saturated(is_softmax, words, int(hit.sum()), hit.size, given, is_note=is_meant)
    yield reason.at_node(subject.graph, index)


def _is_learned(subject: Subject) -> bool:
    """Return whether the loss is so small that a network may be sure of each answer."""
    losses = [subject.numbers.scalar_statistics(root) for root in subject.roots]
    return all(known is not None and abs(known.scalar or 1.0) < _LEARNED for known in losses)


def _is_sharpened(subject: Subject, index: int) -> bool:
    """Return whether what a softmax is given is at an end only because the program multiplies it by
    a number, as the cosines of a loss with a margin, or divides it by a temperature; a mask may be
    added behind that."""
    record = subject.order[index].record
    given: Any = record.inputs[0] if isinstance(record, OpRecord) and record.inputs else None
    while isinstance(given, tuple) and isinstance(given[0], OpRecord):
        record = given[0]
        given, *others = sorted(record.inputs[:2], key=lambda one: _number(one) is not None)
        if record.name in ("mul", "div") and others and (factor := _number(others[0])):
            factor = abs(factor if record.name == "mul" else 1 / factor)
            return 1 < factor <= _SHARPEST and _spread(given) < _GAP
        if not record.pointwise and record.name not in _VIEWS:
            return False
    return False


def _number(given: Any) -> float | None:
    """Return the one number that an op was given, as such or as a tensor."""
    if isinstance(given, tuple):
        known = given[0].statistics
        return known.scalar if known is not None and known.size == 1 else None
    return given if isinstance(given, int | float) else None


def _spread(given: Any) -> float:
    """Return by how much numbers differ at most."""
    known = given[0].statistics if isinstance(given, tuple) else None
    return math.inf if known is None else known.maximum - known.minimum


def _dim(subject: Subject, index: int) -> int:
    dim = getattr(subject.order[index].record, "attributes", {}).get("dim", -1)
    return dim if isinstance(dim, int) else -1


RULES: Final = (
    Rule(find_saturated, Meaning(
        "saturated", "warning", "most results of a sigmoid, tanh or softmax are at its limits",
        "There, its derivative is 0.", "torch.sigmoid(pixels)", "torch.sigmoid(pixels / 255)",
        "When a unit should act as a switch, like a gate that has learned to close.",
    ), Meaning(
        "dead-units", "warning", "most units of a relu are 0 for all samples",
        "At least three quarters of eight or more units, or all units if there are fewer. No "
        "gradient passes through them.",
        "F.relu(h - 100)", "F.leaky_relu(h)",
        "When only a few units should respond, as in a sparse code.",
    ), needs=(Graphs, Numbers), uses=(Forward,)),
)  # fmt: skip

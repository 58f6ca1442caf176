"""Results that pass on no gradient: units that are always 0, and curves at their ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from gradstep.capturing.forward_values import ForwardValues
from gradstep.contract.op_records import OpRecord
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.statistics import format_range

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
_MOST: Final = 1 << 22  # elements that are looked at


def find_saturated(subject: Subject) -> Iterator[Finding]:
    """Yield nodes of which half of what they kept passes on nothing."""
    for index, node in subject.ops():
        name = subject.graph.stem(index)
        if name != "relu" and name not in _ENDS:
            continue
        result = next((kept for word, kept, state in node.saved()
                       if word == "result" and state == "kept"), None)  # fmt: skip
        tensor = subject.engine.kept_tensor(node, "result", result) if result is not None else None
        array = None if tensor is None else array_of(tensor)
        if array is None or array.ndim < 2 or not 0 < array.size <= _MOST:
            continue
        if name == "relu":
            yield from _dead(subject, index, array)
        else:
            yield from _at_an_end(subject, index, name, array)


def _dead(subject: Subject, index: int, array: Any) -> Iterator[Finding]:
    """Units, or channels, that are 0 for every sample."""
    samples = array.size // array.shape[1]
    if samples < _SAMPLES:
        return
    others = tuple(axis for axis in range(array.ndim) if axis != 1)
    dead = int((array <= 0).all(others).sum())
    units = array.shape[1]
    if dead < _SHARE * units or (dead < units and units < _UNITS):
        return
    what = "units" if array.ndim == 2 else "channels"
    yield _finding(
        subject, index, "dead-units",
        f"{dead:,} of the {units:,} {what} of {subject.graph.address(index)} are 0 for all "
        f"{samples:,} samples: no gradient passes through them",
        "use a smaller learning rate or smaller initial weights, or leaky_relu, which passes "
        "some gradient",
    )  # fmt: skip


def _at_an_end(subject: Subject, index: int, name: str, array: Any) -> Iterator[Finding]:
    """Results that are exactly at an end of their range; of a softmax, rows that are."""
    ends, words = _ENDS[name]
    hit: Any = np.isin(array, ends)
    address = subject.graph.address(index)
    if "softmax" in name:  # a row that has one choice only, as under a mask, is no mistake
        dim = _dim(subject, index)
        if array.shape[dim] == 1:
            yield _finding(
                subject, index, "saturated",
                f"{address} runs along dimension {dim} of {list(array.shape)}, which has one "
                f"element: its result is {words} everywhere, and its gradient is 0",
                "check its dim: the one along which the classes, or the keys of an attention, are",
            )  # fmt: skip
            return
        hit = hit.any(dim)
    if 2 * int(hit.sum()) <= hit.size or ("softmax" in name and _is_learned(subject)):
        return
    what = "rows" if "softmax" in name else "elements"
    has = "have an element of" if "softmax" in name else "are"
    yield _finding(
        subject, index, "saturated",
        f"{int(hit.sum()):,} of the {hit.size:,} {what} of {address} {has} exactly {words}: its "
        f"gradient is 0 there{_given(subject, index)}",
        "its inputs are too large: scale them down, normalize the data, or use smaller initial "
        "weights",
    )  # fmt: skip


def _is_learned(subject: Subject) -> bool:
    """Return whether the loss is so small that a network may be sure of each answer."""
    losses = [subject.engine.scalar_statistics(root) for root in subject.roots]
    return all(known is not None and abs(known.scalar or 1.0) < _LEARNED for known in losses)


def _dim(subject: Subject, index: int) -> int:
    dim = getattr(subject.order[index].record, "attributes", {}).get("dim", -1)
    return dim if isinstance(dim, int) else -1


def _given(subject: Subject, index: int) -> str:
    """Say between what numbers the inputs are, where that was traced."""
    record = subject.order[index].record
    first = record.inputs[0] if isinstance(record, OpRecord) and record.inputs else None
    if not isinstance(first, tuple):
        return ""
    known = ForwardValues(subject.engine, subject.origins).statistics(first)
    if known is None or known.trouble:
        return ""
    return f"; its inputs are {format_range(known)}"


def _finding(subject: Subject, index: int, code: Any, what: str, remedy: str) -> Finding:
    return Finding(
        "warning", code, what, remedy, subject.graph.address(index), index, subject.source(index)
    )


RULES: Final = (
    Rule(find_saturated, Meaning(
        "saturated", "warning", "most results of a sigmoid, tanh or softmax are at its ends",
        "There, its derivative is 0.", "torch.sigmoid(pixels)", "torch.sigmoid(pixels / 255)",
    ), Meaning(
        "dead-units", "warning", "most units of a relu are 0 for all samples",
        "Three quarters or more of eight units, or all of fewer. No gradient passes through them.",
        "F.relu(h - 100)", "F.leaky_relu(h)",
    )),
)  # fmt: skip

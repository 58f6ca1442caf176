"""Results that pass on no gradient: units that are always 0, and curves at their ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from autograd_core.debug.linting.finding import Finding
from autograd_core.debug.linting.subject import Subject
from autograd_core.debug.snapshot.value import array_of

_ENDS: Final = {
    "sigmoid": ((0.0, 1.0), "0 or 1"),
    "tanh": ((-1.0, 1.0), "−1 or 1"),
    "softmax": ((1.0,), "1"),
    "log_softmax": ((0.0,), "0"),
}
_SAMPLES: Final = 8  # rows from which on one may speak of always
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
        array = None if tensor is None else np.asarray(array_of(tensor))
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
    if 2 * dead < units:
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
    ends, said = _ENDS[name]
    hit: Any = np.isin(array, ends)
    if "softmax" in name:  # a row that has one choice only, as under a mask, is no mistake
        hit = hit.any(-1)
    if 2 * int(hit.sum()) <= hit.size:
        return
    what = "rows" if "softmax" in name else "elements"
    has = "have an element of" if "softmax" in name else "are"
    yield _finding(
        subject, index, "saturated",
        f"{int(hit.sum()):,} of the {hit.size:,} {what} of {subject.graph.address(index)} {has} "
        f"exactly {said}: its gradient is 0 there",
        "its inputs are too large: scale them down, normalize the data, or use smaller initial "
        "weights",
    )  # fmt: skip


def _finding(subject: Subject, index: int, code: Any, what: str, remedy: str) -> Finding:
    return Finding(
        "warning", code, what, remedy, subject.graph.address(index), index, subject.source(index)
    )

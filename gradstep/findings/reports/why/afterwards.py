"""What becomes of a gradient after its pass: which optimizer uses it, and how much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradstep.capturing.names import Names
from gradstep.contract.lookup import unseen
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.hindrances import hindrance
from gradstep.findings.reports.formatting import Row, line_text
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.graph.statistics import format_number, statistics

WILL_NOT_CHANGE = "will not change"


def optimizer_rows(names: Names, name: str, leaf: Any, file: str) -> Iterator[Row]:
    """Say so where none of the optimizers that the program names would change ``leaf``; ``file`` is
    the one in which the pass was called, where they may have been made."""
    if leaf is None or not names.optimizers:
        return
    groups = [(title, group) for title, group, ids in names.trained() if id(leaf) in ids]
    if not groups:
        first, *others = names.optimizers
        who = f"neither {first} nor {' nor '.join(others)} has" if others else f"{first} lacks"
        yield "likely", f"{name} {WILL_NOT_CHANGE}: {who} it among its parameters"
        for title in names.optimizers:
            yield from (("", line_text(at)) for at in assigned(title, file))
    for title, group in groups:
        if group.get("lr") == 0:
            yield "note", f"{title} {WILL_NOT_CHANGE} {name}: its learning rate is 0"


def _copied(tensor: Any) -> NDArray[Any] | None:
    array = array_of(tensor)
    return None if array is None else array.copy()


class Afterwards:
    """Keeps ``leaf`` and its ``.grad`` as they are at the end of a pass that ``file`` called, to be
    compared later."""

    def __init__(self, name: str, leaf: Any, names: Names, file: str = "") -> None:
        self._name, self._names, self._file = name, names, file
        names.keep_leaves()
        self._leaf = leaf
        self._values = _copied(leaf)
        with unseen():
            gradient = leaf.grad
        self._gradient = None if gradient is None else _copied(gradient)

    def rows(self, until: str) -> Iterator[Row]:
        """Say how far the leaf has changed ``until`` now, and if it has not, what is known of
        why."""
        name, now, before = self._name, array_of(self._leaf), self._values
        if now is None or before is None or now.shape != before.shape:
            return
        with np.errstate(all="ignore"):
            change = np.asarray(now - before)
        if change.size and statistics(change).zeros < change.size:
            size = format_number(statistics(change).rms)
            yield "after", f"{name} changed by rms {size} before {until}"
            return
        if self._gradient is None or not self._gradient.any():
            return
        names, leaf = self._names, self._leaf
        held = [(title, group) for title, group, ids in names.trained() if id(leaf) in ids]
        cause = hindrance(
            held if names.optimizers else None, str(leaf.dtype).rpartition(".")[2],
            float(np.median(np.abs(now))) if now.size else None, statistics(self._gradient).rms,
        )  # fmt: skip
        gradient = self._leaf.grad
        numbers = None if gradient is None else array_of(gradient)
        cleared = numbers is None or not numbers.any()
        state = "was cleared" if cleared else "is still there"
        yield "after", f"{name} did not change before {until}, and its .grad {state}"
        what = replace(cause, leaves=(name,)).text()
        if not cause.is_known:
            stepped = not self._file or calls_of("step", self._file)
            what = "zero_grad() ran before step()" if cleared and stepped else "no step() ran"
            if not self._names.optimizers:
                what += ", or no optimizer has it, or its learning rate is 0"
        yield "likely", what

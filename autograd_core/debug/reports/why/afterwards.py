"""What became of a leaf after its gradient was there: whether anybody used it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autograd_core.dag.statistics import format_number, statistics
from autograd_core.debug.reports.rows import Row
from autograd_core.debug.snapshot.value import array_of


class Afterwards:
    """Keeps ``leaf`` and its ``.grad`` as they are at the end of a pass, to be compared later."""

    def __init__(self, name: str, leaf: Any) -> None:
        self._name = name
        self._leaf = leaf
        self._values = array_of(leaf).copy()
        self._gradient = None if leaf.grad is None else array_of(leaf.grad).copy()

    def rows(self, until: str) -> Iterator[Row]:
        """Say how far the leaf has changed ``until`` now, and if it has not, what is known of
        why."""
        name, now = self._name, array_of(self._leaf)
        if now.shape != self._values.shape:
            return
        with np.errstate(all="ignore"):
            change = np.asarray(now - self._values)
        if change.size and statistics(change).zeros < change.size:
            size = format_number(statistics(change).rms)
            yield "after", f"{name} changed by rms {size} before {until}"
            return
        if self._gradient is None or not self._gradient.any():
            return
        gradient = self._leaf.grad
        if gradient is None or not array_of(gradient).any():
            told = f"{name} did not change before {until}"
            yield "after", f"{told}, and its .grad was cleared before a step used it"
            cause = (
                "zero_grad() ran before step(), or no optimizer has it, or its learning rate is 0"
            )
        else:
            yield "after", f"{name} did not change before {until}, and its .grad is still there"
            cause = "no step() ran, or no optimizer has it, or its learning rate is 0"
        yield "likely", cause

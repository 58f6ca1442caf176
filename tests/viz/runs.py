"""Runs made of facts, as a recording would have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradstep.graph.model import Source
from gradstep.graph.statistics import statistics
from gradstep.recording.facts import CallFacts, Header, Leaf, LeafFacts, Level
from gradstep.recording.run import MemoryRun

Elements = Callable[[int, int], Sequence[float] | None]
"""The elements of the gradient of a leaf, by its number, in a call; None where the call does not
come to it."""


def run_of(
    names: Sequence[str],
    calls: int | Sequence[int],
    elements: Elements,
    *,
    level: Callable[[int], Level] = lambda index: "leaves",
    line: Callable[[int], int] = lambda index: 7,
    update: Callable[[int, int], float | None] = lambda leaf, index: 0.001,
    loss: Callable[[int], float | None] = lambda index: 1 / index,
    command: tuple[str, ...] = ("train.py",),
) -> MemoryRun:
    """A run of leaves that the program made in the order of ``names``."""
    run = MemoryRun(Header(command))
    for number, name in enumerate(names):
        run.add_leaf(Leaf(number, name, None, "float32", True))
    for index in range(1, calls + 1) if isinstance(calls, int) else calls:
        facts = []
        for number in range(len(names)):
            found = elements(number, index)
            if found is not None:
                after = statistics(np.array(found)) if len(found) else None
                facts.append(
                    LeafFacts(
                        number, None, after, parameter_rms=1.0, update_rms=update(number, index),
                        optimizer="optimizer", arrived=after is not None,
                    )
                )  # fmt: skip
        call = CallFacts(
            index, "backward", index, Source("train.py", line(index)), level(index),
            loss=loss(index), seconds=0.01 * index, memory=1000 * index,
        )  # fmt: skip
        run.add_ended(call, facts if level(index) != "call" else [], None)
    run.add_end()
    return run

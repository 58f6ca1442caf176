"""Weights whose units begin equal, and stay so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import initialized_at_random
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.findings.whole_run.history import histories
from gradstep.findings.whole_run.watch import Evidence, has_equal_rows
from gradstep.text import listed

_ROUNDING = 1e-3
_INITIALIZERS = ("zeros_", "ones_", "constant_", "zero_", "fill_", "zeros", "ones", "full")


def initialization(evidence: Evidence) -> Iterator[Finding]:
    """Yield the weights of which all rows were the same to the bit in the first call, and are so at
    the end, but for what rounding adds, although steps changed them: their units compute one thing,
    as often as there are."""
    moved = {
        history.leaf.name
        for history in histories(evidence.run)
        if any(seen.facts.update_rms for seen in history.seen)
    }
    same = [
        name
        for name, leaf in evidence.equal_rows.items()
        if name in moved and (tensor := leaf()) is not None and has_equal_rows(tensor, _ROUNDING)
    ]
    if not same:
        return
    line = evidence.line
    file = "" if line is None else line.file
    lines = [at for name in same for at in assigned(name, file)]
    lines += [at for method in _INITIALIZERS for at in calls_of(method, file)]
    yield Finding(
        "warning", "initialization",
        f"all rows of {listed(same)} began equal, and still are: all units of such a layer compute "
        "the same, and get the same gradient",
        "initialize weights with random numbers, as nn.init.xavier_uniform_() does; zeros are for "
        "biases",
        source=lines[0] if lines else line, leaves=tuple(same), fix=initialized_at_random(file),
    )  # fmt: skip


RULES: Final = (
    Rule(initialization, Meaning(
        "initialization", "warning", "the units of a layer begin equal, and stay so",
        "All rows of its weight were the same to the bit in the first call, and are so, but for "
        "rounding, after steps that changed them.",
        "nn.init.constant_(layer.weight, 0.5)", "nn.init.xavier_uniform_(layer.weight)",
    )),
)  # fmt: skip

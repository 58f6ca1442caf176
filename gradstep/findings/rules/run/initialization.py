"""Weights whose units begin equal, and stay so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from weakref import ref

from gradstep.debugger.snapshot.value import whole_array_of
from gradstep.findings.facts import FIRST_LOOKS, Fact, Facts
from gradstep.findings.facts.history import histories
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import initialized_at_random
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.recording.look import Look

_ROUNDING = 1e-3
_INITIALIZERS = ("zeros_", "ones_", "constant_", "zero_", "fill_", "zeros", "ones", "full")


class FirstValues(Fact):
    """The weights whose rows were all the same when they were first seen, by name."""

    def __init__(self) -> None:
        self.equal_rows: dict[str, ref[Any]] = {}

    def closely(self, look: Look) -> None:
        if look.looks > FIRST_LOOKS:
            return
        for node in look.order:
            leaf = look.engine.leaf(node)
            if leaf is not None and (name := look.names.of(leaf)) and has_equal_rows(leaf):
                self.equal_rows.setdefault(name, ref(leaf))


def has_equal_rows(tensor: Any, apart: float = 0.0) -> bool:
    """Return whether a matrix has several rows, all the same to the bit, or ``apart`` by so much of
    its largest element at most."""
    array = whole_array_of(tensor)  # a nested tensor has no shape
    if array is None or array.ndim < 2 or len(array) < 2 or not array.size:
        return False
    if not apart:
        return bool((array == array[:1]).all())
    return bool(abs(array - array[:1]).max() <= apart * abs(array).max())


@dataclass(frozen=True)
class EqualRows(Reason):
    """The units of layers began equal, and are; ``file`` is that of the program."""

    keeps_loss = False
    code = "initialization"
    after = ("stale-grad",)
    helps = (
        "initialize weights with random numbers, as nn.init.xavier_uniform_() does; zeros are "
        "for biases"
    )
    file: str

    def text(self) -> str:
        return (
            f"all rows of {self.named} began equal, and still are: all units of such a layer "
            "compute the same, and get the same gradient"
        )

    def fix(self) -> tuple[Fix, ...]:
        return initialized_at_random(self.file)


def initialization(facts: Facts) -> Iterator[Reason]:
    """Yield the weights of which all rows were the same to the bit in the first call, and are so at
    the end, but for what rounding adds, although steps changed them: their units compute one thing,
    as often as there are."""
    moved = {
        history.leaf.name
        for history in histories(facts.run)
        if any(seen.facts.update_rms for seen in history.seen)
    }
    same = [
        name
        for name, leaf in facts[FirstValues].equal_rows.items()
        if name in moved and (tensor := leaf()) is not None and has_equal_rows(tensor, _ROUNDING)
    ]
    if not same:
        return
    lines = [at for name in same for at in assigned(name, facts.file)]
    lines += [at for method in _INITIALIZERS for at in calls_of(method, facts.file)]
    yield EqualRows(facts.file, leaves=tuple(same), source=lines[0] if lines else facts.line)


RULES: Final = (
    Rule(initialization, Meaning(
        "initialization", "warning", "the units of a layer begin equal and stay equal",
        "All rows of its weight were exactly the same in the first call and, except for rounding, "
        "after steps that changed them.",
        "nn.init.constant_(layer.weight, 0.5)", "nn.init.xavier_uniform_(layer.weight)",
        "When something other than random numbers makes the units differ.",
    ), needs=(FirstValues,)),
)  # fmt: skip

"""Random numbers that are drawn once and used in every call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Final

import numpy as np

from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts import Fact, Facts, Forward, Numbers
from gradstep.findings.facts.repeated import (
    RANDOM,
    called,
    is_data,
    numbers_at,
    past_views,
    shape_of,
)
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import assigned
from gradstep.graph.model import Source
from gradstep.recording.look import Look

_NOISE: Final = re.compile(r"(^|_)(noise|noises|eps|epsilon|perturbation)$|^z$|^latents?$")
_CALLS: Final = 4
_NUMBERS: Final = 8


@dataclass(frozen=True)
class SameNoise(Reason):
    """A value that is called noise has the same numbers in each call."""

    code = "same-noise"
    blames_line = True
    other_is = "drawn at"
    name: str
    count: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.name} has the same random numbers in each of {self.count} calls: it was "
            "drawn once, before them, so that the network can learn these numbers by heart"
        )

    def remedy(self) -> str:
        return f"draw {self.name} in each step, within the loop"


class Noise(Fact):
    """What is called noise and enters a graph: its numbers in calls, and the line of its op."""

    needs = (Forward, Numbers)

    def __init__(self) -> None:
        self.by_name: dict[tuple[str, Source | None], list[bytes | int]] = {}
        self.source: dict[tuple[str, Source | None], Source | None] = {}

    def closely(self, look: Look) -> None:
        if not look.is_traced or look.call.is_grad:
            return
        begins = [
            (each, 0)
            for each in look.records
            if not isinstance(each, OpRecord) or each.name in RANDOM
        ]
        given = {each: called(look, each) for each in begins if is_data(each)}
        noises = {each: name for each, name in given.items() if _NOISE.search(name)}
        for each, name in noises.items():
            drawn = _drawn(look, each)
            if drawn is None:
                continue
            self.by_name.setdefault((name, look.line), []).append(drawn)
            if (name, look.line) not in self.source:
                self.source[name, look.line] = next(
                    (
                        record.source
                        for record in look.records
                        if isinstance(record, OpRecord) and record.source is not None
                        and any(
                            isinstance(part, tuple) and past_views(part) == past_views(each)
                            for part in record.inputs
                        )
                    ),
                    look.line,
                )  # fmt: skip


def _drawn(look: Look, origin: Origin) -> bytes | int | None:
    """Return what tells apart two draws of random numbers: the op that drew them, or the numbers;
    None of what is no such draw."""
    record, shape = origin[0], shape_of(origin)
    if prod(shape) < _NUMBERS or not record.dtype.startswith("float"):
        return None
    if isinstance(record, OpRecord):
        return record.number
    numbers = numbers_at(look, origin)
    if numbers is None or len(np.unique(numbers)) < numbers.size / 2:
        return None
    return numbers.tobytes()[:4096]


def same_noise(facts: Facts) -> Iterator[Reason]:
    """Yield what is called noise and does not change."""
    known = facts[Noise]
    for key, numbers in known.by_name.items():
        if len(numbers) >= _CALLS and len({*numbers}) == 1:
            name, line = key[0], known.source[key]
            drawn = assigned(name, line.file) if line is not None else []
            yield SameNoise(
                name, len(numbers), source=line, other=drawn[0] if len(drawn) == 1 else None
            )


RULES: Final = (
    Rule(same_noise, Meaning(
        "same-noise", "warning", "noise is the same in each call",
        "A value that is called noise has the same numbers in all calls that check looked at (at "
        "least four).",
        "noise = torch.randn(64, 16)\nfor step in range(100):\n    fake = generator(noise)",
        "for step in range(100):\n    noise = torch.randn(64, 16)\n    fake = generator(noise)",
        "When a fixed set of random numbers is meant.",
    ), needs=(Noise,)),
)  # fmt: skip

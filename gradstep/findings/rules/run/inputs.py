"""Inputs and targets whose numbers have nothing to do with each other, or are the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from gradstep.contract.op_records import LeafRecord, OpRecord, Origin, Record, reachable
from gradstep.findings.facts.repeated import (
    RANDOM,
    Repeated,
    called,
    compared,
    is_data,
    numbers_at,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.recording.look import Look

_NUMBERS: Final = 64
_ROWS: Final = 8
_MADE_BY: Final = ("stack", "cat", "index")


@dataclass(frozen=True)
class FreshTarget(Reason):
    """A target is random numbers that were drawn beside those in the input."""

    code = "fresh-target"
    blames_line = True
    other_is = "the noise in the input at"
    name: str
    drawn: str

    def text(self) -> str:
        whose = f"the target {self.name}" if self.name else "the target"
        return (
            f"{whose} is new random numbers from {self.drawn}(), and the input does not depend on "
            "them: it has noise of its own, so no network can predict this target"
        )

    def remedy(self) -> str:
        return "draw the noise once, and use it in the input and as the target"


class FreshTargets(Repeated):
    """Targets that an op has drawn at random, of predictions from data to which another op's
    numbers, of the same shape, were added."""

    def find(self, look: Look) -> Iterator[Reason]:
        for op, prediction, target in compared(look):
            drawn = past_views(target)[0]
            if not isinstance(drawn, OpRecord) or drawn.name not in RANDOM:
                continue
            if not drawn.dtype.startswith("float"):
                continue  # labels of data that are made up
            behind = reachable([prediction[0]])
            if drawn in behind:
                continue
            others = [
                record
                for record in behind
                if _is_random(record)
                and record.source != drawn.source
                and shape_of((record, 0)) == shape_of((drawn, 0))
            ]
            if others and any(_adds(record, others) for record in behind):
                yield FreshTarget(
                    called(look, target), drawn.name, source=op.source, other=others[-1].source
                )
                return


def _is_random(record: Record) -> bool:
    return isinstance(record, OpRecord) and record.name in RANDOM


def _adds(record: Record, noise: list[Record]) -> bool:
    """Return whether an op without a gradient adds noise, perhaps scaled, to something else."""
    if not isinstance(record, OpRecord) or record.name not in ("add", "sub"):
        return False
    given = [each for each in record.inputs if isinstance(each, tuple)]
    is_noise = [any(part in noise for part in reachable([each[0]])) for each in given]
    return len(given) == 2 and sorted(is_noise) == [False, True]


@dataclass(frozen=True)
class EqualInputs(Reason):
    """Two inputs that were made apart are equal."""

    code = "equal-inputs"
    blames_line = True
    first: str
    second: str
    both: str

    def text(self) -> str:
        return (
            f"{self.first} and {self.second} have the same numbers in all batches: what "
            f"{self.both} makes of the one always equals what it makes of the other"
        )

    def remedy(self) -> str:
        return (
            f"look at where {self.first} and {self.second} come from: draw two views "
            "separately, and copy a state that keeps changing before you store it"
        )


class EqualOnes(Repeated):
    """Two inputs of a graph, of one shape, that have a name and are made by two ops, are no
    targets, and have equal numbers that vary."""

    at_least = 3
    share = 0.5  # a batch may have been made while nothing was traced

    def find(self, look: Look) -> Iterator[Reason]:
        targets = {past_views(target)[0] for _, _, target in compared(look)}
        entering: dict[Origin, OpRecord] = {}
        for record in look.records:
            if isinstance(record, OpRecord) and record.requires_grad:
                for given in record.inputs:
                    if isinstance(given, tuple) and is_data(given):
                        entering.setdefault(past_views(given), record)
        known = [
            (origin, record, numbers)
            for origin, record in entering.items()
            if (isinstance(origin[0], LeafRecord) or origin[0].name in _MADE_BY)
            and origin[0] not in targets
            and (numbers := numbers_at(look, _given(record, origin), 1 << 16)) is not None
            and numbers.size >= _NUMBERS
            and numbers.dtype.kind == "f"
            and len(numbers) >= _ROWS
        ]
        for at, (one, record, numbers) in enumerate(known):
            for other, _, others in known[at + 1 :]:
                names = called(look, one), called(look, other)
                if (
                    all(names)
                    and names[0] != names[1]
                    and numbers.shape == others.shape
                    and np.array_equal(numbers, others)
                    and numbers.std(axis=0).max() > 0
                ):
                    yield EqualInputs(
                        *names, record.scope.path or record.name, source=record.source
                    )
                    return


def _given(record: OpRecord, origin: Origin) -> Origin:
    return next(
        each for each in record.inputs if isinstance(each, tuple) and past_views(each) == origin
    )


RULES: Final = (
    Rule(rule_of(FreshTargets), Meaning(
        "fresh-target", "warning", "the target is random numbers that the input does not have",
        "It was drawn separately from the noise of the input, in all calls that check looked at.",
        "noise = torch.randn_like(x)\nloss = F.mse_loss(net(x + torch.randn_like(x)), noise)",
        "noise = torch.randn_like(x)\nloss = F.mse_loss(net(x + noise), noise)",
        "When the output should not depend on the input.",
    ), needs=(FreshTargets,)),
    Rule(rule_of(EqualOnes), Meaning(
        "equal-inputs", "warning", "two inputs are equal in all batches",
        "They were created separately, like two fields of a batch, and have the same numbers.",
        "view = augment(x)\nreturn view, view", "return augment(x), augment(x)",
        "When they should be the same.",
    ), needs=(EqualOnes,)),
)  # fmt: skip

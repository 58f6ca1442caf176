"""What the forward pass of each call shows, where that is so in all calls of a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.op_records import LeafRecord, OpRecord, Origin
from gradstep.findings.facts import Fact, Forward, Numbers
from gradstep.findings.finding import Reason
from gradstep.graph.model import Source
from gradstep.recording.look import Look

Array = NDArray[Any]
LOSSES: Final = (
    "nll_loss_forward", "nll_loss2d_forward", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss",
    "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy",
)  # fmt: skip
"""Ops that compare a prediction with a target, in this order."""
OF_CLASSES: Final = ("nll_loss_forward", "nll_loss2d_forward", "nll_loss", "cross_entropy")
VIEWS: Final = (
    "view", "reshape", "_unsafe_view", "unsafe_view", "squeeze", "unsqueeze", "flatten", "clone",
    "to", "cast", "_to_copy", "detach", "alias", "transpose", "permute", "t", "expand", "slice",
    "select",
)  # fmt: skip
"""Ops that move numbers, and do not change them."""
RANDOM: Final = (
    "randn", "rand", "randint", "normal", "uniform", "bernoulli", "randperm", "multinomial",
    "exponential", "randn_like", "rand_like", "randint_like",
)  # fmt: skip


class Compared(NamedTuple):
    """An op that compares, and what it compares."""

    op: OpRecord
    prediction: Origin
    target: Origin


def compared(look: Look) -> Sequence[Compared]:
    """Return the comparisons of a forward pass: losses of the library, and squares and sizes of
    differences, of something that learns with something that does not."""
    known: Sequence[Compared] | None = look.kept.get("compared")
    if known is None:
        known = look.kept["compared"] = list(_compared(look))
    return known


def _compared(look: Look) -> Iterator[Compared]:
    differences: dict[OpRecord, Compared] = {}
    for record in look.records:
        if not isinstance(record, OpRecord) or not record.requires_grad:
            continue
        given = [each for each in record.inputs if isinstance(each, tuple)]
        if record.name in LOSSES and len(given) > 1 and not given[1][0].requires_grad:
            yield Compared(record, given[0], given[1])
        elif record.name in ("sub", "rsub") and len(given) == 2:
            learning = [each for each in given if each[0].requires_grad]
            others = [each for each in given if not each[0].requires_grad]
            if len(learning) == 1 and shape_of(learning[0]) == shape_of(others[0]):
                differences[record] = Compared(record, learning[0], others[0])
        elif record.name in ("pow", "square", "abs") and given and given[0][0] in differences:
            difference = differences[given[0][0]]
            yield difference._replace(op=record)


def shape_of(origin: Origin) -> tuple[int, ...]:
    """Return the shape of a value."""
    record, nr = origin
    if isinstance(record, LeafRecord):
        return record.shape
    return record.shapes[nr] if nr < len(record.shapes) else ()


def is_data(origin: Origin) -> bool:
    """Return whether a value comes from outside of the graph, and is no parameter."""
    record = origin[0]
    if record.requires_grad:
        return False
    tensor: Any = record.tensor() if isinstance(record, LeafRecord) else None
    return not getattr(tensor, "is_parameter", False)


def past_views(origin: Origin, views: tuple[str, ...] = VIEWS) -> Origin:
    """Return what the numbers of a value were before they were only moved."""
    while isinstance(origin[0], OpRecord) and origin[0].name in views:
        first = next(iter(origin[0].inputs), None)
        if not isinstance(first, tuple):
            break
        origin = first
    return origin


def called(look: Look, origin: Origin) -> str:
    """Return what the program calls a value, or one of which it is a view; "" where nothing."""
    names = _names(look)
    while True:
        record = origin[0]
        if record in names:
            return names[record]
        if not isinstance(record, OpRecord) or record.name not in VIEWS or not record.inputs:
            return ""
        first = record.inputs[0]
        if not isinstance(first, tuple):
            return ""
        origin = first


def _names(look: Look) -> dict[object, str]:
    known: dict[object, str] | None = look.kept.get("names")
    if known is None:
        known = look.kept["names"] = {}
        reading = look.engine.reading
        for tensor in look.names.tensors():
            if not reading.owns(tensor):
                continue
            for seen in reading.tensors([tensor]):
                if isinstance(seen.record, tuple):
                    known.setdefault(seen.record[0], look.names.of(tensor))
    return known


def numbers_at(look: Look, origin: Origin, most: int = 1 << 20) -> Array | None:
    """Return the numbers of a value, None where they are unknown, or more than ``most``."""
    size = int(np.prod(shape_of(origin), dtype=np.int64))
    if not 0 < size <= most:
        return None
    known: dict[Origin, Array | None] = look.kept.setdefault("numbers", {})
    if origin not in known:
        known[origin] = look.values.array(origin)
    return known[origin]


class Repeated(Fact):
    """Reasons that :meth:`find` yields in a call, and in how many calls of its line.

    A kind of it is a rule's own: it says what to look for in one forward pass, and the rule
    believes it where it is so in all calls. Amounts are no part of what is equal.
    """

    needs = (Forward, Numbers)
    at_least: ClassVar[int] = 2
    """Calls that have to show it."""
    most: ClassVar[int] = 6
    """Calls of a line that are looked at: what is so in all of these is so."""
    share: ClassVar[float] = 1.0
    """The share of these calls that have to show it."""

    def __init__(self) -> None:
        self.calls: Counter[Source | None] = Counter()
        self.found: Counter[tuple[Source | None, Reason]] = Counter()

    def find(self, look: Look) -> Iterator[Reason]:
        """Yield what a forward pass shows."""
        raise NotImplementedError

    def closely(self, look: Look) -> None:
        if look.is_traced and not look.call.is_grad and self.calls[look.line] < self.most:
            self.calls[look.line] += 1
            for reason in dict.fromkeys(self.find(look)):
                self.found[look.line, reason] += 1

    def always(self) -> Iterator[Reason]:
        """Yield what all calls of a line show, or their ``share``, the first of each mistake."""
        told = set()
        for (line, reason), count in self.found.items():
            is_usual = count >= self.share * self.calls[line] and count >= self.at_least
            if is_usual and reason not in told:
                told.add(reason)
                yield reason


def rule_of(kind: type[Repeated]) -> Any:
    """Return what finds, as a rule, what is so in all calls of a line."""

    def find(facts: Any) -> Iterator[Reason]:
        yield from facts[kind].always()

    return find

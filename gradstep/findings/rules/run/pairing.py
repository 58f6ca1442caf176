"""Items of data that meet where they should not: inputs beside the targets of other items, targets
among the inputs, the same items in each call, and data that are changed where they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from gradstep.contract.op_records import OpRecord, Origin, Record
from gradstep.findings.facts import Fact, Facts, Forward, Numbers
from gradstep.findings.facts.provenance import CHANGING, Items, Places, inputs_of, items, places
from gradstep.findings.facts.repeated import (
    Repeated,
    called,
    compared,
    numbers_at,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import not_in_place
from gradstep.graph.model import Source
from gradstep.recording.look import Look

_ROWS: Final = 4
_SHARE: Final = 0.5
_FEW: Final = 4  # times as many numbers as a target, of which an input has more
_CALLS: Final = 4
_ALIKE: Final = 0.999
_BATCHES: Final = 6
_AGAIN: Final = 6
"""Times that an item is drawn in few batches, and times as many items as are drawn."""


@dataclass(frozen=True)
class RowsApart(Reason):
    """The rows of an ``input`` and of a ``target`` are other items of data of one length; ``row``
    is the first of which that is so, with the item of each."""

    code = "rows-apart"
    severity = "info"
    other_is = "the targets at"
    input: str
    target: str
    row: int = field(compare=False)
    items: tuple[int, int] = field(compare=False)
    count: int = field(compare=False)

    def text(self) -> str:
        of_input, of_target = self.items
        targets, inputs = f"the targets {self.target}".rstrip(), f"the inputs {self.input}".rstrip()
        return (
            f"{targets} are those of other items than {inputs}: row {self.row} of a batch is item "
            f"{of_input:,} of {self.count:,} here, and has the target of item {of_target:,}"
        )

    def remedy(self) -> str:
        return "choose both by the same indices: order = torch.randperm(n); x[order], y[order]"


@dataclass(frozen=True)
class TargetAmongInputs(Reason):
    """An ``input`` has the numbers of a ``target`` in its rows, from ``column`` on."""

    code = "target-in-input"
    other_is = "the target at"
    input: str
    target: str
    column: int
    columns: int = field(compare=False)

    def text(self) -> str:
        given, target = f"the input {self.input}".rstrip(), f"the target {self.target}".rstrip()
        return (
            f"{given} has {target} in each row: number "
            f"{self.column} of {self.columns} is what the loss asks for"
        )

    def remedy(self) -> str:
        return "take the target out of the input: the output only has to copy it"


class Apart(Repeated):
    """What the rows of inputs and of targets have to do with each other."""

    share = _SHARE

    def find(self, look: Look) -> Iterator[Reason]:
        targets = [target for _, _, target in compared(look)]
        given = [each for each in inputs_of(look) if each[0] not in {one[0] for one in targets}]
        for target in dict.fromkeys(targets):
            shape = shape_of(target)
            if not shape or shape[0] < _ROWS:
                continue
            inputs = [each for each in given if shape_of(each)[0] == shape[0]]
            yield from _apart(look, target, inputs)
            yield from _among(look, target, inputs)


def _apart(look: Look, target: Origin, inputs: list[Origin]) -> Iterator[Reason]:
    of_target = items(look, target)
    if of_target is None or of_target.long == len(of_target.rows):
        return  # of a batch that was mixed up on purpose
    others: list[tuple[Origin, Items]] = []
    for each in inputs:
        known = items(look, each)
        if known is None or known.long != of_target.long:
            continue
        shift = np.unique(known.rows - of_target.rows)
        if len(shift) <= 2:  # the same, or the next ones of a series
            return
        others.append((each, known))
    for each, known in others[:1]:
        differ = known.rows != of_target.rows
        if known.data is of_target.data or differ.mean() < _SHARE:
            return
        row = int(differ.argmax())
        yield RowsApart(
            called(look, each), called(look, target), row,
            (int(known.rows[row]), int(of_target.rows[row])), known.long,
            source=_made_at(each), other=_made_at(target),
        )  # fmt: skip


def _made_at(origin: Origin) -> Source | None:
    """Return the line that chooses the rows of a value."""
    while isinstance(origin[0], OpRecord) and origin[0].name not in _CHOOSING:
        first = next(iter(origin[0].inputs), None)
        if not isinstance(first, tuple):
            break
        origin = first
    return origin[0].source


_CHOOSING: Final = ("index", "index_select", "stack")


def _among(look: Look, target: Origin, inputs: list[Origin]) -> Iterator[Reason]:
    wanted, chosen = places(look, target), items(look, target)
    if wanted is None or chosen is None or chosen.long == len(chosen.rows):
        return  # numbers that were made for this call, as those of an exercise
    wanted = wanted.reshape(len(wanted), -1)
    for each in inputs:
        here = places(look, each)
        if here is None or here.size < _FEW * wanted.size:
            continue
        rows = here.reshape(len(here), -1)
        at = [np.flatnonzero(rows[row] == wanted[row, 0])[:1] for row in range(len(rows))]
        if all(map(len, at)) and _is_copy(look, each, target, np.concatenate(at)):
            yield TargetAmongInputs(
                called(look, each), called(look, target), int(at[0][0]), rows.shape[1],
                source=past_views(each)[0].source or look.line,
                other=past_views(target)[0].source,
            )  # fmt: skip
            return


def _is_copy(look: Look, given: Origin, target: Origin, at: Places) -> bool:
    """Return whether the numbers there follow from each other: nothing has masked them since."""
    numbers, wanted = numbers_at(look, given), numbers_at(look, target)
    if numbers is None or wanted is None:
        return False
    first = np.asarray(numbers.reshape(len(at), -1)[np.arange(len(at)), at], np.float64)
    other = np.asarray(wanted.reshape(len(at), -1)[:, 0], np.float64)
    if numbers.dtype.kind in "iu" and wanted.dtype.kind in "iu":
        return False  # to recall one of several tokens is a task
    if not (first.std() > 0 and other.std() > 0):
        return False
    return bool(abs(np.corrcoef(first, other)[0, 1]) > _ALIKE)


class Batch(NamedTuple):
    """The rows of a target as items of data so ``long``, and the number of what joined them."""

    maker: int
    long: int
    rows: tuple[int, ...]
    name: str


class Batches(Fact):
    """The items in the batches that a loader made, by the line of the loss, and data that are
    changed in place: by their first record, each line that does so, and in how many calls."""

    needs = (Forward, Numbers)

    def __init__(self) -> None:
        self.by_line: dict[Source | None, list[Batch]] = {}
        self.changed: dict[int, dict[Source | None, set[int]]] = {}
        self._last = -1

    def closely(self, look: Look) -> None:
        if not look.is_traced or look.call.is_grad:
            return
        for op, _, target in compared(look):
            maker, known = past_views(target)[0], items(look, target)
            if known is not None and isinstance(maker, OpRecord) and maker.name == "stack":
                batch = Batch(
                    maker.number, known.long, tuple(known.rows.tolist()), called(look, target)
                )
                self.by_line.setdefault(op.source, []).append(batch)
        used = {each.data for one in inputs_of(look) if (each := items(look, one)) is not None
                and len(each.rows) < each.long}  # fmt: skip
        for record in look.records if used else ():
            if record.number > self._last and _changes(record):
                known = items(look, (record, 0))
                if known is not None and known.data in used:
                    lines = self.changed.setdefault(known.data.number, {})
                    lines.setdefault(record.source, set()).add(look.facts.index)
        self._last = max((record.number for record in look.records), default=self._last)


def _changes(record: Record) -> bool:
    """Return whether an op makes, through a view, other numbers of those that were there."""
    in_place = isinstance(record, OpRecord) and record.attributes.get("in place through a view")
    return bool(in_place) and isinstance(record, OpRecord) and record.name in CHANGING


@dataclass(frozen=True)
class SameBatch(Reason):
    """Each call has a batch of its own, and all have the same items, ``rows`` of ``count``."""

    code = "same-batch"
    helps = (
        "go through the loader, for x, y in loader: next(iter(loader)) begins with its first batch "
        "each time"
    )
    name: str
    rows: int = field(compare=False)
    count: int = field(compare=False)
    batches: int = field(compare=False)

    def text(self) -> str:
        whose = f"the targets {self.name}" if self.name else "the targets"
        return (
            f"{whose} of {self.batches} batches are the same {self.rows:,} of {self.count:,} "
            "items: the loop makes a new batch for each call, and never gets to the others"
        )


@dataclass(frozen=True)
class FewItems(SameBatch):
    """All batches have items of a few, ``rows`` of ``count``."""

    helps = "look at which index chooses an item, and at what the loader draws"

    def text(self) -> str:
        whose = f"the targets {self.name}" if self.name else "the targets"
        return (
            f"{whose} of {self.batches} batches come from {self.rows:,} of {self.count:,} items "
            "again and again: nothing gets to the others"
        )


@dataclass(frozen=True)
class DataChanged(Reason):
    """A line changes data in place, of which batches are taken, in several calls."""

    code = "data-changed"
    keeps_loss = True
    shown: int = field(compare=False)

    def text(self) -> str:
        return (
            f"this line changes the data themselves, and {self.shown} batches were taken from "
            "them: an item is a view of them, so that each epoch adds to the changes of the "
            "previous one"
        )

    def remedy(self) -> str:
        return "change a copy: x = x + noise makes a new tensor, and x += noise does not"

    def fix(self) -> tuple[Fix, ...]:
        return not_in_place(self.source)


def same_batch(facts: Facts) -> Iterator[Reason]:
    """Yield losses whose batches, four at least, are made anew and have the same items, half of
    all at most."""
    for line, batches in facts[Batches].by_line.items():
        first = batches[0]
        if (
            len({batch.maker for batch in batches}) >= _CALLS
            and len({(batch.long, batch.rows) for batch in batches}) == 1
            and 2 * len(set(first.rows)) <= first.long
        ):
            yield SameBatch(first.name, len(first.rows), first.long, len(batches), source=line)
            continue
        items_used = {row for batch in batches for row in batch.rows}
        drawn = sum(len(batch.rows) for batch in batches)
        half = len(batches) // 2
        later = {row for batch in batches[half:] for row in batch.rows}
        if (
            len(batches) >= _BATCHES
            and len({batch.long for batch in batches}) == 1
            and drawn >= _AGAIN * len(items_used)
            and _AGAIN * len(items_used) <= first.long
            and later <= {row for batch in batches[:half] for row in batch.rows}
        ):
            yield FewItems(first.name, len(items_used), first.long, len(batches), source=line)


def data_changed(facts: Facts) -> Iterator[Reason]:
    """Yield lines that change data in place through views of their items, in two calls or more."""
    for lines in facts[Batches].changed.values():
        for source, calls in lines.items():
            if len(calls) > 1:
                yield DataChanged(len(calls), source=source)


RULES: Final = (
    Rule(rule_of(Apart), Meaning(
        "rows-apart", "info", "inputs get the targets of other items",
        "Both are chosen from data of the same length, by different indices.",
        "x, y = x[torch.randperm(n)], y[torch.randperm(n)]",
        "order = torch.randperm(n)\nx, y = x[order], y[order]",
        "When the targets should not depend on the inputs, as in a test against chance.",
    ), Meaning(
        "target-in-input", "warning", "the input has the target in it",
        "Each row of it has the same numbers of the same data, and at least four times as many.",
        "x, y = table, table[:, -1]", "x, y = table[:, :-1], table[:, -1]",
        "When the network should learn to copy a part of its input.",
    ), needs=(Apart,)),
    Rule(same_batch, Meaning(
        "same-batch", "warning", "each call makes a new batch of the same items",
        "This holds in all calls that check looked at (at least four), and "
        "there are at least twice as many items; or six calls have items of a few.",
        "for step in range(100):\n    x, y = next(iter(loader))", "for x, y in loader:",
        "When the network should memorize one batch, as a test of the program.",
    ), needs=(Batches,)),
    Rule(data_changed, Meaning(
        "data-changed", "warning", "data are changed in place, again and again",
        "A line changes an item through a view of the stored data, and batches "
        "come from these data.",
        "x = self.x[i]\nx += noise", "x = self.x[i] + noise",
        "When the data are a state of the program, like the buffer of an agent.",
    ), needs=(Batches,)),
)  # fmt: skip

"""What a person would look at first who knows nothing of a run: losses, data, steps, sizes, modes,
leftovers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from gradstep.contract.events import Events, Scheduled, Stepped
from gradstep.findings.facts.data import Data
from gradstep.findings.facts.history import History, histories, lines_of
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.run import Run
from gradstep.text import listed, plural

_MOST = 3  # lines, and names, that are shown
_VALUES = 20  # losses of a line, as data


class Losses(NamedTuple):
    """The losses of the calls on a line, which may have no name; ``values`` are those of some, the
    first and the last among them, each with the place of its call among all."""

    at: Source | None
    calls: int
    first: float
    last: float
    lowest: float
    values: tuple[tuple[int, float], ...]


class Steps(NamedTuple):
    """How often an optimizer or a scheduler has stepped, and the first and the last learning rate,
    None of a scheduler."""

    name: str
    kind: str
    times: int
    first: float | None
    last: float | None


class Sizes(NamedTuple):
    """The smallest and the largest of some sizes, and whose they are."""

    smallest: float
    of_smallest: str
    largest: float
    of_largest: str


@dataclass(frozen=True)
class Overview:
    """What the calls of a run show, without a judgement.

    Attributes:
        losses: by the lines that made the calls.
        data: the program's data, in the calls that were looked at.
        steps: what optimizers and schedulers did.
        gradients: root mean squares, in the last call that came to each leaf.
        updates: by how much of its size a leaf moved until then, in the last call that tells.
        training, evaluation: modules in these modes, by their paths, in the last call.
        without_gradient: the leaves that an optimizer has, and to which no call came.
        unchanged: the leaves that were the same in each call.
    """

    losses: tuple[Losses, ...]
    data: tuple[Data, ...]
    steps: tuple[Steps, ...]
    gradients: Sizes | None
    updates: Sizes | None
    training: tuple[str, ...]
    evaluation: tuple[str, ...]
    without_gradient: tuple[str, ...]
    unchanged: tuple[str, ...]

    def rows(self) -> Iterator[str]:
        """Say it, in a line for each fact."""
        for losses in self.losses[:_MOST]:
            where = f" of {losses.at.place}" if len(self.losses) > 1 and losses.at else ""
            first, last, lowest = map(format_number, losses[2:5])
            if losses.calls == 1:
                yield f"loss{where}: {first}"
            else:
                yield f"loss{where}: {first} to {last} in {losses.calls:,} calls, {lowest} at best"
        if self.data:
            yield f"data: {_some([_about_data(each) for each in self.data])}"
        if self.steps:
            yield f"steps: {_some([_about_steps(each) for each in self.steps])}"
        if self.gradients is not None:
            yield f"gradients: rms {_from_to(self.gradients)}"
        if self.updates is not None:
            yield f"updates: {_from_to(self.updates)} of the size of a leaf, from call to call"
        if self.training or self.evaluation:
            modes = [("training", self.training), ("evaluation", self.evaluation)]
            yield f"modes: {'; '.join(f'{mode}: {_some(names)}' for mode, names in modes if names)}"
        if self.without_gradient:
            yield f"without a gradient: {_some(self.without_gradient)}"
        if self.unchanged:
            yield f"never changed: {_some(self.unchanged)}"

    def json(self) -> dict[str, Any]:
        """Return it as data, without the losses."""
        known = {each.name: getattr(self, each.name) for each in fields(self)}
        del known["losses"]
        return known


def overview(run: Run, data: Iterable[Data] = ()) -> Overview:
    """Return what the calls of a run show, whose ``data`` are known."""
    every = list(histories(run))
    reached = {history.leaf.number for history in every}
    held = dict.fromkeys(number for group in run.training.groups for number in group.leaves)
    modes = dict(_modes(every))
    sizes = [(size, one.leaf.name) for one in every if (size := one.seen[-1].gradient)]
    last = [next((seen for seen in reversed(one.seen) if seen.follows), None) for one in every]
    moved = [
        (share, one.leaf.name)
        for one, seen in zip(every, last, strict=True)
        if seen is not None and (share := seen.moved)
    ]
    return Overview(
        tuple(_losses(run)), tuple(data), tuple(_steps(run.events)), _sizes(sizes),
        _sizes(moved),
        tuple(name for name, training in modes.items() if training),
        tuple(name for name, training in modes.items() if not training),
        tuple(run.leaves[number].name for number in held if number not in reached),
        tuple(one.leaf.name for one in every if _is_unchanged(one)),
    )  # fmt: skip


def _losses(run: Run) -> Iterator[Losses]:
    for line, calls in lines_of(run):
        values = [(call.index, call.loss) for call in calls if call.loss is not None]
        if values:
            known = [loss for _, loss in values]
            shown = tuple(values[place] for place in evenly(len(values), _VALUES))
            yield Losses(line, len(calls), known[0], known[-1], min(known), shown)


def _steps(events: Events) -> Iterator[Steps]:
    by_optimizer: dict[int, list[Stepped]] = {}
    for step in events.of(Stepped):
        by_optimizer.setdefault(id(step.thing), []).append(step)
    for first, *others in by_optimizer.values():
        rates = [next(iter(step.rates), None) for step in (first, (first, *others)[-1])]
        yield Steps(events.name(first.thing), first.kind, 1 + len(others), *rates)
    by_scheduler: dict[int, list[Scheduled]] = {}
    for event in events.of(Scheduled):
        by_scheduler.setdefault(id(event.thing), []).append(event)
    for made, *later in by_scheduler.values():  # it steps when it is made
        yield Steps(events.name(made.thing), made.kind, len(later), None, None)


def evenly(count: int, most: int) -> list[int]:
    """Return the places of at most so many of ``count``, the first and the last among them.

    >>> evenly(3, 5), evenly(101, 3)
    ([0, 1, 2], [0, 50, 100])
    """
    if count <= most:
        return list(range(count))
    return [place * (count - 1) // (most - 1) for place in range(most)]


def _modes(every: Sequence[History]) -> Iterator[tuple[str, bool]]:
    """Yield the modules that own leaves, and their modes."""
    for history in every:
        training = history.seen[-1].facts.training
        if training is not None:
            yield history.leaf.name.rpartition(".")[0] or history.leaf.name, training


def _sizes(known: Sequence[tuple[float, str]]) -> Sizes | None:
    return Sizes(*min(known), *max(known)) if known else None


def _is_unchanged(history: History) -> bool:
    known = [seen.facts.update_rms for seen in history.seen]
    return len(known) > 1 and all(update == 0 for update in known[1:])


def _from_to(sizes: Sizes) -> str:
    low, high = format_number(sizes.smallest), format_number(sizes.largest)
    if sizes.of_smallest == sizes.of_largest:
        return f"{low} ({sizes.of_smallest})"
    return f"{low} ({sizes.of_smallest}) to {high} ({sizes.of_largest})"


def _about_data(data: Data) -> str:
    shape = ", ".join("*" if size is None else str(size) for size in data.shape)
    about = f"{data.name} {data.dtype} [{shape}]"
    if data.smallest is None or data.largest is None:
        return about
    return f"{about} {format_number(data.smallest)} to {format_number(data.largest)}"


def _about_steps(steps: Steps) -> str:
    named = f"{steps.name} ({steps.kind})" if steps.name else steps.kind
    rate = ""
    if steps.first is not None and steps.last is not None:
        first, last = format_number(steps.first), format_number(steps.last)
        rate = f" at {first}" if first == last else f" at {first} to {last}"
    return f"{named} {plural(steps.times, 'time')}{rate}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST:,} more" if len(names) > _MOST + 1 else ""
    return f"{', '.join(names[:_MOST])}{more}" if more else listed(names)

"""What optimizers keep of earlier steps and do not use, and gradients that two of them use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from gradstep.contract.events import Cleared, Passed, Stepped
from gradstep.contract.lookup import is_tensor
from gradstep.findings.facts import Fact, Facts, Objects
from gradstep.findings.facts.happened import Happened
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import assigned, assigned_items
from gradstep.graph.model import Source
from gradstep.guest.fence import attribute_of, variables_in
from gradstep.recording.look import Look

_LOOKS: Final = 3
_TIMES: Final = 3
_LIBRARIES: Final = ("torch.", "autograd_core.")
_MEANT: Final = {
    "learning_rate": "lr", "rate": "lr", "wd": "weight_decay", "decay": "weight_decay",
    "weightdecay": "weight_decay", "l2": "weight_decay", "beta": "betas", "epsilon": "eps",
}  # fmt: skip
_LIKE: Final = 0.8


@dataclass(frozen=True)
class StateNotKept(Reason):
    """An ``optimizer`` of the program's has a state that is 0 after many steps."""

    code = "lost-state"
    keeps_loss = True
    other_is = "the state is made here:"
    optimizer: str
    state: str

    def text(self) -> str:
        return (
            f"state[{self.state!r}] of {self.optimizer} is exactly 0 for each parameter after many "
            f"steps: what step() computes from {self.state} is never stored, so the next step "
            "begins from 0 again"
        )

    def remedy(self) -> str:
        return (
            f"change it in place, as {self.state}.mul_(...).add_(...), or assign it: "
            f"state[{self.state!r}] = {self.state}"
        )


@dataclass(frozen=True)
class SteppedTwice(Reason):
    """Two optimizers step with one gradient of the same leaves, each time."""

    code = "stepped-twice"
    keeps_loss = True
    first: str
    second: str

    def text(self) -> str:
        return (
            f"{self.named} {self.of('is', 'are')} in {self.first} and in {self.second}, and both "
            "step after the same backward(): each gradient changes "
            f"{self.of('it', 'them')} twice"
        )

    def remedy(self) -> str:
        return f"give {self.second} only what {self.first} does not have"


@dataclass(frozen=True)
class NotAnOption(Reason):
    """An ``optimizer`` has an option, or an attribute, that it does not read."""

    code = "misspelt"
    keeps_loss = True
    optimizer: str
    name: str
    meant: str
    of_group: bool

    def text(self) -> str:
        what = "a parameter group" if self.of_group else "an attribute"
        has = (
            f"{self.optimizer} has {what} with {self.name!r}"
            if self.of_group
            else (f"{self.optimizer} has an attribute {self.name}")
        )
        return f"{has}, which nothing reads: {self.meant!r} of its groups is meant"

    def remedy(self) -> str:
        if self.of_group:
            return f"write {self.meant!r}"
        return f'for group in {self.optimizer}.param_groups: group["{self.meant}"] = ...'


class OwnStates(Fact):
    """Of optimizers that the program itself defines: what they keep of each leaf, by name, and
    whether it was 0 in each look."""

    def __init__(self) -> None:
        self.looks: dict[tuple[str, str], list[bool]] = {}
        self.kinds: dict[str, Any] = {}

    def closely(self, look: Look) -> None:
        numbers = look.engine.numbers
        for name, optimizer in look.names.optimizers.items():
            if numbers is None or type(optimizer).__module__.startswith(_LIBRARIES):
                continue
            self.kinds[name] = type(optimizer)
            zero: dict[str, bool] = {}
            state = attribute_of(optimizer, "state")
            for leaf, kept in list(state.items()) if isinstance(state, dict) else ():
                if not is_tensor(leaf) or not isinstance(kept, dict):
                    continue
                for key, value in kept.items():
                    if is_tensor(value) and value.shape == leaf.shape:
                        known = numbers.all_statistics([value])[0]
                        is_zero = known is not None and known.zeros == known.size > 0
                        zero[key] = zero.get(key, True) and is_zero
            for key, is_zero in zero.items():
                self.looks.setdefault((name, key), []).append(is_zero)


def lost_states(facts: Facts) -> Iterator[Reason]:
    """Yield states that are 0 after three looks or more at calls between which an optimizer of the
    program's own steps. Wrong where a state begins to count late."""
    states, file = facts[OwnStates], facts.file
    for (optimizer, key), looks in states.looks.items():
        if len(looks) < _LOOKS or not all(looks):
            continue
        lines = [*assigned(key, file), *assigned_items(key, file)]
        made = assigned_items(key, file)
        last = max(assigned(key, file), default=None)
        yield StateNotKept(
            optimizer, key, source=last or (lines[0] if lines else facts.line),
            other=made[0] if made and last else None,
        )  # fmt: skip


def stepped_twice(facts: Facts) -> Iterator[Reason]:
    """Yield leaves that two optimizers have, both of which step between two calls. Wrong where one
    optimizer is a part of the other."""
    happened = facts[Happened]
    pairs: dict[tuple[int, int], list[tuple[Stepped, Stepped]]] = {}
    since: list[Stepped] = []
    for event in happened.of(Passed, Cleared, Stepped):
        if not isinstance(event, Stepped):
            since = [
                step for step in since
                if isinstance(event, Cleared) and not step.leaves & event.leaves
            ]  # fmt: skip
            continue
        for before in since:
            if before.thing is not event.thing and before.leaves & event.leaves:
                pairs.setdefault((id(before.thing), id(event.thing)), []).append((before, event))
        since.append(event)
    for times in pairs.values():
        first, second = times[-1]
        if len(times) < _TIMES or _is_part(first, second) or first.source == second.source:
            continue
        shared = [name for id in second.leaves & first.leaves if (name := happened.leaf(id))]
        if shared:
            yield SteppedTwice(
                happened.name(first.thing, f"the {first.kind}"),
                happened.name(second.thing, f"the {second.kind}"), leaves=tuple(sorted(shared)),
                source=second.source, other=first.source,
            )  # fmt: skip


def _is_part(first: Stepped, second: Stepped) -> bool:
    """Return whether one of two optimizers may let the other step: what it is made of knows that,
    or has its groups, or it is of a library."""
    things = [step.thing() for step in (first, second) if step.thing is not None]
    if len(things) < 2 or None in things:
        return True
    one, other = things
    return (
        one in variables_in(other).values()
        or other in variables_in(one).values()
        or attribute_of(one, "param_groups") is attribute_of(other, "param_groups")
    )


def not_options(facts: Facts) -> Iterator[Reason]:
    """Yield options of PyTorch's own optimizers that these do not have, and nearly have."""
    line = facts.line
    for name, optimizer in facts.names.optimizers.items():
        defaults = attribute_of(optimizer, "defaults")
        if not type(optimizer).__module__.startswith(_LIBRARIES) or not isinstance(defaults, dict):
            continue
        groups = attribute_of(optimizer, "param_groups") or ()
        own = {key for group in groups for key in group if isinstance(key, str)}
        attributes = {
            key for key in variables_in(optimizer)
            if key in defaults and attribute_of(type(optimizer), key) is None
        }  # fmt: skip
        for key in sorted(own - {*defaults, "params", "param_names"}):
            meant = _MEANT.get(key) or next(
                iter(get_close_matches(key, list(defaults), 1, _LIKE)), None
            )
            if meant is not None and meant in defaults and not key.startswith(_OF_SCHEDULERS):
                at = _names(key, line)
                yield NotAnOption(name, key, meant, of_group=True, source=at or line)
        for key in sorted(attributes):
            at = next(iter(assigned(key, line.file)), None) if line is not None else None
            yield NotAnOption(name, key, key, of_group=False, source=at or line)


_OF_SCHEDULERS: Final = ("initial_", "max_", "min_", "base_", "swa_", "last_")


def _names(key: str, line: Source | None) -> Source | None:
    found = assigned_items(key, line.file) if line is not None else []
    return found[0] if found else None


RULES: Final = (
    Rule(lost_states, Meaning(
        "lost-state", "warning", "an optimizer loses its state of earlier steps",
        "Its state never changes: step() computes a new one and does not store it.",
        'velocity = 0.9 * velocity + p.grad', 'velocity.mul_(0.9).add_(p.grad)',
        "When each phase should start from scratch.",
    ), needs=(Objects, OwnStates)),
    Rule(stepped_twice, Meaning(
        "stepped-twice", "warning", "two optimizers use the same gradient",
        "Both have these leaves, and both step after the same backward().",
        "opt = Adam(net.parameters())\nhead = SGD(net.head.parameters())",
        "opt = Adam(net.body.parameters())\nhead = SGD(net.head.parameters())",
        "When each leaf should take two steps.",
    ), needs=(Happened,)),
    Rule(not_options, needs=(Objects,), code="misspelt"),
)  # fmt: skip

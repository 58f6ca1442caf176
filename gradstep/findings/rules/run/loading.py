"""States that modules load: which do not fit, or are what the module has already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gradstep.contract.events import Entry, Loaded, StateTaken, Stepped
from gradstep.findings.facts import Facts
from gradstep.findings.facts.happened import Happened
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.text import listed, plural

_MOST: Final = 3  # names that are shown


@dataclass(frozen=True)
class NotLoaded(Reason):
    """A ``module`` got none of its ``missing`` tensors from a state that has ``others`` of these
    shapes; ``prefix`` stands before the names ``of`` the state, or of the module."""

    code = "not-loaded"
    keeps_loss = False
    marks = ("load_state_dict",)
    module: str
    missing: tuple[str, ...]
    others: tuple[str, ...]
    loaded: int
    prefix: str
    of: str  # type: ignore[assignment]  # whose names begin with the prefix

    def text(self) -> str:
        what = "nothing" if not self.loaded else f"nothing for {_some(self.missing)}"
        why = f"the state has {_some(self.others)}"
        if not self.loaded:
            why = (
                f"its names are {_some(self.missing)}, and those of the state {_some(self.others)}"
            )
        return (
            f"load_state_dict(strict=False) loaded {what} of {self.module}: {why}, so that these "
            "weights stay as they were initialized"
        )

    def remedy(self) -> str:
        if self.prefix and self.of == "state":
            cut = f'{{name.removeprefix("{self.prefix}"): value for name, value in state.items()}}'
            return f"take the prefix {self.prefix} off the names of the state: {cut}"
        if self.prefix:
            return f"put the prefix {self.prefix} before the names of the state"
        return "compare the names of both, and leave out strict=False, which hides mismatches"


@dataclass(frozen=True)
class OwnState(Reason):
    """A ``module`` loads the state that it gave at a line, which changed with each of ``steps``."""

    code = "loads-itself"
    keeps_loss = True
    other_is = "the state is taken here:"
    marks = ("load_state_dict", "state_dict")
    module: str
    steps: int

    def text(self) -> str:
        return (
            f"load_state_dict() changes nothing: state_dict() of {self.module} is not a copy, it "
            f"holds the parameters themselves, and {plural(self.steps, 'step')} changed them since"
        )

    def remedy(self) -> str:
        return "keep a copy: copy.deepcopy(model.state_dict())"


def not_loaded(facts: Facts) -> Iterator[Reason]:
    """Yield states of which a module took nothing, or nothing for a part of it although they have
    tensors of the same shapes under names that end alike. Wrong where such a part is meant to
    begin anew."""
    happened = facts[Happened]
    for event in happened.of(Loaded):
        pairs = _alike(event.missing, event.unexpected)
        none = not event.loaded and bool(event.missing)
        if not pairs and not none:
            continue
        missing = tuple(pairs) or tuple(name for name, _ in event.missing)
        others = tuple(pairs.values()) or tuple(name for name, _ in event.unexpected)
        if not others:  # an empty state, as of a module without parameters
            continue
        prefix, whose = _prefix(missing[0], others[0]) if pairs else ("", "")
        yield NotLoaded(
            happened.name(event.thing, f"the {event.kind}"), missing, others, event.loaded, prefix,
            whose, source=event.source,
        )  # fmt: skip


def _alike(missing: Sequence[Entry], unexpected: Sequence[Entry]) -> dict[str, str]:
    """Return, for names that a state lacks, those that it has of the same shape, and of which one
    ends with the other."""
    return {
        name: other
        for name, shape in missing
        for other, found in unexpected
        if shape == found and (other.endswith(f".{name}") or name.endswith(f".{other}"))
    }


def _prefix(name: str, other: str) -> tuple[str, str]:
    """Return what stands before one of two names, and whether that is of the "state"."""
    if len(other) > len(name):
        return other.removesuffix(name), "state"
    return name.removesuffix(other), "module"


def loads_itself(facts: Facts) -> Iterator[Reason]:
    """Yield modules that load the state which they gave before some steps, and which is not a copy.
    Wrong where the program has put other tensors into it since."""
    happened = facts[Happened]
    taken, steps = happened.of(StateTaken), happened.of(Stepped)
    for event in happened.of(Loaded):
        before = [
            one for one in taken
            if one.state == event.state and one.thing is event.thing and one.number < event.number
        ]  # fmt: skip
        if not before or event.missing or not event.own or event.own < event.loaded:
            continue
        since = [step for step in steps if before[-1].number < step.number < event.number]
        if since:
            yield OwnState(
                happened.name(event.thing, f"the {event.kind}"), len(since), source=event.source,
                other=before[-1].source,
            )  # fmt: skip


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    return f"{', '.join(names[:_MOST])} and {more} more" if more > 1 else listed(names)


RULES: Final = (
    Rule(not_loaded, Meaning(
        "not-loaded", "warning", "a loaded state does not fit",
        "load_state_dict(strict=False) skips names that it does not know. Here, it knows none of "
        "them, or the state has the tensors of a part under other names.",
        "net.load_state_dict(saved, strict=False)",
        'saved = {k.removeprefix("module."): v for k, v in saved.items()}\n'
        "net.load_state_dict(saved)",
        "When this part should start from scratch.",
    ), needs=(Happened,)),
    Rule(loads_itself, Meaning(
        "loads-itself", "warning", "a module loads the state that it already has",
        "state_dict() holds the parameters themselves. Each step changes the stored values.",
        "best = net.state_dict()", "best = copy.deepcopy(net.state_dict())",
        "When you want to show that nothing changes.",
    ), needs=(Happened,)),
)  # fmt: skip

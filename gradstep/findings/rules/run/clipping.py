"""Gradients that are clipped where no step uses what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gradstep.contract.events import Cleared, Clipped, Event, Passed, Stepped
from gradstep.findings.facts import Facts
from gradstep.findings.facts.happened import Happened
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.text import plural

_STEPS: Final = 3
"""Steps of an optimizer, none of which used a gradient that was clipped."""
When = Literal["before backward()", "after step()", "of tensors without a gradient", "of nothing"]


@dataclass(frozen=True)
class ClippedInVain(Reason):
    """A function has clipped gradients ``when`` no step could use that, each ``times``."""

    code = "clipping"
    keeps_loss = False
    function: str
    when: When
    times: int = 0

    def text(self) -> str:
        times = f"in all of {plural(self.times, 'call')}"
        match self.when:
            case "before backward()":
                return (
                    f"{self.function}() runs before backward(), {times}: it clips what is left "
                    "from the previous step, and no step uses a clipped gradient"
                )
            case "after step()":
                return (
                    f"{self.function}() runs after step(), {times}: no step uses a clipped gradient"
                )
            case "of nothing":
                return (
                    f"{self.function}() is given an iterator that has ended, {times}, and clips "
                    "nothing: what model.parameters() returns can be iterated over only once"
                )
        return (
            f"{self.function}() is given tensors none of which has a gradient, {times}, and clips "
            "nothing"
        )

    def remedy(self) -> str:
        if self.when == "of nothing":
            return "call parameters() again, or keep list(model.parameters())"
        if self.when == "of tensors without a gradient":
            return "give it the parameters that the optimizer has"
        return f"call {self.function}() after backward() and before step()"

    def calls(self) -> tuple[str, ...]:
        return (self.function,)


def clipped_in_vain(facts: Facts) -> Iterator[Reason]:
    """Yield functions that clip, three times or more, and never what a step then uses. Wrong where
    the program steps without an optimizer."""
    happened = facts[Happened]
    events = happened.of(Passed, Stepped, Cleared, Clipped)
    by_line: dict[tuple[Source | None, str], list[Clipped]] = {}
    for event in events:
        if isinstance(event, Clipped):
            by_line.setdefault((event.source, event.kind), []).append(event)
    for (line, function), clips in by_line.items():
        if len(clips) < _STEPS:
            continue
        when = _in_vain(events, clips)
        if when is not None:
            yield ClippedInVain(function, when, len(clips), source=line)


def _in_vain(events: Sequence[Event], clips: Sequence[Clipped]) -> When | None:
    if all(not clip.count for clip in clips):
        return "of nothing" if clips[0].was_iterator else None
    if all(not clip.leaves for clip in clips[1:]):
        count = sum(isinstance(event, Stepped) for event in events)
        # cleared before it runs, as where it stands between zero_grad() and backward()
        return _of_empty(events, clips) if count >= _STEPS else None
    every = frozenset[int]().union(*(clip.leaves for clip in clips))
    numbers = {clip.number for clip in clips}
    clean = used = False  # whether the gradients are as a clip left them; whether a step used such
    steps = after_a_step = 0
    last: Event | None = None
    for event in events:
        if isinstance(event, Passed) and event.leaves & every:
            clean, last = False, event
        elif isinstance(event, Cleared) and event.leaves & every:
            clean = False
        elif event.number in numbers:
            after_a_step += isinstance(last, Stepped)
            clean = True
        elif isinstance(event, Stepped) and event.leaves & every:
            steps, used, last = steps + 1, used or clean, event
    if used or steps < _STEPS:
        return None
    return "after step()" if after_a_step >= _STEPS else "before backward()"


def _of_empty(events: Sequence[Event], clips: Sequence[Clipped]) -> When:
    """Say when gradients are clipped of which there are none."""
    first = clips[1].number
    before = [event for event in events if event.number < first]
    last = next((e for e in reversed(before) if isinstance(e, Passed | Cleared)), None)
    return "of tensors without a gradient" if isinstance(last, Passed) else "before backward()"


RULES: Final = (
    Rule(clipped_in_vain, Meaning(
        "clipping", "warning", "gradients are clipped, but no step uses the clipped ones",
        "clip_grad_norm_() changes the current .grad. It has to run after backward() and before "
        "step(), on the parameters of the optimizer.",
        "nn.utils.clip_grad_norm_(net.parameters(), 1.0)\nloss.backward()\nopt.step()",
        "loss.backward()\nnn.utils.clip_grad_norm_(net.parameters(), 1.0)\nopt.step()",
        "When the program changes the leaves itself, without an optimizer.",
    ), needs=(Happened,)),
)  # fmt: skip

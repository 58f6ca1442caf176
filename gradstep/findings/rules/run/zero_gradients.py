"""Leaves whose gradient is exactly 0 in every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from gradstep.debugger.pass_session import PassSession
from gradstep.findings.facts import Fact, Facts, Graphs
from gradstep.findings.facts.history import History, histories, is_nothing, lines_of
from gradstep.findings.facts.learning import Learning
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.rules.run.zero_causes import zero_causes
from gradstep.findings.zeros import Cancels, PartUnused, ZeroLeaves
from gradstep.graph.model import Source
from gradstep.recording.facts import CallFacts
from gradstep.recording.look import Look
from gradstep.recording.run import Run

_CALLS = 5
"""Calls, the last ones, in which all gradients are 0."""
_LEARNED = 1e-6
"""A loss so small has nothing left to teach."""


class ZeroCauses(Fact):
    """Why gradients were 0, by the names of the leaves: of the first call on each line, and of the
    first call after one that sent nothing but zeros."""

    needs = (Graphs,)

    def __init__(self) -> None:
        self.by_leaf: dict[str, Reason | None] = {}

    def asked(self, look: Look, session: PassSession) -> None:
        self.by_leaf.update(zero_causes(session, look.names.of))


@dataclass(frozen=True)
class ZeroGradient(Reason):
    """The gradient of leaves is exactly 0 in all ``count`` calls, or ``since`` the one of a title;
    ``because`` of something, None where that is unknown."""

    keeps_loss = False
    code = "zero-grad"
    after = ("unchanged",)
    explained_here_by = ("out-of-reach",)
    count: int
    since: str
    because: Reason | None

    @property
    def is_cause(self) -> bool:
        return self.because is not None

    def text(self) -> str:
        when = "in the only call" if self.count == 1 else f"in all {self.count:,} calls"
        when = f"from {self.since} on" if self.since else when
        why = "" if self.because is None else f": {self.because.text()}"
        return f"the gradient of {self.named} is exactly 0 {when}{why}"

    def remedy(self) -> str:
        if self.because is not None:
            return self.because.remedy()
        return f"{self.program.command('why', self.leaves[0])} shows the path of the gradient"

    def fix(self) -> tuple[Fix, ...]:
        return () if self.because is None else self.because.fix()

    def parts(self) -> tuple[Reason, ...]:
        return () if self.because is None else (self.because,)

    def calls(self) -> tuple[str, ...]:
        return (
            *(["backward"] if self.since else []),
            *(self.because.calls() if self.because else ()),
        )


def zero_gradients(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves to which no call of the run sent anything but zeros, or none of a line from
    one of its calls on, by their cause."""
    since = _zero_since(facts.run)
    for because, alike in _by_cause(facts, list(_zero(facts, since))).items():
        calls, line = len(alike[0].seen), alike[0].lines[0]
        # a bias before a difference, as the last one of a critic, cancels on purpose
        is_bias = all(len(history.leaf.shape or ()) < 2 for history in alike)
        yield ZeroGradient(
            calls, since[line].title if line in since else "", because,
            leaves=tuple(history.leaf.name for history in alike),
            source=(because and because.source) or alike[0].seen[0].call.line,
            is_note=(is_bias and isinstance(because, Cancels))
            or (isinstance(because, PartUnused) and bool(because.picker)),
        )  # fmt: skip


def _zero(facts: Facts, since: Mapping[Source | None, CallFacts]) -> Iterator[History]:
    """Yield the leaves that learn and got nothing but zeros, or none ``since`` a call of a line."""
    learn = {trained.name for trained in facts[Learning].trained.values()}
    for history in histories(facts.run):
        leaf, lines = history.leaf, history.lines
        is_zero = (lines[0] in since and len(lines) == 1) or all(
            seen.is_zero for seen in history.seen
        )
        # a part may be 0 where the whole is not
        if is_zero and not leaf.is_part and (leaf.is_parameter or leaf.name in learn or not learn):
            yield history


def _by_cause(facts: Facts, zero: Sequence[History]) -> Mapping[Reason | None, list[History]]:
    """Return leaves by what made their gradients 0; leaves that are 0 are one cause."""
    causes = facts[ZeroCauses].by_leaf
    of_leaves = [
        cause for one in zero if isinstance(cause := causes.get(one.leaf.name), ZeroLeaves)
    ]
    held = tuple(dict.fromkeys(name for cause in of_leaves for name in cause.leaves))
    by_cause: dict[Reason | None, list[History]] = {}
    for history in zero:
        cause = causes.get(history.leaf.name)
        if isinstance(cause, ZeroLeaves):
            first = cause if cause.leaves == held[:1] else of_leaves[0]
            cause = ZeroLeaves(leaves=held, source=first.source)
        by_cause.setdefault(cause, []).append(history)
    return by_cause


def _zero_since(run: Run) -> dict[Source | None, CallFacts]:
    """Return, of each line whose last calls sent nothing but zeros, the first one of these; not
    where the loss is 0, too, and all is learned."""
    since = {}
    for line, calls in lines_of(run, leaves=True):
        zero = takewhile(lambda call: is_nothing(call, run.of_leaves(call.index)), reversed(calls))
        last = list(zero)
        loss = calls[-1].loss
        if _CALLS <= len(last) < len(calls) and loss is not None and abs(loss) > _LEARNED:
            since[line] = last[-1]
    return since


RULES: Final = (
    Rule(zero_gradients, Meaning(
        "zero-grad", "warning", "a gradient is exactly 0 in every call",
        "The finding names the operation that multiplies by 0. Zeros in only some calls are not "
        "reported, unless all gradients are 0 in at least the last five calls, and the loss is "
        "not.",
        "code = encoder(x).round()", "h = encoder(x)\ncode = h + (h.round() - h).detach()",
        "When the sum of the gradients is 0 by construction: that is only a note.",
    ), needs=(Learning,), uses=(ZeroCauses,)),
)  # fmt: skip

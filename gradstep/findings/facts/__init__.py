"""The facts of a run: those of its calls, and what is gathered beside them because a rule needs
it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradstep.capturing.names import Names
from gradstep.contract.protocol import Engine
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.finding import Reason
from gradstep.graph.model import Source
from gradstep.guest.fence import NewFailures
from gradstep.records import BackwardCall, Node

if TYPE_CHECKING:
    from gradstep.recording.facts import CallFacts
    from gradstep.recording.run import Run

FIRST_LOOKS: Final = 2
"""Calls of a line in which leaves are looked at: in the second, those that a step made."""


@dataclass
class Look:
    """A call of the run. What is known only of one that is looked at closely: the ``order`` of its
    nodes, and whether it ``is_traced``; it is then number ``looks`` of its line."""

    engine: Engine
    call: BackwardCall
    names: Names
    facts: CallFacts
    losses: Sequence[Any]
    order: Sequence[Node] = ()
    is_traced: bool = False
    looks: int = 0

    @property
    def line(self) -> Source | None:
        """The line that made the call."""
        return self.facts.line


class Fact:
    """Something that is gathered over the calls of a run; empty where nobody watched it, as in a
    recording. Each method is called at its time, and does nothing by default."""

    def before(self, look: Look) -> None:
        """Look at a call that is about to run."""

    def closely(self, look: Look) -> None:
        """Look at its graph, too."""

    def asked(self, look: Look, session: PassSession) -> None:
        """Look at its pass, which is over, and all of whose gradients are finite."""

    def scaled(self, is_finite: bool) -> None:
        """Take note of whether the gradients of a loss that a scaler has multiplied are finite."""

    def after(self, look: Look) -> None:
        """Look at a call that has run."""


F = TypeVar("F", bound=Fact)


class Facts:
    """What is known of a run. ``facts[Kind]`` is what was gathered of a kind.

    Attributes:
        run: the facts of its calls.
        is_whole: whether all calls were looked for, and not only those that were asked for.
        is_cut_short: whether the run ended before the program did.
        names: those of the last call that was looked at.
        looked_at: the indices of the calls that were looked at closely.
        seen: what was found in each call, with its title, the first of each mistake.
        dry_runs: how many calls depend on memory that nobody has written.
        failures: what a defect of ours has lost outside of the calls that were looked at.
    """

    def __init__(self, run: Run, *, is_whole: bool = True) -> None:
        self.run = run
        self.is_whole, self.is_cut_short = is_whole, False
        self.names = Names()
        self.looked_at: list[int] = []
        self.seen: list[tuple[str, Reason]] = []
        self.dry_runs = 0
        self.failures = NewFailures()
        self._gathered: dict[type[Fact], Fact] = {}
        self._allowed: frozenset[type[Fact]] | None = None

    def __getitem__(self, kind: type[F]) -> F:
        if self._allowed is not None and kind not in self._allowed:
            raise KeyError(f"a rule reads {kind.__name__}, which it does not say it needs")
        fact = self._gathered.setdefault(kind, kind())
        assert isinstance(fact, kind)
        return fact

    def only(self, needs: Iterable[type[Fact]]) -> Facts:
        """Return the same for a rule that ``needs`` these."""
        facts = copy(self)
        facts._allowed = frozenset(needs)
        return facts

    @property
    def is_complete(self) -> bool:
        """Whether no defect of ours has lost something of a call, or a whole one."""
        return not (self.run.incomplete or self.failures)

    @property
    def line(self) -> Source | None:
        """The line of the first call of which it is known."""
        return next((call.line for call in self.run.calls() if call.line is not None), None)

    @property
    def file(self) -> str:
        """The file of that line, "" where it is not known."""
        return "" if self.line is None else self.line.file

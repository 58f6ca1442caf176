"""The facts of a run: those of its calls, and what is gathered beside them because a rule needs
it."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from gradstep.capturing.names import Names
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.finding import Reason, Rule
from gradstep.findings.thresholds import Thresholds
from gradstep.graph.model import Graph, Source
from gradstep.guest.fence import NewFailures
from gradstep.recording.look import Look

if TYPE_CHECKING:
    from gradstep.recording.run import Run

LARGEST_DRAWN: Final = 20_000
"""Nodes of a graph that is kept to be drawn."""
MOST_DRAWN: Final = 8
FIRST_LOOKS: Final = 2
"""Calls of a line in which leaves are looked at: in the second, those that a step made."""


class Given:
    """A part of what can be known of a run; ``words`` name it."""

    words: ClassVar[str]


class Objects(Given):
    """The objects of the program: its variables, modules, optimizers, and their tensors."""

    words = "the program"


class Forward(Given):
    """What ran in the forward pass, also without a gradient, and what it was given."""

    words = "the program"


class Happenings(Given):
    """What the objects of the program did between its calls."""

    words = "what optimizers did"


class Graphs(Given):
    """Graphs of calls, and what flowed in them, described."""

    words = "a call in full"


class Numbers(Given):
    """The numbers of the tensors in graphs."""

    words = "the numbers of tensors"


LIVE: Final[frozenset[type[Given]]] = frozenset({Objects, Forward, Happenings, Graphs, Numbers})
"""What is known of a program that runs."""


class Fact:
    """Something that is gathered over the calls of a run, from what it ``needs``; empty where that
    is not known. Each method is called at its time, and does nothing by default.

    Of calls that are not looked at closely, ``look.names`` takes longer than all else.
    """

    needs: ClassVar[tuple[type[Given], ...]] = (Objects,)

    def read(self, run: Run) -> None:
        """Take from a recording what that says of it."""

    def before(self, look: Look) -> None:
        """Look at a call that is about to run."""

    def closely(self, look: Look) -> None:
        """Look at its graph, too."""

    def asked(self, look: Look, session: PassSession) -> None:
        """Look at its pass, which is over, and all of whose gradients are finite."""

    def stepped(self, look: Look, session: PassSession) -> None:
        """Look at a pass that ran node by node, at its end, whatever it made."""

    def scaled(self, is_finite: bool) -> None:
        """Take note of whether the gradients of a loss that a scaler has multiplied are finite."""

    def after(self, look: Look) -> None:
        """Look at a call that has run."""


F = TypeVar("F", bound=Fact)


def lacking(
    needs: Iterable[type[Fact | Given]], given: frozenset[type[Given]]
) -> frozenset[type[Given]]:
    """Return what is needed, also for facts that are needed, and is not ``given``."""
    return frozenset(
        part
        for kind in needs
        for part in (kind.needs if issubclass(kind, Fact) else (kind,))
        if part not in given
    )


class Facts:
    """What is known of a run. ``facts[Kind]`` is what was gathered of a kind.

    Attributes:
        run: the facts of its calls.
        is_whole: whether all calls were looked for, and not only those that were asked for.
        is_cut_short: whether the run ended before the program did.
        names: those of the last call that was looked at; none in a recording.
        given: what is known of the run.
        looked_at: the indices of the calls that were looked at closely.
        seen: what was found in each call, with its title, the first of each mistake.
        graphs: by their indices, the graphs of some calls with what flowed there, to be drawn.
        dry_runs: how many calls depend on memory that nobody has written.
        failures: what a defect of ours has lost outside of the calls that were looked at.
        thresholds: from where on something is a finding.
    """

    def __init__(
        self, run: Run, *, is_whole: bool = True, given: frozenset[type[Given]] = LIVE
    ) -> None:
        self.run, self.given = run, given
        self.thresholds = Thresholds()
        self.is_whole, self.is_cut_short = is_whole, False
        self._names = Names()
        self.looked_at: list[int] = []
        self.seen: list[tuple[str, Reason]] = []
        self.graphs: dict[int, Graph] = {}
        self.dry_runs = 0
        self.failures = NewFailures()
        self._gathered: dict[type[Fact], Fact] = {}
        self._allowed: frozenset[type[Fact | Given]] | None = None

    def __getitem__(self, kind: type[F]) -> F:
        self._require(kind)
        fact = self._gathered.setdefault(kind, kind())
        assert isinstance(fact, kind)
        return fact

    def _require(self, kind: type[Fact | Given]) -> None:
        if self._allowed is not None and kind not in self._allowed:
            raise KeyError(f"a rule reads {kind.__name__}, which it does not say it needs")

    @property
    def names(self) -> Names:
        self._require(Objects)
        return self._names

    @names.setter
    def names(self, names: Names) -> None:
        self._names = names

    def only(self, rule: Rule[Any]) -> Facts:
        """Return the same for a rule, which reads what it says that it needs or uses."""
        facts = copy(self)
        facts._allowed = frozenset({*rule.needs, *rule.uses})
        return facts

    def lacks(self, rule: Rule[Any]) -> frozenset[type[Given]]:
        """Return what a rule needs and nobody knows of this run."""
        return lacking(rule.needs, self.given)

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

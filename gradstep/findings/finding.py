"""A finding of ``check``: the reason as a record, and the rule that yields it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Generic, Literal, NamedTuple, Self, TypeVar

from gradstep.capturing.names import Names
from gradstep.graph.model import Graph, Source
from gradstep.guest.cells import is_cell
from gradstep.guest.own_files import is_of_library
from gradstep.text import in_shell, listed

Severity = Literal["error", "warning", "info"]
Given = TypeVar("Given")
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def severities_from(severity: str) -> tuple[Severity, ...]:
    """Return what is as bad as ``severity``, or worse.

    >>> severities_from("warning")
    ('error', 'warning')

    Raises:
        ValueError: it is no severity.
    """
    if severity not in SEVERITIES:
        raise ValueError(f"severity is one of {', '.join(SEVERITIES)}, not {severity!r}")
    return SEVERITIES[: SEVERITIES.index(severity) + 1]


class Program(NamedTuple):
    """What a command was given: its TARGET, and the program's own arguments."""

    target: str = "TARGET"
    arguments: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Sequence[str]) -> Program:
        """Return the program of a recording, which has its words, or none."""
        return cls(words[0], tuple(words[1:])) if words else cls()

    def command(self, verb: str, leaf: str = "") -> str:
        """Return a command for this program: ``gradstep check --call 3 train.py --epochs 1``; for
        the cell of a notebook, the line that it is to begin with."""
        if is_cell(self.target):
            return " ".join(["%%gradstep", verb, *filter(None, [leaf])])
        return f"gradstep {verb} {in_shell([self.target, *filter(None, [leaf]), *self.arguments])}"


ANY_PROGRAM: Final = Program()
"""Stands for the program where that is not known yet."""


Level = Literal["safe", "unsafe", "display"]
"""Of a fix: it was tried, and does no harm; it was not tried; or it is only shown."""


class Fix(NamedTuple):
    """A line of the program, and what stands in its place when it is fixed: "" nothing, or several
    lines. The first one has the indentation of the line, and the others are relative to it.

    One ``is_example`` has a number that the author of the program has to choose.
    """

    source: Source
    text: str
    is_example: bool = False


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why something is as it is, as a record. Each kind is a subclass whose fields say what is
    known; ``text``, ``remedy``, ``fix`` and ``details`` come last, and no code reads what they say.

    Reasons are equal that are one mistake in two calls, or in two rounds of a loop: amounts are
    fields with ``compare=False``.

    Attributes:
        code, severity: of the finding; one that is only a part of others has no code.
        as_part: what ``explained_here_by`` of others calls it, where it is a part of one.
        is_open: whether later calls may refute it, or tell the reason of it.
        is_hint: whether a note of it stands in the report where nothing is wrong: many healthy
            programs have it, and it may be the cause where a training fails.
        blames_line: whether it says that a line is wrong, and not what the program gives to it: of
            a line of a library, it is a note, unless the program's own leaves are told of.
        keeps_loss: whether its fix promises that the first loss of the program stays the same.
        frees_leaves: whether those that it names may get no gradient after its fix.
        is_once_a_line: whether one is enough for each pair of its lines.
        is_once_a_run: whether the first one is behind all others of its code.
        other_is: what stands in a report before its second line.
        says, helps, marks: its text, its remedy, and the functions in its line that it is about,
            where these are the same for all of the kind.
        after: codes of what a report tells first; by default that is all that has a place.
        is_effect: whether data, shapes or the text of the program explain it: these come first.
        explained_by: codes of findings of which this is only another symptom.
        explained_here_by: the same, where both are of one line.
        leaves: the names of the leaves that it is about; ``whole`` is the module of which they are
            all, "" where their names say so, or where there are others.
        source, other: its line, and a second related one.
        address, index: of its node; "" and None if there is none.
        is_note: whether it is only good to know.
        found: how often it was found.
        program: what the commands are about that it names.
    """

    code: ClassVar[str] = ""
    as_part: ClassVar[str] = ""
    severity: ClassVar[Severity] = "warning"
    is_open: ClassVar[bool] = False
    is_hint: ClassVar[bool] = False
    blames_line: ClassVar[bool] = False
    keeps_loss: ClassVar[bool] = False
    frees_leaves: ClassVar[bool] = False
    is_once_a_line: ClassVar[bool] = False
    is_once_a_run: ClassVar[bool] = False
    other_is: ClassVar[str] = "and"
    says: ClassVar[str] = ""
    helps: ClassVar[str] = ""
    marks: ClassVar[tuple[str, ...]] = ()
    after: ClassVar[tuple[str, ...]] = ("initialization",)
    is_effect: ClassVar[bool] = False
    explained_by: ClassVar[tuple[str, ...]] = ()
    explained_here_by: ClassVar[tuple[str, ...]] = ()

    leaves: tuple[str, ...] = ()
    whole: str = ""
    source: Source | None = None
    other: Source | None = None
    address: str = field(default="", compare=False)
    index: int | None = field(default=None, compare=False)
    is_note: bool = False
    found: int = field(default=1, compare=False)
    program: Program = field(default=ANY_PROGRAM, compare=False)

    def text(self) -> str:
        """Return what it is, as a sentence or a clause of one."""
        return self.says

    def remedy(self) -> str:
        """Return what helps, in words, "" where that is unknown."""
        return self.helps

    def fix(self) -> tuple[Fix, ...]:
        """Return what helps, as edits of the program."""
        return ()

    def details(self) -> str:
        """Return the arithmetic behind it."""
        return ""

    def calls(self) -> tuple[str, ...]:
        """Return the functions in its line that it is about, the most important one first."""
        return self.marks

    def parts(self) -> tuple[Reason, ...]:
        """Return the reasons in it."""
        return ()

    def for_program(self, program: Program) -> Self:
        """Return the same with the ``program`` of this run in the commands that it names."""
        return replace(self, program=program)

    def of_call(self, call: str) -> Self:
        """Return the same of a call of which values were not described, and which ``--call`` names
        so."""
        return self

    def at_node(self, graph: Graph, index: int) -> Self:
        """Return the same at a node, and the line of that."""
        address, source = graph.address(index), graph.sources.get(index)
        return replace(self, address=address, index=index, source=source)

    def seen_by(self, names: Names) -> Self:
        """Return the same, as a note where it blames a line that whoever debugs did not write, and
        none of the leaves that the program itself knows lacks anything."""
        lines = [line for line in (self.source, self.other) if line is not None]
        if (
            self.blames_line
            and lines
            and not names.is_of_library
            and all(is_of_library(line.file) for line in lines)
            and names.own.isdisjoint(self.leaves)
        ):
            return replace(self, is_note=True)
        return self

    @property
    def is_cause(self) -> bool:
        """Whether it says why: what is to be changed, and not only what came of it."""
        return all(part.is_cause for part in self.parts())

    @property
    def op(self) -> str:
        """The address of its node without its number: the op and its module."""
        return self.address.rpartition(":")[0] or self.address

    @property
    def named(self) -> str:
        """Its leaves as a text."""
        return f"{listed(self.leaves)} (all of {self.whole})" if self.whole else listed(self.leaves)

    def of(self, one: str, several: str) -> str:
        """Return the word for one leaf, or for several."""
        return one if len(self.leaves) == 1 else several


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a graph, or a run: what a reason says.

    An "error" makes the pass raise; a "warning" is probably a mistake; "info" is good to know.
    ``call`` is the title of the call that shows it, "" where the whole run, or one graph, does.
    ``id`` stays the same where lines move; ``ignore`` takes it as it takes a code.
    """

    reason: Reason
    call: str = ""
    id: str = field(default="", compare=False)

    @property
    def count(self) -> int:
        """How often it was found."""
        return self.reason.found

    @property
    def code(self) -> str:
        """The code, as ``gradstep explain`` knows it."""
        return self.reason.code

    @property
    def severity(self) -> Severity:
        """The severity: "error", "warning" or "info"."""
        return "info" if self.reason.is_note else self.reason.severity

    @property
    def what(self) -> str:
        """A description."""
        return self.reason.text()

    @property
    def remedy(self) -> str:
        """The fix, in words."""
        return self.reason.remedy()

    @property
    def fix(self) -> tuple[Fix, ...]:
        """The fix, as lines of the program."""
        return self.reason.fix()

    @property
    def details(self) -> str:
        """The arithmetic behind it."""
        return self.reason.details()

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of the leaves that it is about."""
        return self.reason.leaves

    @property
    def source(self) -> Source | None:
        """The program line."""
        return self.reason.source

    @property
    def other(self) -> Source | None:
        """A second related line."""
        return self.reason.other

    @property
    def address(self) -> str:
        """The address of the node, "" if there is none."""
        return self.reason.address

    @property
    def index(self) -> int | None:
        """The position of the node in the plan, None if there is none."""
        return self.reason.index

    @property
    def is_bad(self) -> bool:
        """Whether it is an error or a warning."""
        return self.severity != "info"

    @property
    def cells(self) -> tuple[str, ...]:
        """How bad it is, the line, what it is, and the remedy."""
        remedy = f"remedy: {self.remedy}"
        place = self.source.place if self.source else ""
        return f"{self.severity} [{self.code}]", place, self.what, remedy

    @property
    def cause(self) -> tuple[Reason, str]:
        """What is equal for the same mistake in two calls, or in two rounds of a loop."""
        return self.reason, self.reason.op

    def for_program(self, program: Program) -> Finding:
        """Return the same with the ``program`` of this run in the commands that it names."""
        return replace(self, reason=self.reason.for_program(program))


class Meaning(NamedTuple):
    """The texts of a finding: a title of a few words, what it means, a wrong and a right program,
    and when to ignore it, "" if never; ``severity`` is the usual one."""

    code: str
    severity: Severity
    title: str
    means: str
    wrong: str
    right: str
    ignore: str = ""


class Rule(Generic[Given]):
    """A function from a graph, or from the facts of a run, to reasons, and what these mean.

    A finding that several rules yield is explained by one of them; a rule without a meaning says
    whose ``code`` it yields. It runs where what it ``needs`` is known, and says more where what it
    ``uses`` is, too: kinds of facts, which are gathered for it, or of what these are made of.
    ``in_run`` returns what a run makes of a reason that a call of it gave: with what only all calls
    tell, or as a note.
    """

    def __init__(
        self,
        find: Callable[[Given], Iterable[Reason]],
        *meanings: Meaning,
        needs: tuple[type[Any], ...] = (),
        uses: tuple[type[Any], ...] = (),
        in_run: Callable[[Any, Any], Reason] | None = None,
        code: str = "",
    ) -> None:
        self.find, self.meanings = find, meanings
        self.needs, self.uses, self.in_run = needs, uses, in_run
        self.codes = tuple(meaning.code for meaning in meanings) or (code,)


def merged(reasons: Iterable[Reason]) -> list[Finding]:
    """Return one finding, of the first, for all reasons that are the same mistake, as those of a
    line in a loop are; those without a line are apart."""
    every = [Finding(reason) for reason in reasons]
    causes = [
        (finding.cause, number if finding.source is None else 0)
        for number, finding in enumerate(every)
    ]
    first = dict(zip(reversed(causes), reversed(every), strict=True))
    counts: Counter[object] = Counter()
    for cause, finding in zip(causes, every, strict=True):
        counts[cause] += finding.count
    return [
        Finding(replace(first[cause].reason, found=counts[cause]))
        for cause in dict.fromkeys(causes)
    ]

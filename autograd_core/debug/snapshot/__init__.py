"""The debugger's data: frozen records that a session hands out and every front end reads.

A *position* says how many nodes of the plan have run.  People count the nodes from 1 on, as
pictures and films do: at position k, ``#k`` has run last and ``#(k + 1)`` runs next.  Records and
methods hold *plan indices*, which count from 0 on: ``#1`` is index 0, and the node that runs next
is index k.  :func:`~autograd_core.dag.addresses.step_number` makes one of the other, wherever a
number is shown; ``Snapshot.graph`` is the backward graph whose node of id k is plan index k.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from autograd_core.autograd.call import CallKind
from autograd_core.dag.model import Graph, SavedState, Shape, Source
from autograd_core.dag.statistics import Statistics
from autograd_core.debug.snapshot.breakpoint import Breakpoint as Breakpoint
from autograd_core.debug.snapshot.timeline import CallRecord
from autograd_core.debug.snapshot.value import Value as Value

Status = Literal["paused", "finished", "failed"]
Leave = Literal["", "continue", "detach", "abort", "calls"]
NodeStatus = Literal["done", "current", "waiting"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """One gradient that was delivered to an input of a node.

    ``producer`` is the plan index it came from, None for the seed gradient; ``output_nr``
    says along which of the producer's edges.  ``value`` None is an undefined gradient.
    """

    producer: int | None
    output_nr: int
    value: Value | None


@dataclass(frozen=True, slots=True)
class Incoming:
    """All that arrives at one input of a node: the contributions in order, and their sum.

    ``expected`` counts the edges that lead here; fewer contributions have arrived as long
    as their producers have not run.  Of very many, ``contributions`` are the last, and
    ``skipped`` counts those before them.  ``total`` None is "nothing yet", or undefined once
    every producer has run.
    """

    input_nr: int
    shape: Shape | None
    expected: int
    contributions: tuple[Contribution, ...]
    total: Value | None
    skipped: int = 0

    @property
    def arrived(self) -> int:
        """The number of contributions that are in."""
        return self.skipped + len(self.contributions)

    @property
    def without_total(self) -> str:
        """The text where ``total`` is None: more may come, or all were undefined."""
        return "nothing yet" if self.arrived < self.expected else "undefined"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the account of a sum: what came from where, and what the sum was then.

    ``number`` counts the edges that lead to the node.  ``remaining`` is how much of the parts
    is left in their sum, Σ|sum| / Σ|parts|: 1 when nothing cancelled, 0 when all did.  A line with
    an ``edit`` is what the user made of the sum, in words.
    """

    number: int
    producer: int | None
    output_nr: int
    value: Value | None
    total: Value | None
    remaining: float
    edit: str = ""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One gradient that a node sent along an edge; ``target`` None is an edge to nowhere.

    ``sent`` is False while the node has not run; then ``value`` is None and means nothing.
    """

    output_nr: int
    target: int | None
    input_nr: int
    sent: bool
    value: Value | None


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that a node keeps from the forward pass; ``value`` is a copy, None when it is gone.

    ``lines`` are where it was changed in place, or which call freed it, as far as the program
    was traced.
    """

    name: str
    shape: Shape
    dtype: str
    nbytes: int
    state: SavedState
    value: Value | None
    lines: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class LeafGradient:
    """The ``.grad`` of one leaf: before this backward pass, and now.

    ``arrived`` of ``expected`` contributions are in so far; ``pending`` is the sum of those
    that have arrived but were not yet added to ``.grad``.
    """

    index: int
    name: str
    shape: Shape
    before: Value | None
    now: Value | None
    pending: Value | None
    arrived: int
    expected: int


@dataclass(frozen=True, slots=True)
class Pending:
    """A sum that waits in the input buffer of a node which has not run yet."""

    index: int
    input_nr: int
    arrived: int
    expected: int
    total: Value


PhaseKind = Literal["hook", "formula", "reduction", "delivery", "accumulation", "capture"]


@dataclass(frozen=True, slots=True)
class Phase:
    """One thing that happens inside a node, with the gradients before and after it.

    A "hook" turns one into the other; the "formula" what came in into what goes out, which a
    "reduction" sums to the shape of one input; a "delivery" adds to the sum at the end of edge
    ``output_nr``, an "accumulation" to ``.grad``; a "capture" is taken away by a call of ``grad``.
    """

    kind: PhaseKind
    text: str
    before: tuple[Value | None, ...]
    after: tuple[Value | None, ...]
    output_nr: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """The rule for one ``input`` of the forward op, such as ``g · b``, and what its names mean.

    ``numbers`` is the rule with numbers in the place of names, ``3 · 2``, where each of them is a
    single one, else "".  ``result`` is what was sent to the input in the end, None as long as
    nothing was, or an undefined gradient.
    """

    input: str
    rule: str
    values: tuple[tuple[str, Value | None], ...]
    numbers: str
    result: Value | None


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """Everything known about one node of the plan at the present position.

    ``formulas`` pairs each input of the forward op with the text of its derivative rule, and
    ``terms`` says what they are computed from, for inputs that need a gradient.
    ``source_line`` is the text of the forward line, "" when unknown.  Of a node that has run
    or is being run, ``phases`` are what happened in it so far, ``seconds`` is how long it took
    and ``nbytes`` what its gradients take.  ``forward`` describes the result of the forward op,
    where values were traced; ``forward_seconds`` and ``forward_bytes`` are what that took, where
    it ran under a profile.  ``nested`` are the backward passes that ran inside the node, and
    ``rule_line`` is where the program wrote the rule, of a custom Function.
    """

    index: int
    status: NodeStatus
    incoming: tuple[Incoming, ...]
    outgoing: tuple[Outgoing, ...]
    saved: tuple[Saved, ...]
    formulas: tuple[tuple[str, str], ...]
    hooks: tuple[str, ...]
    source_line: str
    phases: tuple[Phase, ...] = ()
    seconds: float | None = None
    nbytes: int = 0
    forward: Statistics | None = None
    forward_seconds: float | None = None
    forward_bytes: int | None = None
    terms: tuple[Term, ...] = ()
    nested: tuple[str, ...] = ()
    rule_line: Source | None = None


class Usage(NamedTuple):
    """The memory of the recording: bytes of the budget, and how many steps are kept or dropped;
    ``recomputed`` counts the steps that were run again so far."""

    bytes: int
    budget: int
    kept: int
    dropped: int
    recomputed: int


@dataclass(frozen=True, slots=True)
class EditRecord:
    """A change by the user, at a position and of node ``index``: ``scale #3 by 2``."""

    number: int
    position: int
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A pass that is open: ``node`` is where it stands, ``parent`` the node in whose hooks or
    backward it was started, and ``selected`` says that it is the one in view."""

    depth: int
    title: str
    position: int
    length: int
    parent: str
    selected: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The debugger at one position.

    ``call`` is which call of the program this is, of those of its ``kind``.
    ``recorded`` is how far this pass has run; ``position < recorded`` means that we look at
    the past, where moving forward replays the recording and runs no code.  ``reason`` says in
    words why the debugger stopped here ("breakpoint 1: mul", "end of the backward pass"), and is
    empty after a step.  ``phase`` counts the phases of node ``position`` that are over: 0 is
    before the node.  ``usage`` says what the recording takes, ``edits`` what the user changed,
    ``frames`` which passes run inside each other, the outermost first; ``hint`` what to do to
    see more, and ``calls`` what the calls before this one did.
    """

    call: int
    position: int
    recorded: int
    length: int
    status: Status
    reason: str
    graph: Graph
    current: NodeDetail | None
    leaves: tuple[LeafGradient, ...]
    pending: tuple[Pending, ...]
    breakpoints: tuple[Breakpoint, ...]
    bytes_recorded: int = 0
    error: str = ""
    usage: Usage | None = None
    phase: int = 0
    edits: tuple[EditRecord, ...] = ()
    frames: tuple[Frame, ...] = ()
    hint: str = ""
    calls: tuple[CallRecord, ...] = ()
    kind: CallKind = "backward"

    @property
    def past(self) -> bool:
        return self.position < self.recorded


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one command: text for the console, and whether it was an error.

    ``leave`` asks whoever shows the session to close it: and then "continue" the program,
    "detach" (the same, stopping no more), "calls" (the same, up to the next stop) or "abort" it.
    ``open_block`` says that the lines that follow are taken down, up to ``end``.
    """

    text: str
    error: bool = False
    leave: Leave = ""
    open_block: bool = False

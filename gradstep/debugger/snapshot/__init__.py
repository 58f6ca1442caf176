"""The debugger's data: frozen records that a session returns and every front end reads.

A *position* is the number of plan nodes that have run. Users count nodes from 1, as pictures and
films do: at position k, ``#k`` has run last and ``#(k + 1)`` runs next. Records and methods use
*plan indices*, which count from 0: ``#1`` is index 0, and the node that runs next is index k.
:func:`~gradstep.graph.addresses.step_number` converts an index for display. In
``Snapshot.graph``, the backward graph, node id k is plan index k.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from gradstep.debugger.snapshot.breakpoint import Breakpoint as Breakpoint
from gradstep.debugger.snapshot.leaf_table import LeafGradient as LeafGradient
from gradstep.debugger.snapshot.leaf_table import LeafTable as LeafTable
from gradstep.debugger.snapshot.timeline import CallRecord
from gradstep.debugger.snapshot.value import Value as Value
from gradstep.graph.model import Graph, SavedState, Shape, Source
from gradstep.graph.statistics import Statistics
from gradstep.records import CallKind

Status = Literal["paused", "finished", "failed"]
Leave = Literal["", "continue", "detach", "abort", "calls", "rank", "call"]
NodeStatus = Literal["done", "current", "waiting"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """One gradient delivered to an input of a node.

    ``producer`` is the plan index that sent it, None for the seed gradient; ``output_nr`` is the
    producer's edge. If ``value`` is None, the gradient is undefined.
    """

    producer: int | None
    output_nr: int
    value: Value | None


@dataclass(frozen=True, slots=True)
class SumEdit:
    """A change that the user made to a sum before node ``position`` ran: in words, and its
    result."""

    position: int
    text: str
    total: Value | None


@dataclass(frozen=True, slots=True)
class Incoming:
    """The contributions to one input of a node, in order, and their sum.

    ``expected`` counts the edges that lead here; some contributions are missing until their
    producers have run. If there are very many, ``contributions`` holds the last ones, and
    ``skipped`` counts the others. A ``total`` of None means "nothing yet" or, once every producer
    has run, undefined. ``edits`` are changes that the user made to the sum.
    """

    input_nr: int
    shape: Shape | None
    expected: int
    contributions: tuple[Contribution, ...]
    total: Value | None
    skipped: int = 0
    edits: tuple[SumEdit, ...] = ()

    @property
    def arrived(self) -> int:
        """The number of contributions that have arrived."""
        return self.skipped + len(self.contributions)

    @property
    def without_total(self) -> str:
        """The text for a ``total`` of None: more may come, or all were undefined."""
        return "nothing yet" if self.arrived < self.expected else "undefined"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One contribution to a sum: its value, its source, and the sum after it.

    ``number`` counts the edges that lead to the node. ``remaining`` is the part that has not
    cancelled, Σ|sum| / Σ|contributions|: 1 if nothing cancelled, 0 if everything did, NaN if that
    is unknown. An ``edit`` describes a change by the user.
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
    """One gradient that a node sent along an edge. A ``target`` of None is an edge that leads
    nowhere.

    ``sent`` is False until the node has run; ``value`` is then None and has no meaning.
    """

    output_nr: int
    target: int | None
    input_nr: int
    sent: bool
    value: Value | None


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that a node saved in the forward pass; ``value`` is a copy, or None if it was freed.

    ``lines`` are the lines that changed it in place, or that freed it, as far as traced.
    """

    name: str
    shape: Shape | None
    dtype: str
    nbytes: int
    state: SavedState
    value: Value | None
    lines: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """A sum in the input buffer of a node that has not run yet."""

    index: int
    input_nr: int
    arrived: int
    expected: int
    total: Value


PhaseKind = Literal["hook", "formula", "reduction", "delivery", "accumulation", "capture"]


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a node's run, with the gradients before and after it.

    A "hook" may change gradients. The "formula" computes outgoing from incoming gradients. A
    "reduction" sums one to the shape of its input. A "delivery" adds it to the sum at the end of
    edge ``output_nr``, an "accumulation" to ``.grad``. A "capture" is taken by a call of ``grad``.
    """

    kind: PhaseKind
    text: str
    before: tuple[Value | None, ...]
    after: tuple[Value | None, ...]
    output_nr: int | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """The rule for one ``input`` of the forward op, such as ``g · b``, with the values of its
    names.

    ``numbers`` is the rule with numbers for names, ``3 · 2``, if each is a single number; otherwise
    "". ``result`` is the gradient that was finally sent, or None if nothing was sent, or if it is
    undefined.
    """

    input: str
    rule: str
    values: tuple[tuple[str, Value | None], ...]
    numbers: str
    result: Value | None


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """Everything known about one node of the plan at the current position.

    ``formulas`` pairs each input of the forward op with the text of its derivative rule; ``terms``
    gives the values in it, for inputs that need a gradient. ``source_line`` is the text of the
    forward line, "" if unknown. For a node that has run or is running, ``phases`` lists what
    happened so far, ``seconds`` is its time, if known, and ``nbytes`` the size of its gradients.
    ``forward`` describes the result of the forward op, if values were traced; ``forward_seconds``
    and ``forward_bytes`` are its cost, if it was profiled. ``nested`` are the backward passes that
    ran inside the node. ``rule_line`` is the line of a custom Function's rule.
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
    """The memory use of the recording: bytes of the budget, and the number of kept and dropped
    steps; ``recomputed`` counts the steps that have run again."""

    bytes: int
    budget: int
    kept: int
    dropped: int
    recomputed: int


@dataclass(frozen=True, slots=True)
class EditRecord:
    """A change by the user to node ``index``, at a position: ``scale #3 by 2``."""

    number: int
    position: int
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class PassFrame:
    """An open pass: ``node`` is its position, ``parent`` the node in whose hooks or backward it
    started, and ``selected`` marks the pass in view."""

    depth: int
    title: str
    position: int
    length: int
    parent: str
    selected: bool


class Display(NamedTuple):
    """An expression to show at every stop, by its number, with its value: ``rms = 0.5``."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot:
    """The debugger at one position.

    ``call`` is which call of the program this is, of those of its ``kind``.
    ``recorded`` is how far this pass has run; ``position < recorded`` means that we look at
    the past, where moving forward replays the recording and runs no code.  ``reason`` says in
    words why the debugger stopped here ("breakpoint 1: mul", "end of the backward pass"), and is
    empty after a step.  ``phase`` counts the phases of node ``position`` that are over: 0 is
    before the node.  ``usage`` says what the recording takes, ``edits`` what the user changed,
    ``frames`` which passes run inside each other, the outermost first; ``hint`` what to do to
    see more, ``calls`` what the calls before this one did, and ``displays`` what the user wants
    to see at every stop.
    """

    call: int
    position: int
    recorded: int
    length: int
    status: Status
    reason: str
    graph: Graph
    current: NodeDetail | None
    leaves: LeafTable
    pending: tuple[Pending, ...]
    breakpoints: tuple[Breakpoint, ...]
    bytes_recorded: int = 0
    error: str = ""
    usage: Usage | None = None
    phase: int = 0
    edits: tuple[EditRecord, ...] = ()
    frames: tuple[PassFrame, ...] = ()
    hint: str = ""
    calls: tuple[CallRecord, ...] = ()
    kind: CallKind = "backward"
    displays: tuple[Display, ...] = ()

    @property
    def past(self) -> bool:
        return self.position < self.recorded

    def __repr__(self) -> str:
        where = f"call {self.call}, {self.position} of {self.length} nodes have run"
        if self.current is not None:
            where += f", next is {self.graph.address(self.position)}"
        have = sum(leaf.now is not None for leaf in self.leaves)
        return f"<Snapshot: {where}; {have} of {len(self.leaves)} leaves have a gradient>"


@dataclass(frozen=True, slots=True, repr=False)
class Reply:
    """The reply to one command: text for the console, and whether it is an error.

    ``leave`` asks the front end to close the session, and then to "continue" the program, "detach"
    (continue without stopping again), run "calls" (continue to the next stop in a later call),
    "abort" it, or show another "call" of the recording, or the same one of another "rank".
    ``open_block`` means that the following lines, up to ``end``, belong to the command. ``problem``
    is what is wrong with the line, at its character ``column``. ``values`` are the tensors and
    numbers that were asked for, by name.
    """

    text: str
    error: bool = False
    leave: Leave = ""
    open_block: bool = False
    problem: str = ""
    column: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.text

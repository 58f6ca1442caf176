"""The facts of a run: what was seen of each backward call, as plain records.

What watches a run makes these records; what explains it reads them. They hold numbers, texts and
bytes, never a tensor or an object of the program, so that a run can be looked at where its program
and its library are not. A fact that is unknown is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.model import HookChange, Shape, Source
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.records import CallKind, HookKind

Level = Literal["call", "leaves", "stats", "all"]
LEVELS: Final[tuple[Level, ...]] = ("call", "leaves", "stats", "all")
"""How much is kept of a call: its line, loss and time; also its leaves; also its graph and what
flowed there, described; also the tensors."""

UNNAMED: Final = "leaf"
"""The name of a leaf to which the program has no name; the second one is ``leaf (2)``."""
NONE: Final = -1
"""In the place of the number of a value: there was none, the gradient was undefined."""
Value = Annotated[int, "value"]
"""The number of a value, or NONE."""
Target = Annotated[int, "target"]
"""The number of a node, or NONE."""
Bits = Annotated[int, "bits"]
"""64 bits, which no arithmetic is done on."""


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a run before its first call.

    Attributes:
        command: the program and its arguments, () where there is none, as in a notebook.
        engines: the libraries in use, each with its version: ``{"torch": "2.13.0"}``.
        versions: those of gradstep, Python and NumPy.
        settings: those of the libraries on which numbers depend, as the first call found them:
            ``{"seed": "0", "threads": "4"}``; nothing in older recordings.
        platform: the system, as Python names it.
        rank, size: the number of the process in its job, and how many there are.
        started: seconds since 1970.
    """

    command: tuple[str, ...] = ()
    engines: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    platform: str = ""
    rank: int = 0
    size: int = 1
    started: float = 0.0
    settings: Mapping[str, str] = field(default_factory=dict)


class Warned(NamedTuple):
    """A warning that the run gave, once after ``call`` calls had begun (0 is before the first)."""

    call: int
    category: str
    message: str
    source: Source | None = None


class ParameterGroup(NamedTuple):
    """Parameters that an optimizer changes.

    Attributes:
        optimizer, kind: the name of its variable, and its class.
        options: those that are numbers, such as ``lr``, as they were last seen.
        leaves: the parameters, by their numbers.
    """

    optimizer: str
    kind: str
    options: Mapping[str, float]
    leaves: tuple[int, ...]


class Training(NamedTuple):
    """What changes the parameters of a program, the names of its scalers of losses, and, by their
    numbers, the parameters of modules that have not run, though others have; None where nobody
    noted which did."""

    groups: tuple[ParameterGroup, ...] = ()
    scalers: tuple[str, ...] = ()
    idle: tuple[int, ...] | None = None


class Leaf(NamedTuple):
    """A tensor whose ``.grad`` some call adds to, or that an optimizer has; ``number`` is its place
    in :attr:`Run.leaves`.

    ``module`` is the class of the module that owns the parameter, "" where none is known.
    ``is_part`` says that several processes have a part each: what is told of its numbers is told of
    the part of one, or of what was gathered of all for the ops of a call.
    """

    number: int
    name: str
    shape: Shape | None
    dtype: str
    is_parameter: bool
    module: str = ""
    is_part: bool = False


class LeafFacts(NamedTuple):
    """A leaf in one call.

    Attributes:
        leaf: the number of the leaf.
        before, after: its ``.grad`` around the call, described; None where it was None.
        before_checksum, after_checksum: of the bits of these, for equality only; see
            :mod:`gradstep.graph.checksums`.
        parameter_rms: the root mean square of the leaf itself when the call began.
        update_rms: that of what the leaf has changed by since the call before; 0.0 where it is the
            same to the bit, None where nobody knows, as in the first call.
        optimizer: the optimizer that holds it, by the name of its variable; "" where none of the
            known ones does, None where none is known.
        training: ``module.training`` of the module that owns it, None without one.
        arrived: whether a gradient arrived in this call; None if unknown.
    """

    leaf: int
    before: Statistics | None
    after: Statistics | None
    before_checksum: Bits | None = None
    after_checksum: Bits | None = None
    parameter_rms: float | None = None
    update_rms: float | None = None
    optimizer: str | None = None
    training: bool | None = None
    arrived: bool | None = None

    @property
    def is_troubled(self) -> bool:
        """Whether its ``.grad`` has NaN or infinite elements now."""
        return self.after is not None and bool(self.after.trouble)


class CallFacts(NamedTuple):
    """A call of ``backward()`` or ``autograd.grad()``.

    Attributes:
        index: its place among all calls of the run, of both kinds, from 1 on.
        kind, number: its kind, and its place among the calls of that kind.
        line: where the program made it.
        step: how many steps the program had told of by then, where it tells of steps.
        level: how much was kept.
        structure: the key of its graph, "" where that was not read.
        roots: the names of what it was called on.
        loss: the root, where that is a single number.
        nodes: how many nodes ran, None where nobody counted.
        began: seconds from the start of the run.
        seconds: what the call took, without what watching it took; of the pass that was watched
            node by node, as that took.
        memory: bytes in use when it ended: on its device, or of the process where that is the CPU.
        is_finished: whether it was seen to end.
        error: what it raised, "" where it did not.
        is_troubled: whether the loss, a leaf's ``.grad`` or a gradient that a call in full returned
            is not finite.
    """

    index: int  # type: ignore[assignment]  # as a field, it is found first
    kind: CallKind
    number: int
    line: Source | None
    level: Level
    structure: str = ""
    roots: tuple[str, ...] = ()
    loss: float | None = None
    nodes: int | None = None
    step: int = 0
    began: float = 0.0
    seconds: float | None = None
    memory: int | None = None
    is_finished: bool = True
    error: str = ""
    is_troubled: bool = False

    @property
    def option(self) -> str:
        """What ``--call`` takes for it."""
        return str(self.number) if self.kind == "backward" else f"{self.kind}:{self.number}"

    @property
    def title(self) -> str:
        """``backward() call 2``, ``autograd.grad() call 1``."""
        spelling = "backward()" if self.kind == "backward" else "autograd.grad()"
        return f"{spelling} call {self.number}"


class Arrays(Protocol):
    """Reads tensors that were kept."""

    def __call__(self, number: int, /) -> NDArray[np.generic] | None:
        """Return value ``number`` in the nearest dtype that NumPy has, None if it was not kept."""
        ...


def no_arrays(number: int) -> NDArray[np.generic] | None:
    """Return the array of a value of a call of which none was kept."""
    return None


@dataclass(frozen=True, slots=True)
class Values:
    """All that flowed in a call: results of the forward pass, gradients, sums, each once.

    A value goes by its number, the place in these columns.

    Attributes:
        statistics: its description, None of a value without data.
        shapes, dtypes: those of the tensor; the dtype as PyTorch spells it.
        array: reads the tensor itself, where the level of the call was ``all``.
    """

    statistics: StatisticsTable
    shapes: Sequence[Shape | None]
    dtypes: Sequence[str]
    array: Arrays = no_arrays

    def __len__(self) -> int:
        return len(self.shapes)

    def of(self, number: int) -> Statistics | None:
        """Return the description of a value, None of NONE."""
        return None if number < 0 else self.statistics[number]


class DeliveryFacts(NamedTuple):
    """One gradient that a node sent: by its output ``output_nr`` to input ``input_nr`` of node
    ``target``, NONE where the edge leads nowhere. ``gradient``, and the sum that waited there
    ``before`` and ``after`` it arrived, are numbers of values."""

    output_nr: int
    target: Target
    input_nr: int
    gradient: Value
    before: Value
    after: Value


class HookFacts(NamedTuple):
    """One call of a hook; ``before`` and ``after`` are numbers of values."""

    kind: HookKind
    name: str
    output_nr: int
    before: tuple[Value, ...]
    after: tuple[Value, ...]
    changed: bool


class StepFacts(NamedTuple):
    """What one node did, as :class:`gradstep.records.Step` has it; node ``index`` of the order is
    node ``index`` of the graph, and every gradient is the number of a value."""

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    incoming: tuple[Value, ...]
    hooked: tuple[Value, ...]
    deliveries: tuple[DeliveryFacts, ...]
    before: Value = NONE
    after: Value = NONE
    captured: tuple[Value, ...] = ()
    hooks: tuple[HookFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """What flowed in a call, by the ids of the nodes and edges of its graph.

    Attributes:
        values: what flowed; all numbers here are places in it.
        nodes: of a node of the forward half the value that it made, of the backward half the
            gradient that it received.
        edges: of a gradient edge the contribution that went along it.
        undefined, edge_undefined: where a gradient was asked for, and there was none.
        details: what a node of the graph says in this call only, such as ``0 + 36`` of a leaf.
        hooks, edge_hooks: what hooks changed.
        steps: what each node did, in the order in which they ran.
    """

    values: Values
    nodes: Mapping[int, int]
    edges: Mapping[int, int]
    undefined: frozenset[int] = frozenset()
    edge_undefined: frozenset[int] = frozenset()
    details: Mapping[int, str] = field(default_factory=dict)
    hooks: Mapping[int, tuple[HookChange, ...]] = field(default_factory=dict)
    edge_hooks: Mapping[int, HookChange] = field(default_factory=dict)
    steps: tuple[StepFacts, ...] = ()

"""The neutral computation graph: what every picture and every debugger reads.

A :class:`Graph` is immutable and stored in columns, one list per property, so a million nodes are
cheap. :class:`Node` and :class:`Edge` are views that are created on demand. Node ids are positions
in these columns, in the order of capture. This module does not know where a graph comes from (this
core, torch) or what it is for (a picture, a step list).

Two halves share one graph.  In the *forward* half, an edge leads from the producer of a value to
the op that consumes it. In the *backward* half, an edge follows the gradient, from a ``grad_fn`` to
its ``next_functions``. A *saved* edge leads from the forward node whose value was saved to the
backward node that keeps it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final, Literal, NamedTuple

from gradstep.graph.statistics import Statistics
from gradstep.guest.cells import cell_of, place_in
from gradstep.records import SavedState

__all__ = [
    "LEAF_KINDS",
    "PARAMETER_KINDS",
    "RETURNED",
    "Call",
    "Cost",
    "Edge",
    "EdgeKind",
    "Graph",
    "Group",
    "GroupKind",
    "Half",
    "HookChange",
    "Mark",
    "Memory",
    "Node",
    "NodeKind",
    "OpenGroup",
    "Owner",
    "Part",
    "SavedState",
    "SavedValue",
    "Shape",
    "Source",
    "Totals",
    "View",
    "short_name",
]

NodeKind = Literal["op", "group", "leaf", "parameter", "frozen", "constant", "output", "seed"]
"""A leaf gets a gradient in the backward pass, a parameter too; a frozen parameter and a constant
get none."""

LEAF_KINDS: Final[tuple[NodeKind, ...]] = ("leaf", "parameter", "frozen", "constant")
PARAMETER_KINDS: Final[tuple[NodeKind, ...]] = ("parameter", "frozen")
EdgeKind = Literal["value", "gradient", "saved"]
Half = Literal["forward", "backward"]
View = Literal[Half, "both"]
Shape = tuple[int, ...]


RETURNED = "returned by grad()"
"""The detail of a leaf whose gradient was not added to its ``.grad``, and of an op at which a pass
ended, because no more than its gradient was asked for."""


class Source(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int

    @property
    def place(self) -> str:
        """Its file, without folders, and its number: ``train.py:12``."""
        return place_in(cell_of(self.file) or PurePath(self.file).name, self.line)


Owner = Literal["", "parameter", "buffer"]
"""Whose memory a saved value lies in, if not in that of the graph: a parameter's or a buffer's."""


class Memory(NamedTuple):
    """The whole memory that a saved value is a part of: its number, the same for all values in it,
    its bytes, and who owns it."""

    number: int
    nbytes: int = 0
    owner: Owner = ""


class SavedValue(NamedTuple):
    """A value that a backward node keeps from the forward pass.

    ``shape`` is None if unknown. ``state`` is "kept", "freed" (by a backward pass), "packed" (by
    the user's hooks) or "changed" (by an in-place op after it was saved). ``lines`` are the program
    lines that did so, as far as traced. Values that begin at the same memory have the same number
    in ``storage``, or None if that is unknown; so have views of one another in ``memory``.
    """

    name: str
    shape: Shape | None = None
    dtype: str = ""
    nbytes: int = 0
    state: SavedState = "kept"
    storage: int | None = None
    lines: tuple[Source, ...] = ()
    memory: Memory | None = None


class HookChange(NamedTuple):
    """A gradient that hooks replaced or changed in place, before and after them; None where one
    record stands for several gradients. ``hooks`` are descriptions such as "tensor hook clip"."""

    hooks: tuple[str, ...]
    before: Statistics | None = None
    after: Statistics | None = None


GroupKind = Literal["chain", "scope", "repeat", "loop", "iteration", "band", "data"]


class Group(NamedTuple):
    """The nodes that one node of a folded graph stands for.

    A *chain* is one op with the shape ops around it, named in ``title``; a *scope* is a module
    or a named part of the program, ``module`` its class; a *repeat* stands for ``instances`` equal
    scopes, a *loop* for as many equal rounds, an *iteration* for one of these, a *band* for
    ops that ran one after the other, *data* for such ops without a gradient.  ``ops`` and
    ``members`` (ids in the unfolded graph) are those of its half, ``parameters`` counts
    elements, ``saved_bytes`` is what its nodes keep for the backward pass, beside parameters and
    buffers, and ``zero_gradients`` how many gradients of 0 arrive at them.  ``like`` names an equal
    instance that is shown before it, "" when there is none.  ``packed`` counts saved values that a
    checkpoint or a hook has put away, ``gradients`` are the rms of what arrives at each instance,
    ``weights`` that of the gradients of its parameters, None where these are unknown.
    """

    kind: GroupKind
    title: str
    module: str
    instances: int
    ops: int
    parameters: int
    saved_bytes: int
    members: tuple[int, ...]
    like: str = ""
    zero_gradients: int = 0
    packed: int = 0
    gradients: tuple[float, ...] = ()
    weights: float | None = None


class OpenGroup(NamedTuple):
    """The nodes of a folded graph that are inside the open one of several similar modules or rounds
    of a loop."""

    label: str
    members: frozenset[int]


class Totals(NamedTuple):
    """The totals of a graph. Leaves that get no gradient count as constants, and ``parameters``
    counts elements. ``gradients`` are those that are known to flow along an edge,
    ``zero_gradients`` those of them that are 0; ``unknown_gradients`` did not flow yet, or nobody
    knows them. Of ``part_gradients``, only what one of several processes has is known.
    ``zero_leaves`` are the leaf gradients that are 0. ``saved_bytes`` are kept for the
    backward pass beside ``parameter_bytes`` and ``buffer_bytes``, which are saved too, but belong
    to parameters and buffers of modules; memory that several nodes keep counts once.
    """

    ops: int
    leaves: int
    constants: int
    grad_fns: int
    leaf_gradients: int
    saved_bytes: int
    parameters: int = 0
    gradients: int = 0
    zero_gradients: int = 0
    unknown_gradients: int = 0
    part_gradients: int = 0
    zero_leaves: int = 0
    parameter_bytes: int = 0
    buffer_bytes: int = 0


class Part(NamedTuple):
    """The origin of a part of a graph: ``which`` part it is ("around mul:1"), and the totals of the
    whole graph."""

    which: str
    whole: Totals


class Round(NamedTuple):
    """A round of a loop of the program: the ``number``-th of those that this ``loop`` of the graph
    went, from 1 on, as ``i = 3`` or ``round 4``."""

    loop: int
    number: int
    label: str


class Call(NamedTuple):
    """The ``number``-th call of a module in this graph, from 1 on, made in the call ``outer`` of
    :attr:`Graph.calls`, -1 outside any."""

    module: str
    number: int
    outer: int = -1


class Mark(NamedTuple):
    """How a node differs in another graph: it is there only ("added"), here only ("removed"), or in
    both, as ``details`` say."""

    what: Literal["added", "removed", "changed"]
    details: str = ""


class Node(NamedTuple):
    """One box of the graph.

    ``name`` is the op ("mul"), the ``grad_fn`` ("MulBackward0", "AccumulateGrad"), or the user's
    name for the value ("weight"). ``variable`` is the user's name for the tensor of a leaf, an
    output or an AccumulateGrad, "" if unknown. ``order`` is the position in the backward plan (0
    runs first). ``pair`` is the corresponding node in the other half. ``statistics`` describes the
    value (forward half) or the incoming gradient (backward half), and is None if unknown.
    ``undefined`` means that a gradient was requested but there was none. ``group`` describes what a
    node of a folded graph stands for. ``hooks`` are changes by hooks that no edge shows: to a sum
    of several gradients, to the ``.grad`` of a leaf, or within a group. ``rounds`` are those of the
    loops in which it ran, from the outermost on.
    """

    id: int
    kind: NodeKind
    half: Half
    name: str
    variable: str
    address: str
    scope: str
    shape: Shape | None
    dtype: str
    detail: str
    formula: str
    source: Source | None
    order: int | None
    pair: int | None
    saved: tuple[SavedValue, ...]
    statistics: Statistics | None
    undefined: bool
    group: Group | None
    hooks: tuple[HookChange, ...] = ()
    rounds: tuple[Round, ...] = ()


class Cost(NamedTuple):
    """The measured cost of a node: seconds, and bytes of its results, as an op in the forward pass
    and as a node in backward passes; None if not measured."""

    forward_seconds: float | None = None
    forward_bytes: int | None = None
    backward_seconds: float | None = None
    backward_bytes: int | None = None

    def __add__(self, other: Cost) -> Cost:  # type: ignore[override]  # no joining of tuples
        """Of both together; what one of them does not know counts as nothing."""
        return Cost(*map(_plus, self, other))


def _plus(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else one + other


class Edge(NamedTuple):
    """One edge of the graph.

    ``output_nr`` counts the outputs of ``source``, ``input_nr`` the inputs of ``target``. ``label``
    names the saved value on a saved edge, and is "" on other edges. ``multiplicity`` is the number
    of edges of the unfolded graph that this one stands for. ``hook`` is the change that hooks of
    its source and target made to its gradient.
    """

    id: int
    kind: EdgeKind
    source: int
    target: int
    output_nr: int
    input_nr: int
    shape: Shape | None
    dtype: str
    label: str
    nbytes: int
    statistics: Statistics | None
    undefined: bool
    multiplicity: int
    hook: HookChange | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Graph:
    """An immutable graph in columns; build one with
    :class:`~gradstep.graph.builder.GraphBuilder`.

    ``derived_forward`` means that the forward half was derived from the backward half because
    nothing was traced; constants and paths without gradients are then missing. ``modules`` gives
    the class of each scope that is a module, ``module_details`` what matters of its attributes
    ("3×3, stride 2"). ``calls`` are the calls of modules, each after the one that it was made in,
    and ``call_of`` says for nodes in which of them they ran; a folded graph has none. ``results``
    are the variables that a statement assigned the results of ops to, ``cuts`` says of constants
    what took them out of the graph: ``detach()``. A folded graph has
    ``groups``, ``edge_counts`` where an edge stands for several, ``frames`` around open groups, and
    in ``unfolded`` its original totals. A part of a graph has ``part``. One that is compared with
    another has ``marks`` where they differ, and in ``others`` and ``edge_others`` what flowed in
    the other one.
    """

    title: str
    derived_forward: bool
    kinds: Sequence[NodeKind]
    halves: Sequence[Half]
    names: Sequence[str]
    stems: Mapping[int, str]
    counts: Sequence[int]
    scopes: Sequence[str]
    shapes: Sequence[Shape | None]
    dtypes: Sequence[str]
    details: Sequence[str]
    formulas: Sequence[str]
    variables: Mapping[int, str]
    sources: Mapping[int, Source]
    rounds: Mapping[int, tuple[Round, ...]]
    orders: Mapping[int, int]
    pairs: Mapping[int, int]
    saved: Mapping[int, tuple[SavedValue, ...]]
    statistics: Mapping[int, Statistics]
    undefined: frozenset[int]
    modules: Mapping[str, str]
    groups: Mapping[int, Group]
    edge_kinds: Sequence[EdgeKind]
    edge_sources: Sequence[int]
    edge_targets: Sequence[int]
    edge_output_nrs: Sequence[int]
    edge_input_nrs: Sequence[int]
    edge_shapes: Sequence[Shape | None]
    edge_dtypes: Sequence[str]
    edge_labels: Mapping[int, str]
    edge_nbytes: Mapping[int, int]
    edge_statistics: Mapping[int, Statistics]
    edge_undefined: frozenset[int]
    edge_counts: Mapping[int, int]
    unfolded: Totals | None
    costs: Mapping[int, Cost] = field(default_factory=dict)
    hooks: Mapping[int, tuple[HookChange, ...]] = field(default_factory=dict)
    edge_hooks: Mapping[int, HookChange] = field(default_factory=dict)
    module_details: Mapping[str, str] = field(default_factory=dict)
    results: Mapping[int, str] = field(default_factory=dict)
    cuts: Mapping[int, str] = field(default_factory=dict)
    calls: Sequence[Call] = ()
    call_of: Mapping[int, int] = field(default_factory=dict)
    marks: Mapping[int, Mark] = field(default_factory=dict)
    others: Mapping[int, Statistics] = field(default_factory=dict)
    edge_others: Mapping[int, Statistics] = field(default_factory=dict)
    part: Part | None = None
    frames: tuple[OpenGroup, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.kinds)

    def __repr__(self) -> str:
        halves = " and ".join(sorted({str(half) for half in self.halves}, reverse=True))
        return f"<Graph of {self.title}: {len(self)} nodes, {self.edge_count} edges, {halves}>"

    @property
    def edge_count(self) -> int:
        return len(self.edge_kinds)

    def address(self, id: int) -> str:
        """Return the name of this node as users type it: scope, op and count,
        ``encoder.0/addmm:2``.

        The address of a named tensor is its name; the address of a group is the group's name.
        """
        if self.kinds[id] == "group":
            return self.names[id]
        variable = self.variables.get(id)
        if variable and self.kinds[id] != "op":
            return variable
        place = f"{self.stem(id)}:{self.counts[id]}"
        return f"{self.scopes[id]}/{place}" if self.scopes[id] else place

    def stem(self, id: int) -> str:
        """Return the op, as in addresses: ``addmm`` for AddmmBackward0."""
        return self.stems.get(id) or short_name(self.names[id])

    def node(self, id: int) -> Node:
        return Node(
            id=id,
            kind=self.kinds[id],
            half=self.halves[id],
            name=self.names[id],
            variable=self.variables.get(id, ""),
            address=self.address(id),
            scope=self.scopes[id],
            shape=self.shapes[id],
            dtype=self.dtypes[id],
            detail=self.details[id],
            formula=self.formulas[id],
            source=self.sources.get(id),
            order=self.orders.get(id),
            pair=self.pairs.get(id),
            saved=self.saved.get(id, ()),
            statistics=self.statistics.get(id),
            undefined=id in self.undefined,
            group=self.groups.get(id),
            hooks=self.hooks.get(id, ()),
            rounds=self.rounds.get(id, ()),
        )

    def edge(self, id: int) -> Edge:
        return Edge(
            id=id,
            kind=self.edge_kinds[id],
            source=self.edge_sources[id],
            target=self.edge_targets[id],
            output_nr=self.edge_output_nrs[id],
            input_nr=self.edge_input_nrs[id],
            shape=self.edge_shapes[id],
            dtype=self.edge_dtypes[id],
            label=self.edge_labels.get(id, ""),
            nbytes=self.edge_nbytes.get(id, 0),
            statistics=self.edge_statistics.get(id),
            undefined=id in self.edge_undefined,
            multiplicity=self.edge_counts.get(id, 1),
            hook=self.edge_hooks.get(id),
        )

    def nodes(self) -> Iterator[Node]:
        return map(self.node, range(len(self)))

    def senders(self) -> dict[int, list[int]]:
        """Return the nodes from which an edge leads to each node."""
        senders: dict[int, list[int]] = {}
        for source, target in zip(self.edge_sources, self.edge_targets, strict=True):
            senders.setdefault(target, []).append(source)
        return senders

    def edges(self) -> Iterator[Edge]:
        return map(self.edge, range(self.edge_count))


@functools.lru_cache(maxsize=4096)
def short_name(name: str) -> str:
    """Return the op behind a node name.

    >>> short_name("MulBackward0"), short_name("MaxPool2DWithIndicesBackward0"), short_name("mul")
    ('mul', 'maxpool2dwithindices', 'mul')
    >>> short_name("torch::autograd::CopySlices"), short_name("TanhBackwardBackward0")
    ('CopySlices', 'tanh_backward')
    """
    stem, marker, rest = name.removeprefix("torch::autograd::").partition("Backward")
    if rest.startswith("Backward"):  # the derivative of a derivative
        return f"{stem.lower()}_backward"
    return stem.lower() if marker else stem

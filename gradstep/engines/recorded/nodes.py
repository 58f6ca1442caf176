"""The nodes and tensors of a recorded call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import ClassVar, NamedTuple, Protocol

from gradstep.engines.recorded.values import LIBRARY, RecordedValue, element_bytes
from gradstep.graph.model import Graph, SavedValue, Shape
from gradstep.graph.statistics import Statistics
from gradstep.recording.facts import HookFacts, StepFacts
from gradstep.recording.run import Run
from gradstep.records import GENERAL, LEAF, Line, Place, Port, SavedState


class CallOfNodes(Protocol):
    """The call that nodes and tensors belong to, as they ask it."""

    run: Run
    index: int
    drawn: Graph
    order: Sequence[RecordedNode]

    @property
    def leaves(self) -> Mapping[int, RecordedTensor]:
        """The leaves, by the index of their node."""
        ...

    def facts(self, index: int) -> StepFacts:
        """Return what node ``index`` did, as it was recorded."""
        ...

    def value(self, number: int) -> RecordedValue | None:
        """Return a value by its number, None of NONE."""
        ...

    def input_shapes(self, node: RecordedNode) -> Sequence[Shape | None]:
        """Return the shape of what arrives at each input of ``node``."""
        ...

    def result_of(self, index: int) -> RecordedValue | None:
        """Return what the op of node ``index`` made, or what its leaf held."""
        ...

    def saved(self, index: int) -> Iterator[SavedTensor]:
        """List what node ``index`` kept."""
        ...


class RecordedDType(NamedTuple):
    """The dtype of a tensor that is not here."""

    name: str


class RecordedOp(NamedTuple):
    """What was recorded of the op of a node: its result, described."""

    statistics: Statistics | None


class RecordedHooks:
    """The hooks of a node that were called."""

    def __init__(self, calls: Sequence[HookFacts]) -> None:
        self._names = tuple(dict.fromkeys(f"{call.kind} {call.name}" for call in calls))

    def names(self) -> tuple[str, ...]:
        """List kind and name of each, in the order in which they ran."""
        return self._names


class SavedTensor(NamedTuple):
    """What a node kept; its ``value`` is known where it is a result of the forward pass that was
    recorded, which node ``maker`` of the graph made."""

    known: SavedValue
    value: RecordedValue | None = None
    maker: int | None = None


class RecordedNode:
    """A node that ran in a recorded call.

    Attributes:
        edges: where its gradients went.
        arriving: the numbers of the inputs at which gradients arrived; ``ported`` says whether they
            are several.
    """

    __slots__ = ("_call", "arriving", "edges", "index", "ported")
    kind: ClassVar[int] = GENERAL
    leads_nowhere: ClassVar[bool] = False
    is_freed: bool = False
    freed_at: Line | None = None

    def __init__(self, call: CallOfNodes, index: int) -> None:
        self._call, self.index = call, index
        self.edges: tuple[Place | None, ...] = ()
        self.arriving: set[int] = set()
        self.ported = False

    @property
    def sequence_nr(self) -> int:
        return len(self._call.order) - self.index

    @property
    def output_count(self) -> int:
        return len(self._call.facts(self.index).incoming)

    @property
    def output_shape(self) -> Shape | None:
        return self._call.drawn.shapes[self.index]

    @property
    def output_shapes(self) -> Sequence[Shape | None] | None:
        """The shapes of what arrives at its inputs, None where there is one."""
        return self._call.input_shapes(self) if self.ported else None

    @property
    def output_dtype(self) -> RecordedDType:
        return RecordedDType(self._call.drawn.dtypes[self.index])

    @property
    def record(self) -> RecordedOp | None:
        if self._call.drawn.derived_forward:
            return None
        pair = self._call.drawn.pairs.get(self.index)
        return RecordedOp(None if pair is None else self._call.drawn.statistics.get(pair))

    @property
    def hooks(self) -> RecordedHooks | None:
        calls = self._call.facts(self.index).hooks
        return RecordedHooks(calls) if calls else None

    def name(self) -> str:
        return self._call.drawn.names[self.index]

    def formulas(self) -> tuple[tuple[str, str], ...]:
        rules = rules_in(self._call.drawn.formulas[self.index])
        if len(rules) == len(self.edges) > 1:
            return tuple([(f"input {nr}", rule) for nr, rule in enumerate(rules)])
        return (("rule", ", ".join(rules)),) if rules else ()

    def saved(self) -> Iterator[tuple[str, SavedTensor, SavedState]]:
        for kept in self._call.saved(self.index):
            yield kept.known.name, kept, kept.known.state

    def changed_at(self, name: str) -> tuple[Line, ...]:
        saved = self._call.drawn.saved.get(self.index, ())
        return next((kept.lines for kept in saved if kept.name == name), ())

    def leaf(self) -> RecordedTensor | None:
        """Return the leaf of an AccumulateGrad, None of another node."""
        return self._call.leaves.get(self.index)

    def maker_of(self, output_nr: int) -> int | None:
        """Return the node of the forward half behind one of its edges."""
        place = self.edges[output_nr]
        node = place.node if isinstance(place, Port) else place
        return None if node is None else self._call.drawn.pairs.get(node.index)

    @property
    def pair(self) -> int | None:
        """Its op in the forward half."""
        return self._call.drawn.pairs.get(self.index)


class RecordedLeaf(RecordedNode):
    """The AccumulateGrad of a leaf."""

    __slots__ = ()
    kind: ClassVar[int] = LEAF


class RecordedTensor:
    """A root or a leaf of a recorded call: where its gradient went, and what is known of it."""

    gradstep_library: ClassVar[str] = LIBRARY
    requires_grad: bool = True
    retains_grad: bool = False
    record: None = None

    def __init__(self, call: CallOfNodes, name: str, index: int, edge: Place) -> None:
        self.call, self.name, self.index, self.edge = call, name, index, edge

    @property
    def _node(self) -> RecordedNode:
        return self.call.order[self.index]

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf."""
        return self._node.kind == LEAF

    @property
    def grad_fn(self) -> RecordedNode | None:
        """The node of its op, None of a leaf."""
        return None if self.is_leaf else self._node

    @property
    def is_parameter(self) -> bool:
        return self.call.drawn.kinds[self.index] == "parameter"

    @property
    def _shape(self) -> Shape | None:
        shapes = self._node.output_shapes
        nr: int = self.edge.nr if isinstance(self.edge, Port) else 0
        return self._node.output_shape if shapes is None else shapes[nr]

    @property
    def shape(self) -> Shape:
        """Its shape, () where that is unknown."""
        return self._shape or ()

    @property
    def dtype(self) -> RecordedDType:
        return self._node.output_dtype

    @property
    def nbytes(self) -> int:
        """The bytes of its elements, where it was computed."""
        return prod(self.shape) * element_bytes(self.dtype.name)

    @property
    def value(self) -> RecordedValue | None:
        """What it held, None where that was not recorded."""
        return self.call.result_of(self.index)

    @property
    def grad(self) -> RecordedValue | None:
        """Its ``.grad`` when the call was over, None of a root."""
        return self.call.value(self.call.facts(self.index).after) if self.is_leaf else None


def rules_in(formula: str) -> list[str]:
    """Return the rules that a formula consists of.

    >>> rules_in("g · b, sum(g, dim)"), rules_in("")
    (['g · b', 'sum(g, dim)'], [])
    """
    parts, depth = [""], 0
    for part in formula.split(", "):
        parts[-1] += f", {part}" if depth else part
        depth += sum(map(part.count, "([{")) - sum(map(part.count, ")]}"))
        if not depth:
            parts.append("")
    return [part for part in parts if part]


class RecordedPlan(NamedTuple):
    """The nodes that ran, in their order."""

    order: Sequence[RecordedNode]

"""A call of a recording as sessions and pictures see a call, and its nodes and tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import ClassVar, NamedTuple

from gradstep.capturing.names import Names
from gradstep.engines.recorded.values import LIBRARY, RecordedValue, element_bytes
from gradstep.graph.model import Graph, SavedValue, Shape, Source
from gradstep.graph.statistics import Statistics
from gradstep.recording.errors import BadRecording
from gradstep.recording.facts import NONE, Flow, HookFacts, Leaf, StepFacts
from gradstep.recording.run import Run, not_in_full, with_flow
from gradstep.records import (
    GENERAL,
    LEAF,
    CallKind,
    Delivery,
    HookCall,
    Line,
    Place,
    Port,
    SavedState,
    Step,
)


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

    def __init__(self, call: RecordedCall, index: int) -> None:
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

    def __init__(self, call: RecordedCall, name: str, index: int, edge: Place) -> None:
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


class UnreachedLeaf:
    """A leaf that an ``optimizer`` has, and to which no recorded call came."""

    gradstep_library: ClassVar[str] = LIBRARY
    requires_grad = is_leaf = True
    grad = grad_fn = None

    def __init__(self, leaf: Leaf, optimizer: str) -> None:
        self.name, self.shape, self.gradstep_holder = leaf.name, leaf.shape or (), optimizer


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


class _Entry(NamedTuple):
    """Where a seed enters: its node in the graph, and the node and the input that it goes to."""

    seed: int
    target: int
    input_nr: int


class RecordedCall:
    """A call of a recording that was kept in full, as it was before anything ran.

    Attributes:
        run, index: the recording, and its place there.
        drawn: both halves of its graph, with all that flowed.
        order: the nodes in the order in which they ran; node k is node k of ``drawn``.
        roots: what it was called on; ``seeds`` are the gradients that entered there.

    Raises:
        NotRecorded: there is no such call, or it was not kept in full.
        BadRecording: what was recorded does not fit together.
    """

    keep: bool = False
    graph: bool = False
    inputs: Sequence[RecordedTensor] = ()
    parent: None = None
    depth: int = 0

    def __init__(self, run: Run, index: int) -> None:
        self.run, self.index = run, index
        self._facts = run.call(index)
        flow = run.flow(index)
        if flow is None:
            raise not_in_full(run, self._facts)
        self._flow: Flow = flow
        self._values: dict[int, RecordedValue] = {}
        try:
            self.drawn: Graph = with_flow(run.graph(self._facts.structure), flow)
            self.order: Sequence[RecordedNode] = self._nodes()
            self._require_whole()
            entries = self._link()
            self.roots = tuple(self._roots(entries))
            self.seeds = list(self._seeds(entries))
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise BadRecording(
                f"the recording is damaged: what it has of {self._facts.title} does not fit "
                f"together ({type(error).__name__}: {error})"
            ) from None

    @property
    def is_grad(self) -> bool:
        return self.kind == "grad"

    @property
    def kind(self) -> CallKind:
        return self._facts.kind

    @property
    def number(self) -> int:
        """Which one it is among the calls of its kind."""
        return self._facts.number

    @property
    def line(self) -> Source | None:
        return self._facts.line

    # the nodes

    def _nodes(self) -> list[RecordedNode]:
        kinds = self.drawn.kinds
        nodes: list[RecordedNode] = []
        for index, half in enumerate(self.drawn.halves):
            if half != "backward" or kinds[index] == "seed":
                break
            node_class = RecordedNode if kinds[index] == "op" else RecordedLeaf
            nodes.append(node_class(self, index))
        return nodes

    def _require_whole(self) -> None:
        """See that all numbers in steps are those of nodes and values."""
        steps, nodes, values = self._flow.steps, len(self.order), len(self._flow.values)
        if [step.index for step in steps] != list(range(nodes)):
            raise ValueError(f"it has {nodes} nodes, and steps of others")
        for step in steps:
            numbers = [
                *step.incoming, *step.hooked, step.before, step.after, *step.captured,
                *(number for call in step.hooks for number in (*call.before, *call.after)),
                *(number for delivery in step.deliveries for number in delivery[3:]),
            ]  # fmt: skip
            targets = [delivery.target for delivery in step.deliveries]
            if not _are_below(values, numbers) or not _are_below(nodes, targets):
                raise IndexError(f"step {step.index} leads nowhere")

    def _link(self) -> list[_Entry]:
        """Connect the nodes; returns where the seeds enter."""
        graph, order = self.drawn, self.order
        columns = (
            graph.edge_kinds, graph.edge_sources, graph.edge_targets, graph.edge_output_nrs,
            graph.edge_input_nrs,
        )  # fmt: skip
        rows = [row[1:] for row in zip(*columns, strict=True) if row[0] == "gradient"]
        for _, target, _, input_nr in rows:
            order[target].arriving.add(input_nr)
        for node in order:
            node.ported = node.output_count > 1 or max(node.arriving, default=0) > 0
        leaving: dict[int, dict[int, Place]] = {}
        entries = []
        for source, target, output_nr, input_nr in rows:
            if source < len(order):
                place = self._place(target, input_nr)
                leaving.setdefault(source, {})[output_nr] = place
            else:
                entries.append(_Entry(source, target, input_nr))
        for index, places in leaving.items():
            count = max(len(self._flow.steps[index].deliveries), max(places) + 1)
            order[index].edges = tuple([places.get(nr) for nr in range(count)])
        return sorted(entries)

    def places(self, node: RecordedNode) -> Sequence[Place]:
        """Return the input buffers of ``node``."""
        return [Port(node, nr) for nr in sorted(node.arriving)] if node.ported else [node]

    def _place(self, target: int, input_nr: int) -> Place | None:
        if target < 0:
            return None
        node = self.order[target]
        return Port(node, input_nr) if node.ported else node

    def input_shapes(self, node: RecordedNode) -> Sequence[Shape | None]:
        """Return the shape of what arrives at each input of ``node``."""
        given = self.values(self.facts(node.index).incoming)
        known = {nr: None if value is None else value.shape for nr, value in enumerate(given)}
        graph, edges = self.drawn, self._edges_into.get(node.index, ())
        known.update({graph.edge_input_nrs[id]: graph.edge_shapes[id] for id in edges})
        return [known.get(nr) for nr in range(max(known, default=-1) + 1)]

    @cached_property
    def _edges_into(self) -> dict[int, list[int]]:
        """The edges to nodes with several inputs."""
        edges: dict[int, list[int]] = {}
        ends = enumerate(zip(self.drawn.edge_kinds, self.drawn.edge_targets, strict=True))
        for id, (kind, target) in ends:
            if kind == "gradient" and self.order[target].ported:
                edges.setdefault(target, []).append(id)
        return edges

    # what flowed

    def value(self, number: int) -> RecordedValue | None:
        """Return a value by its number, None of NONE."""
        if number < 0:
            return None
        value = self._values.get(number)
        if value is None:
            value = self._values[number] = RecordedValue(self._flow.values, number)
        return value

    def values(self, numbers: Sequence[int]) -> tuple[RecordedValue | None, ...]:
        """Return several values."""
        return tuple(map(self.value, numbers))

    def facts(self, index: int) -> StepFacts:
        """Return what node ``index`` did, as it was recorded."""
        return self._flow.steps[index]

    def step(self, index: int) -> Step:
        """Return what node ``index`` did."""
        facts, node, value = self._flow.steps[index], self.order[index], self.value
        return Step(
            index,
            node,
            self.values(facts.incoming),
            self.values(facts.hooked),
            tuple([
                Delivery(
                    delivery.output_nr, self._place(delivery.target, delivery.input_nr),
                    value(delivery.gradient), value(delivery.before), value(delivery.after),
                )
                for delivery in facts.deliveries
            ]),
            value(facts.before),
            value(facts.after),
            tuple(zip(self.places(node), self.values(facts.captured), strict=False)),
        )  # fmt: skip

    def hook_calls(self, index: int) -> tuple[HookCall, ...]:
        """Return the calls of hooks of node ``index``."""
        calls = []
        for call in self._flow.steps[index].hooks:
            before = self.values(call.before)
            after = self.values(call.after) if call.changed else before
            calls.append(HookCall(call.kind, call.name, call.output_nr, before, after))
        return tuple(calls)

    # roots and leaves

    def _roots(self, entries: Sequence[_Entry]) -> Iterator[RecordedTensor]:
        for number, (_, target, input_nr) in enumerate(entries):
            names = self._facts.roots
            name = names[number] if number < len(names) else ""
            yield RecordedTensor(self, name, target, self._place(target, input_nr))
        if not entries:
            raise ValueError("it has no root")

    def _seeds(self, entries: Sequence[_Entry]) -> Iterator[RecordedValue | None]:
        """Find the gradients that entered: each is what its node found there, or what waited when
        the first contribution of another node came."""
        several = Counter(entry[1:] for entry in entries)
        wanted = dict.fromkeys(place for place, count in several.items() if count == 1)
        first = dict.fromkeys(wanted, NONE)
        last = max((target for target, _ in wanted), default=0)
        for step in reversed(self._flow.steps[:last]):
            for delivery in reversed(step.deliveries):
                if (delivery.target, delivery.input_nr) in first:
                    first[delivery.target, delivery.input_nr] = delivery.before
        for seed, target, input_nr in entries:
            number = first.get((target, input_nr), self._flow.nodes.get(seed, NONE))
            if number == NONE and (target, input_nr) in first:
                number = self._flow.steps[target].incoming[input_nr]
            yield self.value(number)

    @cached_property
    def leaves(self) -> dict[int, RecordedTensor]:
        """The leaves, by the index of their node."""
        return {
            node.index: RecordedTensor(self, self.drawn.address(node.index), node.index, node)
            for node in self.order
            if node.kind == LEAF
        }

    @cached_property
    def unreached(self) -> list[UnreachedLeaf]:
        """The leaves of optimizers to which no recorded call came."""
        run, here = self.run, {leaf.name for leaf in self.leaves.values()}
        return [
            UnreachedLeaf(run.leaves[number], group.optimizer)
            for group in run.training.groups
            for number in group.leaves
            if run.leaves[number].name not in here
            and not any(leaf.arrived for _, leaf in run.over_calls(number))
        ]

    def result_of(self, index: int) -> RecordedValue | None:
        """Return what the op of node ``index`` made, or what its leaf held."""
        pair = self.drawn.pairs.get(index)
        return None if pair is None else self.value(self._flow.nodes.get(pair, NONE))

    # what nodes kept

    def saved(self, index: int) -> Iterator[SavedTensor]:
        """List what node ``index`` kept; a value is known where it is the only result of an op, or
        a leaf."""
        kept = self.drawn.saved.get(index, ())
        edges = self._saved_edges.get(index, ())
        like = Counter(map(_extent, kept))
        led = Counter(self._extent(id) for id in edges)
        for value in kept:
            extent = _extent(value)
            ways = [id for id in edges if self._extent(id) == extent]
            if not ways or led[extent] != like[extent]:
                yield SavedTensor(value)
                continue
            at = sum(_extent(other) == extent for other in kept[: kept.index(value)])
            maker = self.drawn.edge_sources[ways[at]]
            yield SavedTensor(value, self._kept_value(index, value, maker), maker)

    def _kept_value(self, index: int, saved: SavedValue, maker: int) -> RecordedValue | None:
        """Return what a node kept, which is of ``maker``, None where that is not known."""
        own = self.drawn.pairs.get(index) == maker
        if saved.state != "kept" or maker in self._several or (own and saved.name not in _RESULTS):
            return None
        value = self.value(self._flow.nodes.get(maker, NONE))
        fits = value is not None and (value.shape, value.dtype) == (saved.shape, saved.dtype)
        return value if fits else None

    def _extent(self, id: int) -> tuple[Shape | None, str, int]:
        graph = self.drawn
        return graph.edge_shapes[id], graph.edge_dtypes[id], graph.edge_nbytes.get(id, 0)

    @cached_property
    def _saved_edges(self) -> dict[int, list[int]]:
        """The edges of saved values, by the node that kept them."""
        edges: dict[int, list[int]] = {}
        for id, kind in enumerate(self.drawn.edge_kinds):
            if kind == "saved":
                edges.setdefault(self.drawn.edge_targets[id], []).append(id)
        return edges

    @cached_property
    def _several(self) -> set[int]:
        """The ops of the forward half with several results, of which the graph shows one."""
        graph = self.drawn
        columns = zip(graph.edge_kinds, graph.edge_sources, graph.edge_output_nrs, strict=True)
        sources = {source for kind, source, nr in columns if kind == "value" and nr}
        pairs = (graph.pairs.get(node.index) for node in self.order if node.output_count > 1)
        return sources | {pair for pair in pairs if pair is not None}


def _are_below(count: int, numbers: Sequence[int]) -> bool:
    """Return whether numbers are places among ``count``, or NONE."""
    return min(numbers, default=NONE) >= NONE and max(numbers, default=NONE) < count


def names_of(call: RecordedCall) -> Names:
    """Return the names that a call's leaves and roots had in the program, and those of leaves to
    which no call came."""
    tensors: list[RecordedTensor | UnreachedLeaf] = [*call.leaves.values(), *call.roots]
    tensors += call.unreached
    return Names({tensor.name: tensor for tensor in tensors if tensor.name})


_RESULTS = ("result", "result0")
"""What nodes call the first result of their own op."""


def _extent(saved: SavedValue) -> tuple[Shape | None, str, int]:
    return saved.shape, saved.dtype, saved.nbytes

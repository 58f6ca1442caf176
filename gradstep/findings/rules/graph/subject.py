"""The subject of lint: a backward pass that has not run, and what is known around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradstep.capturing.forward_values import ForwardValues
from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of
from gradstep.contract.op_records import LeafRecord, OpRecord, Origin, Record, reachable
from gradstep.contract.protocol import Engine, KeptForward, Numbers
from gradstep.findings.facts import LIVE, Forward, Given
from gradstep.graph.model import Graph, Source
from gradstep.graph.statistics import Range
from gradstep.records import LEAF, Node


@dataclass(frozen=True)
class Subject:
    """The roots, their plan and graph (node k of one is node k of the other), and the names that
    the program gives to tensors and modules.  Leaves are the program's own tensors."""

    roots: Sequence[Any]
    order: Sequence[Node]
    graph: Graph
    names: Names
    fresh: Collection[int] = frozenset()
    """The leaves, by identity, that had no gradient before this pass, which has begun."""
    given: frozenset[type[Given]] = LIVE
    """What is known of it."""

    def _require(self, kind: type[Given]) -> None:
        if kind not in self.given:
            raise KeyError(f"a rule reads {kind.__name__}, which it does not say it needs")

    @cached_property
    def engine(self) -> Engine:
        """The engine of the roots."""
        return engine_of(self.roots)

    @cached_property
    def numbers(self) -> Numbers:
        """What reads the numbers of its tensors."""
        return self.engine.numbers or self.engine.cannot("read numbers")

    @cached_property
    def leaves(self) -> dict[int, tuple[int, Any]]:
        """The leaves that get a gradient, by identity: position in the plan, and tensor."""
        pairs = ((index, self.engine.leaf(node)) for index, node in enumerate(self.order))
        return {id(leaf): (index, leaf) for index, leaf in pairs if leaf is not None}

    @cached_property
    def of_other_optimizers(self) -> dict[int, str]:
        """The leaves, by identity, of optimizers that have none which the pass reaches, where
        another one has: it is their own step that trains them, as in a GAN."""
        parameters: dict[str, set[int]] = defaultdict(set)
        for name, _, leaves in self.names.trained():
            parameters[name] |= leaves.keys()
        reached = self.leaves.keys()
        if not any(ids & reached for ids in parameters.values()):
            return {}
        return {id: name for name, ids in parameters.items() if not ids & reached for id in ids}

    @cached_property
    def trained(self) -> set[int]:
        """The leaves, by identity, that some optimizer has, where one has a leaf of this pass."""
        ids: set[int] = set().union(*(ids for _, _, ids in self.names.trained()))
        return set() if ids.isdisjoint(self.leaves) else ids

    def user_tensor(self, tensor: Any) -> Any:
        """Return the program's own tensor, for one as capture sees it."""
        return None if tensor is None else self.engine.reading.user_tensor(tensor)

    def range_given(self, index: int) -> Range | None:
        """Return between what numbers the first input of a node is, where that was traced."""
        record = self.order[index].record
        first = record.inputs[0] if isinstance(record, OpRecord) and record.inputs else None
        if not isinstance(first, tuple):
            return None
        known = ForwardValues(self.engine.reading, self.origins).statistics(first)
        return None if known is None or known.trouble else Range.of(known)

    def ops(self) -> Iterator[tuple[int, Node]]:
        """Yield the nodes that have a rule, with their positions; of a change through a view, the
        node of the op that changed it."""
        for index, node in enumerate(self.order):
            if node.kind != LEAF:
                yield index, getattr(node, "inner", node)

    @cached_property
    def behind(self) -> Mapping[int, list[int]]:
        """The nodes that each node sends to; none of a leaf."""
        targets: dict[int, list[int]] = defaultdict(list)
        for source, target in zip(self.graph.edge_sources, self.graph.edge_targets, strict=True):
            targets[source].append(target)
        return targets

    @cached_property
    def senders(self) -> Mapping[int, list[int]]:
        """The nodes that send to each node."""
        return self.graph.senders()

    @cached_property
    def origins(self) -> dict[Origin, Any]:
        """The roots that were traced, by what they came from."""
        self._require(Forward)
        known = {}
        for root in self.engine.reading.tensors(self.roots):
            at = root.record
            if isinstance(at, tuple) and isinstance(at[0], OpRecord | LeafRecord):
                known[at] = self.user_tensor(root)
        return known

    @cached_property
    def kept_forward(self) -> KeptForward | None:
        """What the graph itself tells of the forward pass; its records then belong to the plan."""
        self._require(Forward)
        forward = self.engine.forward
        kept = None if forward is None else forward.kept_forward(self.roots, self.order)
        if kept is not None:
            order = enumerate(self.order)
            self._indices.update({kept.records.get(node): index for index, node in order})
        return kept

    @cached_property
    def records(self) -> list[Record]:
        """The records of the forward pass, over the places where the graph itself ends."""
        return reachable([record for record, _ in self.origins])

    def index_of(self, record: Record) -> int | None:
        """Return the position of the node of an op, None where it has none in this pass."""
        return self._indices.get(record)

    @cached_property
    def _indices(self) -> dict[Any, int]:
        return {node.record: index for index, node in reversed([*enumerate(self.order)])}

    def source(self, index: int) -> Source | None:
        """Return the forward line of node ``index``."""
        return self.graph.sources.get(index)

    def name(self, leaf: Any) -> str:
        """Name a leaf."""
        return self.names.of(leaf) or f"a leaf of shape {list(leaf.shape)}"

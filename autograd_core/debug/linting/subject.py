"""The subject of lint: a backward pass that has not run, and what is known around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import Node
from autograd_core.dag.model import Graph, Source
from autograd_core.dag.names import Names
from autograd_core.dag.trace.records import Record, reachable
from autograd_core.tensor import Tensor


@dataclass(frozen=True)
class Subject:
    """The roots, their plan and graph (node k of one is node k of the other), and the names that
    the program gives to tensors and modules."""

    roots: tuple[Tensor, ...]
    order: Sequence[Node]
    graph: Graph
    names: Names

    @cached_property
    def leaves(self) -> dict[int, tuple[int, Tensor]]:
        """The leaves that get a gradient, by identity: position in the plan, and tensor."""
        return {
            id(leaf): (index, leaf)
            for index, node in enumerate(self.order)
            if isinstance(node, AccumulateGrad) and (leaf := node.leaf()) is not None
        }

    def ops(self) -> Iterator[tuple[int, Node]]:
        """The nodes that have a rule, with their positions; of a change through a view, the node
        of the op that changed it."""
        for index, node in enumerate(self.order):
            if not isinstance(node, AccumulateGrad):
                yield index, getattr(node, "inner", node)

    @cached_property
    def records(self) -> list[Record]:
        """The records of the forward pass, over the places where the graph itself ends."""
        return reachable([t.record[0] for t in self.roots if isinstance(t.record, tuple)])

    def source(self, index: int) -> Source | None:
        """The forward line of node ``index``."""
        return self.graph.sources.get(index)

    def name(self, leaf: Tensor) -> str:
        """Name a leaf; with its module's name, where the program has several modules."""
        if len(self.names.modules) > 1 and (path := self._paths.get(id(leaf))):
            return path
        return self.names.of(leaf) or f"a leaf of shape {list(leaf.shape)}"

    @cached_property
    def _paths(self) -> dict[int, str]:
        """The parameters of all modules, by identity: ``encoder.0.weight``."""
        return {
            id(parameter): f"{name}.{path}"
            for name, module in reversed(self.names.modules.items())
            for path, parameter in module.named_parameters()
        }

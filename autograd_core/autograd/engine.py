"""The one engine: two short loops that carry out a plan.

``run``, here, executes a stretch of the plan and keeps nothing; ``observe`` (:mod:`.step`)
executes it and tells all.  Both deliver gradients in the same order and add them in the same
grouping, so their results agree bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.autograd.deliver import reduce_gradient
from autograd_core.autograd.node import GENERAL, LEAF, ONE_EDGE, TWO_EDGES, Node
from autograd_core.autograd.step import ObservableTask


class GraphTask(ObservableTask):
    """One backward pass, ready to run."""

    __slots__ = ()

    def run(self, start: int = 0, stop: int | None = None) -> None:
        """Execute plan nodes ``start`` to ``stop``, keeping nothing."""
        if self.graph:
            for _ in self.observe(start, stop):
                pass
            return
        stretch = self.order[start:stop]
        if self._captures:
            done = 0
            for index in [i for i, node in enumerate(stretch) if node in self._captures]:
                self._run(stretch[done:index])
                self.observe_node(-1, stretch[index])
                done = index + 1
            stretch = stretch[done:]
        self._run(stretch)

    def _run(self, nodes: Sequence[Node]) -> None:
        pending, keep = self.pending, self.keep
        take, waiting = pending.pop, pending.get
        for node in nodes:
            kind = GENERAL if node.hooks is not None else node.kind
            if kind == ONE_EDGE:
                g = take(node, None)
                if g is None:
                    continue
                a = node.backward(g, keep)
                if node.to is not None:
                    a = reduce_gradient(a, node.to[0])
                edge = node.i0
                g = waiting(edge)  # type: ignore[arg-type]  # a node with one edge has it
                pending[edge] = a if g is None else g + a  # type: ignore[index]
            elif kind == TWO_EDGES:
                g = take(node, None)
                if g is None:
                    continue
                a, b = node.backward(g, keep)
                to = node.to
                edge = node.i0
                if edge is not None:
                    if to is not None:
                        a = reduce_gradient(a, to[0])
                    g = waiting(edge)
                    pending[edge] = a if g is None else g + a
                edge = node.i1
                if edge is not None:
                    if to is not None:
                        b = reduce_gradient(b, to[1])
                    g = waiting(edge)
                    pending[edge] = b if g is None else g + b
            elif kind == LEAF:
                # Nothing here may hold on to the gradient, or the leaf could not take it over.
                a = b = None
                g = take(node, None)
                if g is not None:
                    node.backward(g, keep)
            else:
                g = a = b = None
                self._run_general(node)

    def _run_general(self, node: Node) -> None:
        """As the loop of ``run``, for a node with many edges, several outputs, or hooks."""
        if node.hooks is not None or node.runs_undefined:
            self.observe_node(-1, node)
            return
        pending = self.pending
        if node.ported:
            g: Any = list(self._take(node))
            if all(each is None for each in g):
                return
        else:
            g = pending.pop(node, None)
            if g is None:
                return
        outgoing, to = node.backward(g, self.keep), node.to
        for number, edge in enumerate(node.all_edges):
            if edge is not None:
                a = outgoing[number]
                if a is None:
                    continue
                if to is not None:
                    a = reduce_gradient(a, to[number])
                present = pending.get(edge)
                pending[edge] = a if present is None else present + a

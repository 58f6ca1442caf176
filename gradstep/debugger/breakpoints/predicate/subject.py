"""The subject of an expression: a node of a session, and one gradient at it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, NoReturn

from gradstep.debugger.breakpoints.predicate.vocabulary import is_tensor
from gradstep.debugger.passes.inspector import Inspector
from gradstep.debugger.snapshot import NodeDetail, Value
from gradstep.debugger.snapshot.value import current_value
from gradstep.graph.model import Graph
from gradstep.text import which_tensor


@dataclass(frozen=True, slots=True)
class NodeSubject:
    """One gradient at plan node ``index``; ``senders`` are the nodes that it comes from.

    ``label`` names the gradient as expressions do: ``in``, ``out.1``, ``weight.grad``.
    """

    inspector: Inspector
    index: int
    gradient: Value | None
    label: str
    senders: tuple[int, ...] = ()
    hits: int = 0

    def of(self, gradient: Value | None) -> NodeSubject:
        """Return the same question about another gradient."""
        return replace(self, gradient=gradient)

    @property
    def ratio(self) -> float | None:
        """Its rms, relative to the largest that arrived where it comes from."""
        arrived = [
            incoming.total.statistics.rms
            for sender in dict.fromkeys(self.senders)
            for incoming in self.inspector.incoming(sender)
            if incoming.total is not None
        ]
        before = max(arrived, default=0.0)
        return self.gradient.statistics.rms / before if self.gradient and before else None

    def fact(self, word: str) -> Any:
        """Look up a fact about the node or the breakpoint (see ``help expressions``)."""
        graph, index = self.inspector.graph, self.index
        match word:
            case "op":
                return graph.stem(index)
            case "name":
                return graph.names[index]
            case "address":
                return graph.address(index)
            case "scope":
                return graph.scopes[index]
            case "leaf":
                return graph.address(index) if _is_leaf(graph, index) else ""
            case "file" | "line":
                source = graph.sources.get(index)
                if source is None:
                    return None
                return PurePath(source.file).name if word == "file" else source.line
            case "index":
                return index
            case "call":
                return self.inspector.number
        assert word == "hits"
        return self.hits

    def tensor(self, path: str) -> Value | None:
        """Return the tensor that ``path`` names; None is an undefined gradient.

        Raises:
            LookupError: there is none, or not yet.
        """
        if path.endswith(".grad"):
            return leaf_gradient(self.inspector, path.removesuffix(".grad"))
        if path == "grad":
            if _is_leaf(self.inspector.graph, self.index):
                return self._leaf_grad(self.index)
            return self.tensor("in")
        if not is_tensor(path):
            return named_tensor(self.inspector, path)
        head, _, rest = path.partition(".")
        if head == "saved":
            return self._saved(rest)
        nr = int(rest or 0)
        if head == "in":
            for incoming in self.inspector.incoming(self.index):
                if incoming.input_nr == nr:
                    return incoming.total
            raise LookupError(f"nothing arrives at this node as {path}")
        for outgoing in self.inspector.outgoing(self.index):
            if outgoing.output_nr == nr:
                if not outgoing.sent:
                    raise LookupError("this node has not run yet, and sent nothing")
                return outgoing.value
        raise LookupError(f"this node has no {path}")

    def _saved(self, name: str) -> Value | None:
        """Return what the node keeps as ``name``, or as its formula calls it: by the name of a
        tensor of the program."""
        try:
            return _saved(self.inspector.detail(self.index), name)
        except LookupError:
            formula = self.inspector.graph.formulas[self.index]
            if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", formula) is None:
                raise
            tensor = self.inspector.tensor(name)
            if tensor is None:
                raise
            return current_value(tensor)

    def _leaf_grad(self, index: int) -> Value | None:
        leaf = self.inspector.leaf(index)
        if leaf is None:
            raise LookupError("this node is not a leaf")
        return leaf.now


@dataclass(frozen=True, slots=True)
class Nowhere:
    """The end of the pass, where no node runs next: only the ``.grad`` of leaves has a value."""

    inspector: Inspector

    @property
    def gradient(self) -> NoReturn:
        raise LookupError("the pass is over: choose a node, as in frame #1")

    @property
    def ratio(self) -> float | None:
        return self.gradient

    def fact(self, word: str) -> Any:
        """Return the number of the call; nothing else is known here."""
        return self.inspector.number if word == "call" else self.gradient

    def tensor(self, path: str) -> Value | None:
        """Return the ``.grad`` of a leaf."""
        if path.endswith(".grad"):
            return leaf_gradient(self.inspector, path.removesuffix(".grad"))
        return self.gradient if is_tensor(path) else named_tensor(self.inspector, path)


def arriving(inspector: Inspector, index: int, hits: int = 0) -> Iterator[NodeSubject]:
    """Yield the gradients that arrive at node ``index``, one per output of its forward op."""
    incoming = inspector.incoming(index)
    for arrival in incoming:
        label = "in" if len(incoming) == 1 else f"in.{arrival.input_nr}"
        parts = arrival.contributions
        senders = tuple(part.producer for part in parts if part.producer is not None)
        yield NodeSubject(inspector, index, arrival.total, label, senders, hits)


def sent(inspector: Inspector, index: int, hits: int = 0) -> Iterator[NodeSubject]:
    """List what node ``index`` made, as far as it has run: what it sends, or a leaf's ``.grad``."""
    if _is_leaf(inspector.graph, index):
        leaf = inspector.leaf(index)
        if leaf is not None and index < inspector.position:
            yield NodeSubject(inspector, index, leaf.now, f"{leaf.name}.grad", (index,), hits)
        return
    outgoing = inspector.outgoing(index)
    for edge in outgoing:
        if edge.sent and edge.target is not None:
            label = "out" if len(outgoing) == 1 else f"out.{edge.output_nr}"
            yield NodeSubject(inspector, index, edge.value, label, (index,), hits)


def _is_leaf(graph: Graph, index: int) -> bool:
    return graph.kinds[index] in ("leaf", "parameter")


def leaf_gradient(inspector: Inspector, name: str) -> Value | None:
    """Return the ``.grad`` of a leaf of the pass, or of another tensor of the program.

    Raises:
        LookupError: there is no such tensor.
    """
    try:
        leaf = inspector.leaf(_leaf_named(inspector, name))
    except LookupError:
        tensor = inspector.tensor(name)
        if tensor is None:
            raise
        if tensor.is_leaf and (index := inspector.index_of_leaf(tensor)) is not None:
            leaf = inspector.leaf(index)
        else:
            kept = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
            return None if kept is None else current_value(kept)
    return None if leaf is None else leaf.now


def named_tensor(inspector: Inspector, name: str) -> Value:
    """Return a tensor of the program, as it is now.

    Raises:
        LookupError: there is none of that name, or the program has freed its memory.
    """
    tensor = inspector.tensor(name)
    if tensor is None:
        raise LookupError(f"the program has no tensor '{name}' here")
    value = current_value(tensor)
    if value is None:
        raise LookupError(f"the program has freed the memory of '{name}'")
    return value


def _leaf_named(inspector: Inspector, name: str) -> int:
    graph = inspector.graph
    for index in range(inspector.length):
        if _is_leaf(graph, index) and graph.address(index) == name:
            return index
    meant = which_tensor(name, graph.variables.values()) or "info leaves lists them"
    raise LookupError(f"there is no leaf '{name}' here; {meant}")


def _saved(detail: NodeDetail, name: str) -> Value | None:
    for kept in detail.saved:
        if kept.name == name:
            if kept.value is None:
                raise LookupError(f"saved.{name} was freed")
            return kept.value
    names = ", ".join(f"saved.{kept.name}" for kept in detail.saved)
    raise LookupError(f"this node keeps no '{name}'" + (f"; it keeps {names}" if names else ""))

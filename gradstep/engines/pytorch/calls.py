"""Calls of PyTorch's engine: what it is called with, and as readers of a graph see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gradstep.engines.pytorch.tensors import SeenTensor
from gradstep.graph.model import Source
from gradstep.records import CallKind

if TYPE_CHECKING:
    from gradstep.records import Node


class Arguments(NamedTuple):
    """The arguments with which PyTorch calls its engine."""

    outputs: tuple[Any, ...]
    seeds: tuple[Any, ...]
    keep: bool
    graph: bool
    inputs: tuple[Any, ...]
    allow_unreachable: bool = True
    accumulate_grad: bool = True


class TorchCall(NamedTuple):
    """A call of ``backward`` or ``grad``, see :class:`gradstep.records.BackwardCall`;
    ``arguments`` is what PyTorch's engine is to be called with."""

    roots: tuple[SeenTensor, ...]
    seeds: tuple[Any, ...]
    keep: bool
    graph: bool
    inputs: tuple[SeenTensor, ...]
    arguments: Arguments
    is_grad: bool = False
    parent: Node | None = None
    depth: int = 0
    line: Source | None = None

    @property
    def kind(self) -> CallKind:
        """Which of the two it is."""
        return "grad" if self.is_grad else "backward"

"""Calls of PyTorch's engine: what it is called with, as readers of a graph see it, and
which can run only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from gradstep.engines.pytorch.private import is_batched, is_shared_with_processes
from gradstep.engines.pytorch.schema import is_captured
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


def why_watched_only(call: TorchCall, order: Sequence[Any] = ()) -> str:
    """Say why the pass of ``call`` can be watched, but not go on in another way; "" if it can.

    Compiled functions are found in ``order``.
    """
    reason = why_graph_is_freed(call, order)
    if not reason and is_shared_with_processes():
        reason = "its gradients are exchanged with other processes"
    return f"this pass is read-only: {reason}" if reason else ""


def why_graph_is_freed(call: TorchCall, order: Sequence[Any] = ()) -> str:
    """Say why the graph of ``call`` cannot outlive its pass; "" if it can."""
    if any(node.opaque.startswith("compiled") for node in order):
        return "a compiled function runs once"
    if any(isinstance(seed, torch.Tensor) and is_batched(seed) for seed in call.seeds):
        return "it is vectorized"
    if is_captured():
        return "it is captured in a CUDA graph"
    return ""

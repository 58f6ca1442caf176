"""Passes that PyTorch can run only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.private import is_batched


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
    if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        return "it is captured in a CUDA graph"
    return ""


def is_shared_with_processes() -> bool:
    """Return whether this process may exchange gradients with others."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())

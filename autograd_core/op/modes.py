"""What ops do in a mode that is not the usual one; generated code asks for nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograd_core.autograd.grad_mode import Mode
from autograd_core.autograd.packing import pack_saved
from autograd_core.autograd.version import INFERENCE


def results_made(
    mode: Mode,
    name: str,
    values: tuple[Any, ...],
    attributes: Mapping[str, Any],
    outputs: tuple[Any, ...],
    node: Any,
) -> None:
    """What an unusual mode does with the results of an op."""
    if mode.inference:
        for t in outputs:
            if t.view_of is None:  # a view is what its base is
                t.version = INFERENCE
    if mode.profiler is not None:
        mode.profiler.op(name, values, outputs, node)
    if mode.tracer is not None:
        mode.tracer.op(name, values, attributes, outputs, node)


def node_made(node: Any, mode: Mode) -> None:
    """What an unusual mode does with a new node."""
    if mode.saved_hooks is not None:
        pack_saved(node, mode.saved_hooks)
    if mode.anomaly is not None:
        mode.anomaly.keep_traceback(node)

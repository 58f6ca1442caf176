"""What ops do in a mode that is not the usual one; generated code asks for nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograd_core.autograd.double_backward import saved_tensor
from autograd_core.autograd.grad_mode import Mode, undo_log
from autograd_core.autograd.held import Held
from autograd_core.autograd.node import NOT_SAVED, notes_of
from autograd_core.autograd.packed import Hooks, Packed, nodes_with_packed
from autograd_core.autograd.version import INFERENCE
from autograd_core.tensor import Tensor


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
        mode.profiler.op(outputs, node)
    if mode.tracer is not None:
        mode.tracer.op(name, values, attributes, outputs, node)


def node_made(node: Any, mode: Mode) -> None:
    """What an unusual mode does with a new node."""
    if mode.saved_hooks is not None:
        pack_saved(node, mode.saved_hooks)
    if mode.anomaly is not None:
        mode.anomaly.keep_traceback(node)


def pack_saved(node: Any, hooks: Hooks) -> None:
    """Hand everything that ``node`` has saved to ``hooks``."""
    for name in node.op.saved:
        value = getattr(node, name)
        if value is not None and value is not NOT_SAVED and not _is_number(value):
            pack_value(node, name, hooks)
    for name in node.op.held:
        value = getattr(node, name)
        if isinstance(value, Held):
            _keep(node, **{name: value.packed(hooks)})


def pack_value(node: Any, name: str, hooks: Hooks, *, detached: bool = False) -> None:
    """Hand what ``node`` has saved as ``name`` to ``hooks``."""
    is_result = name in node.op.outputs
    packed = Packed(saved_tensor(node, name), hooks, is_result=is_result, detached=detached)
    _keep(node, **{name: packed, f"{name}_version": (0,) if is_result else 0})


def pack_part(node: Any, name: str, number: int, hooks: Hooks) -> None:
    """Hand tensor ``number`` of those that ``node`` holds as ``name`` to ``hooks``."""
    _keep(node, **{name: getattr(node, name).packed(hooks, number, detached=True)})


def _keep(node: Any, **values: Any) -> None:
    """Let ``node`` keep other ``values``, which hooks bring back."""
    nodes_with_packed.add(notes_of(node))
    if (log := undo_log()) is not None:
        log.keep_attributes(node, tuple(values))
    for name, value in values.items():
        setattr(node, name, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Tensor) and isinstance(value.record, (int, float))

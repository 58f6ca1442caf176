"""Handing what nodes have saved to the user's hooks."""

from __future__ import annotations

from typing import Any

from autograd_core.autograd.double_backward import saved_tensor
from autograd_core.autograd.grad_mode import undo_log
from autograd_core.autograd.held import Held
from autograd_core.autograd.node import notes_of
from autograd_core.autograd.packed import Hooks, Packed, nodes_with_packed
from autograd_core.autograd.sentinels import NOT_SAVED
from autograd_core.tensor import Tensor


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

"""Hooks on nodes and tensors, in the order PyTorch runs them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Literal
from weakref import ref

from autograd_core.autograd.grad_mode import undo_log

HookKind = Literal["tensor", "pre", "post", "accumulated"]
_next_id = count().__next__


class RemovableHandle:
    """What ``register_...`` gives back: :meth:`remove` takes the hook away again."""

    __module__ = "autograd_core.utils.hooks"  # where users find it
    __slots__ = ("_hooks", "id")

    def __init__(self, hooks: dict[int, Any], id: int) -> None:
        self._hooks = hooks
        self.id = id

    def remove(self) -> None:
        if (log := undo_log()) is not None:
            log.keep_items(self._hooks)
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class NodeHooks:
    """All hooks of one node.

    They run in this order: ``tensor`` (registered on an output, one gradient each), then
    ``retain`` (keeps ``.grad`` of an output), then ``pre`` (all incoming gradients), the
    node itself, ``post`` (what went out and what came in), and, for a leaf,
    ``accumulated`` (the leaf, after its ``.grad`` was updated).
    """

    __slots__ = ("accumulated", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.tensor: dict[int, tuple[int, Callable[..., Any]]] = {}  # id: (output number, hook)
        self.pre: dict[int, Callable[..., Any]] = {}
        self.retain: dict[int, ref[Any]] = {}  # output number: the tensor that keeps it
        self.post: dict[int, Callable[..., Any]] = {}
        self.accumulated: dict[int, Callable[..., Any]] = {}

    def add(self, kind: HookKind, hook: Callable[..., Any], output_nr: int = 0) -> RemovableHandle:
        """Register ``hook``; ``output_nr`` matters to the kind "tensor"."""
        hooks: dict[int, Any] = getattr(self, kind)
        if (log := undo_log()) is not None:
            log.keep_items(hooks)
        id = _next_id()
        hooks[id] = (output_nr, hook) if kind == "tensor" else hook
        return RemovableHandle(hooks, id)

    def names(self) -> tuple[str, ...]:
        """List kind and name of each, in the order they run."""
        return (
            *(f"tensor {hook_name(hook)}" for _, hook in self.tensor.values()),
            *("retain grad" for _ in self.retain),
            *(f"pre {hook_name(hook)}" for hook in self.pre.values()),
            *(f"post {hook_name(hook)}" for hook in self.post.values()),
            *(f"accumulated {hook_name(hook)}" for hook in self.accumulated.values()),
        )


def hook_name(hook: Callable[..., Any]) -> str:
    """Name a hook as its function is named in the program."""
    return getattr(hook, "__qualname__", repr(type(hook)))

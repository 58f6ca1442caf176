"""What code of the user's can change around a node, and what of it can be put back.

These are the ``.grad`` of leaves and of tensors that retain it, the data of a leaf with
post-accumulate hooks (an optimizer may live there), and the state of the random generators.
Files, prints, and objects of the program are beyond reach.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import Node
from autograd_core.functions.random import generator, use_generator
from autograd_core.tensor import Tensor


class GradOf(NamedTuple):
    """The ``.grad`` of ``owner``: the tensor, and a copy of what it held."""

    owner: Tensor
    grad: Tensor | None
    held: Any

    def restore(self) -> None:
        self.owner.grad = self.grad
        if self.grad is not None and self.held is not None:
            np.copyto(self.grad.array, self.held)


class _Data(NamedTuple):
    """The values of a leaf, and its version counter."""

    leaf: Tensor
    held: Any
    version: tuple[Any, ...]

    def now(self) -> _Data:
        """The same of this moment."""
        return _data_of(self.leaf)

    def restore(self) -> None:
        np.copyto(self.leaf.array, self.held)
        if self.leaf.version is not None:
            self.leaf.version[:] = self.version


class _Random(NamedTuple):
    generator: np.random.Generator
    state: Any
    legacy: Any

    def restore(self) -> None:
        use_generator(self.generator)
        self.generator.bit_generator.state = self.state
        np.random.set_state(self.legacy)  # noqa: NPY002  # the user's hooks may draw from it


class World(NamedTuple):
    """The part of the program's state that a node may change, at one moment."""

    grads: tuple[GradOf, ...] = ()
    data: _Data | None = None
    random: _Random | None = None

    def restore(self) -> None:
        """Make the program's state what it was."""
        for each in self.grads:
            each.restore()
        if self.data is not None:
            self.data.restore()
        if self.random is not None:
            self.random.restore()


def world_around(node: Node) -> World:
    """What ``node`` and its hooks may change, as it is now."""
    hooks = node.hooks
    grads: list[GradOf] = []
    data = None
    if isinstance(node, AccumulateGrad):
        leaf: Tensor = node.variable
        grads.append(grad_of(leaf))
        if hooks is not None and hooks.accumulated:
            data = _data_of(leaf)
    if hooks is not None:
        kept = (reference() for reference in hooks.retain.values())
        grads.extend(GradOf(tensor, tensor.grad, None) for tensor in kept if tensor is not None)
    return World(tuple(grads), data, _random() if runs_user_code(node) else None)


def grad_of(leaf: Tensor) -> GradOf:
    """The ``.grad`` of ``leaf`` as it is now."""
    return GradOf(leaf, leaf.grad, None if leaf.grad is None else leaf.grad.array.copy())


def _data_of(leaf: Tensor) -> _Data:
    return _Data(leaf, leaf.array.copy(), tuple(leaf.version or (0,)))


def _random() -> _Random:
    current = generator()
    return _Random(current, current.bit_generator.state, np.random.get_state())  # noqa: NPY002


def runs_user_code(node: Node) -> bool:
    """Whether ``node`` calls hooks, or is a custom Function."""
    hooks = node.hooks
    if hooks is not None and (hooks.tensor or hooks.pre or hooks.post or hooks.accumulated):
        return True
    inner: Node = getattr(node, "inner", node)  # of a change through a view
    return inner.runs_undefined

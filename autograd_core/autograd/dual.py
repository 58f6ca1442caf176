"""Duals: tensors that carry a tangent, the derivative of their value along some direction.

How ops compute tangents stands in :mod:`autograd_core.autograd.forward_mode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from autograd_core.autograd.node import Node, Notes
from autograd_core.op.record import OPS
from autograd_core.tensor import Tensor, blank
from autograd_core.tensor.views import root_of, view_chain

Tangents = dict[str, Tensor]


class Level:
    """One stretch of forward mode; tangents live no longer than their level.

    ``results`` has, by the notes on nodes, the tangents of results that these saved as bare arrays.
    """

    def __init__(self) -> None:
        self.alive = True
        self.results: WeakKeyDictionary[Notes, Tangents] = WeakKeyDictionary()


current_level: ContextVar[Level | None] = ContextVar("autograd_core_dual_level", default=None)


class Dual(Tensor):
    """A tensor that carries a tangent.

    It has the layout of a Tensor, and so a tensor becomes a dual, and a dual a tensor again, by
    a change of class.  Ops test for exactly Tensor, and leave all else to the slow path: other
    tensors pay nothing for there being duals.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return self._text(tangent_of(self))


def make_dual(t: Any, tangent: Tensor) -> None:
    """Let ``t`` carry ``tangent`` for as long as the current level lasts."""
    if t.version is None:
        t.version = [0]
    t._tangent = (current_level.get(), tangent)
    t.__class__ = Dual


def check_tangent(t: Tensor, tangent: Tensor) -> None:
    """Raise RuntimeError, in PyTorch's words, if ``tangent`` has another shape than ``t``."""
    if t._shape != tangent._shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(t._shape)} while the given "
            f"forward gradient is of size {list(tangent._shape)}."
        )


def tangent_of(t: Any) -> Tensor | None:
    """Return the tangent that ``t`` carries; None if it has none, or if its level is over."""
    if type(t) is not Dual:
        return None
    dual: Any = t
    level: Level
    tangent: Tensor
    level, tangent = dual._tangent
    if level.alive:
        return tangent
    dual.__class__ = Tensor
    del dual._tangent
    return None


def primal_of(t: Tensor) -> Tensor:
    """Return ``t`` without its tangent: the same data at the same place in the graph."""
    if tangent_of(t) is None:
        return t
    primal = blank()
    primal.array, primal._shape, primal.dtype = t.array, t._shape, t.dtype
    primal.edge, primal.version, primal.view_of = t.edge, t.version, t.view_of
    return primal


def without_graph(t: Tensor) -> Tensor:
    """Return ``t`` detached, with its tangent, detached too."""
    detached, tangent = t.detach(), tangent_of(t)
    if tangent is not None:
        make_dual(detached, tangent.detach())
    return detached


class as_primals:
    """Within it, duals among ``values`` are their primals: plain tensors."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._duals = [v for v in values if tangent_of(v) is not None]

    def __enter__(self) -> None:
        for dual in self._duals:
            dual.__class__ = Tensor

    def __exit__(self, *error: object) -> None:
        for dual in self._duals:
            dual.__class__ = Dual


def broadcast_tangent(tangent: Tensor, like: Tensor) -> Any:
    """Broadcast ``tangent`` to the shape of ``like``, and cast it to its dtype."""
    if tangent._shape != like._shape:
        tangent = OPS["expand"].call(tangent, like._shape)
    if tangent.dtype is not like.dtype:
        tangent = OPS["cast"].call(tangent, like.dtype.dtype, tangent.dtype.dtype)
    return tangent


def restore_tangent(node: Node, name: str, t: Tensor) -> Tensor:
    """Give ``t``, the result ``name`` that ``node`` saved, the tangent that it had."""
    level, notes = current_level.get(), node.notes
    if level is not None and notes is not None:
        tangent = level.results.get(notes, {}).get(name)
        if tangent is not None:
            make_dual(t, tangent)
    return t


def copy_tangent(x: Tensor, before: Tensor) -> None:
    """Let ``before``, which stands for ``x`` before an in-place op, have its tangent of then."""
    tangent = tangent_of(x)
    if tangent is not None:
        make_dual(before, OPS["clone"].call(tangent))


def update_tangent(x: Tensor, result: Tensor) -> None:
    """Update the tangent of ``x``, to which an in-place op gave the value of ``result``.

    A plain tensor becomes a dual by that; if it is a view, then so do its base and all other
    views of it, with zeros for a tangent where nothing was assigned.
    """
    tangent = tangent_of(result)
    if tangent is None:
        return
    tangent = broadcast_tangent(tangent, x)
    own: Any = tangent_of(x)
    if own is None and x.view_of is None:
        make_dual(x, tangent)
        _spread_tangent(x)
        return
    if own is None:
        _spread_tangent(root_of(x))
        own = tangent_of(x)
    own.copy_(tangent)


def _spread_tangent(root: Any) -> None:
    """Let ``root`` and its views be duals, with tangents that share memory as they do."""
    if tangent_of(root) is None:
        make_dual(root, Tensor.from_array(np.zeros_like(root.array)))
    for reference in getattr(root, "_views", ()):
        view = reference()
        if view is not None and tangent_of(view) is None:
            tangent: Any = tangent_of(root)
            for step in view_chain(view):
                if step.op.view == "each":
                    break
                tangent = step.op.call(tangent, **step.attributes)
            else:
                make_dual(view, tangent)

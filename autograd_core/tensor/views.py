"""Views: tensors that share the memory of another one, and in-place changes of them.

A change through a view changes its base.  In the graph the base then comes out of a
:class:`CopySlices` node, which lets the gradient of the changed part pass through the op that
changed it, and all views of that base are made anew from it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.copy_slices import CopySlices
from autograd_core.autograd.grad_mode import (
    USUAL,
    current_mode,
    enter_mode,
    leave_mode,
    settle,
    tracer,
    undo_log,
)
from autograd_core.autograd.memory import address, layout_of
from autograd_core.autograd.node import Node, Port, hooks_of, resolve
from autograd_core.autograd.version import INFERENCE
from autograd_core.dtype import from_numpy_dtype
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor, ViewOrigin, blank
from autograd_core.tensor.stale_views import creation_of, make_stale, modification_error


def view(base: Tensor, array: Any, op: Op, attributes: dict[str, Any]) -> Tensor:
    """Make a view of ``base``, which shares its version counter and knows how it was made."""
    t = blank()
    t.array, t._shape = array, array.shape
    t.dtype = base.dtype if array.dtype is base.array.dtype else from_numpy_dtype(array.dtype)
    version = base.version
    if version is None:
        version = base.version = [0]
    t.version = version
    if version is INFERENCE:  # nobody follows changes of inference tensors
        return t
    mode = current_mode()
    t._view_of = ViewOrigin(base, op, attributes, "usual" if mode is None else mode.creation)
    register_view(t)
    return t


def register_view(t: Tensor) -> None:
    """Let the root of ``t`` know of it, as long as it lives."""
    root: Any = root_of(t)
    views = getattr(root, "_views", None)
    if views is None:
        root._views = [ref(t)]
        return
    if len(views) >= 16 and not len(views) & (len(views) - 1):  # at powers of two: drop the dead
        views[:] = [reference for reference in views if reference() is not None]
    views.append(ref(t))


def snapshot(x: Tensor) -> Tensor:
    """Return ``x`` as it is now: a tensor of its own, on the same memory and at the same place."""
    settle()  # before it changes, and so that nothing else keeps its views alive
    t = blank()
    t.array, t._shape, t.dtype, t.edge = x.array, x._shape, x.dtype, x.edge
    t.version, t.record = x.version, x.record
    return t


def root_of(t: Tensor) -> Tensor:
    """Return the tensor that owns the memory."""
    # not by the property: this runs for every view, and a call costs as much as the rest
    while (origin := getattr(t, "_view_of", None)) is not None:
        t = origin.base
    return t


def view_chain(t: Tensor) -> list[ViewOrigin]:
    """List the views that lead from the root to ``t``, first one first."""
    steps = []
    while (origin := t.view_of) is not None:
        steps.append(origin)
        t = origin.base
    return steps[::-1]


def check_change(x: Tensor) -> None:
    """Refuse in-place changes that no graph could describe; in PyTorch's words.

    Raises:
        RuntimeError: ``x`` is a leaf, or a view of one, or a view that may not be changed.
    """
    root = root_of(x)
    if root is x:
        if type(x.edge) is AccumulateGrad:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
    elif root.edge is not None or x.edge is not None:
        check_view(x)
        if root.is_leaf:
            raise RuntimeError(
                "a view of a leaf Variable that requires grad is being used in an in-place "
                "operation."
            )


def check_view(x: Tensor) -> None:
    """Refuse a change of ``x``, if it is a view, that is to come into a graph.

    Raises:
        RuntimeError: it is one of several views made at once, or was made by a custom Function, or
            where no graph was built.
    """
    creation = creation_of(x)
    if creation != "usual":
        raise modification_error(x, creation, "is being")


def rebase_history(x: Tensor, place: Node | Port) -> None:
    """Give ``x``, which was changed in place, the edge ``place``; its base and views follow."""
    root: Any = root_of(x)
    if x is root:
        _move_retain(x.edge, place)
        x.edge = place
    else:
        assert isinstance(place, Node)  # nothing else has changed views
        changed = CopySlices(root, x, place)
        if (traces := tracer()) is not None:
            traces.through_view(root, x, changed)
        _move_retain(root.edge, changed)
        if (log := undo_log()) is not None:
            log.keep_fields(root)
        root.edge = changed
    for t in live_views(root):
        regenerate_grad_fn(t, root)


def regenerate_views(x: Tensor) -> None:
    """Regenerate what shares memory with ``x``, which was changed outside a graph."""
    root = root_of(x)
    if root.edge is not None:
        for t in live_views(root):
            regenerate_grad_fn(t, root)


def live_views(x: Tensor) -> list[Tensor]:
    """List the views that are alive of the memory of ``x``."""
    root: Any = root_of(x)
    views = getattr(root, "_views", None)
    if not views:
        return []
    live = [t for reference in views if (t := reference()) is not None]
    if not live:
        views.clear()
    return live


def _move_retain(before: Any, after: Any) -> None:
    """Let a tensor that keeps its gradient keep that of its new place."""
    maker, nr = resolve(before)
    if maker is not None and maker.hooks is not None and nr in maker.hooks.retain:
        to, place = resolve(after)
        assert to is not None
        retain = hooks_of(to).retain
        if (log := undo_log()) is not None:
            log.keep_items(maker.hooks.retain)
            log.keep_items(retain)
        retain[place] = maker.hooks.retain.pop(nr)


def regenerate_grad_fn(t: Tensor, root: Tensor) -> None:
    """Give the view ``t`` the edge that it would have if it were made from ``root`` now."""
    if (log := undo_log()) is not None:
        log.keep_fields(t)
    if creation_of(t) != "usual":
        make_stale(t)
        return
    mode = current_mode() or USUAL
    token = enter_mode(replace(USUAL, anomaly=mode.anomaly, tracer=mode.tracer))
    try:
        alias = Tensor.from_array(root.array)
        alias.edge, alias.record = root.edge, root.record
        alias = alias.as_strided(*layout_of(t.array, address(root.array)))
    finally:
        leave_mode(token)
    _move_retain(t.edge, alias.edge)
    t.edge, t.record = alias.edge, alias.record

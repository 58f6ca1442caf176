"""Views: tensors that look at the memory of another, and what in-place changes do to them.

A change through a view changes its base.  In the graph the base then comes out of a
:class:`CopySlices` node, which lets the gradient of the changed part pass through the op that
changed it, and all views of that base are made anew from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.deliver import lent, reduce_gradient
from autograd_core.autograd.grad_mode import USUAL, Line, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import (
    GENERAL,
    Node,
    SavedState,
    hooks_of,
    next_sequence_nr,
    resolve,
)
from autograd_core.dtype import from_numpy_dtype
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor, View, blank


def view(base: Tensor, array: Any, op: Op, attributes: dict[str, Any]) -> Tensor:
    """A tensor that looks at the memory of ``base``: same version counter, and a recipe."""
    t = blank()
    t.array, t._shape = array, array.shape
    t.dtype = base.dtype if array.dtype is base.array.dtype else from_numpy_dtype(array.dtype)
    if base.version is None:
        base.version = [0]
    t.version = base.version
    mode = current_mode()
    t._view_of = View(base, op, attributes, mode is None or mode.builds)
    views = getattr(base, "_views", None)  # as of a weight that is transposed again and again
    if views is None:
        root: Any = root_of(base)
        views = getattr(root, "_views", None)
        if views is None:
            root._views = [ref(t)]
            return t
    if len(views) >= 16 and not len(views) & (len(views) - 1):  # at powers of two: drop the dead
        views[:] = [each for each in views if each() is not None]
    views.append(ref(t))
    return t


def root_of(t: Tensor) -> Tensor:
    """The tensor that owns the memory."""
    # not by the property: this runs for every view, and a call costs as much as the rest
    while (made := getattr(t, "_view_of", None)) is not None:
        t = made.base
    return t


def recipe(t: Tensor) -> list[View]:
    """How ``t`` is made from its root: the views, first one first."""
    steps = []
    while (made := t.view_of) is not None:
        steps.append(made)
        t = made.base
    return steps[::-1]


def check_change(x: Tensor) -> None:
    """Refuse in-place changes that no graph could describe; in PyTorch's words.

    Raises:
        RuntimeError: ``x`` is a leaf, or a view of one, or one of several views made at once, or
            was made without gradients.
    """
    if x.view_of is None:
        if type(x.edge) is AccumulateGrad:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
        return
    if type(root_of(x).edge) is AccumulateGrad:
        raise RuntimeError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation."
        )


def check_rebase(x: Tensor, in_graph: bool) -> None:
    """Refuse to change a view where PyTorch does: ``in_graph`` says that the change, and not only
    what the view looks at, belongs to a graph."""
    if not in_graph and root_of(x).edge is None:
        return
    for made in recipe(x):
        if made.op.view == "each":
            maker = made.op.node_name.partition("Backward")[0]
            raise RuntimeError(
                f"Output {x.output_nr} of {maker} is a view and is being modified "
                "inplace. This view is the output of a function that returns multiple views. "
                "Such functions do not allow the output views to be modified inplace. You should "
                "replace the inplace operation by an out-of-place one."
            )
        if not made.grad_mode:
            raise RuntimeError(
                "A view was created in no_grad mode and is being modified inplace with grad mode "
                "enabled. Given that this use case is ambiguous and error-prone, it is forbidden. "
                "You can clarify your code by moving both the view and the inplace either both "
                "inside the no_grad block (if you don't want the inplace to be tracked) or both "
                "outside (if you want the inplace to be tracked)."
            )


def make_writeable(array: Any) -> None:
    """Let a part of an expanded tensor be written to, which NumPy refuses to be safe.

    Raises:
        RuntimeError: one place in memory stands for several elements; in PyTorch's words.
    """
    if array.flags.writeable:
        return
    if any(size > 1 and not step for size, step in zip(array.shape, array.strides, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation."
        )
    array.flags.writeable = True


def rebase(x: Tensor, node: Node) -> None:
    """Let ``x``, which ``node`` has changed in place, and all that shares its memory come out of
    the new graph."""
    root: Any = root_of(x)
    if x is root:
        _move_retain(x.edge, node)
        x.edge = node
    else:
        changed = CopySlices(root, recipe(x), node)
        _move_retain(root.edge, changed)
        root.edge = changed
    for each in getattr(root, "_views", ()):
        t = each()
        if t is not None:
            _make_anew(t, root)


def _move_retain(before: Any, after: Any) -> None:
    """A tensor that was to keep its gradient keeps that of its new place."""
    maker, nr = resolve(before)
    if maker is not None and maker.hooks is not None and nr in maker.hooks.retain:
        to, place = resolve(after)
        assert to is not None
        hooks_of(to).retain[place] = maker.hooks.retain.pop(nr)


def _make_anew(t: Tensor, root: Tensor) -> None:
    """The edge that ``t`` would have if it were made from ``root`` now."""
    mode = current_mode() or USUAL
    token = enter_mode(replace(USUAL, anomaly=mode.anomaly))
    try:
        made = Tensor.from_array(root.array)
        made.edge = root.edge
        steps = recipe(t)
        if any(step.op.view == "each" for step in steps):
            return
        if root.array.flags.c_contiguous:  # in one step, as PyTorch does
            made = lent("as_strided")(made, **_strided(t.array, root.array))
        else:
            for step in steps:
                made = step.op.call(made, **step.attributes)
        _move_retain(t.edge, made.edge)
        t.edge = made.edge
    finally:
        leave_mode(token)


def _strided(window: Any, memory: Any) -> dict[str, Any]:
    """Where in ``memory`` the elements of ``window`` lie."""
    start, first = (each.__array_interface__["data"][0] for each in (window, memory))
    return {
        "size": window.shape,
        "stride": tuple(n // memory.itemsize for n in window.strides),
        "storage_offset": (start - first) // memory.itemsize,
    }


class CopySlices(Node):
    """The place in the graph of a base that was changed through a view.

    ``inner`` is the node of the op that changed the view; ``steps`` lead from base to view.
    The gradient of the changed part goes through ``inner``, the rest passes.
    """

    __slots__ = ("all_edges", "inner", "shape", "steps")

    kind: ClassVar[int] = GENERAL

    def __init__(self, root: Tensor, steps: Sequence[View], inner: Node) -> None:
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self.output_shape = self.shape = root._shape
        self.output_dtype = root.dtype
        self.inner = inner
        self.steps = [(step.op, step.attributes) for step in steps]
        self.all_edges = (root.edge, *inner.edges[1:])

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def saved(self) -> Iterator[tuple[str, Any, SavedState]]:
        return self.inner.saved()

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return self.inner.formulas()

    def release(self) -> None:
        self.inner.release()

    @property
    def is_freed(self) -> bool:
        return self.inner.is_freed

    def note_freed(self, line: Line) -> None:
        self.inner.note_freed(line)

    def changed_at(self, name: str) -> tuple[Line, ...]:
        return self.inner.changed_at(name)

    def backward(self, g: Any, keep: bool) -> list[Any]:
        result = np.array(g)
        window = result
        for op, attributes in self.steps:
            window = op.kernel(window, **attributes)
        first, *others = self._inner_gradients(self.inner.backward(np.array(window), keep))
        make_writeable(window)
        window[...] = 0 if first is None else first
        return [result, *others]

    def backward_graph(self, g: Any) -> list[Any]:
        windows = [g]
        for op, attributes in self.steps:
            windows.append(op.call(windows[-1], **attributes))
        first, *others = self._inner_gradients(self.inner.backward_graph(windows[-1]))
        change = -windows[-1] if first is None else first - windows[-1]
        for (op, attributes), before in zip(self.steps[::-1], windows[-2::-1], strict=True):
            change = _pull_back(op, attributes, before._shape, change)
        return [g + change, *others]

    def _inner_gradients(self, gradients: Any) -> list[Any]:
        inner = self.inner
        several = isinstance(gradients, (tuple, list))
        listed = list(gradients) if several else [gradients]
        if inner.to is None:
            return listed
        return [reduce_gradient(g, to) for g, to in zip(listed, inner.to, strict=True)]


def _pull_back(op: Op, attributes: dict[str, Any], shape: tuple[int, ...], g: Any) -> Any:
    """The gradient of the base of a view, from that of the view: the view's own rule."""
    (edge,) = op.edges
    known = {"g": g, f"{edge}_shape": shape, **op.attributes, **attributes}
    return op.rules[edge].function(*(known[name] for name in op.rules[edge].names))

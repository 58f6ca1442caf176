"""CopySlices: the place in the graph of a base that was changed through a view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from autograd_core.autograd.grad_mode import Line
from autograd_core.autograd.memory import make_writeable
from autograd_core.autograd.node import GENERAL, Node, SavedState, next_sequence_nr
from autograd_core.autograd.reduce import reduce_gradient
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor, View


class CopySlices(Node):
    """The place in the graph of a base that was changed through a view.

    ``inner`` is the node of the op that changed the view; ``steps`` lead from base to view.
    The gradient of the changed part goes through ``inner``, the rest passes.
    """

    __slots__ = ("all_edges", "axes", "inner", "shape", "steps")

    kind: ClassVar[int] = GENERAL

    def __init__(self, root: Tensor, steps: Sequence[View], inner: Node) -> None:
        self.sequence_nr = next_sequence_nr()
        self.notes = None
        self.output_shape = self.shape = root._shape
        self.output_dtype = root.dtype
        self.inner = inner
        self.steps = [(step.op, step.attributes) for step in steps]
        self.all_edges = (root.edge, *inner.edges[1:])
        self.axes: list[int] | None = None
        if not root.array.flags.c_contiguous:  # then views may go by how its memory lies
            strides = root.array.strides
            self.axes = sorted(range(len(strides)), key=lambda axis: -strides[axis])

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

    def backward(self, g: Any, keep: bool | None) -> list[Any]:
        result = np.array(g)
        if self.axes is not None:
            result = np.array(g.transpose(self.axes), order="C").transpose(np.argsort(self.axes))
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
            change = pull_back(op, attributes, before._shape, change)
        return [g + change, *others]

    def _inner_gradients(self, gradients: Any) -> list[Any]:
        inner = self.inner
        several = isinstance(gradients, (tuple, list))
        listed = list(gradients) if several else [gradients]
        if inner.to is None:
            return listed
        return [reduce_gradient(g, to) for g, to in zip(listed, inner.to, strict=True)]


def pull_back(op: Op, attributes: dict[str, Any], shape: tuple[int, ...], g: Any) -> Any:
    """Return the gradient of the base of a view, from that of the view: the view's own rule."""
    (edge,) = op.edges
    known = {"g": g, f"{edge}_shape": shape, **op.attributes, **attributes}
    return op.rules[edge].function(*(known[name] for name in op.rules[edge].names))

"""CopySlices: the place in the graph of a base that was changed through a view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from autograd_core.autograd.grad_mode import USUAL, Line, enter_mode, leave_mode
from autograd_core.autograd.memory import address, in_order, layout_of, written_twice
from autograd_core.autograd.node import GENERAL, Edge, Node, SavedState, next_sequence_nr, notes_of
from autograd_core.autograd.reduce import reduce_gradient
from autograd_core.tensor import Tensor


class CopySlices(Node):
    """The place in the graph of a base that was changed through a view.

    ``inner`` is the node of the op that changed the view. ``whole`` and ``part`` tell where base
    and view lie in memory, from the first element of the base on; gradients are laid out like that.
    The gradient of the changed part goes through ``inner``, the rest passes.
    """

    __slots__ = ("__weakref__", "all_edges", "inner", "part", "shape", "whole")

    kind: ClassVar[int] = GENERAL

    def __init__(self, root: Tensor, view: Tensor, inner: Node) -> None:
        self.sequence_nr = next_sequence_nr()
        self.notes = None
        self.output_shape = self.shape = root._shape
        self.output_dtype = root.dtype
        self.inner = inner
        self.whole = layout_of(root.array)
        self.part = layout_of(view.array, address(root.array))
        self.all_edges = (root.edge, *inner.edges[1:])
        notes_of(inner).changed_base = ref(self)

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

    @property
    def result_edge(self) -> Edge:
        """Where the gradient of the changed view goes: the view was made anew from the base."""
        token = enter_mode(USUAL)
        try:
            base = Tensor.from_array(self.whole.of(np.empty(self._length, self.output_dtype.dtype)))
            base.edge = self
            return base.as_strided(*self.part).edge
        finally:
            leave_mode(token)

    def backward(self, g: Any, keep: bool | None) -> list[Any]:
        self._check_part()
        if self._in_order:
            result = np.array(g, order="C")
            window = self.part.of(result.reshape(-1))
        else:
            memory = np.zeros(self._length, g.dtype)
            result, window = self.whole.of(memory), self.part.of(memory)
            result[...] = g
        first, *others = self._inner_gradients(self.inner.backward(np.array(window), keep))
        window[...] = 0 if first is None else first
        return [result, *others]

    def backward_graph(self, g: Any) -> list[Any]:
        self._check_part()
        size, stride, offset = self.part
        if self._in_order:
            memory = g.contiguous()
            offset += memory.storage_offset()
        else:
            memory = g.new_zeros(self._length).as_strided_scatter(g, *self.whole)
        window = memory.as_strided(size, stride, offset)
        first, *others = self._inner_gradients(self.inner.backward_graph(window))
        part = window.new_zeros(size) if first is None else first
        memory = memory.as_strided_scatter(part, size, stride, offset)
        return [memory if self._in_order else memory.as_strided(*self.whole), *others]

    def _check_part(self) -> None:
        """Refuse the gradient of what was written to an expanded tensor, as PyTorch does."""
        if 0 in self.part.stride and any(
            n > 1 and not step for n, step in zip(*self.part[:2], strict=True)
        ):
            raise written_twice()

    @property
    def _in_order(self) -> bool:
        """Whether the base is contiguous, and the view does not go beyond it."""
        return self.whole.stride == in_order(self.shape) and self.part.end <= self.whole.end

    @property
    def _length(self) -> int:
        return max(self.whole.end, self.part.end)

    def _inner_gradients(self, gradients: Any) -> list[Any]:
        inner = self.inner
        several = isinstance(gradients, (tuple, list))
        listed = list(gradients) if several else [gradients]
        if inner.to is None:
            return listed
        return [reduce_gradient(g, to) for g, to in zip(listed, inner.to, strict=True)]

"""The ``ctx`` of a custom Function, which carries data from its forward to its backward.

It stands beside the node of the graph, and not for it as in PyTorch, so that whatever the user
stores in it can have any name: the node has names of its own.  The node owns it, and answers to
the user's names too; the ctx knows the node weakly.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from autograd_core.autograd.grad_mode import undo_log
from autograd_core.autograd.node import PUBLIC, Node, SavedState, output_edge, resolve
from autograd_core.autograd.packed import Hooks, Packed, SavedTensor
from autograd_core.autograd.saved import freed, modified
from autograd_core.tensor import Tensor


class FunctionCtx:
    """The ``ctx`` of ``forward``, ``backward`` and ``jvp`` of a custom Function.

    Attributes:
        needs_input_grad: for each argument of ``forward``, whether it needs a gradient.
    """

    needs_input_grad: tuple[bool, ...]

    def __init__(self, node: Node) -> None:
        self._node = ref(node)
        self._saved: list[KeptTensor | None] | None = []
        self._to_save: tuple[Tensor | None, ...] = ()
        self._materialize = True
        self._non_differentiable: frozenset[int] = frozenset()
        self._dirty: frozenset[int] = frozenset()
        self._for_jvp: tuple[Tensor | None, ...] | None = None

    def __getattr__(self, name: str) -> Any:
        node = self._node() if name in PUBLIC else None
        if node is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(node, name)

    # what forward may call

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for ``backward``, as ``ctx.saved_tensors``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    "save_for_backward can only save variables, but argument "
                    f"{tensors.index(tensor)} is of type {type(tensor).__name__}"
                )
        self._to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save inputs or outputs for ``jvp``, as ``ctx.saved_tensors``."""
        self._for_jvp = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare the inputs that ``forward`` changed in place; it must return them."""
        for position, tensor in enumerate(tensors):
            if not isinstance(tensor, Tensor):
                raise RuntimeError(
                    f"mark_dirty can only accept variables, but argument {position} is of type "
                    f"{type(tensor).__name__}"
                )
        self._dirty = frozenset(map(id, tensors))

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare the outputs without a gradient."""
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise RuntimeError(
                    "mark_non_differentiable only accepts variable arguments, but got "
                    f"{type(tensor).__name__}"
                )
        self._non_differentiable = frozenset(map(id, tensors))

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether ``backward`` gets zeros (the default) or None for undefined gradients."""
        self._materialize = value

    # what backward may read

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The saved tensors.

        Raises:
            RuntimeError: one was freed, or changed in place after it was saved.
        """
        if self._for_jvp is not None:
            return self._for_jvp
        if self._saved is None:
            raise freed(self._node())
        return tuple(None if kept is None else kept.unpack(self._node()) for kept in self._saved)

    saved_variables = saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self._saved is None:
            raise freed(self._node())
        return tuple(_raw(kept, self._node()) for kept in self._saved)


class KeptTensor:
    """A tensor as a node may keep it: a result only as an array, lest both hold each other."""

    __slots__ = ("output_nr", "value", "version", "versions")

    def __init__(self, tensor: Tensor, output_nr: int | None = None) -> None:
        self.output_nr = output_nr
        self.value: Any = tensor if output_nr is None else tensor.array
        if tensor.version is None:
            tensor.version = [0]
        self.versions = tensor.version
        self.version = tensor.version[0]

    @property
    def state(self) -> SavedState:
        if isinstance(self.value, Packed):
            return "packed"
        return "kept" if self.versions[0] == self.version else "changed"

    def pack(self, hooks: Hooks, node: Node | None = None, *, detached: bool = False) -> None:
        """Hand the value, which ``node`` keeps, to ``hooks``."""
        tensor, is_result = self.unpack(node), self.output_nr is not None
        packed = Packed(tensor, hooks, is_result=is_result, detached=detached)
        if (log := undo_log()) is not None:
            log.keep_attributes(self, ("value", "versions"))
        self.value, self.versions = packed, [self.version]

    def unpack(self, node: Node | None = None) -> Tensor:
        """Return the tensor, within its graph.

        Raises:
            RuntimeError: it was changed in place.
        """
        if self.state == "changed":
            if isinstance(self.value, Tensor):
                place = None if self.value.is_leaf else resolve(self.value.edge)
                raise modified(self.value.array, place, self.versions, self.version)
            raise modified(self.value, (node, self.output_nr or 0), self.versions, self.version)
        value = self.value.tensor() if isinstance(self.value, Packed) else self.value
        if self.output_nr is None:
            kept: Tensor = value
            return kept
        tensor = Tensor.from_array(value.array if isinstance(value, Tensor) else value)
        tensor.version = self.versions
        if node is not None:
            tensor.edge = output_edge(node, self.output_nr)
        return tensor


def _raw(kept: KeptTensor | None, node: Node | None) -> SavedTensor:
    if kept is None:
        return SavedTensor(lambda: None, lambda hooks: None)
    return SavedTensor(lambda: kept.value, lambda hooks: kept.pack(hooks, node, detached=True))

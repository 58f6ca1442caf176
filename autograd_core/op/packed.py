"""Saved values that hooks of the user's have taken away, and bring back when they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakSet

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.autograd.node import Edge, Node
from autograd_core.tensor import Tensor

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]
nodes_with_packed: Final[WeakSet[Node]] = WeakSet()
"""The nodes of ops that run code of the user's when they read what they saved."""


class Packed:
    """Stands where a saved tensor stands, and unpacks it whenever its data is wanted.

    What it tells of the tensor, shape, (NumPy's) dtype, size, whether it is a result of its own
    node, needs no unpacking.
    """

    __slots__ = (
        "dtype", "edge", "is_result", "nbytes", "packed", "record", "shape", "unpack",
    )  # fmt: skip

    version = None  # what was packed is out of reach of in-place changes

    def __init__(self, tensor: Tensor, hooks: Hooks, is_result: bool = False) -> None:
        pack, self.unpack = hooks
        self.edge: Edge = tensor.edge
        self.record = tensor.record
        self.shape, self.dtype = tensor._shape, tensor.dtype.dtype
        self.nbytes = tensor.nbytes
        self.is_result = is_result
        before = tensor._version
        with no_grad():
            self.packed = pack(tensor)
        if tensor._version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    def tensor(self) -> Tensor:
        """What was saved, at its old place in the graph.

        Raises:
            TypeError: the unpack hook returned something else than a tensor.
        """
        with no_grad():
            unpacked = self.unpack(self.packed)
        if not isinstance(unpacked, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(unpacked).__name__}"
            )
        result = unpacked.detach()
        result.edge, result.record = self.edge, self.record
        return result

    @property
    def array(self) -> Any:
        return self.tensor().array


def pack_saved(node: Any, hooks: Hooks) -> None:
    """Hand everything that ``node`` has saved to ``hooks``."""
    nodes_with_packed.add(node)
    for name in node.op.saved:
        value = getattr(node, name)
        if isinstance(value, Tensor):
            if not isinstance(value.record, (int, float)):  # a number is no saved tensor
                setattr(node, name, Packed(value, hooks))
                setattr(node, f"{name}_version", 0)
        elif hasattr(value, "shape"):
            setattr(node, name, Packed(Tensor.from_array(value), hooks, True))
            setattr(node, f"{name}_version", (0,))
    for name in node.op.held:
        value = getattr(node, name)
        if hasattr(value, "packed"):
            setattr(node, name, value.packed(hooks))

"""Saved values that the user's hooks have taken away, and bring back when they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakSet

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.autograd.node import FREED, Edge, Notes
from autograd_core.tensor import Tensor

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]
nodes_with_packed: Final[WeakSet[Notes]] = WeakSet()
"""The notes on nodes of ops that run user code when they read what they saved."""


class Packed:
    """Stands where a saved tensor stands, and unpacks it whenever its data is wanted.

    What it tells of the tensor, shape, (NumPy's) dtype, size, whether it is a result of its own
    node, needs no unpacking.
    """

    __slots__ = ("dtype", "edge", "is_result", "nbytes", "packed", "record", "shape", "unpack")

    version = None  # what was packed is out of reach of in-place changes

    def __init__(
        self, tensor: Tensor, hooks: Hooks, *, is_result: bool = False, detached: bool = False
    ) -> None:
        """Hand ``tensor``, or that without its place in the graph, to the hook that packs it."""
        pack, self.unpack = hooks
        # A node knows that a result is its own, and must not keep itself alive.
        self.edge: Edge = None if is_result else tensor.edge
        self.record = None if is_result else tensor.record
        self.shape, self.dtype = tensor._shape, tensor.dtype.dtype
        self.nbytes = tensor.nbytes
        self.is_result = is_result
        given = tensor.detach() if detached else tensor
        before = given._version
        with no_grad():
            self.packed = pack(given)
        if given._version != before:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as "
                "input to pack hook cannot be modified by in-place operations as this can lead to "
                "unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    def tensor(self) -> Tensor:
        """Return what was saved, at its old place in the graph; what was outside and still is, is
        the very tensor that the hook returns.

        Raises:
            TypeError: the unpack hook returned something else than a tensor.
        """
        unpacked = self.unpack(self.packed)
        if not isinstance(unpacked, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(unpacked).__name__}"
            )
        if self.edge is None and unpacked.edge is None:
            return unpacked
        result = unpacked.detach()
        result.edge, result.record = self.edge, self.record
        return result

    @property
    def array(self) -> Any:
        return self.tensor().array


class SavedTensor:
    """A saved value that is not unpacked yet; hooks can still be set on it."""

    __slots__ = ("_pack", "_value")

    def __init__(self, value: Callable[[], Any], pack: Callable[[Hooks], None]) -> None:
        """``value`` tells what is kept; ``pack`` hands it to hooks."""
        self._value = value
        self._pack = pack

    def register_hooks(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        """Hand the value to ``pack_hook`` now, and get it back from ``unpack_hook`` when needed.

        Raises:
            RuntimeError: it is None, has hooks already, or was freed.
        """
        value = self._value()
        if value is FREED:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the "
                "graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        if value is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if isinstance(value, Packed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                "only one pair of hooks is allowed at a time."
            )
        self._pack((pack_hook, unpack_hook))

"""AccumulateGrad: the node that adds what arrives at a leaf to its ``.grad``."""

from __future__ import annotations

import sys
from threading import Lock
from typing import Any, Final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.grad_mode import Line, undo_log
from autograd_core.autograd.memory import make_writeable
from autograd_core.autograd.node import LEAF, Edge, Node

Array = NDArray[Any]
_accumulating: Final = Lock()


class AccumulateGrad(Node):
    """The end of every path through the graph; one per leaf, for as long as the leaf lives.

    The leaf owns this node, and the node knows the leaf weakly: a cycle between them would
    leave every dropped parameter to the garbage collector.  It keeps the leaf's array, and so
    can give back a leaf that was dropped while a graph still leads to it.
    """

    __slots__ = ("array", "leaf", "tensor_type")

    kind = LEAF

    def __init__(self, leaf: Any) -> None:
        self.i0 = None
        self.sequence_nr = 2**64 - 1
        self.notes = None
        self.leaf = ref(leaf)
        self.array = leaf.array
        self.output_shape = leaf._shape
        self.output_dtype = leaf.dtype
        self.tensor_type = type(leaf)

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def edges(self) -> tuple[Edge, ...]:
        return ()

    @property
    def variable(self) -> Any:
        """The leaf."""
        leaf = self.leaf()
        if leaf is None:
            leaf = self.tensor_type.from_array(self.array)
            leaf.edge = self
            self.leaf = ref(leaf)
        return leaf

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "variable"]

    def __call__(self, g: Any) -> tuple[()]:
        """Accumulate ``g``, a tensor, as a pass would."""
        if (log := undo_log()) is not None:
            log.keep_gradient(self.variable)
        self.backward(g.array, True)
        return ()

    def note_freed(self, line: Line) -> None:
        """Do nothing: it keeps nothing of the forward pass."""

    def backward(self, g: Array, keep: bool | None) -> None:
        notes = self.notes
        leaf = self.leaf() if notes is None or notes.hooks is None else self.variable
        if leaf is None or (leaf.edge is not self and not _is_leaf(leaf)):
            return
        with _accumulating:  # NumPy lets other threads run while it adds
            present = getattr(leaf, "_grad", None)
            if present is None:
                leaf._grad = self.tensor_type.from_array(own(g))
            else:
                present.bump()
                try:
                    np.add(present.array, g, out=present.array)
                except ValueError:  # it is a part of an expanded tensor, or such a tensor itself
                    make_writeable(present.array)
                    np.add(present.array, g, out=present.array)

    def backward_graph(self, g: Any) -> None:
        """Keep ``g``, a tensor with a graph, so that the gradient can be differentiated."""
        leaf = self.variable
        if leaf.edge is not self and not _is_leaf(leaf):
            return
        leaf.grad = g if leaf.grad is None else leaf.grad + g


def _is_leaf(leaf: Any) -> bool:
    """Return whether ``leaf``, which was one that required a gradient, still is.

    Raises:
        RuntimeError: it is computed by now; in PyTorch's words.
    """
    if leaf.grad_fn is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior")
    required: bool = leaf.requires_grad
    return required


def check_assigned_gradient(tensor: Any, g: Any) -> None:
    """Refuse what cannot be the gradient of ``tensor``, in PyTorch's words."""
    if g is None:
        return
    if not hasattr(g, "edge"):  # what a tensor is, is known above only
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type(g).__name__}"
        )
    if g is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if g.dtype is not tensor.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{g.dtype.c_name}' to a tensor with "
            f"grad_dtype '{tensor.dtype.scalar_name}'. The gradient must match the tensor's "
            "grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype "
            "attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
            "caution. Diverging the dtypes of a tensor and its gradient may break downstream "
            "systems that assume they match."
        )
    if g._shape != tensor._shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(g._shape)}' to a tensor of size "
            f"'{list(tensor._shape)}'. Please ensure that the gradient and the tensor are the same "
            "size"
        )


def own(g: Array) -> Array:
    """Return ``g`` itself if nothing else can see its memory, otherwise a copy.

    Taking it saves one pass over the memory of every large parameter; an array that two
    edges share, a view of what others see, or the user's seed must be copied.
    """
    if type(g) is not np.ndarray:
        return np.array(g)  # 0-d gradients travel as NumPy scalars
    if sys.getrefcount(g) > _SOLE_OWNER or not g.flags.writeable:
        return g.copy()
    return g if g.base is None or _is_all_that_is_left(g) else g.copy()


def only_here(g: Array) -> bool:
    """Return whether nobody sees the memory of ``g`` but the node whose ``backward`` asks, and the
    loop of the engine, which is done with it."""
    return (
        sys.getrefcount(g) == _SOLE_OWNER
        and type(g) is np.ndarray
        and g.base is None
        and g.flags.writeable
    )


def _is_all_that_is_left(g: Array) -> bool:
    """Return whether ``g``, a view, shows all of its memory in order, and nobody else sees it: so
    comes the gradient of a weight that was transposed."""
    memory = g.base
    return (
        type(memory) is np.ndarray
        and memory.base is None
        and memory.nbytes == g.nbytes
        and g.flags.c_contiguous
        and sys.getrefcount(memory) <= _SOLE_MEMORY
    )


def add_large(present: Array, g: Array) -> Array:
    """Return ``present + g``, in the memory of ``present`` if only the engine, which holds it in an
    input buffer, can see that: the weights of a recurrent net, which many steps add to, would else
    spend an eighth of a pass on fresh memory."""
    if (
        sys.getrefcount(present) > _SOLE_BUFFER
        or type(present) is not np.ndarray
        or present.base is not None
        or present.shape != g.shape
        or present.strides != g.strides
        or present.dtype != g.dtype
        or not present.flags.writeable
    ):
        return present + g
    return np.add(present, g, present)


LARGE: Final = 1 << 12  # elements


def _references_seen_by_own() -> int:
    # How many references a solely owned array has inside `own`, called the way the engine
    # calls it (one local there, one argument here): differs between Python versions.
    def backward(g: Array) -> int:
        return probe(g)

    def probe(g: Array) -> int:
        return sys.getrefcount(g)

    g = np.zeros(1)
    return backward(g)


def _references_to_memory() -> int:
    # The same, for the memory of a view that nobody else holds.
    g = np.zeros((1, 2)).T
    memory = g.base
    return sys.getrefcount(memory)


def _references_to_buffer() -> int:
    # The same, inside `add_large`, of an array that is in a buffer and in a local of the engine.
    def probe(present: Array, g: Array) -> int:
        return sys.getrefcount(present)

    pending = {0: np.zeros(1)}
    g = pending[0]
    return probe(g, g[:0].copy())


_SOLE_BUFFER: Final = _references_to_buffer()
_SOLE_OWNER: Final = _references_seen_by_own()
_SOLE_MEMORY: Final = _references_to_memory()

"""What a tensor is to the graph: where it came from, where its gradient goes, who is told of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad, check_assigned_gradient
from autograd_core.autograd.grad_mode import is_inference_mode_enabled, undo_log
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.autograd.node import Edge, Node, Nowhere, hooks_of, resolve
from autograd_core.autograd.version import INFERENCE, Versions, count_change

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autograd_core.dtype import dtype as dtype_type
    from autograd_core.tensor import Tensor

CANNOT_REQUIRE: Final = "Tensors of floating point and complex dtype can require gradients"

_NO_LEAF: Final = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)


class Differentiable:
    """The part of Tensor that takes part in a graph."""

    if TYPE_CHECKING:
        _grad: Any
        _leaf_node: AccumulateGrad
        _shape: tuple[int, ...]
        array: NDArray[Any]
        dtype: dtype_type

        @property
        def _base(self) -> Tensor | None: ...

        edge: Edge
        version: Versions | None
    else:
        __slots__ = ()  # they are in Tensor

    @property
    def grad(self) -> Any:
        """The gradient of a leaf, or of a tensor that is to retain it; None as long as there is
        none."""
        try:
            return self._grad
        except AttributeError:
            if not self.is_leaf and not self.retains_grad:
                warnings.warn(_NO_LEAF, stacklevel=2)
            return None

    @grad.setter
    def grad(self, g: Tensor | None) -> None:
        check_assigned_gradient(self, g)
        if (log := undo_log()) is not None:
            log.keep_fields(self)
        self._grad = g

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        edge = self.edge
        return None if edge is None or type(edge) is AccumulateGrad else resolve(edge)[0]

    @property
    def output_nr(self) -> int:
        return resolve(self.edge)[1]

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def requires_grad(self) -> bool:
        return self.edge is not None

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if wanted == self.requires_grad and type(self.edge) is not Nowhere:
            return
        if not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if wanted and not self.dtype.is_floating_point:
            raise RuntimeError(f"only {CANNOT_REQUIRE}")
        if wanted and self.is_inference() and not is_inference_mode_enabled():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        log = undo_log()
        if log is not None:
            log.keep_fields(self)
        self.edge = self._accumulator() if wanted else self._edge_of_view()
        for each in getattr(self, "_views", ()):
            view = each()
            if view is not None and (view.edge is None or type(view.edge) is Nowhere):
                if log is not None:
                    log.keep_fields(view)
                view.edge = view._edge_of_view()

    def _accumulator(self) -> AccumulateGrad:
        """Where gradients of this leaf go; the same node, with its hooks, whenever it is wanted."""
        known: AccumulateGrad | None = getattr(self, "_leaf_node", None)
        if known is None:
            known = self._leaf_node = AccumulateGrad(self)
        known.array, known.output_shape, known.output_dtype = self.array, self._shape, self.dtype
        return known

    def _edge_of_view(self) -> Nowhere | None:
        """The edge of a leaf that does not require a gradient itself: a view of what does requires
        one with it."""
        base = self._base
        return None if base is None or base.edge is None else Nowhere()

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Say whether gradients for this leaf are wanted; returns the tensor itself."""
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.requires_grad = requires_grad
        return self

    @property
    def _version(self) -> int:
        if self.version is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.version is None else int(self.version[0])

    def is_inference(self) -> bool:
        """Whether this was made in inference mode, and so may enter no graph."""
        return self.version is INFERENCE

    def bump(self) -> None:
        """Note that the data is about to change in place: those who saved this tensor can tell
        afterwards, and a debugger that is to undo the change keeps what is there now."""
        count_change(self)

    def retain_grad(self) -> None:
        """Keep ``.grad`` although this tensor is no leaf."""
        node, nr = resolve(self.edge)
        if node is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.is_leaf:
            return

        # weakly: the tensor holds its node, so that must not hold the tensor
        retain = hooks_of(node).retain
        if (log := undo_log()) is not None:
            log.keep_items(retain)
        retain.setdefault(nr, ref(self))

    @property
    def retains_grad(self) -> bool:
        """Whether this is no leaf and :meth:`retain_grad` was called."""
        node, nr = resolve(self.edge)
        return node is not None and node.hooks is not None and nr in node.hooks.retain

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(gradient)`` when the gradient of this tensor is there; what it returns, if
        anything, takes the gradient's place."""
        node, nr = resolve(self.edge)
        if node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return hooks_of(node).add("tensor", hook, nr)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(leaf)`` after ``.grad`` of this leaf was updated."""
        node = resolve(self.edge)[0]
        if node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if type(node) is not AccumulateGrad:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        return hooks_of(node).add("accumulated", hook)

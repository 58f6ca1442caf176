"""Tensor: a NumPy array with a place in a graph.

The operators and most methods come from the op table (:mod:`autograd_core.methods` binds
them); here is what a tensor is made of, and what needs no op.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.accumulate import AccumulateGrad, check_assigned_gradient
from autograd_core.autograd.grad_mode import (
    is_inference_mode_enabled,
    trace_cut,
)
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.autograd.node import Edge, Node, hooks_of, resolve
from autograd_core.autograd.version import INFERENCE, Versions, count_change, first_version
from autograd_core.conversion import Conversion
from autograd_core.device import CPU
from autograd_core.device import device as device_type
from autograd_core.dtype import dtype as dtype_type
from autograd_core.dtype import from_numpy_dtype, get_default_dtype
from autograd_core.layout import layout as layout_type
from autograd_core.layout import strided
from autograd_core.legacy import legacy_array
from autograd_core.printing import tensor_text
from autograd_core.seldom import seldom
from autograd_core.size import Size


class View(NamedTuple):
    """How a view came to be: its base, the op that made it, and whether gradients were on."""

    base: Tensor
    op: Any
    attributes: dict[str, Any]
    grad_mode: bool


if TYPE_CHECKING:
    from autograd_core.tensor_methods import TensorMethods  # generated: autograd_core.op.stub
else:
    TensorMethods = object


_NO_LEAF = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)
_CANNOT_REQUIRE = "Tensors of floating point and complex dtype can require gradients"


class Tensor(Conversion, TensorMethods):
    """A tensor of real numbers; make one with :func:`autograd_core.tensor`.

    ``array`` is the NumPy array itself, not a copy.  ``edge`` says where a gradient of this
    tensor goes (see :mod:`autograd_core.autograd.node`); None for one that needs none.
    ``version`` is None as long as no in-place op, view or saved result needs a counter, then
    a one-element list that views share.  ``record`` is what tracing left here.
    """

    __slots__ = (
        "__dict__",  # for the user's own attributes; made when first stored into
        "__weakref__",
        "_grad",
        "_is_parameter",
        "_record",
        "_shape",
        "_tangent",
        "_view_of",
        "_views",
        "array",
        "dtype",
        "edge",
        "version",
    )

    array: NDArray[Any]
    _shape: tuple[int, ...]
    dtype: dtype_type
    edge: Edge
    version: Versions | None
    _view_of: View

    view_of = seldom("_view_of")
    record = seldom("_record")
    is_parameter = seldom("_is_parameter", False)

    __module__ = "autograd_core"  # where users find it
    __array_priority__ = 1000  # ndarray * Tensor is this class's business

    def __init__(self, *data: Any) -> None:
        """Of the default dtype: from a list or an array, or, given sizes, of zeros.

        Better use :func:`autograd_core.tensor`, or :func:`autograd_core.zeros`.
        """
        self.array = legacy_array(get_default_dtype(), data)
        self._shape, self.dtype = self.array.shape, from_numpy_dtype(self.array.dtype)
        self.version, self.edge = first_version(), None

    @classmethod
    def from_array(cls, array: NDArray[Any], requires_grad: bool = False) -> Tensor:
        """A leaf around ``array``, sharing its memory."""
        t = blank()
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        t.array = array
        t._shape = array.shape
        t.dtype = from_numpy_dtype(array.dtype)
        t.version = first_version()
        t.edge = None
        if requires_grad:
            if not t.dtype.is_floating_point:
                raise RuntimeError(f"Only {_CANNOT_REQUIRE}")
            t.requires_grad_()
        return t

    # what it is

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
        self._grad = g

    @property
    def shape(self) -> Size:
        return Size(self._shape)

    @property
    def ndim(self) -> int:
        return len(self._shape)

    def dim(self) -> int:
        return len(self._shape)

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self._shape[dim]

    def numel(self) -> int:
        return self.array.size

    nelement = numel

    def element_size(self) -> int:
        return self.dtype.itemsize

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    @property
    def device(self) -> device_type:
        return CPU

    @property
    def layout(self) -> layout_type:
        return strided

    def is_pinned(self) -> bool:
        """No."""
        return False

    # its place in the graph

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
        if wanted == self.requires_grad:
            return
        if not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if wanted and not self.dtype.is_floating_point:
            raise RuntimeError(f"only {_CANNOT_REQUIRE}")
        if wanted and self.is_inference() and not is_inference_mode_enabled():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        self.edge = AccumulateGrad(self) if wanted else None

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether gradients for this leaf are wanted; returns the tensor itself."""
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self.requires_grad = requires_grad
        return self

    @property
    def _version(self) -> int:
        if self.version is INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return 0 if self.version is None else self.version[0]

    def is_inference(self) -> bool:
        """Whether this was made in inference mode, and so may enter no graph."""
        return self.version is INFERENCE

    def bump(self) -> None:
        """Note that the data changed in place, for those who saved this tensor."""
        if self.version is None:
            self.version = [0]
        count_change(self.version)

    @property
    def _base(self) -> Tensor | None:
        view = self.view_of
        while view is not None and view.base.view_of is not None:
            view = view.base.view_of
        return None if view is None else view.base

    def detach(self) -> Tensor:
        """The same data without the graph; an in-place change of one is seen by the other."""
        return self._without_graph("detach()")

    def _without_graph(self, how: str) -> Tensor:
        t = blank()
        t.array, t._shape, t.dtype, t.edge = self.array, self._shape, self.dtype, None
        if self.version is None:
            self.version = [0]
        t.version = self.version
        trace_cut(how, self, t)
        return t

    def detach_(self) -> Tensor:
        """Leave the graph, in place.

        Raises:
            RuntimeError: this is a view; its base would not leave the graph with it.
        """
        if self.view_of is not None:
            raise RuntimeError(
                "Can't detach views in-place. Use detach() instead. If you are using "
                "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
                "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
                "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
                "function in torch/optim/optimizer.py as the solution."
            )
        self.edge = None
        return self

    @property
    def data(self) -> Tensor:
        """The same data without the graph, and without the version counter's protection."""
        t = self._without_graph(".data")
        if not t.is_inference():
            t.version = None
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        self.array, self._shape, self.dtype = value.array, value._shape, value.dtype
        if type(self.edge) is AccumulateGrad:
            self.edge.array = value.array

    def retain_grad(self) -> None:
        """Keep ``.grad`` although this tensor is no leaf."""
        node, nr = resolve(self.edge)
        if node is None:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.is_leaf:
            return

        # weakly: the tensor holds its node, so that must not hold the tensor
        hooks_of(node).retain.setdefault(nr, ref(self))

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
        if not self.is_leaf or self.edge is None:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        return hooks_of(resolve(self.edge)[0]).add("accumulated", hook)  # type: ignore[arg-type]

    def cpu(self) -> Tensor:
        return self

    def new(self, *data: Any) -> Tensor:
        """A new tensor of this dtype: from an array or a list, or, given sizes, of zeros.

        (PyTorch leaves the elements of the latter as they are in memory.)
        """
        return Tensor.from_array(legacy_array(self.dtype, data))

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        copied = memo[id(self)] = Tensor.from_array(self.array.copy(), self.requires_grad)
        if self.is_parameter:  # of which PyTorch copies neither gradient nor own attributes
            copied.is_parameter = True
            return copied
        if self.grad is not None:
            copied.grad = Tensor.from_array(self.grad.array.copy())
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __copy__(self) -> Tensor:
        copied = self.detach().requires_grad_(self.requires_grad)
        if self.is_parameter:
            copied.is_parameter = True
        copied.__dict__.update(self.__dict__)
        return copied

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        node = self.grad_fn
        name = None if node is None else node.name().rpartition("::")[2]
        text = tensor_text(self.array, name, self.requires_grad)
        return f"Parameter containing:\n{text}" if self.is_parameter else text


# A tensor to be filled in by whoever makes it: `Tensor()` would cost 40 ns more.
blank: Callable[[], Tensor] = partial(object.__new__, Tensor)

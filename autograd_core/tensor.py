"""Tensor: a NumPy array with a place in a graph.

The operators and most methods come from the op table (:mod:`autograd_core.methods` binds
them); here is what a tensor is made of, and what needs no op.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import (
    Creation,
    is_inference_mode_enabled,
    trace_cut,
    undo_log,
)
from autograd_core.autograd.node import Edge
from autograd_core.autograd.undo_log import UNSET
from autograd_core.autograd.version import Detached, Versions, first_version
from autograd_core.conversion import Conversion
from autograd_core.device import CPU
from autograd_core.device import device as device_type
from autograd_core.differentiable import CANNOT_REQUIRE, Differentiable
from autograd_core.dimensions import wrapped
from autograd_core.dtype import dtype as dtype_type
from autograd_core.dtype import from_numpy_dtype, get_default_dtype
from autograd_core.legacy import legacy_array
from autograd_core.printing import tensor_text
from autograd_core.seldom import seldom
from autograd_core.size import Size


class View(NamedTuple):
    """How a view came to be: its base, the op that made it, and where."""

    base: Tensor
    op: Any
    attributes: dict[str, Any]
    creation: Creation


if TYPE_CHECKING:
    from autograd_core.tensor_methods import TensorMethods  # generated: autograd_core.op.stub
else:
    TensorMethods = object


class _TensorMeta(type):
    """Lets users call Tensor with data, and the core without any, at the cost of an allocation:
    an ``__init__`` would have to be gone round, which took every op 20 ns."""

    def __call__(cls: Any, *data: Any) -> Any:
        t = cls.__new__(cls)
        t.array = legacy_array(get_default_dtype(), data)
        t._shape, t.dtype = t.array.shape, from_numpy_dtype(t.array.dtype)
        t.version, t.edge = first_version(), None
        if cls.__init__ is not object.__init__:  # a subclass has one
            t.__init__(*data)
        return t


class Tensor(Differentiable, Conversion, TensorMethods, metaclass=_TensorMeta):
    """A tensor of real numbers; make one with :func:`autograd_core.tensor`.

    Called, it makes one of the default dtype: from a list or an array, or, given sizes, of zeros.

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
        "_leaf_node",
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
    __array_priority__ = 1000  # NumPy leaves ndarray * Tensor to this class

    if TYPE_CHECKING:

        def __init__(self, *data: Any) -> None: ...

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
                raise RuntimeError(f"Only {CANNOT_REQUIRE}")
            t.requires_grad_()
        return t

    # what it is

    @property
    def shape(self) -> Size:
        return Size(self._shape)

    @property
    def ndim(self) -> int:
        return len(self._shape)

    def dim(self) -> int:
        return len(self._shape)

    def size(self, dim: int | None = None) -> Any:
        if dim is None:
            return self.shape
        try:
            return self._shape[dim]
        except IndexError:
            return wrapped(dim, self.ndim, of_scalars=False)  # which raises

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
    def layout(self) -> Any:
        from autograd_core.compat.constants import strided

        return strided

    def is_pinned(self) -> bool:
        """No."""
        return False

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
        trace_cut("detach_()", self, self)
        if is_inference_mode_enabled() and not self.is_inference():
            return self  # as in PyTorch
        if (log := undo_log()) is not None:
            log.keep_fields(self)
        if self.grad_fn is not None:
            self.version = Detached([0] if self.version is None else self.version)
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
        if (log := undo_log()) is not None:
            log.keep_fields(self)
        self.array, self._shape, self.dtype = value.array, value._shape, value.dtype
        if type(self.edge) is AccumulateGrad:
            self.edge.array = value.array

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

    def _fields(self) -> tuple[Any, ...]:
        """All that this tensor consists of but the elements of its array, for an undo log."""
        seldom_set = [getattr(self, name, UNSET) for name in _SELDOM_SET]
        parts = self.array, self._shape, self.dtype, self.version, _edge.__get__(self)
        return (type(self), *parts, *seldom_set)

    def _set_fields(self, fields: tuple[Any, ...]) -> None:
        """Become again what :meth:`_fields` told."""
        kind, self.array, self._shape, self.dtype, self.version, edge, *seldom_set = fields
        self.__class__ = kind
        _edge.__set__(self, edge)
        for name, value in zip(_SELDOM_SET, seldom_set, strict=True):
            if value is not UNSET:
                setattr(self, name, value)
            elif hasattr(self, name):
                delattr(self, name)
        if type(edge) is AccumulateGrad:
            edge.array = self.array

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return self._text()

    def _text(self, tangent: object = None) -> str:
        try:
            node = self.grad_fn
            name = None if node is None else node.name().rpartition("::")[2]
        except RuntimeError:  # a stale view
            name = "Invalid"
        text = tensor_text(self.array, name, self.requires_grad, tangent)
        return f"Parameter containing:\n{text}" if self.is_parameter else text


_edge: Final[Any] = vars(Tensor)["edge"]  # the slot, which stale views hide (see op.stale_views)
_SELDOM_SET: Final = ("_grad", "_view_of", "_record", "_tangent")


# A tensor to be filled in by whoever makes it: calls the class past its metaclass.
blank: Callable[[], Tensor] = super(_TensorMeta, Tensor).__call__  # type: ignore[misc]

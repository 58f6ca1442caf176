"""Tensor: a NumPy array that is part of a graph.

This file holds the data of a tensor, and all methods that need no op. Ops are made of tensors, so
what needs them is bound later: an op's method where the op is declared
(:mod:`autograd_core.op.public`), operators and what differs from the function of its name in
:mod:`autograd_core.tensor.methods`. ``generated.pyi`` lists both.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, SupportsIndex
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.accumulate import AccumulateGrad, check_assigned_gradient
from autograd_core.autograd.grad_mode import (
    Creation,
    is_grad_enabled,
    is_inference_mode_enabled,
    settle,
    trace_cut,
    trace_taken_out,
    undo_log,
)
from autograd_core.autograd.hooks import RemovableHandle
from autograd_core.autograd.memory import copied_with_memory
from autograd_core.autograd.node import Edge, Node, Nowhere, hooks_of, resolve
from autograd_core.autograd.undo_log import UNSET
from autograd_core.autograd.version import (
    INFERENCE,
    Detached,
    Versions,
    count_change,
    first_version,
)
from autograd_core.dtype import Number, from_numpy_dtype, get_default_dtype
from autograd_core.own_files import warn
from autograd_core.tensor.data import TensorBase, legacy_array
from autograd_core.tensor.device import CPU
from autograd_core.tensor.device import device as device_type
from autograd_core.tensor.printing import tensor_text
from autograd_core.tensor.size import Size, wrapped


def optional_slot(slot: str, default: Any = None) -> Any:
    """Return a property over ``slot``, which is left unset until somebody stores into it.

    Storing None into every object costs each op 10 ns per slot, and a ``__getattr__`` that
    knows the default would cost every other attribute of the class its fast path.
    """

    def get(self: Any) -> Any:
        return getattr(self, slot, default)  # 0.2 us; catching the error took 0.5

    def set_(self: Any, value: Any) -> None:
        setattr(self, slot, value)

    return property(get, set_)


class ViewOrigin(NamedTuple):
    """The origin of a view: its base, the op that made it, and where."""

    base: Tensor
    op: Any
    attributes: dict[str, Any]
    creation: Creation


if TYPE_CHECKING:  # the methods that the op table gives
    from autograd_core.tensor.generated import TensorMethods  # generated: autograd_core.op.stub
else:
    TensorMethods = object

CANNOT_REQUIRE: Final = "Tensors of floating point and complex dtype can require gradients"

_NO_LEAF: Final = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
    "attribute won't be populated during autograd.backward(). If you indeed want the .grad field "
    "to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you "
    "access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead. See "
    "github.com/pytorch/pytorch/pull/30531 for more information."
)


def _yes(self: Tensor) -> bool:
    return True


def _no(self: Tensor) -> bool:
    return False


class TensorType(type):
    """Lets users call Tensor with data, and the core without any, at the cost of an allocation:
    to bypass an ``__init__`` took every op 20 ns."""

    def __call__(cls: Any, *data: Any) -> Any:
        t = cls.__new__(cls)
        t.array = legacy_array(get_default_dtype(), data)
        t._shape, t.dtype = t.array.shape, from_numpy_dtype(t.array.dtype)
        t.version, t.edge = first_version(), None
        if cls.__init__ is not object.__init__:  # a subclass has one
            t.__init__(*data)
        return t


class Tensor(TensorBase, TensorMethods, metaclass=TensorType):
    """A tensor of real numbers; :func:`autograd_core.tensor` makes one.

    ``Tensor(data)`` copies a list or an array to the default dtype; ``Tensor(2, 3)`` makes zeros of
    that shape.

    ``array`` is the NumPy array itself, not a copy. ``edge`` is where the gradient of this tensor
    goes (see :mod:`autograd_core.autograd.node`), None if it needs none. ``version`` is None until
    an in-place op, a view or a saved result needs a counter, then a one-element list that views
    share. ``record`` is set by tracing.
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

    _shape: tuple[int, ...]
    edge: Edge
    version: Versions | None
    _view_of: ViewOrigin
    _record: Any

    view_of = optional_slot("_view_of")
    is_parameter = optional_slot("_is_parameter", False)

    __module__ = "autograd_core"  # where users find it
    __array_priority__ = 1000  # NumPy leaves ndarray * Tensor to this class

    if TYPE_CHECKING:

        def __init__(self, *data: Any) -> None: ...

    @classmethod
    def from_array(cls, array: NDArray[Any], requires_grad: bool = False) -> Tensor:
        """Return a leaf that shares the memory of ``array``."""
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

    ndimension = dim

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

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a 0-d tensor")
        return self._shape[0]

    def element_size(self) -> int:
        return self.dtype.itemsize

    itemsize = property(element_size)

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_signed(self) -> bool:
        """Return whether the dtype is signed."""
        return self.array.dtype.kind in "if"

    def is_same_size(self, other: Tensor) -> bool:
        """Return whether both tensors have the same shape."""
        return self._shape == other._shape

    def type_as(self, other: Tensor) -> Tensor:
        """Return this tensor converted to the dtype of ``other``."""
        return self.to(other.dtype)

    def is_nonzero(self) -> bool:
        """Return whether the only element is not zero."""
        return bool(self)

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Tensor, Number, np.generic)):
            raise RuntimeError(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}."
            )
        return bool((self == element).any())

    def __reversed__(self) -> Tensor:
        return self.flip(0) if self._shape else self

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    @property
    def device(self) -> device_type:
        return CPU

    def get_device(self) -> int:
        """Return -1: the tensor is on the CPU."""
        return -1

    is_cpu = property(_yes)
    is_cuda = is_ipu = is_meta = is_mkldnn = is_mps = property(_no)
    is_nested = is_quantized = is_sparse = is_xla = is_xpu = property(_no)
    is_complex = is_conj = is_neg = is_pinned = _no

    @property
    def layout(self) -> Any:
        from autograd_core.tensor.constants import strided  # few programs ask for a layout

        return strided

    @property
    def _base(self) -> Tensor | None:
        view = self.view_of
        while view is not None and view.base.view_of is not None:
            view = view.base.view_of
        return None if view is None else view.base

    def _is_view(self) -> bool:
        return self._base is not None

    def __hash__(self) -> int:
        return id(self)

    # its memory

    def stride(self, dim: int | None = None) -> Any:
        """Return the stride of each dimension, or of ``dim``, in elements."""
        steps = tuple(n // self.array.itemsize for n in self.array.strides)
        return steps if dim is None else steps[wrapped(dim, self.ndim, of_scalars=False)]

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self.array.ctypes.data

    def storage_offset(self) -> int:
        """Return the offset of the first element in the storage, in elements."""
        owner = self if self._base is None else self._base
        return (self.data_ptr() - owner.data_ptr()) // self.array.itemsize

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Return whether the elements are contiguous in memory, in order."""
        return self.array.flags.c_contiguous

    def resize_(self, *sizes: Any, memory_format: Any = None) -> Self:
        """Resize the tensor in place; existing elements keep their order, new ones are 0.

        Raises:
            RuntimeError: the tensor requires a gradient.
        """
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        size = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        count = math.prod(size)
        flat = self.array.reshape(-1)
        if count > flat.size:
            flat = np.concatenate([flat, np.zeros(count - flat.size, flat.dtype)])
        if size == self._shape:
            return self
        self.bump()
        self.array = flat[:count].reshape(size)
        self._shape = size
        return self

    def resize_as_(self, other: Tensor, memory_format: Any = None) -> Self:
        """Resize the tensor in place to the shape of ``other``."""
        return self.resize_(other._shape)

    # its place in a graph

    @property
    def grad(self) -> Any:
        """The gradient of a leaf, or of a tensor after :meth:`retain_grad`; None until there is
        one."""
        try:
            return self._grad
        except AttributeError:
            if not self.is_leaf and not self.retains_grad:
                warnings.warn(_NO_LEAF, stacklevel=2)
            return None

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

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
    def requires_grad(self, required: bool) -> None:
        if not isinstance(required, bool):
            raise RuntimeError("requires_grad must be a bool")
        if required == self.requires_grad and type(self.edge) is not Nowhere:
            return
        if not self.is_leaf:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a "
                "computed variable in a subgraph that doesn't require differentiation use "
                "var_no_grad = var.detach()."
            )
        if required and not self.dtype.is_floating_point:
            raise RuntimeError(f"only {CANNOT_REQUIRE}")
        if required and self.is_inference() and not is_inference_mode_enabled():
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                "allowed."
            )
        settle()
        log = undo_log()
        if log is not None:
            log.keep_fields(self)
        self.edge = self._accumulator() if required else self._edge_of_view()
        for reference in getattr(self, "_views", ()):
            view = reference()
            if view is not None and (view.edge is None or type(view.edge) is Nowhere):
                if log is not None:
                    log.keep_fields(view)
                view.edge = view._edge_of_view()

    def _accumulator(self) -> AccumulateGrad:
        """Return where gradients of this leaf go; always the same node, with its hooks."""
        known: AccumulateGrad | None = getattr(self, "_leaf_node", None)
        if known is None:
            known = self._leaf_node = AccumulateGrad(self)
        known.array, known.output_shape, known.output_dtype = self.array, self._shape, self.dtype
        return known

    def _edge_of_view(self) -> Nowhere | None:
        """Return the edge of a leaf that does not require a gradient itself: a view of what does
        requires one with it."""
        base = self._base
        return None if base is None or base.edge is None else Nowhere()

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether this leaf requires a gradient, and return the tensor."""
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
        """Return whether the tensor was made in inference mode, so that no graph can use it."""
        return self.version is INFERENCE

    def bump(self) -> None:
        """Announce a change of the data in place: nodes that saved the tensor can detect it, and a
        debugger that must undo it keeps the present values."""
        count_change(self)

    def retain_grad(self) -> None:
        """Keep ``.grad`` of this tensor although it is not a leaf."""
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
        """Whether this tensor is not a leaf and :meth:`retain_grad` was called."""
        node, nr = resolve(self.edge)
        return node is not None and node.hooks is not None and nr in node.hooks.retain

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(gradient)`` whenever the gradient of this tensor has been computed; a tensor
        that it returns replaces the gradient."""
        node, nr = resolve(self.edge)
        if node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return hooks_of(node).add("tensor", hook, nr)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(leaf)`` whenever ``.grad`` of this leaf has been updated."""
        node = resolve(self.edge)[0]
        if node is None:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if type(node) is not AccumulateGrad:
            raise RuntimeError(
                "post accumulate grad hooks cannot be registered on non-leaf tensors"
            )
        return hooks_of(node).add("accumulated", hook)

    def detach(self) -> Tensor:
        """Return a tensor that shares the data but not the graph; both see in-place changes."""
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
        """Detach the tensor from the graph, in place.

        Raises:
            RuntimeError: the tensor is a view, whose base would stay in the graph.
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
        """A tensor that shares the data, but neither the graph nor the version counter."""
        t = self._without_graph(".data")
        if not t.is_inference():
            t.version = None
        return t

    @data.setter
    def data(self, value: Tensor) -> None:
        settle()
        if (log := undo_log()) is not None:
            log.keep_fields(self)
        self.array, self._shape, self.dtype = value.array, value._shape, value.dtype
        if type(self.edge) is AccumulateGrad:
            self.edge.array = value.array

    # out to NumPy and to Python, where no gradient follows; whoever traces is told

    def numpy(self, *, force: bool = False) -> NDArray[Any]:
        """Return the data as a NumPy array, without a copy; a tensor that requires a gradient must
        be detached first, or ``force`` given."""
        if self.requires_grad and is_grad_enabled() and not force:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. "
                "Use tensor.detach().numpy() instead."
            )
        trace_taken_out("numpy()", self)
        if (log := undo_log()) is not None:  # what is handed out may be changed
            log.keep_values(self)
        return self.array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __array_wrap__(
        self, array: NDArray[Any], context: Any = None, return_scalar: bool = False
    ) -> Any:
        """Return the result of a function of NumPy's, as a tensor; of a test, as numbers."""
        result = np.asarray(array)
        return type(self).from_array(
            result.astype(np.uint8) if result.dtype == np.bool_ else result
        )

    def item(self) -> Any:
        if self.array.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.array.size} elements cannot be converted to Scalar"
            )
        trace_taken_out("item()", self)
        return self.array.item()

    def tolist(self) -> Any:
        trace_taken_out("tolist()", self)
        return self.array.tolist()

    def __float__(self) -> float:
        if self.requires_grad and is_grad_enabled():
            warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first."
            )
        return float(self._only_element())

    def __int__(self) -> int:
        return int(self._only_element())

    def _only_element(self) -> Any:
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def __index__(self) -> int:
        if self.dtype.is_floating_point or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __bool__(self) -> bool:
        if self.array.size != 1:
            count = "more than one value" if self.array.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")
        return bool(self.array)

    def __format__(self, spec: str) -> str:
        return format(self.array.item(), spec) if not self._shape else object.__format__(self, spec)

    def __round__(self, digits: SupportsIndex | None = None) -> Any:
        return round(self.item(), digits) if digits is not None else round(self.item())

    # copies

    def cpu(self) -> Tensor:
        return self

    def new(self, *data: Any) -> Tensor:
        """Return a new tensor of this dtype: from an array or a list, or zeros of the given sizes.

        (In PyTorch, the latter are uninitialized.)
        """
        return Tensor.from_array(legacy_array(self.dtype, data))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        own = self.is_parameter  # of which PyTorch copies neither gradient nor own attributes
        array = self.array.copy("K") if own else copied_with_memory(self.array, memo)
        copied = memo[id(self)] = Tensor.from_array(array, self.requires_grad)
        if own:
            copied.is_parameter = True
            return copied
        if self.grad is not None:
            copied.grad = deepcopy(self.grad, memo)
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __copy__(self) -> Tensor:
        copied = self.detach().requires_grad_(self.requires_grad)
        if self.is_parameter:
            copied.is_parameter = True
        copied.__dict__.update(self.__dict__)
        return copied

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Pickle the elements and the user's own attributes, but neither graph nor gradient."""
        own = dict(self.__dict__)
        return _unpickled, (type(self), self.array, self.requires_grad, self.is_parameter, own)

    # for debuggers, which trace ops, and undo changes

    @property
    def record(self) -> Any:
        """What tracing left here."""
        if getattr(self, "_record", None) is None:
            settle()
        return getattr(self, "_record", None)

    @record.setter
    def record(self, record: Any) -> None:
        self._record = record

    def _fields(self) -> tuple[Any, ...]:
        """Return all that makes up this tensor but its array's elements, for an undo log."""
        optional = [getattr(self, name, UNSET) for name in _OPTIONAL_SLOTS]
        parts = self.array, self._shape, self.dtype, self.version, _edge.__get__(self)
        return (type(self), *parts, *optional)

    def _set_fields(self, fields: tuple[Any, ...]) -> None:
        """Become again what :meth:`_fields` told."""
        kind, self.array, self._shape, self.dtype, self.version, edge, *optional = fields
        self.__class__ = kind
        _edge.__set__(self, edge)
        for name, value in zip(_OPTIONAL_SLOTS, optional, strict=True):
            if value is not UNSET:
                setattr(self, name, value)
            elif hasattr(self, name):
                delattr(self, name)
        if type(edge) is AccumulateGrad:
            edge.array = self.array

    # how it prints

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


def _unpickled(
    kind: type[Tensor],
    array: NDArray[Any],
    requires_grad: bool,
    is_parameter: bool,
    own: dict[str, Any],
) -> Tensor:
    """Return the tensor that :meth:`Tensor.__reduce_ex__` took apart."""
    t = Tensor.from_array(array, requires_grad)
    if is_parameter:
        t.is_parameter = True
    t.__dict__.update(own)
    if kind is not Tensor:
        t.__class__ = kind
    return t


_edge: Final[Any] = vars(Tensor)["edge"]  # the slot, which stale views hide (see stale_views.py)
_OPTIONAL_SLOTS: Final = ("_grad", "_view_of", "_record", "_tangent")


# A tensor to be filled in by whoever makes it: calls the class past its metaclass.
blank: Callable[[], Tensor] = super(TensorType, Tensor).__call__  # type: ignore[misc]

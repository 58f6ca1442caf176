"""Tensors that a module owns: parameters, which an optimizer trains, and buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from autograd_core.dtype import dtype as dtype_type
from autograd_core.functions import zeros
from autograd_core.tensor import Tensor
from autograd_core.tensor.device import check_device
from autograd_core.tensor.tensor import TensorType


class _ParameterType(type):
    """Lets ``isinstance`` recognize the tensors that :class:`Parameter` makes."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and bool(instance.is_parameter)


class _BufferType(type):
    """Lets ``isinstance`` recognize the tensors that :class:`Buffer` makes."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


if TYPE_CHECKING:

    class Parameter(Tensor):
        """A parameter, as a type checker should see it."""

        def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None: ...

    class Buffer(Tensor):
        """A buffer, as a type checker should see it."""

        persistent: bool

        def __init__(self, data: Tensor | None = None, *, persistent: bool = True) -> None: ...

else:

    class Parameter(metaclass=_ParameterType):
        """``data`` as a leaf that modules register when it is assigned to them.

        A parameter is a plain Tensor with a flag, not an instance of a subclass: ops are
        fastest for what is exactly a Tensor, and weights are what they see most.

        >>> from autograd_core import nn, ones
        >>> weight = nn.Parameter(ones(2))
        >>> weight
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
        >>> isinstance(weight, nn.Parameter), isinstance(ones(2), nn.Parameter)
        (True, False)
        """

        def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Tensor:
            parameter = Tensor.from_array((zeros(0) if data is None else data).array, requires_grad)
            parameter.is_parameter = True
            return parameter

    class Buffer(metaclass=_BufferType):
        """``data`` as a tensor that modules register as a buffer when it is assigned to them.

        Args:
            persistent: whether it is part of the saved state.
        """

        def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:
            given = zeros(0) if data is None else data
            buffer = given.detach().requires_grad_(given.requires_grad)
            buffer._is_buffer, buffer.persistent = True, persistent
            return buffer


class _UninitializedType(TensorType):
    def __call__(
        cls: Any, requires_grad: bool | None = None, device: Any = None, dtype: Any = None
    ) -> Any:
        check_device(device)
        t = cls.__new__(cls)
        t.dtype, t.version, t.edge = zeros(0, dtype=dtype).dtype, None, None
        t.is_parameter = cls.is_learned
        t.requires_grad = cls.is_learned if requires_grad is None else requires_grad
        return t


class _Uninitialized(Tensor, metaclass=_UninitializedType):
    """A tensor without data, as its shape is not known yet."""

    __slots__ = ()
    is_learned = False
    cls_to_become = Tensor

    @property
    def array(self) -> NoReturn:  # type: ignore[override]
        raise ValueError(
            "Attempted to use an uninitialized parameter. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating "
            f"`torch.nn.parameter.{type(self).__name__}` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch "
            "functions"
        )

    _shape = array

    @property
    def shape(self) -> NoReturn:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    @property
    def requires_grad(self) -> bool:
        required: bool = self.__dict__["requires_grad"]
        return required

    @requires_grad.setter
    def requires_grad(self, required: bool) -> None:
        self.__dict__["requires_grad"] = required

    def materialize(
        self, shape: tuple[int, ...], device: Any = None, dtype: dtype_type | None = None
    ) -> None:
        """Become a tensor of ``shape``; of zeros, where PyTorch leaves the memory as it is."""
        check_device(device)
        data = zeros(shape, dtype=self.dtype if dtype is None else dtype)
        required = self.__dict__.pop("requires_grad")
        self.__class__ = self.cls_to_become  # type: ignore[assignment]
        self.data = data
        self.requires_grad_(required)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        make, given = self.__reduce_ex__(4)
        copied: Tensor = make(*given)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, None, self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized):
    """A parameter whose shape is not known yet.

    It has a dtype, and no data: whatever else is done with it is an error until
    :meth:`materialize` gives it a shape.
    """

    __slots__ = ()
    is_learned = True


class UninitializedBuffer(_Uninitialized):
    """A buffer whose shape is not known yet; as :class:`UninitializedParameter`."""

    __slots__ = ()


def is_lazy(param: Any) -> bool:
    """Return whether ``param`` is an uninitialized parameter or buffer."""
    return isinstance(param, _Uninitialized)

"""Tensors that a module owns: parameters, which an optimizer trains, and buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from autograd_core.functions import zeros
from autograd_core.tensor import Tensor


class _ParameterType(type):
    """Lets ``isinstance`` recognise the tensors that :class:`Parameter` makes."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and bool(instance.is_parameter)


class _BufferType(type):
    """Lets ``isinstance`` recognise the tensors that :class:`Buffer` makes."""

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

        >>> from autograd_core import ones
        >>> weight = Parameter(ones(2))
        >>> weight
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
        >>> isinstance(weight, Parameter), isinstance(ones(2), Parameter)
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


class UninitializedTensor(Tensor):
    """A tensor that a module will own, without shape and values as yet."""

    def materialize(self, shape: tuple[int, ...], device: Any = None, dtype: Any = None) -> None:
        """Take this shape, and become a tensor like any other; its values are yet to be set."""
        self.become(zeros(*shape, dtype=dtype).array)

    def become(self, array: NDArray[Any]) -> None:
        """Take these values, and become a tensor like any other, for whoever holds it already."""
        self.__class__ = Tensor  # type: ignore[assignment]
        self.data = Tensor.from_array(array)

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def detach(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        copied: Tensor = type(self)()
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensor):
    """A parameter whose shape the first input of its module will tell."""

    def __init__(self) -> None:
        self.is_parameter = True
        self.requires_grad_()


class UninitializedBuffer(UninitializedTensor):
    """A buffer whose shape the first input of its module will tell."""

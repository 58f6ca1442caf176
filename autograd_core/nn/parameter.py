"""Tensors that a module owns: parameters, which an optimizer trains, and buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_core.functions import zeros
from autograd_core.tensor import Tensor


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

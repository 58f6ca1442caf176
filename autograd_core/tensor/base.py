"""TensorBase: the class by which modules below Tensor recognize one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autograd_core.dtype import dtype as dtype_type


class TensorBase:
    """The base of :class:`~autograd_core.Tensor`, as in PyTorch; it adds nothing to it."""

    __slots__ = ()

    if TYPE_CHECKING:
        array: NDArray[Any]
        dtype: dtype_type

        def __float__(self) -> float: ...
        def __int__(self) -> int: ...

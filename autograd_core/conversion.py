"""What leads out of the tensor world: to NumPy, and to Python's numbers, lists and texts.

No gradient follows there; whoever traces is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.grad_mode import is_grad_enabled, trace_taken_out, undo_log
from autograd_core.notices import warn

if TYPE_CHECKING:
    from autograd_core.dtype import dtype as dtype_type


class Conversion:
    """The part of Tensor that hands its data to others."""

    __slots__ = ()

    if TYPE_CHECKING:
        from_array: Any
        array: NDArray[Any]
        dtype: dtype_type

        @property
        def requires_grad(self) -> bool: ...

        _shape: tuple[int, ...]

    def numpy(self) -> NDArray[Any]:
        """The array itself; a tensor that requires a gradient must be detached first."""
        if self.requires_grad and is_grad_enabled():
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
        """The result of a function of NumPy's, as a tensor; of a test, as numbers."""
        found = np.asarray(array)
        return type(self).from_array(found.astype(np.uint8) if found.dtype == np.bool_ else found)

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
        return format(self.array.item(), spec) if not self._shape else format(repr(self), spec)

    def __round__(self, digits: SupportsIndex | None = None) -> Any:
        return round(self.item(), digits) if digits is not None else round(self.item())

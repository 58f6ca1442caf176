"""Giving all that a module holds another dtype."""

from __future__ import annotations

from typing import Any, TypeVar

from autograd_core.device import check_device
from autograd_core.dtype import dtype, float16, float32, float64
from autograd_core.dtype import dtype as dtype_type
from autograd_core.nn.modules.tree import Tree
from autograd_core.tensor import Tensor

C = TypeVar("C", bound="Convertible")


class Convertible(Tree):
    """The part of a module that converts it."""

    def to(
        self: C,
        *target: Any,
        device: Any = None,
        dtype: dtype | None = None,
        non_blocking: bool = False,
        memory_format: Any = None,
    ) -> C:
        """Convert floating point parameters and buffers to a dtype.

        Args:
            target: a dtype, a device, or a tensor that has both.
        """
        for value in (*target, device, dtype):
            if isinstance(value, Tensor):
                dtype = value.dtype
            elif isinstance(value, dtype_type):
                dtype = value
            elif not isinstance(value, bool):
                check_device(value)
        if dtype is None:
            return self
        if not dtype.is_floating_point:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got "
                f"desired dtype={dtype}"
            )
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                tensor.data = Tensor.from_array(tensor.array.astype(dtype.dtype))
        return self

    def double(self: C) -> C:
        """Convert to float64."""
        return self.to(float64)

    def float(self: C) -> C:
        """Convert to float32."""
        return self.to(float32)

    def half(self: C) -> C:
        """Convert to float16."""
        return self.to(float16)

    def type(self: C, dst_type: dtype) -> C:
        """Convert floating point parameters and buffers to a dtype."""
        return self.to(dst_type)

    def cuda(self: C, device: Any = None) -> C:
        """Refused: there is no GPU."""
        return self.to("cuda")

    def cpu(self: C) -> C:
        """Nothing to do: there is no other device."""
        return self

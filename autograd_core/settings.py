"""What scripts set at their beginning, and has no effect here: there is one device, and one way
to compute everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.device import CPU, check_device
from autograd_core.device import device as device_type
from autograd_core.dtype import dtype, set_default_dtype

__all__ = [
    "are_deterministic_algorithms_enabled", "compile", "get_default_device",
    "get_float32_matmul_precision", "get_num_interop_threads", "get_num_threads",
    "set_default_device", "set_default_tensor_type", "set_float32_matmul_precision",
    "set_num_interop_threads", "set_num_threads", "use_deterministic_algorithms",
]  # fmt: skip

_PRECISIONS = ("highest", "high", "medium")


def get_num_threads() -> int:
    """One: this package starts no threads of its own."""
    return 1


def set_num_threads(count: int) -> None:
    """Nothing to do."""
    if count <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")


get_num_interop_threads, set_num_interop_threads = get_num_threads, set_num_threads


def are_deterministic_algorithms_enabled() -> bool:
    """Always: there are no others."""
    return True


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Nothing to do."""


def get_float32_matmul_precision() -> str:
    """The highest."""
    return _PRECISIONS[0]


def set_float32_matmul_precision(precision: str) -> None:
    """Nothing to do; products of float32 are as precise as NumPy's."""


def get_default_device() -> device_type:
    """The CPU."""
    return CPU


def set_default_device(device: Any) -> None:
    """Nothing to do for the CPU.

    Raises:
        AssertionError: any other device; in PyTorch's words.
    """
    check_device(device)


def set_default_tensor_type(t: Any) -> None:
    """Make the dtype of ``t``, a type as ``torch.DoubleTensor``, that of tensors made from
    floats."""
    kind: dtype = t.kind
    set_default_dtype(kind)


def compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``model`` as it is; without it, a decorator that does as much."""
    return (lambda function: function) if model is None else model

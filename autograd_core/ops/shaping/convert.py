"""Other dtypes and layouts of a tensor."""

from __future__ import annotations

from typing import Any

from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.dtype import ALL, dtype
from autograd_core.dtype import dtype as dtype_type
from autograd_core.op import op, public
from autograd_core.ops.shaping import shape
from autograd_core.ops.shaping.shape import contiguous_clone
from autograd_core.tensor import Tensor
from autograd_core.tensor.device import check_device


@op(self=lambda g, source, target: cast(g, source, target), linear=True, node="ToCopyBackward0")
def cast(self, /, target, source):
    """Return a copy with another dtype; the gradient is cast back to ``source``, the old one."""
    return self.astype(target)


@op(of="cast")
def cast_discrete(self, /, target):
    """Return a copy with an integer or bool dtype. The graph ends here, because such numbers have
    no gradient."""
    return self.astype(target)


def to_dtype(x: Tensor, kind: dtype) -> Tensor:
    """Return ``x`` itself if it has this dtype, else a copy that has."""
    if x.dtype is kind:
        return x
    if not kind.is_floating_point:
        return cast_discrete(x, kind.dtype)
    return cast(x, kind.dtype, x.dtype.dtype)


def check_gradient(kind: dtype, value: Any) -> None:
    """Refuse a value that needs a gradient where the result is of whole numbers, of ``kind``.

    Raises:
        RuntimeError: it is so; in PyTorch's words.
    """
    if kind.is_floating_point or not isinstance(value, Tensor):
        return
    if value.requires_grad and is_grad_enabled():
        raise RuntimeError(f"Autograd not support dtype: {kind.scalar_name}")


def to(
    x: Tensor,
    *target: Any,
    device: Any = None,
    dtype: dtype | None = None,
    other: Tensor | None = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """Return ``x`` with another dtype, itself if nothing changes.

    Args:
        target: a dtype, a device, or a tensor that has both; then ``non_blocking`` and ``copy``.
    """
    for value in (*target, device, dtype, other):
        if isinstance(value, Tensor):
            dtype = value.dtype
        elif isinstance(value, dtype_type):
            dtype = value
        elif not isinstance(value, bool):
            check_device(value)
    flags = [value for value in target if isinstance(value, bool)]
    result = x if dtype is None else to_dtype(x, dtype)
    return shape.clone(result) if result is x and (copy or flags[1:] == [True]) else result


def type_(x: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Return the name of the type of ``x``; or ``x`` with another dtype, which may be given by
    name.

    >>> from autograd_core import ones
    >>> ones(1).type(), ones(1).type("torch.LongTensor")
    ('torch.FloatTensor', tensor([1]))
    """
    if dtype is None:
        return f"torch.{x.dtype.scalar_name}Tensor"
    if isinstance(dtype, str):
        names = {f"torch.{kind.scalar_name}Tensor": kind for kind in ALL}
        if dtype not in names:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = names[dtype]
    return to_dtype(x, getattr(dtype, "kind", dtype))  # also one of the old tensor types


@public("function method")
def clone(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Return a copy that gradients flow through; it lies in memory as ``self`` does, or, with
    ``contiguous_format``, in order."""
    if repr(memory_format) == "torch.contiguous_format":
        return contiguous_clone(self)
    return shape.clone(self)


def contiguous(x: Tensor, memory_format: Any = None) -> Tensor:
    """Return ``x``, copied if its elements do not lie in order."""
    return x if x.array.flags.c_contiguous else contiguous_clone(x)

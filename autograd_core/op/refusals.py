"""What an op says of inputs it does not take, in PyTorch's words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from autograd_core.dtype import bool_, dtype
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped, wrapped_all


def wrong_type(op: Op, values: tuple[Any, ...]) -> TypeError:
    """Return the error for the first of ``values`` that is no tensor, numbers last."""
    strange = [
        (position, word, value)
        for position, (word, value) in enumerate(zip(op.values, values, strict=False), 1)
        if not isinstance(value, Tensor)
    ]
    no_numbers = (
        argument for argument in strange if not isinstance(argument[2], (int, float, np.generic))
    )
    position, word, value = next(no_numbers, strange[0])
    return TypeError(
        f"{op.public_name}(): argument '{argument_name(word)}' (position {position}) must be "
        f"Tensor, not {type(value).__name__}"
    )


def argument_name(parameter: str) -> str:
    """Return what users call the parameter of an op: ``input`` for ``self``."""
    return "input" if parameter == "self" else parameter.rstrip("_")


def refused(op: Op, error: TypeError, kind: dtype) -> Exception:
    """In PyTorch's words, that a kernel does not take tensors of this dtype."""
    if kind is bool_ and op.bools:
        return RuntimeError(op.bools) if isinstance(op.bools, str) else op.bools(())
    kernel = op.floats or op.numbers or op.integers
    return not_implemented(kernel, kind) if kernel else error


def not_implemented(kernel: str, kind: dtype) -> NotImplementedError:
    """Return PyTorch's error for a dtype that a kernel is not for."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{kind.scalar_name}'")


def no_difference(values: Sequence[Any]) -> RuntimeError:
    """Return PyTorch's error for truth values among the operands of a difference: tensors, arrays
    or numbers."""
    if all(_is_bool(value) for value in values):
        return RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    return RuntimeError(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead."
    )


def _is_bool(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dtype is bool_
    return bool(value.dtype == np.bool_) if isinstance(value, np.ndarray) else type(value) is bool


def no_common_shape(shapes: Sequence[tuple[int, ...]]) -> RuntimeError:
    """Return PyTorch's error for shapes that do not broadcast."""
    a, b = shapes[-2:]
    for dim in range(1, min(len(a), len(b)) + 1):
        if a[-dim] != b[-dim] and 1 not in (a[-dim], b[-dim]):
            return RuntimeError(
                f"The size of tensor a ({a[-dim]}) must match the size of tensor b "
                f"({b[-dim]}) at non-singleton dimension {max(len(a), len(b)) - dim}"
            )
    listed = ", ".join(str(list(shape)) for shape in shapes)
    return RuntimeError(f"shapes {listed} cannot be broadcast to one shape")


_SHAPE: Final = re.compile(r"(?<!\])\((\d*(?:,\d+)*),?\)")
_NUMPY: Final = ("broadcast", "core dimension", "shape mismatch")


def bad_dimension(error: Exception, op: Op, x: Any, attributes: Mapping[str, Any]) -> Exception:
    """Return the error of a kernel; in PyTorch's words if shapes do not fit, or a dimension was
    missing, or given twice, or empty."""
    if any(words in str(error) for words in _NUMPY):
        numbers = [
            tuple(map(int, filter(None, text.split(",")))) for text in _SHAPE.findall(str(error))
        ]
        return no_common_shape(numbers) if len(numbers) > 1 else RuntimeError(str(error))
    if type(error) is IndexError and not str(error).startswith(("tuple index", "list index")):
        return error  # the kernel's own words
    try:
        if isinstance(error, np.exceptions.AxisError):  # the rank may be that of the result
            assert error.axis is not None
            assert error.ndim is not None
            wrapped(error.axis, error.ndim)
        for name, given in attributes.items():
            if isinstance(given, int) and name.startswith("dim"):
                wrapped(given, x.ndim)
            elif isinstance(given, tuple) and name.startswith("dim"):
                wrapped_all(given, x.ndim)
    except (IndexError, RuntimeError) as refusal:
        return refusal
    text = str(error)
    if "empty sequence" in text or "zero-size array" in text:
        dim = attributes.get("dim")
        if isinstance(dim, tuple):
            dim = next((d for d in dim if not x.shape[d]), None)
        wanted = "to be specified for input.numel() == 0"
        if dim is not None:
            wanted = f"{dim} to have non-zero size"
        return IndexError(f"{op.public_name}(): Expected reduction dim {wanted}.")
    return error

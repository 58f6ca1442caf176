"""Arithmetic in front of the entries: numbers or tensors, and forms made of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import Number, bool_, dtype, float64, number_dtype, result_type
from autograd_core.functions.convert import check_gradient, to_dtype
from autograd_core.op import public
from autograd_core.op.refusals import no_difference
from autograd_core.ops import assign, elementwise, exponential, rounding, select, special_functions
from autograd_core.tensor import Tensor


def _check_alpha(x: Any, y: Any, alpha: Number) -> None:
    """Refuse a fraction of integers, and a truth value of numbers."""
    if isinstance(alpha, bool) and not all(
        v.dtype is bool_ if isinstance(v, Tensor) else isinstance(v, bool) for v in (x, y)
    ):
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and not any(
        t.dtype.is_floating_point if isinstance(t, Tensor) else isinstance(t, float) for t in (x, y)
    ):
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )


@public("function method inplace")
def add(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``x + alpha * y``."""
    _check_alpha(x, y, alpha)
    return elementwise.add(x, y) if alpha == 1 else elementwise.add_scaled(x, y, alpha=alpha)


@public("function method inplace", aliases="subtract")
def sub(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``x - alpha * y``."""
    _check_alpha(x, y, alpha)
    return elementwise.sub(x, y) if alpha == 1 else elementwise.sub_scaled(x, y, alpha=alpha)


@public()
def rsub(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``y - alpha * x``."""
    if isinstance(y, Tensor):
        return select.rsub_tensor(x, y, alpha=alpha)
    if x.dtype is bool_ or isinstance(y, bool):
        raise no_difference((x, y))
    return elementwise.rsub(promoted(x if alpha == 1 else x * alpha, y), number=y)


def rdiv(x: Tensor, y: Number) -> Tensor:
    """``y / x`` for a number ``y``, by way of the reciprocal, as PyTorch has it."""
    return elementwise.mul(elementwise.reciprocal(x), y)


@public("function method inplace", aliases="divide true_divide")
def div(x: Tensor, y: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """``x / y``; rounded down ("floor") or towards 0 ("trunc") on demand."""
    if rounding_mode is None:
        return elementwise.div(x, y)
    return rounding.div_rounded(x, y, rounding_mode=rounding_mode)


@public("function method inplace")
def floor_divide(x: Tensor, y: Tensor | Number) -> Tensor:
    """``x // y``: the quotient rounded down."""
    return rounding.div_rounded(x, y, rounding_mode="floor")


@public("function method inplace")
def pow(x: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """``x`` to the power of a number or a tensor."""
    if isinstance(exponent, Tensor):
        if exponent.dtype is bool_ and (isinstance(x, bool) or getattr(x, "dtype", None) is bool_):
            raise NotImplementedError("\"pow\" not implemented for 'Bool'")
        if isinstance(x, Tensor):
            return elementwise.pow_tensor(x, exponent)
        return elementwise.pow_base(promoted(exponent, x), base=x)
    return elementwise.pow_number(promoted(x, exponent), exponent=exponent)


@public("function method inplace")
def float_power(x: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """:func:`pow` in float64."""
    base, power = (to_dtype(v, float64) if isinstance(v, Tensor) else v for v in (x, exponent))
    return pow(base, power)


@public("function method inplace")
def square(x: Tensor) -> Tensor:
    """``x * x``."""
    return pow(x, 2)


def promoted(x: Any, y: Number) -> Any:
    """``x`` in the dtype that it takes beside the number ``y``."""
    own = number_dtype(y)
    return to_dtype(x, own) if isinstance(x, Tensor) and own.category > x.dtype.category else x


def _check_divisor(name: str, *values: Tensor | Number) -> None:
    """Raise, in PyTorch's words, where an integer is divided by 0, and of truth values."""
    arrays = [v.array if isinstance(v, Tensor) else np.asarray(v) for v in values]
    if all(a.dtype.kind in "biu" for a in arrays):
        if all(a.dtype.kind == "b" for a in arrays):
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Bool'")
        if not arrays[1].all():
            raise RuntimeError("ZeroDivisionError")


@public("function method inplace")
def fmod(x: Tensor, y: Tensor | Number) -> Tensor:
    """What is left of ``x`` after division by ``y``, with the sign of ``x``."""
    _check_divisor("fmod", x, y)
    if isinstance(y, Tensor):
        return rounding.fmod(x, y)
    return rounding.fmod_number(promoted(x, y), number=y)


@public("function method inplace")
def remainder(x: Tensor | Number, y: Tensor | Number) -> Tensor:
    """``x % y``: what is left of ``x`` after division by ``y``, with the sign of ``y``."""
    _check_divisor("remainder", x, y)
    if isinstance(y, Tensor):
        return rounding.remainder(x, y)
    return rounding.remainder_number(promoted(x, y), number=y)


@public("function method inplace")
def copysign(x: Tensor, y: Tensor | Number) -> Tensor:
    """The size of ``x`` with the sign of ``y``."""
    if isinstance(y, Tensor):
        return rounding.copysign(x, y)
    return rounding.copysign_number(x, number=y)


@public("function method inplace", aliases="special.xlogy")
def xlogy(x: Tensor | Number, y: Tensor | Number) -> Tensor:
    """``x * log(y)``, and 0 where ``x`` is."""
    if not isinstance(y, Tensor):
        return exponential.xlogy_number(x, number=y)
    if not isinstance(x, Tensor):
        return exponential.xlogy_of_number(y, number=x)
    return exponential.xlogy(x, y)


@public("function method inplace", aliases="clip")
def clamp(
    x: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None
) -> Tensor:
    """``x`` held between ``min`` and ``max``, numbers or tensors; either may be left out."""
    bounds = [bound for bound in (min, max) if isinstance(bound, Tensor)]
    if not bounds:
        for bound in (min, max):
            x = x if bound is None else promoted(x, bound)  # type: ignore[arg-type]
        return elementwise.clamp(x, min=min, max=max)
    kind = result_type(*((t.dtype, 2 if t.ndim else 1) for t in (x, *bounds)))
    low, high = (
        to_dtype(b, kind) if isinstance(b, Tensor) else None if b is None else _constant(b, kind)
        for b in (min, max)
    )
    return select.clamp_tensors(to_dtype(x, kind), low, high)


def _constant(value: Number, kind: dtype) -> Tensor:
    return Tensor.from_array(np.asarray(value, kind.dtype))


@public("function method inplace")
def clamp_min(x: Tensor, min: Tensor | Number) -> Tensor:
    """``x``, or ``min`` where ``x`` is below it."""
    if isinstance(min, Tensor):
        return select.clamp_min_tensor(x, min)
    return select.clamp_min(promoted(x, min), bound=min)


@public("function method inplace")
def clamp_max(x: Tensor, max: Tensor | Number) -> Tensor:
    """``x``, or ``max`` where ``x`` is above it."""
    if isinstance(max, Tensor):
        return select.clamp_max_tensor(x, max)
    return select.clamp_max(promoted(x, max), bound=max)


@public("function method inplace")
def lerp(start: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """The point ``weight`` of the way from ``start`` to ``end``."""
    _check_lerp(start, end, weight)
    if isinstance(weight, Tensor):
        return select.lerp_tensor(start, end, weight)
    return select.lerp_number(start, end, weight=weight)


def _check_lerp(start: Tensor, end: Tensor, weight: Tensor | float) -> None:
    of_one = isinstance(weight, Tensor) and weight.ndim > 0
    for name, other in (("end", end), ("weight", weight if of_one else end)):
        if isinstance(other, Tensor) and other.dtype is not start.dtype:
            raise RuntimeError(
                f"expected dtype {start.dtype.c_name} for `{name}` but got dtype "
                f"{other.dtype.c_name}"
            )
    if not start.dtype.is_floating_point:
        kernel = "tensor" if of_one else "scalar"
        raise NotImplementedError(
            f"\"lerp_kernel_{kernel}\" not implemented for '{start.dtype.scalar_name}'"
        )


@public("function method inplace")
def addcdiv(x: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """``x + value * tensor1 / tensor2``."""
    if not (tensor1.dtype.is_floating_point or tensor2.dtype.is_floating_point):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: (input "
            "+ value * tensor1 / tensor2), for all dtypes."
        )
    return select.addcdiv(x, tensor1, tensor2, value=value)


@public()
def fill(x: Tensor, value: Tensor | Number) -> Tensor:
    """``value`` in every place of ``x``."""
    if not isinstance(value, Tensor):
        return assign.fill(x, value=value)
    check_gradient(x.dtype, value)
    return select.fill_tensor(x, value)


@public("function method inplace", aliases="special.round")
def round(x: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, the even one of two; or with ``decimals`` after the point."""
    return rounding.round_decimals(x, decimals=decimals) if decimals else rounding.round_(x)


@public("function method inplace")
def nan_to_num(
    x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """``x`` with numbers for NaN (0), inf and -inf (the largest and smallest there are)."""
    return rounding.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@public("function method")
def frexp(x: Tensor) -> return_types.frexp:
    """``x`` as ``mantissa * 2**exponent``, the mantissa from 0.5 to 1."""
    if not x.dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    return return_types.frexp(*rounding.frexp(x))


@public("function method inplace", aliases="special.logit")
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))``, of ``x`` held between ``eps`` and ``1 - eps`` if that is given."""
    return exponential.logit(x, eps=eps)


@public()
def polygamma(n: int, x: Tensor) -> Tensor:
    """The ``n``-th derivative of :func:`digamma`."""
    return special_functions.polygamma(x, n=n)


@public("function method inplace", aliases="special.multigammaln")
def mvlgamma(x: Tensor, p: int) -> Tensor:
    """Logarithm of the gamma function of ``p`` variables, for ``x > (p - 1) / 2``."""
    if x.dtype is bool_:
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    return special_functions.mvlgamma(x, p=p)


@public("function method")
def positive(x: Tensor) -> Tensor:
    """``+x``: ``x`` itself."""
    if x.dtype is bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return x


@public("function method", aliases="resolve_conj resolve_neg", name="conj")
@public("function method inplace", name="conj_physical")
@public()
def real(x: Tensor) -> Tensor:
    """``x`` itself, as all numbers here are real."""
    return x

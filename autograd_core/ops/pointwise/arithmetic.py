"""Arithmetic in front of the entries: numbers or tensors, and forms made of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.dtype import Number, bool_, dtype, float64, number_dtype, result_type
from autograd_core.op import public
from autograd_core.op.record import OutKind
from autograd_core.op.refusals import no_difference
from autograd_core.ops.indices import assign
from autograd_core.ops.pointwise import (
    elementwise,
    exponential,
    rounding,
    select,
    special_functions,
)
from autograd_core.ops.shaping.convert import check_gradient, to_dtype
from autograd_core.tensor import Tensor


def _out_of_tensor(self: Any = None, **_: Any) -> OutKind:
    """Take ``out`` where ``self`` is no number."""
    return "cast" if isinstance(self, Tensor) else ""


def _out_with_numbers(**given: Any) -> OutKind:
    """Take ``out`` of any dtype where bounds, or the weight, are tensors."""
    bounds = (given.get(word) for word in ("min", "max", "weight"))
    return "cast" if any(isinstance(bound, Tensor) for bound in bounds) else "same"


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


@public("function method inplace", out="cast")
def add(self: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """Return ``self + alpha * other``."""
    _check_alpha(self, other, alpha)
    return (
        elementwise.add(self, other)
        if alpha == 1
        else elementwise.add_scaled(self, other, alpha=alpha)
    )


@public("function method inplace", aliases="subtract", out="cast")
def sub(self: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """Return ``self - alpha * other``."""
    _check_alpha(self, other, alpha)
    return (
        elementwise.sub(self, other)
        if alpha == 1
        else elementwise.sub_scaled(self, other, alpha=alpha)
    )


@public()
def rsub(self: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """Return ``other - alpha * self``."""
    if isinstance(other, Tensor):
        return select.rsub_tensor(self, other, alpha=alpha)
    if self.dtype is bool_ or isinstance(other, bool):
        raise no_difference((self, other))
    return elementwise.rsub(promoted(self if alpha == 1 else self * alpha, other), other=other)


def rdiv(x: Tensor, y: Number) -> Tensor:
    """Return ``y / x`` for a number ``y``, by way of the reciprocal, as PyTorch has it."""
    return elementwise.mul(elementwise.reciprocal(x), y)


@public("function method inplace", aliases="divide true_divide", out="cast")
def div(self: Tensor, other: Tensor | Number, *, rounding_mode: str | None = None) -> Tensor:
    """Return ``self / other``, optionally rounded down ("floor") or towards 0 ("trunc")."""
    if rounding_mode is None:
        return elementwise.div(self, other)
    return rounding.div_rounded(self, other, rounding_mode=rounding_mode)


@public("function method inplace", out="cast")
def floor_divide(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return ``self // other``: the quotient rounded down."""
    return rounding.div_rounded(self, other, rounding_mode="floor")


@public("function method inplace", out="cast")
def pow(self: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """Return ``self`` raised to the power of a number or a tensor."""
    if isinstance(exponent, Tensor):
        if exponent.dtype is bool_ and (
            isinstance(self, bool) or getattr(self, "dtype", None) is bool_
        ):
            raise NotImplementedError("\"pow\" not implemented for 'Bool'")
        if isinstance(self, Tensor):
            return elementwise.pow_tensor(self, exponent)
        return elementwise.pow_base(promoted(exponent, self), self=self)
    return elementwise.pow_number(promoted(self, exponent), exponent=exponent)


@public("function method inplace", out="expect")
def float_power(self: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """:func:`pow` in float64."""
    base, power = (to_dtype(v, float64) if isinstance(v, Tensor) else v for v in (self, exponent))
    return pow(base, power)


@public("function method inplace", out="cast")
def square(self: Tensor) -> Tensor:
    """Return ``self * self``."""
    return pow(self, 2)


def promoted(x: Any, y: Number) -> Any:
    """Return ``x`` in the dtype that it takes beside the number ``y``."""
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


@public("function method inplace", out="cast")
def fmod(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the remainder of ``self`` divided by ``other``, with the sign of ``self``."""
    _check_divisor("fmod", self, other)
    if isinstance(other, Tensor):
        return rounding.fmod(self, other)
    return rounding.fmod_number(promoted(self, other), other=other)


@public("function method inplace", out=_out_of_tensor)
def remainder(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Return ``self % other``: the remainder of the division, with the sign of ``other``."""
    _check_divisor("remainder", self, other)
    if isinstance(other, Tensor):
        return rounding.remainder(self, other)
    return rounding.remainder_number(promoted(self, other), other=other)


@public("function method inplace", out="cast")
def copysign(self: Tensor, other: Tensor | Number) -> Tensor:
    """Return the magnitude of ``self`` with the sign of ``other``."""
    if isinstance(other, Tensor):
        return rounding.copysign(self, other)
    return rounding.copysign_number(self, other=other)


@public("function method inplace", aliases="special.xlogy", out="cast")
def xlogy(self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """Return ``self * log(other)``, and 0 where ``self`` is 0."""
    if not isinstance(other, Tensor):
        return exponential.xlogy_number(self, other=other)
    if not isinstance(self, Tensor):
        return exponential.xlogy_of_number(other, self=self)
    return exponential.xlogy(self, other)


@public("function method inplace", aliases="clip", out=_out_with_numbers)
def clamp(
    self: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None
) -> Tensor:
    """Return ``self`` limited to the range from ``min`` to ``max``, numbers or tensors; one may be
    left out."""
    bounds = [bound for bound in (min, max) if isinstance(bound, Tensor)]
    if not bounds:
        for bound in (min, max):
            self = self if bound is None else promoted(self, bound)  # type: ignore[arg-type]
        return elementwise.clamp(self, min=min, max=max)
    kind = result_type(*((t.dtype, 2 if t.ndim else 1) for t in (self, *bounds)))
    low, high = (
        to_dtype(b, kind) if isinstance(b, Tensor) else None if b is None else _constant(b, kind)
        for b in (min, max)
    )
    return select.clamp_tensors(to_dtype(self, kind), low, high)


def _constant(value: Number, kind: dtype) -> Tensor:
    return Tensor.from_array(np.asarray(value, kind.dtype))


@public("function method inplace", out=_out_with_numbers)
def clamp_min(self: Tensor, min: Tensor | Number) -> Tensor:
    """Return ``self``, or ``min`` where ``self`` is below it."""
    if isinstance(min, Tensor):
        return select.clamp_min_tensor(self, min)
    return select.clamp_min(promoted(self, min), min=min)


@public("function method inplace", out=_out_with_numbers)
def clamp_max(self: Tensor, max: Tensor | Number) -> Tensor:
    """Return ``self``, or ``max`` where ``self`` is above it."""
    if isinstance(max, Tensor):
        return select.clamp_max_tensor(self, max)
    return select.clamp_max(promoted(self, max), max=max)


@public("function method inplace", out=_out_with_numbers)
def lerp(self: Tensor, end: Tensor, weight: Tensor | float) -> Tensor:
    """Return ``self + weight * (end - self)`` for a number ``weight``."""
    _check_lerp(self, end, weight)
    if isinstance(weight, Tensor):
        return select.lerp_tensor(self, end, weight)
    return select.lerp_number(self, end, weight=weight)


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


@public("function method inplace", out="cast")
def addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """Return ``self + value * tensor1 / tensor2``."""
    if not (tensor1.dtype.is_floating_point or tensor2.dtype.is_floating_point):
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: (input "
            "+ value * tensor1 / tensor2), for all dtypes."
        )
    return select.addcdiv(self, tensor1, tensor2, value=value)


@public()
def fill(self: Tensor, value: Tensor | Number) -> Tensor:
    """Return ``self`` filled with ``value``."""
    if not isinstance(value, Tensor):
        return assign.fill(self, value=value)
    check_gradient(self.dtype, value)
    return select.fill_tensor(self, value)


@public("function method inplace", aliases="special.round", out="same")
def round(self: Tensor, *, decimals: int = 0) -> Tensor:
    """Return the nearest integer, the even one of two; ``decimals`` keeps that many digits."""
    return rounding.round_decimals(self, decimals=decimals) if decimals else rounding.round_(self)


@public(aliases="special.polygamma", out="cast")
def polygamma(n: int, self: Tensor) -> Tensor:
    """Return the ``n``-th derivative of :func:`digamma`."""
    return special_functions.polygamma(self, n=n)


@public("function method")
def positive(self: Tensor) -> Tensor:
    """Return ``+self``: ``self`` itself."""
    if self.dtype is bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


@public("function method", aliases="resolve_conj resolve_neg", name="conj")
@public()
def real(self: Tensor) -> Tensor:
    """Return ``self`` itself, as all numbers here are real."""
    return self


@public("function method inplace", out="same")
def conj_physical(self: Tensor) -> Tensor:
    """Return ``self`` itself, as all numbers here are real."""
    return self

"""``out=``: what a function takes there, and how its result gets into it.

PyTorch's functions differ in this, and no rule says how.  So each declaration names its kind, by
the option ``out`` of an entry or of :func:`autograd_core.op.public.public`:

========== =======================================================================================
``""``     takes no ``out``; so most plain functions and views
``cast``   any dtype that the result can be cast to
``same``   the result's dtype; another one was "found"
``expect`` the result's dtype; it was "expected"
``flag``   the same, or uint8
``sum``    computes in the dtype of ``out``, where no other is asked for
``create`` makes its elements in the dtype of ``out``
``join``   as ``cast``, in words of its own
========== =======================================================================================

Where it depends on the call, the option is a function of the arguments, by name, that returns it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, get_args

import numpy as np

from autograd_core.autograd.dual import tangent_of
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.op.record import OutKind, OutOption
from autograd_core.tensor import Tensor


def check_option(name: str, option: OutOption) -> None:
    """Raise a TypeError where the declaration of ``name`` has an unknown kind."""
    if isinstance(option, str) and option not in get_args(OutKind):
        raise TypeError(f"{name}: out is one of {', '.join(get_args(OutKind)[1:])}, not {option}")


def kind_of(option: OutOption, given: dict[str, Any]) -> OutKind:
    """Return what a call with the arguments ``given`` takes as ``out``."""
    return option if isinstance(option, str) else option(**given)


def check_out(
    name: str, kind: OutKind, out: Any, args: tuple[Any, ...], given: dict[str, Any]
) -> None:
    """Refuse an ``out`` that the function does not take, or that no gradient could come from."""
    if not kind:
        raise TypeError(f"{name}() got an unexpected keyword argument 'out'")
    every = out if isinstance(out, (tuple, list)) else (out,)
    for tensor in every:
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(tensor).__name__}")
    tensors = [t for t in (*every, *_flat((*args, *given.values()))) if isinstance(t, Tensor)]
    if is_grad_enabled() and any(t.requires_grad for t in tensors):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic "
            "differentiation, but one of the arguments requires grad."
        )
    if any(tangent_of(t) is not None for t in tensors):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an "
            "out= function"
        )


def _flat(arguments: Iterable[Any]) -> Iterator[Any]:
    """Yield the arguments, and what is in lists of them."""
    for argument in arguments:
        yield from argument if isinstance(argument, (tuple, list)) else (argument,)


def choose_dtype(kind: OutKind, out: Any, given: dict[str, Any]) -> None:
    """Compute in the dtype of ``out``, where the function goes by that."""
    chosen = given.get("dtype")
    if kind == "create":
        if chosen is not None and chosen is not out.dtype:
            raise RuntimeError(
                f"dtype {chosen.scalar_name} does not match dtype of out parameter "
                f"({out.dtype.scalar_name})"
            )
        given["dtype"] = out.dtype
    elif kind == "sum" and chosen is None:
        given["dtype"] = out.dtype


def check_dtype(kind: OutKind, result: Any, out: Any) -> None:
    """Refuse an ``out`` of another dtype than the result's, where only that will do."""
    if isinstance(result, (tuple, list)):
        for part, other in zip(result, out, strict=True):
            check_dtype(kind, part, other)
        return
    if out.dtype is result.dtype or (kind == "flag" and out.dtype.name == "uint8"):
        return
    if kind == "same":
        raise RuntimeError(
            f"Found dtype {out.dtype.scalar_name} but expected {result.dtype.scalar_name}"
        )
    if kind in ("expect", "flag", "sum"):
        raise RuntimeError(
            f"Expected out tensor to have dtype {result.dtype.c_name}, but got "
            f"{out.dtype.c_name} instead"
        )


def stored(kind: OutKind, result: Any, out: Any) -> Any:
    """Return ``out``, one tensor or several, with the result in it."""
    if isinstance(out, (tuple, list)):
        parts = [stored(kind, *pair) for pair in zip(result, out, strict=True)]
        return getattr(type(result), "_make", tuple)(parts)
    if result.dtype.category > out.dtype.category:
        if kind == "join":
            raise TypeError(
                "torch.cat(): input types can't be cast to the desired output type "
                + out.dtype.scalar_name
            )
        raise RuntimeError(
            f"result type {result.dtype.scalar_name} can't be cast to the desired output type "
            f"{out.dtype.scalar_name}"
        )
    out.bump()
    if out._shape != result._shape:
        if out.array.size:
            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out.shape)}, which does not match the required output shape "
                f"{list(result.shape)}. This behavior is deprecated, and in a future PyTorch "
                "release outputs will not be resized unless they have zero elements. You can "
                "explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
                "t.resize_(0).",
                stacklevel=4,
            )
        out.array, out._shape = np.empty(result._shape, out.dtype.dtype), result._shape
    np.copyto(out.array, result.array, casting="unsafe")
    return out

"""Keywords as PyTorch's functions take them, for all functions at once.

Functions and entries name their inputs as their formulas read best, ``x`` and ``y``; users may
call them ``input`` and ``other``, or ``a`` and ``x2`` as NumPy does, and give ``out`` or ``device``
to whatever takes them in PyTorch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from inspect import Parameter, signature
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.device import check_device
from autograd_core.dtype import bool_, dtype, float64, int64
from autograd_core.functions.front import in_front
from autograd_core.functions.generators import drawing_from
from autograd_core.op.argument_names import argument_names
from autograd_core.op.dual import tangent_of
from autograd_core.tensor import Tensor

__all__: list[str] = []

# What changes nothing here: there is one layout, one device and no other memory.
_WITHOUT_EFFECT: Final = (
    "layout", "pin_memory", "memory_format", "non_blocking", "sparse_grad", "driver",
)  # fmt: skip
_PYTHON: Final[dict[type, dtype]] = {float: float64, int: int64, bool: bool_}
_NUMPY: Final = {"axis": "dim", "keepdims": "keepdim"}
# PyTorch's other names of attributes, by function.
_ATTRIBUTES: Final = {
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"},
    "diag_embed": {"diagonal": "offset"},
}


def torch_form(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` with PyTorch's keywords; without any, nothing is added but a call."""
    return in_front(function, _with_keywords)


def take_form(namespace: dict[str, Any], names: list[str]) -> None:
    """Give the functions of a module PyTorch's keywords."""
    for name in names:
        if callable(namespace[name]) and not isinstance(namespace[name], type):
            namespace[name] = torch_form(namespace[name])


class _Form(NamedTuple):
    """What a function takes: its own names, and which of them others stand for."""

    own: frozenset[str]
    others: Mapping[str, str]
    places: tuple[str, ...]  # those that may be given without their names, in order
    variadic: str  # the one of them, if any, that takes all further arguments
    open: bool  # whether it takes any keyword


# Functions whose ``out`` has the dtype of the result, and takes no other.
_OF_OWN_DTYPE = frozenset(
    {"abs", "ceil", "conj_physical", "floor", "frac", "neg", "round", "sgn", "sign", "trunc"}
)


@lru_cache(maxsize=1024)
def _form(function: Callable[..., Any]) -> _Form:
    parameters = list(signature(function).parameters.values())
    several = (p.name for p in parameters if p.kind is Parameter.VAR_POSITIONAL)
    variadic = "" if hasattr(function, "op") else next(several, "")  # entries take a list
    named = (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
    places = tuple(p.name for p in parameters if p.kind not in named)
    own = frozenset(p.name for p in parameters)
    name = function.__name__
    others = dict(zip(argument_names(name, len(places)), places, strict=False))
    others.update(_ATTRIBUTES.get(name, {}))
    if places:
        for word in ("self", "input", "a", "A", "x", "x1"):
            others.setdefault(word, places[0])
    for word in ("other", "x2"):
        if len(places) > 1:
            others.setdefault(word, places[1])
    others.update((theirs, ours) for theirs, ours in _NUMPY.items() if ours in own)
    return _Form(
        own,
        {theirs: ours for theirs, ours in others.items() if theirs not in own},
        places,
        variadic,
        any(p.kind is Parameter.VAR_KEYWORD for p in parameters),
    )


def _with_keywords(function: Callable[..., Any], args: Any, keywords: dict[str, Any]) -> Any:
    form, name = _form(function), function.__name__
    given: dict[str, Any] = {}
    later: dict[str, Any] = {}
    for word, given_value in keywords.items():
        own = form.others.get(word, word)
        value = _dtype(name, given_value) if word == "dtype" else given_value
        if own in given:
            raise TypeError(f"{name}() got multiple values for argument '{own}'")
        if own in form.own:
            given[own] = value
        elif word in ("out", "requires_grad", "generator"):
            later[word] = value
        elif word == "device":
            check_device(value)
        elif word in _WITHOUT_EFFECT:
            continue
        elif form.open:
            given[own] = value
        else:
            raise TypeError(f"{name}() got an unexpected keyword argument '{word}'")
    if form.variadic in given:
        rest = given.pop(form.variadic)
        first = [given.pop(name) for name in form.places[len(args) :] if name in given]
        args = (*args, *first, *(rest if isinstance(rest, (tuple, list)) else (rest,)))
    out = later.get("out")
    if out is not None:
        _check_out(name, out, (*args, *given.values()))
    with drawing_from(later.get("generator")):
        result = function(*args, **given)
    if later.get("requires_grad"):
        result.requires_grad_()
    if out is None:
        return result
    if name in _OF_OWN_DTYPE and out.dtype is not result.dtype:
        raise RuntimeError(
            f"Found dtype {out.dtype.scalar_name} but expected {result.dtype.scalar_name}"
        )
    return _stored(result, out)


def _dtype(name: str, value: Any) -> dtype | None:
    """A dtype, which may be given as Python's type."""
    found = _PYTHON.get(value, value) if isinstance(value, type) else value
    if found is not None and not isinstance(found, dtype):
        raise TypeError(
            f"{name}(): argument 'dtype' must be torch.dtype, not {type(found).__name__}"
        )
    return found


def _check_out(name: str, out: Any, arguments: tuple[Any, ...]) -> None:
    every = out if isinstance(out, (tuple, list)) else (out,)
    for each in every:
        if not isinstance(each, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(each).__name__}")
    tensors = [t for t in (*every, *_flat(arguments)) if isinstance(t, Tensor)]
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
    """The arguments, and what is in lists of them."""
    for argument in arguments:
        yield from argument if isinstance(argument, (tuple, list)) else (argument,)


def _stored(result: Any, out: Any) -> Any:
    """``out``, one tensor or several, with the result in it."""
    if isinstance(out, (tuple, list)):
        made = [_stored(*pair) for pair in zip(result, out, strict=True)]
        return getattr(type(result), "_make", tuple)(made)
    if result.dtype.category > out.dtype.category:
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

"""The functions of PyTorch's that a function mode is asked about, whatever the program has put in
their place.

PyTorch looks up the function that it tells a mode of by its name.  A program that has wrapped
``Tensor.backward`` has its wrapper under that name, which runs already: to call it would run it
twice.  What is to run is what asked, without being asked again.
"""

from __future__ import annotations

from functools import lru_cache
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any, Final

import torch
from torch.overrides import handle_torch_function

from gradstep.engines.pytorch.private import TensorBase, function_in, own_attributes

_ASKING: Final = getattr(handle_torch_function, "__code__", None)
OF_C: Final = frozenset([
    BuiltinFunctionType, ClassMethodDescriptorType, MethodDescriptorType, WrapperDescriptorType,
    type(torch.ops.aten.add), type(torch.ops.aten.add.Tensor),
])  # fmt: skip
GETTER: Final = type(torch.Tensor.shape.__get__)
"""The type of what reads ``x.shape``, which is no op."""


def original(function: Any, asked_from: FrameType) -> Any:
    """Return what asks where PyTorch tells a mode of ``function``, in the frame that calls
    ``__torch_function__``."""
    kind: Any = type(function)
    if asked_from.f_code is _ASKING:
        asking = asked_from.f_back
        if asking is None or getattr(function, "__code__", None) is asking.f_code:
            return function
        if _is_call_of(kind, asking.f_code):  # it named itself, not by a name
            return function
        return _function_of(asking) or function
    if kind in OF_C or (kind is GETTER and type(function.__self__) is GetSetDescriptorType):
        return function
    return _method_below(function)


@lru_cache(maxsize=1024)
def _is_call_of(kind: Any, code: CodeType) -> bool:
    """Return whether ``code`` is that of ``__call__`` of a class, or of one it inherits from."""
    calls = [own_attributes(each).get("__call__") for each in kind.__mro__]
    return any(getattr(call, "__code__", None) is code for call in calls)


_functions: Final[dict[CodeType, Any]] = {}


def _function_of(frame: FrameType) -> Any:
    """Return the function that runs in ``frame``, None of one inside another function.

    It is made of its code: where the program keeps it, nobody knows.  What PyTorch does not pass
    on to modes is None by default.
    """
    code = frame.f_code
    if code not in _functions and not code.co_freevars:
        function = FunctionType(code, frame.f_globals, code.co_name, (None,) * code.co_argcount)
        named = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
        function.__kwdefaults__ = dict.fromkeys(named)
        _functions[code] = function
    return _functions.get(code)


def _method_below(function: Any) -> Any:
    """Return the method of C that asked, where ``torch.Tensor`` has ``function`` in its place."""
    replaced = function.__self__ if type(function) is GETTER else function
    for name, value in own_attributes(torch.Tensor).items():
        if value is replaced or function_in(value) is replaced:
            below = getattr(TensorBase, name, None)
            if replaced is function or below is None:
                return below or function
            return getattr(below, function.__name__, function)
    return function

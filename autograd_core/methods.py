"""What a Tensor can do: operators and methods, bound from the op table and the engine.

Bound in one place, so that tensors need not know ops, which are made of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd_core import functions
from autograd_core.autograd.backward import backward
from autograd_core.autograd.deliver import connect
from autograd_core.dtype import Number, bool_, dtype, float16, float32, float64, int32, int64
from autograd_core.op import inplace
from autograd_core.ops import assign, elementwise, linalg, loss, reduce, shape
from autograd_core.tensor import Tensor


def bind() -> None:
    """Give :class:`Tensor` its operators and methods."""
    for name, function in {**_OPERATORS, **_METHODS}.items():
        setattr(Tensor, name, function)
    computed = {name: getattr(Tensor, name) for name in _IN_PLACE}
    for name, call in {**computed, **_ASSIGNMENTS}.items():
        setattr(Tensor, f"{name}_", inplace(call, f"{name}_"))
    for operator, name in (("__iadd__", "add_"), ("__isub__", "sub_"), ("__imul__", "mul_"),
                           ("__itruediv__", "div_")):  # fmt: skip
        setattr(Tensor, operator, getattr(Tensor, name))
    connect(tensor=Tensor.from_array, sum_to=shape.sum_to, cast=functions.to_dtype)


def _reflected(call: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, other: Any) -> Tensor:
        return call(other, self)

    return method


def _comparison(call: Callable[..., Any]) -> Callable[..., Any]:
    """``==`` and ``!=``, which Python also asks about things that are no numbers."""

    def method(self: Tensor, other: Any) -> Any:
        comparable = isinstance(other, (Tensor, Number, np.generic))
        return call(self, other) if comparable else NotImplemented

    return method


def _backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the derivative of this tensor to the ``.grad`` of the leaves; see
    :func:`autograd_core.autograd.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs)


def _varargs(call: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes its sizes one by one or as one sequence."""

    def method(self: Tensor, *sizes: Any) -> Tensor:
        if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
            sizes = tuple(sizes[0])
        return call(self, sizes)

    method.__name__ = call.__name__
    method.__doc__ = call.__doc__
    return method


def _set_item(self: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: the part that numbers and slices select is a view to copy into;
    within it, lists and tensors pick places to put."""
    if not isinstance(value, Tensor):
        value = Tensor.from_array(np.asarray(value, dtype=self.dtype.dtype))
    part, picked = functions.take_apart(self, key)
    if picked is None:
        part.copy_(value)
    else:
        part._assign_(value, picked)  # type: ignore[attr-defined]


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if not self._shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(shape.unbind(self, 0))


def _fill(x: Tensor, value: Any) -> Any:
    return assign.fill(x, value=value.item() if isinstance(value, Tensor) else value)


def _type(target: dtype) -> Callable[[Tensor], Tensor]:
    def method(self: Tensor) -> Tensor:
        return functions.to_dtype(self, target)

    method.__doc__ = f"This tensor as {target.name}."
    return method


def _same_shape(self: Tensor, other: Tensor) -> Tensor:
    return shape.view(self, other._shape)


def _dims(self: Tensor, dims: Sequence[int]) -> Any:
    return shape.permute(self, tuple(dims))


_OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": elementwise.add,
    "__radd__": elementwise.add,
    "__sub__": elementwise.sub,
    "__rsub__": functions.rsub,
    "__mul__": elementwise.mul,
    "__rmul__": elementwise.mul,
    "__truediv__": elementwise.div,
    "__rtruediv__": functions.rdiv,
    "__neg__": elementwise.neg,
    "__pow__": functions.pow,
    "__rpow__": _reflected(functions.pow),
    "__abs__": elementwise.abs,
    "__matmul__": linalg.matmul,
    "__rmatmul__": _reflected(linalg.matmul),
    "__eq__": _comparison(elementwise.eq),
    "__ne__": _comparison(elementwise.ne),
    "__lt__": elementwise.lt,
    "__le__": elementwise.le,
    "__gt__": elementwise.gt,
    "__ge__": elementwise.ge,
    "__getitem__": functions.getitem,
    "__setitem__": _set_item,
    "__iter__": _iterate,
}

_METHODS: dict[str, Callable[..., Any]] = {
    "add": functions.add,
    "sub": functions.sub,
    "mul": elementwise.mul,
    "div": elementwise.div,
    "neg": elementwise.neg,
    "pow": functions.pow,
    "exp": elementwise.exp,
    "log": elementwise.log,
    "sqrt": elementwise.sqrt,
    "sin": elementwise.sin,
    "cos": elementwise.cos,
    "tanh": elementwise.tanh,
    "sigmoid": elementwise.sigmoid,
    "relu": elementwise.relu,
    "softmax": loss.softmax,
    "log_softmax": loss.log_softmax,
    "abs": elementwise.abs,
    "sign": elementwise.sign,
    "clamp": functions.clamp,
    "eq": elementwise.eq,
    "ne": elementwise.ne,
    "lt": elementwise.lt,
    "le": elementwise.le,
    "gt": elementwise.gt,
    "ge": elementwise.ge,
    "matmul": linalg.matmul,
    "mm": linalg.mm,
    "bmm": linalg.bmm,
    "mv": linalg.mv,
    "dot": linalg.dot,
    "sum": functions.sum,
    "mean": functions.mean,
    "max": functions.max,
    "min": functions.min,
    "argmax": reduce.argmax,
    "argmin": reduce.argmin,
    "view": _varargs(shape.view),
    "reshape": _varargs(functions.reshape),
    "expand": _varargs(shape.expand),
    "permute": _varargs(_dims),
    "view_as": _same_shape,
    "flatten": functions.flatten,
    "transpose": shape.transpose,
    "t": shape.t,
    "T": property(functions.reversed_dims),  # type: ignore[dict-item]
    "mT": property(functions.mT),  # type: ignore[dict-item]
    "squeeze": functions.squeeze,
    "unsqueeze": functions.unsqueeze,
    "unbind": shape.unbind,
    "split": functions.split,
    "chunk": functions.chunk,
    "clone": shape.clone,
    "contiguous": functions.contiguous,
    "backward": _backward,
    "to": functions.to,
    "type": functions.to,
    "double": _type(float64),
    "float": _type(float32),
    "half": _type(float16),
    "long": _type(int64),
    "int": _type(int32),
    "bool": _type(bool_),
}

_ASSIGNMENTS: dict[str, Callable[..., Any]] = {
    "zero": assign.zero,
    "fill": _fill,
    "copy": assign.copy,
    "_assign": assign.assigned,
}

_IN_PLACE = ("add", "sub", "mul", "div", "neg", "pow", "exp", "log", "sqrt", "sin", "cos",
             "tanh", "sigmoid", "relu", "abs", "clamp")  # fmt: skip

"""Methods that differ from the function of their name, or have none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from autograd_core import functions
from autograd_core.autograd.backward import backward
from autograd_core.dtype import (
    bool_,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from autograd_core.op import public
from autograd_core.ops.indices import subscript
from autograd_core.ops.pointwise import activation, elementwise, logic
from autograd_core.ops.shaping import convert, joining, shape, shape_functions
from autograd_core.tensor import Tensor


def _backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the derivative of this tensor to the ``.grad`` of the leaves; see
    :func:`autograd_core.autograd.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _varargs(call: Callable[..., Any], word: str) -> Callable[..., Any]:
    """Return a method that takes sizes one by one or as a sequence, perhaps named ``word``."""

    def method(self: Tensor, *sizes: Any, **named: Any) -> Tensor:
        if named:
            sizes = (_named(call.__name__, word, sizes, named),)
        if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
            sizes = tuple(sizes[0])
        try:
            return call(self, sizes)
        except TypeError:
            if call is shape.view and len(sizes) == 1 and isinstance(sizes[0], dtype):
                return _read_as(self, sizes[0])
            raise

    method.__name__ = call.__name__
    method.__doc__ = call.__doc__
    return method


def _read_as(self: Tensor, kind: dtype) -> Tensor:
    """Return the same memory read as numbers of another dtype, through which no gradient goes."""
    if kind is self.dtype:
        return shape.view(self, self._shape)
    result = self.detach()
    try:
        result.array = self.array.view(kind.dtype)
    except (ValueError, TypeError):
        if not self.ndim:
            raise RuntimeError(
                f"self.dim() cannot be 0 to view {self.dtype.scalar_name} as {kind.scalar_name} "
                "(different element sizes)"
            ) from None
        if kind.itemsize > self.itemsize and self._shape[-1] % (kind.itemsize // self.itemsize):
            raise RuntimeError(
                f"self.size(-1) must be divisible by {kind.itemsize // self.itemsize} to view "
                f"{self.dtype.scalar_name} as {kind.scalar_name} (different element sizes), but "
                f"got {self._shape[-1]}"
            ) from None
        raise RuntimeError(
            f"self.stride(-1) must be 1 to view {self.dtype.scalar_name} as {kind.scalar_name} "
            f"(different element sizes), but got {self.stride()[-1]}"
        ) from None
    result._shape, result.dtype = result.array.shape, kind
    return result


def _named(name: str, word: str, sizes: tuple[Any, ...], named: dict[str, Any]) -> Any:
    for other in named:
        if other != word:
            raise TypeError(f"{name}() got an unexpected keyword argument '{other}'")
    if sizes:
        raise TypeError(f"{name}() got multiple values for argument '{word}'")
    return named[word]


def _split(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Return pieces of ``split_size`` elements along ``dim``, or of the sizes listed."""
    return functions.split(self, split_size, dim)


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if not self._shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(joining.unbind(self, 0))


def _type(target: dtype) -> Callable[..., Tensor]:
    def method(self: Tensor, memory_format: Any = None) -> Tensor:
        return convert.to_dtype(self, target)

    method.__doc__ = f"This tensor as {target.name}."
    return method


def _cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Refused: there is no GPU."""
    return convert.to(self, "cuda")


@public("method inplace", name="polygamma")
def _polygamma(self: Tensor, n: int) -> Tensor:
    """Return the ``n``-th derivative of digamma."""
    return functions.polygamma(n, self)


def _hardshrink(self: Tensor, lambd: float = 0.5) -> Tensor:
    """Return 0 where the absolute value is not above ``lambd``."""
    return activation.hardshrink(self, lambd=lambd)


def _same_shape(self: Tensor, other: Tensor) -> Tensor:
    return shape.view(self, other._shape)


def _reshaped_as(self: Tensor, other: Tensor) -> Tensor:
    return functions.reshape(self, other._shape)


def _expanded_as(self: Tensor, other: Tensor) -> Tensor:
    return shape.expand(self, other._shape)


def _where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
    """This tensor where ``condition`` holds, else ``other``."""
    return functions.where(condition, self, other)


def _new(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return make(*args, **{"dtype": self.dtype, **kwargs})

    method.__doc__ = f"{make.__doc__} It has the dtype of this one, unless another is given."
    return method


def _dims(self: Tensor, dims: Sequence[int]) -> Any:
    return shape.permute(self, tuple(dims))


def _fill_diagonal(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Put one number on the main diagonal; with ``wrap``, of a tall matrix, on those below, too.

    Raises:
        RuntimeError: it has less than two dimensions, or more, and they are of several sizes.
    """
    if self.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.ndim > 2 and len(set(self._shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    steps = self.stride()
    height, width = self._shape[:2]
    self.as_strided((min(self._shape),), (sum(steps),)).fill_(fill_value)
    if wrap and self.ndim == 2 and height > width + 1:
        start = steps[0] * (width + 1)
        count = -(-(height * width - width * (width + 1)) // (width + 1))
        offset = self.storage_offset() + start
        self.as_strided((count,), (sum(steps),), offset).fill_(fill_value)
    return self


OVERLOADS: Final[dict[str, Callable[..., Any]]] = {
    "__neg__": elementwise.neg,
    "__abs__": elementwise.abs,
    "__pos__": functions.positive,
    "__invert__": logic.bitwise_not,
    "__getitem__": subscript.getitem,
    "__setitem__": subscript.setitem,
    "__iter__": _iterate,
    "view": _varargs(shape.view, "size"),
    "reshape": _varargs(functions.reshape, "shape"),
    "expand": _varargs(shape.expand, "size"),
    "permute": _varargs(_dims, "dims"),
    "view_as": _same_shape,
    "reshape_as": _reshaped_as,
    "expand_as": _expanded_as,
    "hardshrink": _hardshrink,
    "repeat": _varargs(shape_functions.repeat, "repeats"),
    "split": _split,
    "sum_to_size": shape_functions.sum_to_size,
    "where": _where,
    "fill_diagonal_": _fill_diagonal,
    "new_zeros": _new(functions.zeros),
    "new_ones": _new(functions.ones),
    "new_empty": _new(functions.empty),
    "new_full": _new(functions.full),
    "new_tensor": _new(functions.tensor),
    "T": property(shape_functions.reversed_dims),  # type: ignore[dict-item]
    "real": property(functions.real),  # type: ignore[dict-item]
    "mT": property(shape_functions.mT),  # type: ignore[dict-item]
    "mH": property(shape_functions.mT),  # type: ignore[dict-item]
    "H": property(shape_functions.H),  # type: ignore[dict-item]
    "contiguous": convert.contiguous,
    "backward": _backward,
    "to": convert.to,
    "type": convert.type_,
    "cuda": _cuda,
    "double": _type(float64),
    "float": _type(float32),
    "half": _type(float16),
    "long": _type(int64),
    "short": _type(int16),
    "char": _type(int8),
    "byte": _type(uint8),
    "int": _type(int32),
    "bool": _type(bool_),
}

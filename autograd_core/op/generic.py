"""What generated code leaves to functions: the paths that are rare, or slow by nature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import asarray, ndarray

from autograd_core.autograd.grad_mode import current_mode
from autograd_core.autograd.node import Port, next_sequence_nr
from autograd_core.dtype import (
    Number,
    bool_,
    dtype,
    from_numpy_dtype,
    get_default_dtype,
    number_dtype,
    result_type,
)
from autograd_core.op.argument_names import argument_names
from autograd_core.op.dual import Dual
from autograd_core.op.forward import forward
from autograd_core.op.marks import FREED, NOT_SAVED
from autograd_core.op.modes import node_made, results_made
from autograd_core.op.record import Op
from autograd_core.op.saved import SavedNode, changed, freed, result_array
from autograd_core.op.views import view
from autograd_core.tensor import Tensor, blank

__all__ = ["NAMESPACE", "SavedNode", "variadic_call"]

_numbers: dict[tuple[dtype, type, Number], Tensor] = {}


_SCALARS = (
    np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_,
)  # fmt: skip
_ARRAYS = frozenset({ndarray, *_SCALARS})
_TENSORS = frozenset({Tensor, Dual})
_NUMBERS = frozenset({bool, int, float, *_SCALARS})


def wrap_number(value: Number | np.generic, like: dtype) -> Tensor:
    """A Python number as a 0-d tensor of the dtype it takes beside a tensor of dtype ``like``.

    Cached, as ``x * 3`` would otherwise spend most of its time here; zeros are not, because
    0.0 and -0.0 are equal keys.
    """
    number: Number = value.item() if isinstance(value, np.generic) else value
    key = (like, type(number), number)
    found = _numbers.get(key)
    if found is None:
        own = number_dtype(number)
        kind = like if like.category >= own.category else own
        # by `astype`, which lets -1 become 255 beside uint8
        found = Tensor.from_array(np.array(number).astype(kind.dtype))
        found.version = None  # cached, and so no inference tensor
        found.record = number  # for whoever traces: this is no tensor of the user's
        # what floats become beside integers may change, by set_default_dtype
        if number != 0 and kind is like and len(_numbers) < 4096:
            _numbers[key] = found
    return found


def slow(op: Op, values: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """Any call whose inputs are not all tensors: arrays inside a rule, numbers, mistakes."""
    kinds = set(map(type, values))
    if kinds.isdisjoint(_TENSORS) and not kinds.isdisjoint(_ARRAYS):
        return op.kernel(*values, **attributes)
    if op.pointwise and not kinds.isdisjoint(_NUMBERS):
        tensors = {n: v for n, v in zip(op.values, values, strict=True) if isinstance(v, Tensor)}
        if not tensors:
            raise _wrong_type(op, values)
        like = next((v.dtype for n, v in tensors.items() if n not in op.keeps_dtype), bool_)
        if op.result == "float" and not like.is_floating_point:
            like = get_default_dtype()
        values = tuple([wrap_number(v, like) if type(v) in _NUMBERS else v for v in values])
    if Dual in kinds:
        return forward(op, values, attributes)
    plain = tuple([_plain(v) for v in values])
    if ndarray in kinds and op.pointwise:
        plain = _of_arrays(plain)
    for name, v in zip(op.values, plain, strict=True):
        if type(v) is not Tensor and not (v is None and name in op.optional):
            raise _wrong_type(op, values)
    return op.call(*plain, **attributes)


def _plain(value: Any) -> Any:
    """An instance of a Tensor subclass as the Tensor that it is; anything else as it is."""
    if not isinstance(value, Tensor) or type(value) is Tensor:
        return value
    plain = blank()
    plain.array, plain._shape, plain.dtype = value.array, value._shape, value.dtype
    plain.edge, plain.version = value.edge, value.version
    return plain


def _of_arrays(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """What meets an array of NumPy's is one, too, for a moment: NumPy says which dtype comes out,
    and no gradient goes through."""
    arrays = [v.numpy() if isinstance(v, Tensor) else v for v in values]
    kind = np.result_type(*[a for a in arrays if isinstance(a, ndarray)])
    return tuple(
        Tensor.from_array(a.astype(kind, copy=False)) if isinstance(a, ndarray) else a
        for a in arrays
    )


def _wrong_type(op: Op, values: tuple[Any, ...]) -> TypeError:
    name, known = op.public_name, argument_names(op.public_name, len(op.values))
    words = (*known, *op.values[len(known) :])
    strange = [
        (position, word, value)
        for position, (word, value) in enumerate(zip(words, values, strict=False), 1)
        if not isinstance(value, Tensor)
    ]
    no_numbers = (each for each in strange if type(each[2]) not in _NUMBERS)
    position, word, value = next(no_numbers, strange[0])
    return TypeError(
        f"{name}(): argument '{word}' (position {position}) must be Tensor, "
        f"not {type(value).__name__}"
    )


_REFUSED = {
    "sub": "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead.",
    "neg": "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead.",
}
_BITS = {"bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift"}


def refused(op: Op, error: TypeError, kind: dtype) -> Exception:
    """In PyTorch's words, that a kernel does not take tensors of this dtype."""
    name = op.public_name
    if kind is bool_ and name in _REFUSED:
        return RuntimeError(_REFUSED[name])
    if name == "bitwise_not":
        return TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    if name.startswith("bitwise"):
        return NotImplementedError(
            f"\"{_BITS.get(name, name)}_cpu\" not implemented for '{kind.scalar_name}'"
        )
    return error


def mixed(
    op: Op, values: tuple[Tensor, ...], attributes: Mapping[str, Any]
) -> tuple[Any, tuple[int, ...], dtype, Any]:
    """A pointwise op on shapes or dtypes that differ.

    Returns the result's array, shape and dtype, and what the gradient of each edge must be
    reduced to, None where it fits as it is.
    """
    operands = [v for name, v in zip(op.values, values, strict=True) if name not in op.keeps_dtype]
    kind = result_type(*((v.dtype, 2 if v._shape else 1) for v in operands))
    if op.result == "float" and not kind.is_floating_point:
        kind = get_default_dtype()
    arrays = [
        v.array if name in op.keeps_dtype or v.dtype is kind else v.array.astype(kind.dtype)
        for name, v in zip(op.values, values, strict=True)
    ]
    shape = broadcast_shapes(values)
    try:
        result = op.kernel(*arrays, **attributes)
    except TypeError as error:
        raise refused(op, error, kind) from None
    # NumPy promotes otherwise than PyTorch, so where dtypes meet, every gradient is looked at.
    uniform = all(v.dtype is kind for v in operands)
    to = tuple(
        None if uniform and v._shape == shape else (v._shape, v.dtype)
        for name, v in zip(op.values, values, strict=True)
        if name in op.edges
    )
    return result, shape, bool_ if op.result == "bool" else kind, to if any(to) else None


def broadcast_shapes(values: Sequence[Tensor]) -> tuple[int, ...]:
    """The common shape, or PyTorch's error for shapes that do not fit."""
    try:
        return np.broadcast_shapes(*(v._shape for v in values))
    except ValueError:
        a, b = values[-2]._shape, values[-1]._shape
        for dim in range(1, min(len(a), len(b)) + 1):
            if a[-dim] != b[-dim] and 1 not in (a[-dim], b[-dim]):
                raise RuntimeError(
                    f"The size of tensor a ({a[-dim]}) must match the size of tensor b "
                    f"({b[-dim]}) at non-singleton dimension {max(len(a), len(b)) - dim}"
                ) from None
        shapes = ", ".join(str(list(v._shape)) for v in values)
        raise RuntimeError(f"shapes {shapes} cannot be broadcast to one shape") from None


def box(array: Any) -> Tensor:
    """A new tensor around the result of a kernel."""
    t = blank()
    if type(array) is not ndarray:
        array = asarray(array)
    t.array = array
    t._shape = array.shape
    t.dtype = from_numpy_dtype(array.dtype)
    t.version = None
    return t


def no_dimension(error: np.exceptions.AxisError) -> IndexError:
    """PyTorch's error for a dimension that a tensor does not have."""
    assert error.ndim is not None
    last = max(error.ndim, 1) - 1
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-last - 1}, {last}], but got "
        f"{error.axis})"
    )


def bad_dimension(error: ValueError, op: Op, x: Tensor, dim: Any) -> Exception:
    """PyTorch's error for what NumPy says of dimensions; any other as it is."""
    if isinstance(error, np.exceptions.AxisError):
        return no_dimension(error)
    text = str(error)
    if text in ("duplicate value in 'axis'", "repeated axis"):
        dims = [d % x.ndim for d in dim]
        twice = next(d for number, d in enumerate(dims) if d in dims[:number])
        return RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    if "empty sequence" in text or "zero-size array" in text:
        wanted = f"{dim} to have non-zero size"
        if dim is None:
            wanted = "to be specified for input.numel() == 0"
        return IndexError(f"{op.public_name}(): Expected reduction dim {wanted}.")
    return error


def materialize(node: Any, g: list[Any]) -> list[Any]:
    """Zeros for the outputs that got no gradient."""
    like = next(each for each in g if each is not None)
    return [
        np.zeros(shape, like.dtype) if each is None else each
        for each, shape in zip(g, node.output_shapes, strict=True)
    ]


def variadic_call(op: Op) -> Callable[..., Tensor]:
    """The call of an op on a list of tensors: ``cat([a, b], dim=0)``."""
    rule = op.rules[op.variadic].function if op.variadic in op.rules else None
    kernel, name = op.kernel, op.public_name
    shapes = f"{op.variadic}_shape"

    def call(tensors: Sequence[Tensor], *args: Any, **attributes: Any) -> Any:
        if isinstance(tensors, Tensor):
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
            )
        tensors = tuple(tensors)
        attributes = {**op.attributes, **dict(zip(op.attributes, args, strict=False)), **attributes}
        if not any(isinstance(t, Tensor) for t in tensors):
            return kernel(*tensors, **attributes)
        for position, t in enumerate(tensors):
            if not isinstance(t, Tensor):
                raise TypeError(
                    f"expected Tensor as element {position} in argument 0, "
                    f"but got {type(t).__name__}"
                )
            if type(t) is Dual:
                return forward(op, tensors, attributes)
        mode = current_mode()
        if mode is not None and mode.profiler is not None:
            mode.profiler.begin()
        kind = result_type(*((t.dtype, 2) for t in tensors))
        try:
            t = box(kernel(*(_as(kind, each) for each in tensors), **attributes))
        except np.exceptions.AxisError as error:
            raise no_dimension(error) from None
        node = None
        edges = tuple(each.edge for each in tensors)
        if rule is None or not any(edges) or (mode is not None and not mode.builds):
            t.edge = None
        else:
            node = op.node_class()
            node.all_edges = edges
            node.sequence_nr = next_sequence_nr()
            node.hooks = None
            node.output_shape, node.output_dtype = t._shape, t.dtype
            to = [None if each.dtype is kind else (each._shape, each.dtype) for each in tensors]
            node.to = to if any(to) else None
            for plain in op.saved_plain:
                value = [each._shape for each in tensors] if plain == shapes else attributes[plain]
                setattr(node, plain, value)
            t.edge = node
            if mode is not None:
                node_made(node, mode)
        if mode is not None:
            results_made(mode, name, tensors, attributes, (t,), node)
        return t

    return call


def _as(kind: dtype, t: Tensor) -> Any:
    return t.array if t.dtype is kind else t.array.astype(kind.dtype)


NAMESPACE: dict[str, Any] = dict(
    __name__="autograd_core.op.generated", AxisError=np.exceptions.AxisError,
    Tensor=Tensor, Port=Port, FREED=FREED, NOT_SAVED=NOT_SAVED, ndarray=ndarray,
    asarray=asarray, bool_=bool_, box=box, changed=changed, current_mode=current_mode,
    blank=blank, freed=freed, materialize=materialize, mixed=mixed,
    next_sequence_nr=next_sequence_nr,
    bad_dimension=bad_dimension,
    node_made=node_made, refused=refused, results_made=results_made,
    result_array=result_array, slow=slow, view=view,
)  # fmt: skip

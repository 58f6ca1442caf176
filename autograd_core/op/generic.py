"""What generated code leaves to functions: the paths that are rare, or slow by nature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy import asarray, ndarray

from autograd_core.autograd.dual import Dual
from autograd_core.autograd.forward_mode import forward
from autograd_core.autograd.grad_mode import current_mode
from autograd_core.autograd.held import held, watched
from autograd_core.autograd.memory import columns, laid_out_like
from autograd_core.autograd.node import FREED, NOT_SAVED, Nowhere, Port, next_sequence_nr
from autograd_core.autograd.saved import SavedNode, changed, freed, result_array
from autograd_core.dtype import (
    Number,
    bool_,
    dtype,
    from_numpy_dtype,
    get_default_dtype,
    number_dtype,
    result_type,
)
from autograd_core.op.modes import node_made, results_made
from autograd_core.op.record import Op
from autograd_core.op.refusals import bad_dimension, no_common_shape, refused, wrong_type
from autograd_core.tensor import Tensor, blank
from autograd_core.tensor.views import view

__all__ = ["NAMESPACE", "SavedNode"]

_numbers: dict[tuple[dtype, type, Number], Tensor] = {}


_SCALARS = (
    np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_,
)  # fmt: skip
_ARRAYS = frozenset({ndarray, *_SCALARS})
_TENSORS = frozenset({Tensor, Dual})
_NUMBERS = frozenset({bool, int, float, *_SCALARS})


def wrap_number(value: Number | np.generic, like: dtype) -> Tensor:
    """Return a Python number as a 0-d tensor of the dtype it takes beside a tensor of dtype
    ``like``.

    Cached, as ``x * 3`` would otherwise spend most of its time here; zeros are not, because
    0.0 and -0.0 are equal keys.
    """
    number: Number = value.item() if isinstance(value, np.generic) else value
    key = (like, type(number), number)
    tensor = _numbers.get(key)
    if tensor is None:
        own = number_dtype(number)
        kind = like if like.category >= own.category else own
        # by `astype`, which lets -1 become 255 beside uint8
        tensor = Tensor.from_array(np.array(number).astype(kind.dtype))
        tensor.version = None  # cached, and so no inference tensor
        tensor.record = number  # for whoever traces: no tensor of the program
        # what floats become beside integers may change, by set_default_dtype
        if number != 0 and kind is like and len(_numbers) < 4096:
            _numbers[key] = tensor
    return tensor


def slow(op: Op, values: tuple[Any, ...], attributes: dict[str, Any]) -> Any:
    """Any call whose inputs are not all tensors: arrays inside a rule, numbers, mistakes."""
    kinds = set(map(type, values))
    if kinds.isdisjoint(_TENSORS) and not kinds.isdisjoint(_ARRAYS):
        return op.kernel(*values, **attributes)
    if op.pointwise and not kinds.isdisjoint(_NUMBERS):
        values = _wrapped(op, values, kinds)
    if Dual in kinds:
        return forward(op, values, attributes)
    plain = tuple([_plain(v, op) for v in values])
    if ndarray in kinds and op.pointwise:
        plain = _of_arrays(plain)
    for name, v in zip(op.values, plain, strict=True):
        if type(v) is not Tensor and not (v is None and name in op.optional):
            raise wrong_type(op, values)
    return op.call(*plain, **attributes)


def _wrapped(op: Op, values: tuple[Any, ...], kinds: set[Any]) -> tuple[Any, ...]:
    """Return the inputs with numbers as tensors, of the dtype that they have beside the others."""
    tensors = {n: v for n, v in zip(op.values, values, strict=True) if isinstance(v, Tensor)}
    if not tensors:
        raise wrong_type(op, values)
    like = next((v.dtype for n, v in tensors.items() if n not in op.keeps), bool_)
    if (like is bool_ or bool in kinds) and callable(op.bools):
        raise op.bools(values)
    if op.result_dtype == "float" and not like.is_floating_point:
        like = get_default_dtype()
    return tuple(
        wrap_number(v, like) if type(v) in _NUMBERS and name in op.scalars else v
        for name, v in zip(op.values, values, strict=True)
    )


def _plain(value: Any, op: Op) -> Any:
    """Return an instance of a Tensor subclass as the Tensor that it is to ``op``; anything else as
    it is."""
    if not isinstance(value, Tensor) or type(value) is Tensor:
        return value
    plain = blank()
    plain.array, plain._shape, plain.dtype = value.array, value._shape, value.dtype
    plain.edge = value.edge if op.edges else None
    plain.version = value.version
    return plain


def _of_arrays(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what meets an array of NumPy's is one, too, for a moment: NumPy says which dtype comes
    out, and no gradient goes through."""
    arrays = [v.numpy() if isinstance(v, Tensor) else v for v in values]
    kind = np.result_type(*[a for a in arrays if isinstance(a, ndarray)])
    return tuple(
        Tensor.from_array(a.astype(kind, copy=False)) if isinstance(a, ndarray) else a
        for a in arrays
    )


def mixed(
    op: Op, values: tuple[Tensor, ...], attributes: Mapping[str, Any]
) -> tuple[Any, tuple[int, ...], dtype, Any]:
    """Return a pointwise op on shapes or dtypes that differ.

    Returns the result's array, shape and dtype, and what the gradient of each edge must be
    reduced to, None where it fits as it is.
    """
    operands = [v for name, v in zip(op.values, values, strict=True) if name not in op.keeps]
    if callable(op.bools) and any(v.dtype is bool_ for v in operands):
        raise op.bools(operands)
    kind = result_type(*((v.dtype, 2 if v._shape else 1) for v in operands))
    if op.result_dtype == "float" and not kind.is_floating_point:
        kind = get_default_dtype()
    if (op.floats and not kind.is_floating_point) or (op.refuses_bools and kind is bool_):
        raise refused(op, TypeError(), kind)
    arrays = [
        v.array if name in op.keeps or v.dtype is kind else v.array.astype(kind.dtype)
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
    return result, shape, bool_ if op.result_dtype == "bool" else kind, to if any(to) else None


def broadcast_shapes(values: Sequence[Tensor]) -> tuple[int, ...]:
    """Return the common shape, or PyTorch's error for shapes that do not fit."""
    try:
        return np.broadcast_shapes(*(v._shape for v in values))
    except ValueError:
        raise no_common_shape([v._shape for v in values]) from None


def box(array: Any) -> Tensor:
    """Return a new tensor around the result of a kernel."""
    t = blank()
    if type(array) is not ndarray:
        array = asarray(array)
    t.array = array
    t._shape = array.shape
    t.dtype = from_numpy_dtype(array.dtype)
    t.version = None
    return t


def materialize(node: Any, g: list[Any]) -> list[Any]:
    """Return zeros for the outputs that got no gradient; not for hidden ones, which get none but
    from a derivative of the op's derivative."""
    like = next(given for given in g if given is not None)
    hidden = len(node.op.hidden)
    last = len(g) - hidden if hidden else len(g)
    return [
        np.zeros(shape, like.dtype) if given is None and number < last else given
        for number, (given, shape) in enumerate(zip(g, node.output_shapes, strict=True))
    ]


NAMESPACE: dict[str, Any] = dict(
    PLAIN=_ARRAYS | {bool, int, float}, numbers=_numbers, wrap_number=wrap_number,
    __name__="autograd_core.op.generated", AxisError=np.exceptions.AxisError,
    Nowhere=Nowhere, Tensor=Tensor, Port=Port, FREED=FREED, NOT_SAVED=NOT_SAVED, ndarray=ndarray,
    asarray=asarray, bool_=bool_, box=box, changed=changed, current_mode=current_mode,
    blank=blank, freed=freed, held=held, watched=watched, materialize=materialize, mixed=mixed,
    next_sequence_nr=next_sequence_nr, columns=columns, laid_out_like=laid_out_like,
    bad_dimension=bad_dimension,
    node_made=node_made, refused=refused, results_made=results_made,
    result_array=result_array, slow=slow, view=view,
)  # fmt: skip

"""Functions in front of the op table: PyTorch's overloads, and compositions of ops.

Each picks an entry by its arguments, or combines several; none has a derivative rule.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import Number, dtype, get_default_dtype, number_dtype
from autograd_core.ops import convert, elementwise, index, reduce, shape
from autograd_core.ops.shape import reshape as reshape
from autograd_core.tensor import Tensor

Dim = int | Sequence[int] | None


def add(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``x + alpha * y``."""
    return elementwise.add(x, y) if alpha == 1 else elementwise.add_scaled(x, y, alpha=alpha)


def sub(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """``x - alpha * y``."""
    return elementwise.sub(x, y) if alpha == 1 else elementwise.sub_scaled(x, y, alpha=alpha)


def rsub(x: Tensor, y: Number) -> Tensor:
    """``y - x`` for a number ``y``."""
    return elementwise.rsub(_promoted(x, y), number=y)


def rdiv(x: Tensor, y: Number) -> Tensor:
    """``y / x`` for a number ``y``, by way of the reciprocal, as PyTorch has it."""
    return elementwise.mul(elementwise.reciprocal(x), y)


def pow(x: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """``x`` to the power of a number or a tensor."""
    if isinstance(exponent, Tensor):
        if isinstance(x, Tensor):
            return elementwise.pow_tensor(x, exponent)
        return elementwise.pow_base(_promoted(exponent, x), base=x)
    return elementwise.pow_number(_promoted(x, exponent), exponent=exponent)


def _promoted(x: Any, y: Number) -> Any:
    """``x`` in the dtype that it takes beside the number ``y``."""
    own = number_dtype(y)
    return to_dtype(x, own) if isinstance(x, Tensor) and own.category > x.dtype.category else x


def clamp(x: Tensor, min: Number | None = None, max: Number | None = None) -> Tensor:
    """``x`` held between ``min`` and ``max``; either may be left out."""
    return elementwise.clamp(x, min=min, max=max)


def _dims(dim: Dim) -> int | tuple[int, ...] | None:
    return dim if dim is None or isinstance(dim, int) else tuple(dim)


def sum(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The sum of all elements, or over ``dim``."""
    return reduce.sum_all(x) if dim is None else reduce.sum_dim(x, _dims(dim), keepdim)


def mean(x: Tensor, dim: Dim = None, keepdim: bool = False) -> Tensor:
    """The mean of all elements, or over ``dim``; floating point tensors only."""
    if isinstance(x, Tensor) and not x.dtype.is_floating_point:
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            f"or complex dtype. Got: {x.dtype.scalar_name}"
        )
    return reduce.mean_all(x) if dim is None else reduce.mean_dim(x, _dims(dim), keepdim)


def max(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The largest element; with ``dim`` a pair of the largest along it and their indices."""
    if dim is None:
        return reduce.max_all(x)
    return return_types.max(*reduce.max_dim(x, dim, keepdim))


def min(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest element; with ``dim`` a pair of the smallest along it and their indices."""
    if dim is None:
        return reduce.min_all(x)
    return return_types.min(*reduce.min_dim(x, dim, keepdim))


def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from ``start_dim`` to ``end_dim`` made one."""
    if x.ndim == 0:
        return reshape(x, (1,))
    first, last = start_dim % x.ndim, end_dim % x.ndim
    if first == last:
        return x
    return reshape(x, (*x._shape[:first], -1, *x._shape[last + 1 :]))


def reversed_dims(x: Tensor) -> Tensor:
    """``x.T``: the dimensions in reverse order."""
    return shape.permute(x, tuple(reversed(range(x.ndim))))


def mT(x: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    return shape.transpose(x, -2, -1)


def squeeze(x: Tensor, dim: int | None = None) -> Tensor:
    """All dimensions of size 1 dropped, or ``dim`` if it is one."""
    return shape.squeeze_all(x) if dim is None else shape.squeeze_dim(x, dim)


def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """A new dimension of size 1 at ``dim``."""
    return shape.unsqueeze(x, dim)


def split(
    x: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Views of pieces along ``dim``: of one size, or of the sizes given."""
    if isinstance(split_size_or_sections, int):
        return shape.split_size_(x, split_size_or_sections, dim)
    return shape.split_with_sizes(x, tuple(split_size_or_sections), dim)


def chunk(x: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """``chunks`` pieces along ``dim``, as equal as they can be."""
    return split(x, -(-x._shape[dim] // chunks), dim)


def contiguous(x: Tensor) -> Tensor:
    """``x``, copied if its elements do not lie in order."""
    return x if x.array.flags.c_contiguous else shape.clone(x)


def to_dtype(x: Tensor, kind: dtype) -> Tensor:
    """``x`` itself if it has this dtype, else a copy that has."""
    return x if x.dtype is kind else convert.cast(x, kind.dtype, x.dtype.dtype)


def to(x: Tensor, target: Any = None, **kwargs: Any) -> Tensor:
    """``x`` with another dtype; a device, of which there is one, changes nothing."""
    target = kwargs.get("dtype", target)
    if isinstance(target, Tensor):
        target = target.dtype
    return to_dtype(x, target) if isinstance(target, dtype) else x


# Indexing


def getitem(x: Tensor, key: Any) -> Tensor:
    """``x[key]``, taken apart as PyTorch does: numbers select, slices slice, None adds a
    dimension, and what is left over, lists and tensors, indexes."""
    part, picked = take_apart(x, key)
    if picked is not None:
        return index.index(part, picked)
    return index.alias(x) if part is x else part


def take_apart(x: Tensor, key: Any) -> tuple[Tensor, tuple[Any, ...] | None]:
    """The view that the numbers, slices and Nones of ``key`` select, and the index of what is left
    over within it, None for nothing."""
    keys = _expanded(x, key if isinstance(key, tuple) else (key,))
    dim, rest, picked = 0, x, []
    for part in keys:
        if _is_number(part):
            rest = index.select(rest, dim, int(part))
        elif isinstance(part, slice):
            if part != slice(None):
                step = 1 if part.step is None else part.step
                rest = index.slice_(rest, dim, part.start, part.stop, step)
            dim += 1
        elif part is None:
            rest = shape.unsqueeze(rest, dim)
            dim += 1
        else:
            array = plain_index(part)
            picked.append((dim, array))
            dim += _covers(array)
    return rest, _positions(picked) if picked else None


def _is_number(part: Any) -> bool:
    if isinstance(part, Tensor):
        return not part._shape and part.dtype.category == 1
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)


def _covers(part: Any) -> int:
    """How many dimensions this part of an index takes up."""
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def _expanded(x: Tensor, keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """``keys`` with the ellipsis written out."""
    arrays = (Tensor, np.ndarray, list)
    used = builtins.sum(
        _covers(plain_index(part) if isinstance(part, arrays) else part)
        for part in keys
        if part is not None and part is not Ellipsis
    )
    if used > x.ndim:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    places = [i for i, part in enumerate(keys) if part is Ellipsis]
    if not places:
        return keys
    fill = (slice(None),) * (x.ndim - used)
    return keys[: places[0]] + fill + keys[places[0] + 1 :]


def _positions(picked: list[tuple[int, Any]]) -> tuple[Any, ...]:
    """Arrays for certain dimensions as one index, with whole slices between them."""
    indices: list[Any] = []
    covered = 0
    for dim, array in picked:
        indices += [slice(None)] * (dim - covered)
        indices.append(array)
        covered = dim + _covers(array)
    return tuple(indices)


def plain_index(key: Any) -> Any:
    """An index without tensors, as NumPy takes it."""
    if isinstance(key, Tensor):
        return key.array
    if isinstance(key, tuple):
        return tuple(plain_index(part) for part in key)
    return np.asarray(key) if isinstance(key, (list, np.ndarray)) else key


# Making tensors


def tensor(data: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A new tensor with a copy of ``data``: a number, nested lists, an array.

    >>> tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)

    Python floats become the default dtype, ints int64; an array keeps its own dtype.
    """
    if isinstance(data, Tensor):
        data = data.array
    array = np.array(data, dtype=None if dtype is None else dtype.dtype)
    if dtype is None and array.dtype == np.float64 and not _has_dtype(data):
        array = array.astype(get_default_dtype().dtype)
    return Tensor.from_array(array, requires_grad)


def _has_dtype(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor that shares the memory of ``array``."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return Tensor.from_array(array)


def _size(size: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def zeros(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of zeros."""
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(np.zeros(_size(size), kind), requires_grad)


def ones(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A tensor of ones."""
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(np.ones(_size(size), kind), requires_grad)


def full(size: Sequence[int], fill_value: Number, dtype: dtype | None = None) -> Tensor:
    """A tensor that holds ``fill_value`` everywhere."""
    made = tensor(fill_value, dtype)
    return Tensor.from_array(np.full(tuple(size), made.array))


def zeros_like(x: Tensor) -> Tensor:
    """Zeros of the shape and dtype of ``x``."""
    return Tensor.from_array(np.zeros(x._shape, x.dtype.dtype))


def ones_like(x: Tensor) -> Tensor:
    """Ones of the shape and dtype of ``x``."""
    return Tensor.from_array(np.ones(x._shape, x.dtype.dtype))


def arange(*bounds: Number, dtype: dtype | None = None) -> Tensor:
    """Numbers at equal steps: ``arange([start,] end[, step])``."""
    array = np.arange(*bounds)
    if dtype is None and array.dtype == np.float64:
        dtype = get_default_dtype()
    return Tensor.from_array(array if dtype is None else array.astype(dtype.dtype))


def linspace(start: float, end: float, steps: int) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included."""
    return Tensor.from_array(np.linspace(start, end, steps, dtype=get_default_dtype().dtype))


_generator = np.random.default_rng()


def manual_seed(seed: int) -> None:
    """Start the random numbers of this package from ``seed``.

    They are NumPy's, not PyTorch's: equal seeds give equal runs of this package, and other
    numbers than PyTorch's.
    """
    global _generator
    _generator = np.random.default_rng(seed)


def generator() -> np.random.Generator:
    """Where random numbers come from now."""
    return _generator


def rand(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Uniform random numbers from 0 to 1."""
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(_generator.random(_size(size)).astype(kind), requires_grad)


def randn(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Normal random numbers of mean 0 and variance 1."""
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(_generator.standard_normal(_size(size)).astype(kind), requires_grad)


def randint(low: int, high: int, size: Sequence[int]) -> Tensor:
    """Random integers from ``low`` up to, and without, ``high``."""
    return Tensor.from_array(_generator.integers(low, high, tuple(size)))


def randperm(n: int) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    return Tensor.from_array(_generator.permutation(n))


def allclose(x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Whether all elements agree within ``atol + rtol * |y|``."""
    return bool(np.allclose(x.array, y.array, rtol, atol))


def equal(x: Tensor, y: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    return bool(np.array_equal(x.array, y.array))

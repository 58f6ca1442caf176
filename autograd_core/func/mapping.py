"""``vmap``: apply a function of single examples to batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autograd_core.func.trees import leaves_of, rebuilt
from autograd_core.ops.shaping.joining import stack
from autograd_core.random import Draws
from autograd_core.tensor import Tensor

Dims = Any  # a dimension, or None for what has no batch; a tuple, list or dictionary of them


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Call ``func`` for each example of a batch, and stack the results.

    ``func`` is called once per example; this gives the results of PyTorch's ``vmap``, but not its
    speed.

    >>> from autograd_core import func, ones, tensor
    >>> func.vmap(lambda x, y: x.dot(y), in_dims=(0, None))(ones(2, 3), tensor([1.0, 2.0, 3.0]))
    tensor([6., 6.])

    Args:
        func: a function that takes and returns tensors, possibly in lists, tuples and dictionaries.
        in_dims: the batch dimension of each argument; None for an argument that all examples share.
        out_dims: the batch dimension of each result.
        randomness: whether random numbers are the "same" for each example, "different", or an
            "error".
        chunk_size: accepted for compatibility with PyTorch.

    Raises:
        ValueError: the batches differ in size, or there is none.
        RuntimeError: ``func`` draws random numbers, and ``randomness`` does not allow it.
    """

    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        draws = Draws(randomness)
        values = leaves_of(args)
        dims = leaves_of(_spread(in_dims, args))
        size = _batch_size(func, in_dims, values, dims)
        rows = []
        for number in range(size):
            given = [
                value if dim is None else value.select(dim, number)
                for value, dim in zip(values, dims, strict=True)
            ]
            with draws.call():
                rows.append(func(*rebuilt(args, given), **kwargs))
            if not all(isinstance(leaf, Tensor) for leaf in leaves_of(rows[-1])):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type "
                    f"{type(rows[-1])}"
                )
        columns = zip(*(leaves_of(row) for row in rows), strict=True)
        places = leaves_of(_spread(out_dims, rows[0]))
        results = [stack(list(row), dim=dim) for row, dim in zip(columns, places, strict=True)]
        return rebuilt(rows[0], results)

    return mapped


def _batch_size(
    func: Callable[..., Any], in_dims: Dims, values: list[Any], dims: list[int | None]
) -> int:
    """Return how many examples the batches hold, all as many."""
    for value, dim in zip(values, dims, strict=True):
        if dim is not None and not -value.dim() <= dim < value.dim():
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for "
                f"some input, but that input is a Tensor of dimensionality {value.dim()} so "
                f"expected in_dim to satisfy -{value.dim()} <= in_dim < {value.dim()}."
            )
    sizes = [v.shape[d] for v, d in zip(values, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError(
            f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): at least one input must "
            "have a batch dimension; none of in_dims says where."
        )
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got "
            f"sizes {sizes} for the mapped dimension"
        )
    size: int = sizes[0]
    return size


def _spread(dims: Dims, like: Any) -> Any:
    """Return ``dims`` in the structure of ``like``: one that stands for many is repeated."""
    if isinstance(dims, (tuple, list)) and isinstance(like, (tuple, list)):
        return [_spread(d, part) for d, part in zip(dims, like, strict=True)]
    if isinstance(dims, dict) and isinstance(like, dict):
        return [_spread(dims[key], part) for key, part in like.items()]
    return [dims if isinstance(leaf, Tensor) else None for leaf in leaves_of(like)]


def _name(func: Callable[..., Any]) -> str:
    return getattr(func, "__name__", repr(func))

"""Linear maps and embeddings."""

from __future__ import annotations

import math

import numpy as np

from autograd_core.functions import reshape
from autograd_core.ops.algebra import linalg
from autograd_core.ops.indices import index
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.shaping import shape
from autograd_core.tensor import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``input @ weight.T + bias`` for an input (..., in) and a weight (out, in)."""
    if not isinstance(input, Tensor):
        kind = type(input).__name__
        raise TypeError(f"linear(): argument 'input' (position 1) must be Tensor, not {kind}")
    ranks = len(input._shape), len(weight._shape)
    if 0 in ranks:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are {ranks[0]}D and "
            f"{ranks[1]}D"
        )
    if bias is None:
        return linalg.matmul(input, shape.t(weight))
    if ranks[0] == 2:
        return linalg.addmm(bias, input, shape.t(weight))
    if bias.ndim != 1 or not input.array.flags.c_contiguous:
        return elementwise.add(linalg.matmul(input, shape.t(weight)), bias)
    tall = reshape(input, (math.prod(input._shape[:-1]), input._shape[-1]))
    result = linalg.addmm(bias, tall, shape.t(weight))
    return shape.view(result, (*input._shape[:-1], weight._shape[0]))


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
) -> Tensor:
    """Return the rows of ``weight`` at the integers ``input``.

    The row ``padding_idx`` gets no gradient. Rows longer than ``max_norm`` are shortened in place.
    """
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    if padding_idx is None:
        return index.embedding(weight, input)
    count = weight._shape[0]
    if not -count <= padding_idx < count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return index.embedding(weight, input, padding_idx=padding_idx % count)


def _shorten(weight: Tensor, rows: Tensor, max_norm: float, norm_type: float) -> None:
    used = np.unique(rows.array)
    size = np.linalg.norm(weight.array[used], norm_type, 1)
    long = size > max_norm
    if long.any():
        # in double, or the small number would be lost and rows stay too long by a rounding
        scale = max_norm / (size[long].astype(np.float64) + 1e-7)
        weight.bump()
        weight.array[used[long]] *= scale.astype(weight.array.dtype)[:, None]


def refuse_sparse(sparse: bool, scale_grad_by_freq: bool) -> None:
    """Raise NotImplementedError if either is asked for."""
    if sparse or scale_grad_by_freq:
        name = "sparse" if sparse else "scale_grad_by_freq"
        raise NotImplementedError(f"embeddings with {name}=True: there are no such gradients here")

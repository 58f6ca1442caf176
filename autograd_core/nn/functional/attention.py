"""Attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_core import functions
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.dtype import bool_, float16, float32
from autograd_core.functions import reshape
from autograd_core.nn.functional.linear import linear
from autograd_core.nn.functional.normalization import dropout
from autograd_core.ops.algebra import linalg, products
from autograd_core.ops.indices import index
from autograd_core.ops.networks import attention
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.reductions import reduce
from autograd_core.ops.reductions.softmax import softmax
from autograd_core.ops.shaping import joining, shape
from autograd_core.ops.shaping.convert import contiguous, to_dtype
from autograd_core.tensor import Tensor


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return ``softmax(scale * query @ key.T + attn_mask) @ value``, all (..., length, size).

    Args:
        attn_mask: a mask that is added to the scores, or a boolean mask that is True where a query
            may attend to a key.
        is_causal: queries do not attend to later keys.
        scale: ``1 / sqrt(size)`` by default.
        enable_gqa: several query heads share each head of keys and values.
    """
    if enable_gqa:
        key, value = (
            functions.repeat_interleave(tensor, query._shape[-3] // tensor._shape[-3], -3)
            for tensor in (key, value)
        )
    ranks = [tensor.ndim for tensor in (query, key, value)]
    if min(ranks) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{ranks[0]} key.dim: {ranks[1]} and value.dim: {ranks[2]} instead."
        )
    if scale is not None:
        factor = scale
    else:
        factor = 1 / math.sqrt(query._shape[-1]) if query._shape[-1] else math.inf
    attention.check_operands(query, key, value, attn_mask)
    if attn_mask is not None and attn_mask.dtype is bool_:
        attn_mask = masking(elementwise.eq(attn_mask, False), query)
    masked = attn_mask is not None and attn_mask.requires_grad and is_grad_enabled()
    batches = {tensor._shape[:2] for tensor in (query, key, value)}
    fits = key._shape == value._shape and query._shape[-1] == key._shape[-1] and len(batches) == 1
    if query.ndim == 4 and fits and not (dropout_p or masked):
        if attn_mask is not None:
            attn_mask = to_dtype(attn_mask, query.dtype)
        return attention.attention(query, key, value, attn_mask, is_causal, factor)
    return _in_steps(query, key, value, attn_mask, dropout_p, is_causal, factor)


def _in_steps(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float,
    is_causal: bool, factor: float,
) -> Tensor:  # fmt: skip
    """Return the same by ops that PyTorch has nodes of."""
    kind = query.dtype
    if attn_mask is not None and is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )
    if kind is float16:
        query, key, value = (to_dtype(tensor, float32) for tensor in (query, key, value))
    if is_causal:
        seen = np.tri(query._shape[-2], key._shape[-2], dtype=bool)
        attn_mask = masking(Tensor.from_array(~seen), query)
    root = math.sqrt(factor)
    keys = elementwise.mul(shape.transpose(key, -2, -1), root)
    scores = linalg.matmul(elementwise.mul(query, root), keys)
    if attn_mask is not None:
        scores = elementwise.add(scores, attn_mask)
    weights = dropout(attention.safe_softmax(scores, -1), dropout_p)
    return to_dtype(linalg.matmul(weights, value), kind)


def masking(hidden: Tensor, like: Tensor) -> Tensor:
    """-inf where ``hidden``, else 0, in the dtype of ``like``."""
    return Tensor.from_array(np.where(hidden.array, -np.inf, 0).astype(like.dtype.dtype))


def _additive(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """Return a mask to add; a boolean one, True for what is not to be seen, becomes -inf and 0."""
    if mask is None or mask.is_floating_point():
        return mask
    return masking(mask, like)


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return the result of :class:`~autograd_core.nn.MultiheadAttention`, for (length, batch,
    size)."""
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
            "method `generate_square_subsequent_mask` to create this mask."
        )
    length, batch, size = query._shape
    if size != embed_dim_to_check:
        raise AssertionError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}"
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        is_causal = False
    if use_separate_proj_weight:
        separate: tuple[Any, ...] = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _each_projected((query, key, value), separate, in_proj_bias)
    else:
        assert in_proj_weight is not None
        q, k, v = _projected(query, key, value, in_proj_weight, in_proj_bias)
    mask = _additive(attn_mask, query)
    padding = _additive(key_padding_mask, query)
    if bias_k is not None and bias_v is not None:
        k, v = (
            joining.cat((x, shape.expand(b, (1, batch, b._shape[2]))), dim=0)
            for x, b in ((k, bias_k), (v, bias_v))
        )
        mask, padding = _one_more_key(mask), _one_more_key(padding)
    rows = batch * num_heads
    head = size // num_heads
    q, k, v = (shape.transpose(shape.view(x, (x._shape[0], rows, head)), 0, 1) for x in (q, k, v))
    if add_zero_attn:
        nothing = functions.zeros(rows, 1, head, dtype=k.dtype)
        k, v = (joining.cat((x, nothing), dim=1) for x in (k, v))
        mask, padding = _one_more_key(mask), _one_more_key(padding)
    mask = _merged(mask, padding, num_heads)
    dropout_p = dropout_p if training else 0.0
    shares = None
    if need_weights:
        flat, shares = _weighed(q, k, v, mask, dropout_p, num_heads)
    else:
        flat = _fused(q, k, v, mask, dropout_p, is_causal, num_heads)
    result = linear(flat, out_proj_weight, out_proj_bias)
    result = shape.view(result, (length, batch, result._shape[1]))
    if shares is None:
        return result, None
    per_head = shape.view(shares, (batch, num_heads, *shares._shape[1:]))
    return result, reduce.mean_dim(per_head, 1) if average_attn_weights else per_head


def _weighed(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, num_heads: int
) -> tuple[Tensor, Tensor]:
    """Attention of (batch * heads, length, head), as (length * batch, size), and its weights."""
    rows, length, head = q._shape
    pair = elementwise.mul(q, math.sqrt(1 / head)), shape.transpose(k, -2, -1)
    scores = linalg.bmm(*pair) if mask is None else products.baddbmm(mask, *pair)
    shares = dropout(softmax(scores, -1), dropout_p)
    weighed = shape.transpose(linalg.bmm(shares, v), 0, 1)
    return reshape(weighed, (length * (rows // num_heads), num_heads * head)), shares


def _fused(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    num_heads: int,
) -> Tensor:
    """Return the same by the op that keeps no weights."""
    batch, length, size = q._shape[0] // num_heads, q._shape[1], num_heads * q._shape[2]
    if mask is not None:
        lead = (1, 1) if mask._shape[0] == 1 else (batch, num_heads)
        mask = reshape(mask, (*lead, *mask._shape[1:]))
    q, k, v = (shape.view(x, (batch, num_heads, *x._shape[1:])) for x in (q, k, v))
    attended = scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    together = contiguous(shape.permute(attended, (2, 0, 1, 3)))
    return shape.view(together, (batch * length, size))


def _each_projected(
    inputs: tuple[Tensor, ...], weights: tuple[Tensor, ...], bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values under a weight each."""
    biases = (None,) * 3 if bias is None else functions.chunk(bias, 3)
    q, k, v = (linear(*operands) for operands in zip(inputs, weights, biases, strict=True))
    return q, k, v


def _projected(
    q: Tensor, k: Tensor, v: Tensor, weight: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values under the three parts of one weight (3 * size, size).

    What is one and the same tensor is multiplied once, as in PyTorch.
    """
    size = q._shape[-1]
    if k is v and q is k:
        first, second, third = _parts(linear(q, weight, bias), 3, size)
        return first, second, third
    if k is v:
        sizes = [size, 2 * size]
        ours, theirs = functions.split(weight, sizes)
        b, bs = (None, None) if bias is None else functions.split(bias, sizes)
        query = linear(q, ours, b)
        first, second = _parts(linear(k, theirs, bs), 2, size)
        return query, first, second
    return _each_projected((q, k, v), functions.chunk(weight, 3), bias)


def _parts(x: Tensor, count: int, size: int) -> list[Tensor]:
    """Return the last dimension in ``count`` pieces, each of which lies in memory by itself."""
    apart = shape.unsqueeze(shape.view(x, (*x._shape[:-1], count, size)), 0)
    together = shape.squeeze_dim(shape.transpose(apart, 0, -2), -2)
    copied = contiguous(together)
    return [index.select(copied, 0, i) for i in range(count)]


def _one_more_key(mask: Tensor | None) -> Tensor | None:
    """Return a mask for one key more, which everybody sees."""
    if mask is None:
        return None
    column = functions.zeros(*mask._shape[:-1], 1, dtype=mask.dtype)
    return joining.cat((mask, column), dim=mask.ndim - 1)


def _merged(mask: Tensor | None, padding: Tensor | None, num_heads: int) -> Tensor | None:
    """Return one mask (1 or batch * heads, length or 1, keys) of both."""
    if mask is not None and mask.ndim == 2:
        mask = shape.unsqueeze(mask, 0)
    if padding is None:
        return mask
    batch, keys = padding._shape
    wide = shape.expand(shape.view(padding, (batch, 1, 1, keys)), (batch, num_heads, 1, keys))
    per_head = reshape(wide, (batch * num_heads, 1, keys))
    return per_head if mask is None else elementwise.add(mask, per_head)

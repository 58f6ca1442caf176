"""Attention: what queries find among keys, and take from values."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op
from autograd_core.ops.algebra.linalg import matmul
from autograd_core.ops.checks import c_name, check_same_dtype, scalar_name
from autograd_core.ops.pointwise.elementwise import where
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.reductions.softmax import _softmax
from autograd_core.ops.shaping.shape import transpose


@op(self=lambda g, result, dim: result * (g - sum_dim(g * result, dim, True)))
def safe_softmax(self, /, dim):
    """:func:`softmax`, but zeros where all of ``self`` along ``dim`` is -inf."""
    highest = np.maximum.reduce(self, dim, keepdims=True, initial=-np.inf)
    powers = np.exp(self - np.where(np.isneginf(highest), 0, highest))
    total = np.add.reduce(powers, dim, keepdims=True)
    return powers / np.where(total == 0, 1, total).astype(self.dtype)


def check_operands(q: Any, k: Any, v: Any, mask: Any) -> None:
    """Queries, keys and values, arrays or tensors, have one dtype, and a mask fits them.

    Raises:
        RuntimeError: they do not; in PyTorch's words.
    """
    if not q.dtype == k.dtype == v.dtype:
        raise RuntimeError(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{c_name(q)} key.dtype: {c_name(k)} and value.dtype: {c_name(v)} instead."
        )
    if mask is not None and mask.dtype != q.dtype and c_name(mask) not in ("bool", "float"):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {c_name(mask)} and  query.dtype: {c_name(q)} instead."
        )


@op(
    joint=lambda g, query, key, value, attn_mask, is_causal, scale: attention_backward(
        g, query, key, value, attn_mask, is_causal, scale
    ),
    edges="query key value",
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    of="scaled_dot_product_attention",
)
def attention(query, key, value, attn_mask=None, /, is_causal=False, scale=1.0):
    """Return ``softmax(scale * query @ key.T + attn_mask) @ value`` for batches (N, heads, length,
    size).

    With ``is_causal``, queries do not attend to later keys.
    """
    check_same_dtype(query, key, value, attn_mask)
    if query.dtype.kind != "f":
        raise RuntimeError(f"expected scalar type Float but found {scalar_name(query)}")
    weights = _weights(query, key, attn_mask, is_causal, scale)
    if query.shape[-1] != value.shape[-1]:
        return np.matmul(weights, value)
    # laid out in memory as the queries are, so that undoing what made them needs no copy
    return np.matmul(weights, value, out=np.empty_like(query))


def _weights(q: Any, k: Any, mask: Any, is_causal: bool, scale: float) -> Any:
    """Return how much each query takes from each key."""
    scores = matmul(q, transpose(k, -2, -1)) * scale
    if mask is not None:
        scores = scores + mask
    if is_causal:
        seen = np.tri(scores.shape[-2], scores.shape[-1], dtype=bool)
        condition = seen if isinstance(scores, np.ndarray) else type(scores).from_array(seen)
        scores = where(condition, scores, -np.inf)
    return (_softmax if mask is None else safe_softmax)(scores, -1)


def attention_backward(
    g: Any, q: Any, k: Any, v: Any, mask: Any, is_causal: bool, scale: float
) -> tuple[Any, Any, Any]:
    """Return the gradients of queries, keys and values; the weights are computed again."""
    weights = _weights(q, k, mask, is_causal, scale)
    g_weights = matmul(g, transpose(v, -2, -1))
    g_scores = weights * (g_weights - sum_dim(g_weights * weights, -1, True)) * scale
    return (
        matmul(g_scores, k),
        matmul(transpose(g_scores, -2, -1), q),
        matmul(transpose(weights, -2, -1), g),
    )

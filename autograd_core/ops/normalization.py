"""Normalization by mean and variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import Sample, op
from autograd_core.ops.checks import check_same_dtype
from autograd_core.ops.reduce import count, sum_dim
from autograd_core.ops.shape import sum_to


@op(
    joint=lambda g, x, weight, mean, rstd, normalized_shape, needs: layer_norm_backward(
        g, x, weight, mean, rstd, normalized_shape, needs
    ),
    edges="x weight bias",
    outputs="ans mean rstd",
    hidden="mean rstd",
    node="NativeLayerNormBackward0",
    saved_as="x:input mean:result1 rstd:result2",
    samples=(
        Sample(((2, 3), (3,), (3,)), {"normalized_shape": (3,)}),
        Sample(((2, 3), (3,), None), {"normalized_shape": (3,)}),
        Sample(((2, 2, 2), None, None), {"normalized_shape": (2, 2), "eps": 0.1}),
    ),
)
def layer_norm(x, weight=None, bias=None, /, normalized_shape=(), eps=1e-5):
    """``x`` with mean 0 and variance 1 over its last dimensions, then scaled and shifted.

    The normalized dimensions are those of ``normalized_shape``, which is also the shape of
    ``weight`` and ``bias``.
    """
    if not normalized_shape or x.shape[-len(normalized_shape) :] != tuple(normalized_shape):
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
            f"[*, {', '.join(map(str, normalized_shape))}], but got input of size{list(x.shape)}"
        )
    check_same_dtype(x, weight, bias)
    size = count(normalized_shape)
    rows = x.reshape(-1, size)
    mean = np.add.reduce(rows, 1, keepdims=True) / size
    result = rows - mean
    variance = np.vecdot(result, result)[:, None] / size
    rstd = 1 / np.sqrt(variance + eps)
    result *= rstd
    if weight is not None:
        result *= weight.reshape(size)
    if bias is not None:
        result += bias.reshape(size)
    kept = x.shape[: x.ndim - len(normalized_shape)] + (1,) * len(normalized_shape)
    return result.reshape(x.shape), mean.reshape(kept), rstd.reshape(kept)


def _last(normalized_shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(range(-len(normalized_shape), 0))


def layer_norm_backward(
    g: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    normalized_shape: tuple[int, ...],
    needs: tuple[bool, bool, bool],
) -> tuple[Any, Any, Any]:
    """The gradients of input, weight and bias.

    Nothing in a user's program leads a gradient to ``mean`` and ``rstd``; the derivative of
    this function does.
    """
    g_ans, g_mean, g_rstd = g
    axes, size = _last(normalized_shape), count(normalized_shape)
    normalized = (x - mean) * rstd
    g_x = g_weight = g_bias = None
    if needs[0]:
        scaled = g_ans if weight is None else g_ans * weight
        shift = (sum_dim(scaled, axes, True) * rstd - g_mean) / size
        slope = (sum_dim(scaled * normalized, axes, True) + g_rstd * rstd) * rstd / size
        g_x = scaled * rstd - shift - normalized * slope
    if needs[1]:
        g_weight = sum_to(g_ans * normalized, normalized_shape)
    if needs[2]:
        g_bias = sum_to(g_ans, normalized_shape)
    return g_x, g_weight, g_bias

"""Normalization by mean and variance."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_core.op import op
from autograd_core.op.blocks import memory, numbers, ones, row_blocks
from autograd_core.op.buffering import short_buffers
from autograd_core.ops.checks import check_implemented, check_same_dtype
from autograd_core.ops.reductions.norms import vector_norm
from autograd_core.ops.reductions.reduce import numel, sum_dim
from autograd_core.ops.shaping.shape import reshape, sum_to

_SMALL: Final = 1 << 11  # elements for which calls of NumPy count, not what they do
_USUAL: Final = (np.dtype(np.float32), np.dtype(np.float64))


def normalized_in(kernel: str, x: Any, *parameters: Any) -> tuple[Any, Any]:
    """Return the dtype to compute in, float32 for half numbers, whose squares overflow; and that of
    the statistics, which is that of the parameters.

    Raises:
        RuntimeError: theirs is another than that of ``x``, and not float32 beside half numbers.
    """
    kind = x.dtype
    if kind in _USUAL and all(t is None or t.dtype is kind for t in parameters):
        return kind, kind
    given = [t for t in parameters if t is not None]
    half = x.dtype == np.float16
    if not given or given[0].dtype == x.dtype:
        check_implemented(kernel, x)
        check_same_dtype(x, *given)
        return np.float32 if half else x.dtype, x.dtype
    if any(t.dtype != np.float32 for t in given):
        raise RuntimeError("mixed dtype (CPU): expect parameter to have scalar type of Float")
    if not half:
        raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")
    return np.float32, np.float32


def settled(result: Any, mean: Any, rstd: Any, kind: Any, of_statistics: Any) -> tuple[Any, ...]:
    """Return what was computed in one dtype, in those that results and statistics have."""
    if result.dtype is kind is of_statistics:
        return result, mean, rstd
    mean, rstd = (t.astype(of_statistics, copy=False) for t in (mean, rstd))
    return result.astype(kind, copy=False), mean, rstd


@op(
    joint=lambda g, input, weight, result1, result2, normalized_shape, needs: layer_norm_backward(
        g, input, weight, result1, result2, normalized_shape, needs
    ),
    edges="input weight bias",
    outputs="result result1 result2",
    hidden="result1 result2",
    node="NativeLayerNormBackward0",
    layout="contiguous",
)
def layer_norm(input, weight=None, bias=None, /, normalized_shape=(), eps=1e-5):
    """Normalize ``input`` to mean 0 and variance 1 over its last dimensions, then scale and shift
    it.

    The normalized dimensions are those of ``normalized_shape``, which is also the shape of
    ``weight`` and ``bias``.
    """
    if (
        not normalized_shape
        or input.shape[-len(normalized_shape) :] != normalized_shape
        or (weight is not None and weight.shape != normalized_shape)
        or (bias is not None and bias.shape != normalized_shape)
    ):
        refuse_normalized(input.shape, normalized_shape, weight=weight, bias=bias)
    kind, of_statistics = normalized_in("LayerNormKernelImpl", input, weight, bias)
    size = numel(normalized_shape)
    rows = input.reshape(numel(input.shape[: -len(normalized_shape)]), size)
    if kind is not input.dtype:
        rows = rows.astype(kind)
    if weight is not None:
        weight = weight.reshape(size)
    if bias is not None:
        bias = bias.reshape(size)
    result, mean, rstd = _normalized(rows, weight, bias, eps)
    kept = input.shape[: input.ndim - len(normalized_shape)] + (1,) * len(normalized_shape)
    kept_mean, kept_rstd = mean.reshape(kept), rstd.reshape(kept)
    return settled(result.reshape(input.shape), kept_mean, kept_rstd, input.dtype, of_statistics)


def _normalized(rows: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """Return rows with mean 0 and variance 1, scaled and shifted; their means, and the reciprocals
    of their standard deviations."""
    if rows.size <= _SMALL:
        one, size, least = numbers(rows.dtype, 1, rows.shape[1] or 1, eps)
        mean = np.add.reduce(rows, 1, keepdims=True)
        mean /= size
        result = rows - mean
        rstd = np.vecdot(result, result)[:, None]
        rstd /= size
        rstd += least
        np.divide(one, np.sqrt(rstd, rstd), rstd)
        result *= rstd
        if weight is not None:
            result *= weight
        if bias is not None:
            result += bias
        return result, mean, rstd
    result = np.empty(rows.shape, rows.dtype)
    mean, rstd = np.empty((2, len(rows), 1), rows.dtype)
    size = rows.shape[1] or 1
    parts = row_blocks(rows)
    with short_buffers(rows.shape[1]), memory(1, rows[parts[0]].shape, rows.dtype) as (spare,):
        for part in parts:
            x, middle, scale = rows[part], mean[part], rstd[part]
            np.divide((x @ ones(rows.shape[1], rows.dtype))[:, None], size, middle)
            centred = spare[: len(x)]
            np.subtract(x, middle, centred)
            np.divide(np.vecdot(centred, centred)[:, None], size, scale)
            scale += eps
            np.divide(1, np.sqrt(scale, scale), scale)
            last = result[part] if weight is None and bias is None else centred
            np.multiply(centred, scale, last)
            if weight is not None:
                last = result[part] if bias is None else centred
                np.multiply(centred, weight, last)
            if bias is not None:
                np.add(centred, bias, result[part])
    return result, mean, rstd


def refuse_normalized(
    shape: tuple[int, ...], normalized_shape: tuple[int, ...], **parameters: Any
) -> None:
    """Say why something of ``shape``, or the parameters, do not have these last dimensions."""
    if not normalized_shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    for name, parameter in parameters.items():
        if parameter is not None and parameter.shape != normalized_shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{list(parameter.shape)} and normalized_shape = {list(normalized_shape)}"
            )
    if shape[-len(normalized_shape) :] != normalized_shape:
        raise RuntimeError(
            f"Given normalized_shape={list(normalized_shape)}, expected input with shape "
            f"[*, {', '.join(map(str, normalized_shape))}], but got input of size{list(shape)}"
        )


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
    """Return the gradients of input, weight and bias.

    Nothing in a user's program leads a gradient to ``mean`` and ``rstd``, so theirs are None among
    arrays; the derivative of this function does.
    """
    g_ans, g_mean, g_rstd = g
    axes, size = _last(normalized_shape), numel(normalized_shape)
    if type(x) is np.ndarray and x.itemsize > 2 and x.size:
        run = _of_few_rows if x.size <= _SMALL else _by_blocks
        return run(g_ans, g_mean, g_rstd, x, weight, mean, rstd, normalized_shape, needs)
    g_mean, g_rstd = (0 if part is None else part for part in (g_mean, g_rstd))
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


def _by_blocks(
    g: Any,
    g_mean: Any,
    g_rstd: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    normalized_shape: tuple[int, ...],
    needs: tuple[bool, bool, bool],
) -> tuple[Any, Any, Any]:
    """:func:`layer_norm_backward` on arrays, a few rows at a time.

    Sums are products with ones, or with the weight, which BLAS does three times as fast.
    """
    size = numel(normalized_shape)
    g, rows = g.reshape(-1, size), x.reshape(-1, size)
    mean, rstd, g_mean, g_rstd = (
        None if v is None else v.reshape(-1, 1) for v in (mean, rstd, g_mean, g_rstd)
    )
    factor = ones(size, x.dtype) if weight is None else weight.reshape(size)
    g_x = np.empty(rows.shape, x.dtype) if needs[0] else None
    g_weight, g_bias = (np.zeros(size, x.dtype) if need else None for need in needs[1:])
    parts = row_blocks(rows)
    with short_buffers(size), memory(2, rows[parts[0]].shape, x.dtype) as spares:
        for part in parts:
            g_part, scale = g[part], rstd[part]
            length = len(g_part)
            centred, product = (spare[:length] for spare in spares)
            if g_bias is not None:
                g_bias += ones(length, x.dtype) @ g_part
            if needs[0] or needs[1]:
                np.subtract(rows[part], mean[part], centred)
                np.multiply(g_part, centred, product)
            if g_weight is not None:
                g_weight += scale[:, 0] @ product
            if g_x is not None:
                square = scale * scale
                square /= size
                slope = (product @ factor)[:, None]
                if g_rstd is not None:
                    slope += g_rstd[part]
                slope *= square
                shift = (g_part @ factor)[:, None]
                if g_mean is not None:
                    shift -= g_mean[part] / scale
                shift /= size
                if weight is not None:
                    g_part = np.multiply(g_part, factor, product)
                centred *= slope
                np.subtract(g_part, centred, product)
                product -= shift
                np.multiply(product, scale, g_x[part])
    shapes = (x.shape, normalized_shape, normalized_shape)
    pairs = zip((g_x, g_weight, g_bias), shapes, strict=True)
    g_x, g_weight, g_bias = (None if v is None else v.reshape(shape) for v, shape in pairs)
    return g_x, g_weight, g_bias


def _of_few_rows(
    g: Any,
    g_mean: Any,
    g_rstd: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    normalized_shape: tuple[int, ...],
    needs: tuple[bool, bool, bool],
) -> tuple[Any, Any, Any]:
    """:func:`_by_blocks` of rows that need none, in half as many calls."""
    shape, size = x.shape, numel(normalized_shape)
    flat = x.ndim == 2 and len(normalized_shape) == 1
    if not flat:
        g, x = g.reshape(-1, size), x.reshape(-1, size)
        weight = None if weight is None else weight.reshape(size)
        mean, rstd, g_mean, g_rstd = (
            None if v is None else v.reshape(-1, 1) for v in (mean, rstd, g_mean, g_rstd)
        )
    normalized = x - mean
    normalized *= rstd
    scaled = g if weight is None else g * weight
    addends = ones(len(g), g.dtype)
    g_weight = addends.dot(g * normalized) if needs[1] else None
    g_bias = addends.dot(g) if needs[2] else None
    shift = scaled.dot(ones(size, g.dtype))[:, None]
    if g_mean is not None:
        shift -= g_mean / rstd
    slope = np.vecdot(scaled, normalized)[:, None]
    if g_rstd is not None:
        slope += g_rstd * rstd
    normalized *= slope
    normalized += shift
    (divisor,) = numbers(x.dtype, size)
    normalized /= divisor
    g_x = np.subtract(scaled, normalized, normalized)
    g_x *= rstd
    if flat:
        return g_x if needs[0] else None, g_weight, g_bias
    return (
        g_x.reshape(shape) if needs[0] else None,
        None if g_weight is None else g_weight.reshape(normalized_shape),
        None if g_bias is None else g_bias.reshape(normalized_shape),
    )


def _other_dims(ndim: int, dim: int) -> tuple[int, ...]:
    return tuple(other for other in range(ndim) if other != dim)


@op(
    joint=lambda g, v, g_, dim, needs: _slopes(g, v, g_, dim, needs),
    edges="v g_",
    node="WeightNormInterfaceBackward0",
)
def weight_norm(v, g_, /, dim=0):
    """Return ``v`` with its slices of dimension ``dim`` made as long as ``g_`` says."""
    return v * (g_ / vector_norm(v, 2.0, _other_dims(v.ndim, dim), True))


def _slopes(g: Any, v: Any, length: Any, dim: int, needs: tuple[bool, bool]) -> tuple[Any, Any]:
    dims = _other_dims(v.ndim, dim)
    inverse = 1 / vector_norm(v, 2.0, dims, True)
    along = sum_dim(g * v, dims, True) * inverse
    across = (g - v * along * inverse) * (length * inverse) if needs[0] else None
    if tuple(along.shape) != tuple(length.shape):  # one length of all
        along = reshape(along, tuple(length.shape))
    return across, along if needs[1] else None

"""Normalization per channel, over a batch or within groups of channels."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

import numpy as np

from autograd_core.op import op
from autograd_core.op.blocks import memory, numbers, ones
from autograd_core.op.buffering import short_buffers
from autograd_core.ops.networks.normalization import normalized_in, settled
from autograd_core.ops.reductions.reduce import array_mean, numel, sum_dim
from autograd_core.ops.shaping.shape import reshape


def per_channel(x: Any, ndim: int) -> Any:
    """Return a vector (C,), arrays or tensors, beside inputs (N, C, ...) of ``ndim`` dimensions."""
    return reshape(x, (1, -1, *(1,) * (ndim - 2)))


def _axes(ndim: int) -> tuple[int, ...]:
    return (0, *range(2, ndim))


@op(
    # it names the running statistics so that they are watched, as in PyTorch
    joint=lambda g, input, weight, running_mean, running_var, result1, result2, training, needs: (
        batch_norm_backward(g, input, weight, result1, result2, training, needs)
    ),
    edges="input weight bias",
    outputs="result result1 result2",
    hidden="result1 result2",
    node="NativeBatchNormBackward0",
    layout="contiguous",
)
def batch_norm(
    input, weight=None, bias=None, running_mean=None, running_var=None, /, training=True, eps=1e-5
):
    """Normalize each channel of ``input`` (N, C, ...) to mean 0 and variance 1, then scale and
    shift it.

    While ``training``, the mean and variance are those of the input; otherwise those given.
    ``result1`` and ``result2``, the reciprocal standard deviation, are (C,).
    """
    kind, of_statistics = normalized_in(
        "batch_norm", input, weight, bias, running_mean, running_var
    )
    own, input = input.dtype, input if kind is input.dtype else input.astype(kind)
    if training and _in_rows(input):
        with _rows_in_place(input):
            return settled(*_normalized_rows(input, weight, bias, eps), own, of_statistics)
    if training:
        axes = _axes(input.ndim)
        mean = array_mean(input, axes, kind)
        variance = array_mean(np.square(input - per_channel(mean, input.ndim)), axes, kind)
    else:
        mean = running_mean.astype(kind)  # a copy: a later batch may move it
        variance = running_var.astype(kind, copy=False)
    rstd = 1 / np.sqrt(variance + eps)
    result = (input - per_channel(mean, input.ndim)) * per_channel(rstd, input.ndim)
    return settled(_affine(result, weight, bias), mean, rstd, own, of_statistics)


_SMALL: Final = 1 << 12  # elements for which calls of NumPy count, not what they do
_BLOCK: Final = 1 << 15  # elements whose intermediate results stay in the cache


def _in_rows(x: Any) -> bool:
    """Return whether ``x`` is an array (N, C, ...) of rows long enough for BLAS to add up."""
    return type(x) is np.ndarray and x.ndim > 2 and x.size > 0 and x.flags.c_contiguous


def _rows_in_place(x: Any) -> Any:
    """Return how to compute with the rows of ``x`` and a number for each."""
    return short_buffers(numel(x.shape[2:])) if x.size > _BLOCK else nullcontext()


def _normalized_rows(x: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """:func:`batch_norm` on rows: sums by BLAS, all factors of a channel at once."""
    rows = x.reshape(*x.shape[:2], -1)
    one, size, least = numbers(x.dtype, 1, x.size // x.shape[1], eps)
    mean = np.add.reduce(rows @ ones(rows.shape[2], x.dtype), 0)
    mean /= size
    result = rows - mean[:, None]
    rstd = np.add.reduce(np.vecdot(result, result), 0)
    rstd /= size
    rstd += least
    np.divide(one, np.sqrt(rstd, rstd), rstd)
    result *= (rstd if weight is None else rstd * weight)[:, None]
    if bias is not None:
        result += bias[:, None]
    return result.reshape(x.shape), mean, rstd


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    """Return a fresh array, scaled and shifted per channel in its place."""
    if weight is not None:
        x *= per_channel(weight, x.ndim)
    if bias is not None:
        x += per_channel(bias, x.ndim)
    return x


def batch_norm_backward(
    g: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    training: bool,
    needs: tuple[bool, bool, bool],
) -> tuple[Any, Any, Any]:
    """Return the gradients of input, weight and bias.

    Outside of training mean and variance are constants, and take no gradient on; nothing but the
    derivative of this function leads one to ``mean`` and ``rstd``, else theirs are None.
    """
    g_ans, g_mean, g_rstd = g
    axes, ndim = _axes(x.ndim), x.ndim
    if _in_rows(x) and x.itemsize > 2:
        if x.size <= _SMALL and training and g_mean is None and g_rstd is None:
            return _backward_of_few(g_ans, x, weight, mean, rstd, needs)
        given = g_ans, g_mean, g_rstd, x, weight, mean, rstd, training, needs
        with _rows_in_place(x):
            return _backward_by_samples(*given)
    g_mean, g_rstd = (0 if part is None else part for part in (g_mean, g_rstd))
    scale = per_channel(rstd, ndim)
    normalized = (x - per_channel(mean, ndim)) * scale
    g_x = g_weight = g_bias = None
    if needs[0]:
        scaled = g_ans if weight is None else g_ans * per_channel(weight, ndim)
        g_x = scaled * scale
        if training:
            size = numel(x.shape, axes)
            shift = (sum_dim(scaled, axes) * rstd - g_mean) / size
            slope = (sum_dim(scaled * normalized, axes) + g_rstd * rstd) * rstd / size
            g_x = g_x - per_channel(shift, ndim) - normalized * per_channel(slope, ndim)
    if needs[1]:
        g_weight = sum_dim(g_ans * normalized, axes)
    if needs[2]:
        g_bias = sum_dim(g_ans, axes)
    return g_x, g_weight, g_bias


def _backward_of_few(
    g: Any, x: Any, weight: Any, mean: Any, rstd: Any, needs: tuple[bool, bool, bool]
) -> tuple[Any, Any, Any]:
    """:func:`_backward_by_samples` of small images, in two thirds of the calls."""
    rows = (*x.shape[:2], -1)
    g = g.reshape(rows)
    centred = x.reshape(rows) - mean[:, None]
    centred *= rstd[:, None]
    inner = np.add.reduce(np.vecdot(g, centred), 0)
    total = np.add.reduce(g @ ones(g.shape[2], x.dtype), 0)
    g_x = None
    if needs[0]:
        (size,) = numbers(x.dtype, x.size // x.shape[1])
        centred *= (inner / size)[:, None]
        centred += (total / size)[:, None]
        np.subtract(g, centred, centred)
        centred *= (rstd if weight is None else rstd * weight)[:, None]
        g_x = centred.reshape(x.shape)
    return g_x, inner if needs[1] else None, total if needs[2] else None


def _backward_by_samples(
    g: Any,
    g_mean: Any,
    g_rstd: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    training: bool,
    needs: tuple[bool, bool, bool],
) -> tuple[Any, Any, Any]:
    """:func:`batch_norm_backward` on rows, some samples at a time: half of the time, as what they
    need stays in the cache."""
    shape = (*x.shape[:2], -1)
    inputs, grads = x.reshape(shape), g.reshape(shape)
    middle, addends = mean[:, None].astype(x.dtype, copy=False), ones(inputs.shape[2], x.dtype)
    some = max(1, _BLOCK * len(x) // x.size)
    parts = [slice(start, start + some) for start in range(0, len(x), some)]
    total = inner = None
    # filled with what is left of the mean, in the place of which the gradient comes
    result = np.empty(inputs.shape, x.dtype)
    for part in parts:
        grad = grads[part]
        centred = np.subtract(inputs[part], middle, result[part])
        of_part = np.add.reduce(grad @ addends, 0), np.add.reduce(np.vecdot(grad, centred), 0)
        if total is None:
            total, inner = of_part
        else:
            total += of_part[0]
            inner += of_part[1]
    g_x = None
    if needs[0]:
        scale = rstd if weight is None else rstd * weight
        factor = scale[:, None]
        if training:
            (size,) = numbers(x.dtype, x.size // x.shape[1])
            shift, slope = total * scale, inner * scale
            if g_mean is not None:
                shift -= g_mean
            if g_rstd is not None:
                slope += g_rstd * rstd
            slope *= rstd
            slope *= rstd
            for term in (shift, slope):
                term /= size
            shift, slope = shift[:, None], slope[:, None]
        with memory(1, inputs[:some].shape, x.dtype) as (spare,):
            for part in parts:
                out, grad = result[part], grads[part]
                if not training:
                    np.multiply(grad, factor, out)
                    continue
                out *= slope
                out += shift
                np.subtract(np.multiply(grad, factor, spare[: len(grad)]), out, out)
        g_x = result.reshape(x.shape)
    return g_x, inner * rstd if needs[1] else None, total if needs[2] else None


@op(
    joint=lambda g, input, weight, result1, result2, num_groups, needs: group_norm_backward(
        g, input, weight, result1, result2, num_groups, needs
    ),
    edges="input weight bias",
    outputs="result result1 result2",
    hidden="result1 result2",
    node="NativeGroupNormBackward0",
    layout="contiguous",
)
def group_norm(input, weight=None, bias=None, /, num_groups=1, eps=1e-5):
    """Normalize each group of channels of ``input`` (N, C, ...) to mean 0 and variance 1, then
    scale and shift each channel.

    ``result1`` and ``result2`` are (N, num_groups, 1).
    """
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != input.shape[1:2]:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {'weight' if weight is not None else name} of shape "
                f"{list((weight if weight is not None else parameter).shape)} and input of shape "
                f"{list(input.shape)}"
            )
    if input.shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            f"of shape {list(input.shape)} and num_groups={num_groups}"
        )
    kind, of_statistics = normalized_in("GroupNormKernelImpl", input, weight, bias)
    grouped = input.reshape(_groups(input.shape, num_groups)).astype(kind, copy=False)
    mean = array_mean(grouped, 2, kind, keepdims=True)
    centred = grouped - mean
    rstd = 1 / np.sqrt(array_mean(np.square(centred), 2, kind, keepdims=True) + eps)
    result = _affine((centred * rstd).reshape(input.shape), weight, bias)
    return settled(result, mean, rstd, input.dtype, of_statistics)


def _groups(shape: tuple[int, ...], num_groups: int) -> tuple[int, int, int]:
    return shape[0], num_groups, numel(shape[1:]) // num_groups


def group_norm_backward(
    g: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    num_groups: int,
    needs: tuple[bool, bool, bool],
) -> tuple[Any, Any, Any]:
    """Return the gradients of input, weight and bias."""
    g_ans, g_mean, g_rstd = (0 if part is None else part for part in g)
    grouped = _groups(x.shape, num_groups)
    normalized = (reshape(x, grouped) - mean) * rstd
    g_x = g_weight = g_bias = None
    if needs[0]:
        scaled = g_ans if weight is None else g_ans * per_channel(weight, x.ndim)
        scaled = reshape(scaled, grouped)
        shift = (sum_dim(scaled, 2, True) * rstd - g_mean) / grouped[2]
        slope = (sum_dim(scaled * normalized, 2, True) + g_rstd * rstd) * rstd / grouped[2]
        g_x = reshape(scaled * rstd - shift - normalized * slope, x.shape)
    if needs[1]:
        g_weight = sum_dim(g_ans * reshape(normalized, x.shape), _axes(x.ndim))
    if needs[2]:
        g_bias = sum_dim(g_ans, _axes(x.ndim))
    return g_x, g_weight, g_bias

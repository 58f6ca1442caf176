"""Convolution in any number of dimensions, as one matrix product over columns of image patches.

The output and the gradients of image and weight are each bilinear in what they are made of,
and the derivatives of each are the other two: three entries, closed under differentiation.
Pictures go by :mod:`~autograd_core.ops.networks.row_convolution` where that is faster.
Inside, images lie as (C, ..., N), so that copying patches copies long runs of memory; where the
columns are few, as for the channels of a photograph, it costs more to turn images round than it
gains, and they stay (N, C, ...), with a product each.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.op import op
from autograd_core.ops.checks import c_name, check_castable, check_same_dtype, scalar_name
from autograd_core.ops.networks.row_convolution import (
    by_rows,
    goes_by_rows,
    input_gradient_by_rows,
    weight_gradient_by_rows,
)
from autograd_core.ops.networks.windows import Windows
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.shaping.rearrange import constant_pad_nd


@op(
    input=lambda g, weight, input_shape, stride, padding, dilation, groups: convolution_input(
        g, weight, input_shape, stride, padding, dilation, groups
    ),
    weight=lambda g, input, weight_shape, stride, padding, dilation, groups: convolution_weight(
        g, input, weight_shape, stride, padding, dilation, groups
    ),
    bias=lambda g: over_channels(g),
    node="ConvolutionBackward0",
)
def convolution(input, weight, bias=None, /, stride=(), padding=(), dilation=(), groups=1):
    """Return images ``input`` (N, C, ...) under the kernels ``weight`` (O, C / groups, ...): (N, O,
    ...).

    Groups of channels are convolved separately.
    """
    windows = Windows(weight.shape[2:], stride, padding, dilation)
    _check_dtypes(input, weight, bias)
    _check(input, weight, bias, groups)
    if goes_by_rows(input, weight, windows, groups):
        return by_rows(input, weight, bias, windows, groups)
    parts = _parts(input.shape, weight.shape, windows)
    if not parts:
        return _convolved(input, weight, bias, windows, groups)
    size = windows.output_size(input.shape[2:])
    result = np.empty((len(input), len(weight), *size), input.dtype)
    for part in parts:
        result[part] = _convolved(input[part], weight, bias, windows, groups)
    return result


def _convolved(input: Any, weight: Any, bias: Any, windows: Windows, groups: int) -> Any:
    by_image = _is_by_image(weight.shape, groups)
    columns, size = _columns(input, windows, groups, by_image)
    product = np.matmul(_grouped(weight, groups), columns)
    if by_image:
        result = product.reshape(len(input), len(weight), *size)
        return (
            result if bias is None else np.add(result, _per_channel(bias, input.ndim), out=result)
        )
    result = _images(product.reshape(len(weight), *size, len(input)))
    if bias is None:
        return np.ascontiguousarray(result)
    return np.add(result, _per_channel(bias, input.ndim), order="C")


@op(
    grad_output=lambda g, weight, stride, padding, dilation, groups: convolution(
        g, weight, None, stride, padding, dilation, groups
    ),
    weight=lambda g, grad_output, weight_shape, stride, padding, dilation, groups: (
        convolution_weight(grad_output, g, weight_shape, stride, padding, dilation, groups)
    ),
    linear=True,
)
def convolution_input(grad_output, weight, /, shape, stride, padding, dilation, groups):
    """Return the gradient, of ``shape``, of the images that :func:`convolution` was given."""
    windows = Windows(weight.shape[2:], stride, padding, dilation)
    g_input = input_gradient_by_rows(grad_output, weight, shape, windows, groups)
    if g_input is not None:
        return g_input
    parts = _parts(shape, weight.shape, windows)
    if not parts:
        return _input_gradient(grad_output, weight, shape, windows, groups)
    result = np.empty(shape, grad_output.dtype)
    for part in parts:
        some = grad_output[part]
        result[part] = _input_gradient(some, weight, (len(some), *shape[1:]), windows, groups)
    return result


def _input_gradient(
    grad_output: Any, weight: Any, shape: tuple[int, ...], windows: Windows, groups: int
) -> Any:
    count, channels, *size = shape
    output = grad_output.shape[2:]
    by_image = _is_by_image(weight.shape, groups)
    columns = np.matmul(
        _grouped(weight, groups).swapaxes(1, 2), _rows(grad_output, groups, by_image)
    )
    lead, last = ((count, channels), ()) if by_image else ((channels,), (count,))
    columns = columns.reshape(*lead, *windows.kernel, *output, *last)
    padded = np.zeros((*lead, *windows.padded_size(size), *last), grad_output.dtype)
    for offset, patch in windows.offsets(padded, output, axis=len(lead)):
        patch += columns[(*_every(lead), *offset)]
    inside = padded[(*_every(lead), *windows.inside(size))]
    return np.ascontiguousarray(inside if by_image else _images(inside))


@op(
    grad_output=lambda g, input, stride, padding, dilation, groups: convolution(
        input, g, None, stride, padding, dilation, groups
    ),
    input=lambda g, grad_output, input_shape, stride, padding, dilation, groups: convolution_input(
        grad_output, g, input_shape, stride, padding, dilation, groups
    ),
    linear=True,
)
def convolution_weight(grad_output, input, /, shape, stride, padding, dilation, groups):
    """Return the gradient, of ``shape``, of the kernels that :func:`convolution` was given."""
    windows = Windows(shape[2:], stride, padding, dilation)
    result = weight_gradient_by_rows(grad_output, input, shape, windows, groups)
    if result is not None:
        return result
    for part in _parts(input.shape, shape, windows) or [slice(None)]:
        of_part = _weight_gradient(grad_output[part], input[part], shape, windows, groups)
        result = of_part if result is None else np.add(result, of_part, out=result)
    return result


def _weight_gradient(
    grad_output: Any, input: Any, shape: tuple[int, ...], windows: Windows, groups: int
) -> Any:
    by_image = _is_by_image(shape, groups)
    columns, _ = _columns(input, windows, groups, by_image)
    product = np.matmul(_rows(grad_output, groups, by_image), columns.swapaxes(-1, -2))
    return (np.add.reduce(product, 0) if by_image else product).reshape(shape)


_COLUMNS: Final = 1 << 18  # elements of columns that are made at a time


def _parts(shape: tuple[int, ...], kernels: tuple[int, ...], windows: Windows) -> list[slice]:
    """Return which of the images of ``shape`` to take together, so that columns stay in the cache
    and their memory does not grow with the batch; none: all of them."""
    count, channels, *size = shape
    output = windows.output_size(tuple(size))
    elements = channels * math.prod(kernels[2:]) * math.prod(max(n, 0) for n in output)
    some = max(1, _COLUMNS // max(elements, 1))
    if 2 * some > count:
        return []
    return [slice(start, start + some) for start in range(0, count, some)]


def _is_by_image(shape: tuple[int, ...], groups: int) -> bool:
    """Return whether kernels of ``shape`` have so few weights that each image gets its own
    product."""
    return math.prod(shape[1:]) <= 4 * (shape[0] // groups)


def _columns(x: Any, windows: Windows, groups: int, by_image: bool) -> tuple[Any, tuple[int, ...]]:
    """Return what lies in each window, (groups, C / groups * kernel, windows * N), or, of each
    image, (N, groups, C / groups * kernel, windows); and how many windows there are."""
    images = x if by_image else _channels_first(x)
    size = x.shape[2:]
    output = windows.output_size(size)
    if min(output) < 1:
        kernel = [d * (k - 1) + 1 for d, k in zip(windows.dilation, windows.kernel, strict=True)]
        around, reach = (" x ".join(map(str, n)) for n in (windows.padded_size(size), kernel))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({around}). Kernel size: ({reach}). "
            "Kernel size can't be greater than actual input size"
        )
    lead, last = (x.shape[:2], ()) if by_image else (x.shape[1:2], x.shape[:1])
    padded = images
    if any(windows.padding):
        padded = np.zeros((*lead, *windows.padded_size(size), *last), x.dtype)
        padded[(*_every(lead), *windows.inside(size))] = images
    elif not by_image:
        padded = np.ascontiguousarray(images)
    columns: Any = np.empty((*lead, *windows.kernel, *output, *last), x.dtype)
    for offset, patch in windows.offsets(padded, output, axis=len(lead)):
        columns[(*_every(lead), *offset)] = patch
    count = math.prod(output) * math.prod(last)
    rows = x.shape[1] // groups * math.prod(windows.kernel)
    return columns.reshape(*lead[:-1], groups, rows, count), output


def _rows(grad: Any, groups: int, by_image: bool) -> Any:
    """Return the gradient of the output, (N, O, ...), as :func:`_columns` has the windows."""
    count, outputs, *size = grad.shape
    if by_image:
        return grad.reshape(count, groups, outputs // groups, math.prod(size))
    rows = np.ascontiguousarray(_channels_first(grad))
    return rows.reshape(groups, outputs // groups, math.prod(size) * count)


def _every(lead: tuple[int, ...]) -> tuple[slice, ...]:
    return (slice(None),) * len(lead)


def _channels_first(x: Any) -> Any:
    """(N, C, ...) as (C, ..., N)."""
    return x.transpose(*range(1, x.ndim), 0)


def _images(x: Any) -> Any:
    """(C, ..., N) as (N, C, ...)."""
    return x.transpose(x.ndim - 1, *range(x.ndim - 1))


def _per_channel(bias: Any, ndim: int) -> Any:
    return bias.reshape(-1, *(1,) * (ndim - 2))


def over_channels(g: Any) -> Any:
    """Return the gradient of a bias: all but the channels summed."""
    return sum_dim(g, (0, *range(2, g.ndim)))


@op(
    input=lambda g, weight, stride, padding, dilation, groups, output_padding: with_windows(
        convolution(g, weight, None, stride, padding, dilation, groups), stride, output_padding, -1
    ),
    weight=lambda g, input, weight_shape, stride, padding, dilation, groups, output_padding: (
        convolution_weight(
            with_windows(input, stride, output_padding, 1),
            g,
            weight_shape,
            stride,
            padding,
            dilation,
            groups,
        )
    ),
    bias=lambda g: over_channels(g),
    node="ConvolutionBackward0",
)
def conv_transpose(
    input, weight, bias=None, /, stride=(), padding=(), dilation=(), groups=1, output_padding=()
):
    """Return images (N, C, ...) spread by kernels (C, O / groups, ...): (N, O, ...), what a
    convolution of those kernels would make (N, C, ...) of."""
    _check_dtypes(input, weight)
    if bias is not None:
        check_castable(bias, input)
    if input.shape[1] != len(weight):
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input"
            f"{list(input.shape)} to have {len(weight)} channels, but got "
            f"{input.shape[1]} channels instead"
        )
    outputs = weight.shape[1] * groups
    if bias is not None and bias.shape != (outputs,):
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected bias to be "
            f"1-dimensional with {outputs} elements, but got bias of size {list(bias.shape)} "
            "instead"
        )
    size = [
        (n - 1) * step - 2 * pad + spread * (kernel - 1) + extra + 1
        for n, kernel, step, pad, spread, extra in zip(
            input.shape[2:],
            weight.shape[2:],
            stride,
            padding,
            dilation,
            output_padding,
            strict=True,
        )
    ]
    if min(size) < 1:
        before, after = (" x ".join(map(str, lengths)) for lengths in (input.shape[2:], size))
        raise RuntimeError(
            f"Given input size per channel: ({before}). Calculated output size per channel: "
            f"({after}). Output size is too small"
        )
    shape = (len(input), outputs, *size)
    result = convolution_input(input, weight, shape, stride, padding, dilation, groups)
    if bias is None:
        return result
    return np.add(result, _per_channel(bias, input.ndim), dtype=input.dtype, casting="unsafe")


def with_windows(
    x: Any, stride: tuple[int, ...], output_padding: tuple[int, ...], sign: int
) -> Any:
    """Return ``x`` with as many zeros as a convolution has windows in the output padding, or, for a
    negative ``sign``, without what it finds there: no pixel was spread by these."""
    beyond = [sign * (extra // step) for extra, step in zip(output_padding, stride, strict=True)]
    if not any(beyond):
        return x
    return constant_pad_nd(x, tuple(n for count in reversed(beyond) for n in (0, count)))


def _grouped(weight: Any, groups: int) -> Any:
    return weight.reshape(groups, len(weight) // groups, math.prod(weight.shape[1:]))


def _check_dtypes(x: Any, weight: Any, bias: Any = None) -> None:
    if bias is not None and bias.dtype != x.dtype:
        raise RuntimeError(
            f"Input type ({c_name(x)}) and bias type ({c_name(bias)}) should be the same"
        )
    if x.dtype == np.float16 != weight.dtype:
        raise RuntimeError(
            f"Input type (torch.HalfTensor) and weight type (torch.{scalar_name(weight)}Tensor) "
            "should be the same or input should be a MKLDNN tensor and weight is a dense tensor"
        )
    check_same_dtype(x, weight)


def _check(x: Any, weight: Any, bias: Any, groups: int) -> None:
    if x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected "
            f"input{list(x.shape)} to have {weight.shape[1] * groups} channels, but got "
            f"{x.shape[1]} channels instead"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with "
            f"{len(weight)} elements, but got bias of size {list(bias.shape)} instead"
        )

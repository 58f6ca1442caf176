"""Convolutions and transposed convolutions of signals, images and volumes."""

from __future__ import annotations

from typing import Any

from autograd_core.nn.functional.sizes import Sizes, sizes
from autograd_core.ops.networks import convolution as ops
from autograd_core.ops.shaping import shape
from autograd_core.ops.shaping.rearrange import constant_pad_nd
from autograd_core.tensor import Tensor


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve signals (N, C, L) or (C, L) with kernels (O, C / groups, l)."""
    return _convolved(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve images (N, C, H, W) or (C, H, W) with kernels (O, C / groups, h, w).

    ``padding`` is the number of zeros on each side, "valid" for none, or "same" to preserve the
    size.
    """
    return _convolved(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve volumes (N, C, D, H, W) or (C, D, H, W) with kernels (O, C / groups, d, h, w)."""
    return _convolved(3, input, weight, bias, stride, padding, dilation, groups)


def _convolved(
    dims: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any,
    dilation: Any, groups: int,
) -> Tensor:  # fmt: skip
    if x.ndim == dims + 1:
        one = shape.unsqueeze(x, 0)
        batch = _convolved(dims, one, weight, bias, stride, padding, dilation, groups)
        return shape.squeeze_dim(batch, 0)
    _check_batch(f"conv{dims}d", dims, x)
    stride, dilation = sizes(stride, dims), sizes(dilation, dims)
    around = (0,) * dims if isinstance(padding, str) else sizes(padding, dims)
    _check(dims, x, weight, groups, stride, around, dilation)
    if isinstance(padding, str):
        x, padding = _by_name(x, weight, padding, stride, dilation)
    result = ops.convolution(x, weight, bias, stride, sizes(padding, dims), dilation, groups)
    if 0 in x._shape[2:] or 0 in weight._shape[2:]:
        _check_elements(x, weight)
    return result


def _check(dims: int, x: Tensor, weight: Tensor, groups: int, *options: tuple[int, ...]) -> None:
    """Refuse a convolution that there is none of; what is usual is seen at a glance."""
    size = weight._shape
    fits = len(size) == dims + 2 and groups > 0 and not size[0] % groups and size[0]
    if (
        not fits
        or any(len(option) != dims or min(option) < 0 for option in options)
        or (0 in options[0] or 0 in options[2])
    ):
        _refuse(dims, x, weight, groups, *options)


def _refuse(
    dims: int, x: Tensor, weight: Tensor, groups: int, stride: Any, padding: Any, dilation: Any,
    output_padding: Any = (),
) -> None:  # fmt: skip
    if weight.ndim < 3:
        raise RuntimeError("weight should have at least three dimensions")
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    options = {"stride": stride, "padding": padding, "dilation": dilation,
               "output_padding": output_padding}  # fmt: skip
    given = {name: value for name, value in options.items() if value}
    for name, values in given.items():
        if len(values) != dims:
            raise RuntimeError(
                f"expected {name} to be a single integer value or a list of {dims} values to match "
                f"the convolution dimensions, but got {name}={list(values)}"
            )
    for name in ("padding", "output_padding"):
        if min(given.get(name, (0,))) < 0:
            raise RuntimeError(f"negative {name} is not supported")
    if min(given["stride"]) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    spread = given["dilation"]
    if min(spread) <= 0:
        # PyTorch speaks of signals as of images of one row
        got = "" if min(spread) < 0 else f", but got {[*(1,) * (dims == 1), *spread]}"
        raise RuntimeError(f"dilation should be greater than zero{got}")
    size = list(weight.shape)
    if len(size) != x.ndim:
        raise RuntimeError(
            f"Expected {len(size)}-dimensional input for {len(size)}-dimensional weight {size}, "
            f"but got {x.ndim}-dimensional input of size {list(x.shape)} instead"
        )
    if size[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {size} instead"
        )
    if size[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{size}] instead"
        )


def _check_elements(x: Tensor, weight: Tensor) -> None:
    """Only the batch and the channels may be empty."""
    if 0 in weight._shape[2:]:
        row = "kernel_height: 1 " if weight.ndim == 3 else ""
        names = ("width",) if weight.ndim == 3 else ("height", "width")
        got = " ".join(
            f"kernel_{name}: {n}" for name, n in zip(names, weight._shape[2:], strict=False)
        )
        raise RuntimeError(f"kernel size should be greater than zero, but got {row}{got}")
    if 0 in x._shape[2:]:
        size = [*x._shape[:2], *(1,) * (x.ndim == 3), *x._shape[2:]]
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {size}"
        )


def _check_batch(name: str, dims: int, x: Tensor) -> None:
    if x.ndim != dims + 2:
        raise RuntimeError(
            f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, but got "
            f"input of size: {list(x.shape)}"
        )


def _by_name(
    x: Tensor, weight: Tensor, name: str, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """Return the padding that "same" or "valid" asks for; what is uneven goes around ``x``."""
    dims = len(stride)
    if name == "valid":
        return x, (0,) * dims
    if name != "same":
        raise RuntimeError(f"Invalid padding string: '{name}'")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(dilation, weight._shape[2:], strict=True)]
    if any(n % 2 for n in total):
        uneven = tuple(part for n in reversed(total) for part in (0, n % 2))
        x = constant_pad_nd(x, uneven, 0)
    return x, tuple(n // 2 for n in total)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of signals (N, C, L) or (C, L) with kernels (C, O / groups,
    l)."""
    return _spread(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of images (N, C, H, W) or (C, H, W) with kernels (C, O /
    groups, h, w)."""
    return _spread(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """Return the transposed convolution of volumes (N, C, D, H, W) or (C, D, H, W) with kernels (C,
    O / groups, ...)."""
    return _spread(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


def _spread(
    dims: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any,
    output_padding: Any, groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    if x.ndim == dims + 1:
        one = shape.unsqueeze(x, 0)
        batch = _spread(dims, one, weight, bias, stride, padding, output_padding, groups, dilation)
        return shape.squeeze_dim(batch, 0)
    _check_batch(f"conv_transpose{dims}d", dims, x)
    stride, padding, dilation = (sizes(option, dims) for option in (stride, padding, dilation))
    extra = sizes(output_padding, dims)
    _check(dims, x, weight, groups, stride, padding, dilation, extra)
    if any(e >= max(s, d) for e, s, d in zip(extra, stride, dilation, strict=True)):
        sides = ("depth", "height", "width")
        listed = " ".join(
            f"{name}_{side}: {n}"
            for name, values in (
                ("output_padding", extra),
                ("stride", stride),
                ("dilation", dilation),
            )
            for side, n in zip(sides[-dims:], values, strict=True)
        )
        raise RuntimeError(
            f"output padding must be smaller than either stride or dilation, but got {listed}"
        )
    result = ops.conv_transpose(x, weight, bias, stride, padding, dilation, groups, extra)
    if 0 in x._shape[2:] or 0 in weight._shape[2:]:
        _check_elements(x, weight)
    return result

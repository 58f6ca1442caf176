"""What pooling and folding say of windows and images that they do not take, in PyTorch's words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from autograd_core.nn.functional.sizes import sizes
from autograd_core.ops.networks.windows import Windows
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped

_NUMBERS = {2: "two", 3: "three"}
_SIDES = {2: ("H", "W"), 3: ("T", "H", "W")}


def pool_windows(
    name: str, dims: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any = 1
) -> Windows:
    """Return the windows of a pool in 2 or 3 dimensions; without stride they do not overlap."""
    # numbers, as nearly always: the checks would take as long as the pixels of a small image
    if type(kernel_size) is type(padding) is type(dilation) is int and type(stride) in _USUAL:
        return _kept_windows(name, dims, kernel_size, stride, padding, dilation)
    return _windows(name, dims, kernel_size, stride, padding, dilation)


def _windows(
    name: str, dims: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> Windows:
    step = kernel_size if stride is None or stride in ((), []) else stride
    windows = Windows(*(sizes(option, dims) for option in (kernel_size, step, padding, dilation)))
    kernel, stride, padding, dilation = windows
    if (
        not len(kernel) == len(stride) == len(padding) == len(dilation) == dims
        or min(*kernel, *stride, *dilation) <= 0
        or min(padding) < 0
        or any(2 * p > d * (k - 1) + 1 for p, k, d in zip(padding, kernel, dilation, strict=True))
    ):
        _refuse_windows(name, dims, windows)
    return windows


_USUAL: Final = (int, type(None))
_kept_windows: Final = lru_cache(maxsize=256)(_windows)


def _refuse_windows(name: str, dims: int, windows: Windows) -> None:
    for option, value in windows._asdict().items():
        option = option.replace("kernel", "kernel_size")
        if len(value) != dims:
            must = "must be either" if option == "dilation" else "must either be"
            if name == "avg_pool3d":
                must = "must be"
            omitted = " omitted," if option == "stride" else ""
            raise RuntimeError(
                f"{name}: {option} {must}{omitted} a single int, or a tuple of {_NUMBERS[dims]} "
                "ints"
            )
    if 0 in windows.stride:
        raise RuntimeError("stride should not be zero")
    for pad, kernel, spread in zip(windows.padding, windows.kernel, windows.dilation, strict=True):
        if pad < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {pad}")
        if pad > int((spread * (kernel - 1) + 1) / 2):
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={pad}, kernel_size={kernel} and dilation={spread}"
            )
    for option, letter, value in (
        ("kernel size", "k", windows.kernel),
        ("stride", "d", windows.stride),
        ("dilation", "dilation", windows.dilation),
    ):
        _check_positive(option, [letter + side for side in _SIDES[dims]], value)


def _check_positive(option: str, names: Sequence[str], values: Sequence[int]) -> None:
    if min(values) <= 0:
        listed = " ".join(f"{name}: {n}" for name, n in zip(names, values, strict=True))
        raise RuntimeError(f"{option} should be greater than zero, but got {listed}")


def check_pooled(name: str, dims: int, x: Tensor) -> None:
    """``x`` is a batch of images, which may have none in it, or one image."""
    if x.ndim not in (dims + 1, dims + 2):
        if name.startswith("max") or dims == 3:
            raise RuntimeError(
                f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input"
            )
        wrapped(-dims - 1, x.ndim)
        _refuse_image(dims, x)
    if 0 in x._shape[x.ndim - dims - 1 :]:
        if dims == 2:
            _refuse_image(dims, x)
        kernel = "max_pool3d_with_indices_out_cpu_template" if name.startswith("max") else name
        raise RuntimeError(
            f"{kernel}(): Expected input's non-batch dimensions to have positive length, but input "
            f"has a shape of {list(x.shape)} and non-batch dimension 0 has length zero!"
        )


def _refuse_image(dims: int, x: Tensor) -> None:
    raise RuntimeError(
        f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size "
        f"for input, but got:{list(x.shape)}"
    )


def check_signals(name: str, x: Tensor) -> None:
    """``x`` is a batch of signals, or one."""
    if x.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )


def one_size(name: str, option: str, value: Any) -> tuple[int]:
    """Return the one number that an option of signals is."""
    if not isinstance(value, (int, Sequence)):
        raise TypeError(
            f"{name}(): argument '{option}' (position 2) must be tuple of ints, not "
            f"{type(value).__name__}"
        )
    one = sizes(value, 1)
    for place, number in enumerate(one):
        if not isinstance(number, int):
            raise TypeError(
                f"{name}(): argument '{option}' (position 2) must be tuple of ints, but found "
                f"element of type {type(number).__name__} at pos {place}"
            )
    if len(one) != 1:
        raise RuntimeError(f"{name}() argument '{option}' should contain one int (got {len(one)})")
    return (one[0],)


def check_signal_windows(
    x: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any
) -> None:
    """Signals, and windows that move over them, are such as :func:`.max_pool1d` takes."""
    if x.ndim not in (2, 3) or 0 in x._shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )
    step = kernel_size if stride is None or stride in ((), []) else stride
    given = {"kernel_size": kernel_size, "stride": step, "padding": padding, "dilation": dilation}
    for option, value in given.items():
        count = len(sizes(value, 1))
        if count != 1:
            kinds = {
                "stride": "None, an int, list of ints, or tuple of ints",
                "padding": "an int, list of ints, or tuple of ints",
            }
            raise RuntimeError(
                f"max_pool1d() {option} must be "
                f"{kinds.get(option, 'an int, list of ints or tuple of ints')} of size 1 but got "
                f"size {count}"
            )
    (kernel,), (step,), (pad,), (spread,) = (sizes(value, 1) for value in given.values())
    for option, value in (("kernel_size", kernel), ("stride", step)):
        if value <= 0:
            raise RuntimeError(f"max_pool1d() {option} must be greater than zero, but got {value}")
    if pad < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {pad}")
    if 2 * pad > kernel:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={pad} and kernel_size={kernel}"
        )
    if spread <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {spread}")


def adaptive_output(name: str, dims: int, x: Tensor, output_size: Any) -> tuple[int, ...]:
    """Return how many windows each dimension has; None stands for as many as elements."""
    size = x._shape[x.ndim - dims :]
    if dims == 1:
        output_size = one_size(name, "output_size", output_size)
    if output_size is None:
        raise TypeError("object of type 'NoneType' has no len()")
    asked = (output_size,) * dims if isinstance(output_size, int) else tuple(output_size)
    if not isinstance(output_size, int) and len(asked) >= x.ndim:
        raise ValueError(f"Input dimension should be at least {len(asked) + 1}")
    if len(asked) != dims:
        words = "(): internal error: output_size.size()" if "max" in name else ": output_size"
        raise RuntimeError(f"{name}{words} must be {dims}")
    if x.ndim not in (dims + 1, dims + 2):
        colon = ":" if "max" in name else ""
        raise RuntimeError(
            f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(x.shape)}"
        )
    output = tuple(n if w is None else w for w, n in zip(asked, size, strict=True))
    for number, n in enumerate(x._shape):
        if not n and number and (number > x.ndim - dims - 1 or "max" in name or dims == 3):
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(x.shape)} with dimension {number} being empty"
            )
    if min(output) < 0:
        if "max" in name:
            shape = [*x._shape[: x.ndim - dims], *output]
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {min(output)}: {shape}"
            )
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received "
            f"{{{', '.join(map(str, output))}}}"
        )
    return output


def folded(**options: Any) -> dict[str, tuple[int, ...]]:
    """Return the sizes for images of two dimensions that folding takes."""
    numbers = {
        name: (value, value) if isinstance(value, int) else tuple(value)
        for name, value in options.items()
    }
    for name, value in numbers.items():
        if len(value) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(value)}")
    for option, name, short in (
        ("kernel size", "kernel_size", "kernel"),
        ("dilation", "dilation", "dilation"),
        ("stride", "stride", "stride"),
    ):
        _check_positive(option, [f"{short}_height", f"{short}_width"], numbers[name])
    if min(numbers["padding"]) < 0:
        high, wide = numbers["padding"]
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {high} pad_width: {wide}"
        )
    return numbers


def check_unfolded(x: Tensor) -> None:
    """``x`` is a batch of images with elements in it, or one image."""
    if x.ndim not in (3, 4) or 0 in x._shape[x.ndim - 3 :]:
        if x.ndim < 3:
            wrapped(x.ndim, x.ndim)
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(x.shape)}"
        )


def check_columns(x: Tensor) -> None:
    """``x`` is a batch of matrices with elements in it, or one."""
    if x.ndim not in (2, 3) or 0 in x._shape[x.ndim - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(x.shape)}"
        )

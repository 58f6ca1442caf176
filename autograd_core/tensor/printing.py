"""Tensors as text, in PyTorch's layout.

All numbers of a tensor share a format: whole numbers as ``1.``, others with four decimals, or
scientific notation if they differ too much in size.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.dtype import get_default_dtype


@dataclass(frozen=True)
class PrintOptions:
    """The options of printing; see :func:`set_printoptions`."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = _PROFILES["default"]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set the options for printing tensors.

    Args:
        precision: the number of decimals.
        threshold: the most elements of a tensor that is printed in full.
        edgeitems: the number of elements at each end of a dimension otherwise.
        linewidth: the number of characters in a line.
        profile: "default", "short" or "full", which the other options override.
        sci_mode: whether to use scientific notation; None: depending on the values.
    """
    global _options  # PyTorch's interface to its own settings
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    base = _options if profile is None else _PROFILES.get(profile, _options)
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    _options = replace(base, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the current options, named as in :func:`set_printoptions`."""
    return asdict(_options)


def tensor_text(
    array: NDArray[Any], grad_fn: str | None, requires_grad: bool, tangent: object = None
) -> str:
    """Return ``tensor(...)`` with PyTorch's ending: dtype, grad_fn or requires_grad, tangent."""
    prefix = "tensor("
    suffixes = []
    if array.size == 0 and array.ndim != 1:
        suffixes.append(f"size={tuple(array.shape)}")
    usual = (get_default_dtype().dtype, np.dtype(np.int64), np.dtype(np.bool_))
    if array.dtype not in usual or (array.size == 0 and array.dtype != usual[0]):
        suffixes.append(f"dtype=torch.{array.dtype.name}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    text = "[]" if array.size == 0 else _body(array, len(prefix))
    # PyTorch breaks the line when a suffix does not fit behind the last row, which it takes for
    # two characters longer than it is
    last_row = f"{prefix}{text}".rpartition("\n")[2]
    width = len(last_row) + 2
    for suffix in suffixes:
        if width + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * len(prefix) + suffix
            width = len(prefix) + len(suffix)
        else:
            text += ", " + suffix
            width += len(suffix) + 2
    return f"{prefix}{text})"


def _body(array: NDArray[Any], indent: int) -> str:
    shown = _edges(array) if array.size > _options.threshold else array
    write, width = _formatter(shown)
    if array.ndim == 0:
        return write(array[()]).strip() if array.dtype.kind == "f" else write(array[()])
    return _rows(array, indent, array.size > _options.threshold, write, width)


def _edges(array: NDArray[Any]) -> NDArray[Any]:
    """Return the elements that a summarised print shows."""
    for axis, size in enumerate(array.shape):
        if size > 2 * _options.edgeitems:
            kept = np.r_[: _options.edgeitems, size - _options.edgeitems : size]
            array = np.take(array, kept, axis)
    return array


def _formatter(array: NDArray[Any]) -> tuple[Callable[[Any], str], int]:
    """Return a function that writes each number of ``array`` to one width, and that width."""
    values = array.ravel()
    if array.dtype.kind != "f":
        width = max((len(str(value)) for value in values), default=1)
        return lambda value: str(value).rjust(width), width
    # zeros, infinities and NaN have no say in the width, even where they are the longest
    counting = values[np.isfinite(values) & (values != 0)]
    write = _float_format(counting)
    width = max((len(write(value)) for value in counting), default=1)
    return lambda value: write(value).rjust(width), width


def _float_format(values: NDArray[Any]) -> Callable[[Any], str]:
    sizes = np.abs(values.astype(np.float64))
    if not sizes.size:
        return lambda value: f"{value:.0f}." if np.isfinite(value) else f"{value}"
    whole = bool((sizes == np.ceil(sizes)).all())
    wide = sizes.max() / sizes.min() > 1000.0 or sizes.max() > 1.0e8
    scientific = wide or (not whole and sizes.min() < 1.0e-4)
    if _options.sci_mode is not None:
        scientific = _options.sci_mode
    if whole and not scientific:
        return lambda value: f"{value:.0f}." if np.isfinite(value) else f"{value}"
    if scientific:
        return lambda value: f"{value:.{_options.precision}e}"
    return lambda value: f"{value:.{_options.precision}f}" if np.isfinite(value) else f"{value}"


def _rows(
    array: NDArray[Any], indent: int, brief: bool, write: Callable[[Any], str], width: int
) -> str:
    size = array.shape[0]
    short = brief and size > 2 * _options.edgeitems
    index: list[int | None] = list(range(size))
    if short:
        index = [*range(_options.edgeitems), None, *range(size - _options.edgeitems, size)]
    if array.ndim == 1:
        cells = [" ..." if i is None else write(array[i]) for i in index]
        per_line = max(1, (_options.linewidth - indent) // (width + 2))
        lines = [", ".join(cells[i : i + per_line]) for i in range(0, len(cells), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = [
        "..." if i is None else _rows(array[i], indent + 1, brief, write, width) for i in index
    ]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"

"""Window functions of signal processing."""

from __future__ import annotations

import math

import numpy as np

from autograd_core.dtype import dtype, get_default_dtype
from autograd_core.op import public
from autograd_core.tensor import Tensor


def _cosines(
    length: int, periodic: bool, kind: dtype | None, coefficients: tuple[float, ...]
) -> Tensor:
    """Return the sum of ``a[k] * cos(2 pi k n / N)``, N being the period."""
    period = length if periodic else length - 1
    angle = 2 * math.pi * np.arange(length) / max(period, 1)
    total = sum(a * np.cos(k * angle) for k, a in enumerate(coefficients))
    values = np.ones(length) if length == 1 else np.asarray(total)
    return Tensor.from_array(values.astype((kind or get_default_dtype()).dtype))


@public()
def hann_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None) -> Tensor:
    """Return the Hann window: a raised cosine that starts at 0. ``periodic`` leaves out the last
    0."""
    return _cosines(window_length, periodic, dtype, (0.5, -0.5))


@public()
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return the Hamming window, ``alpha - beta * cos``: a raised cosine that does not start at
    0."""
    return _cosines(window_length, periodic, dtype, (alpha, -beta))


@public()
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: dtype | None = None
) -> Tensor:
    """Return the Blackman window: a sum of two cosines."""
    return _cosines(window_length, periodic, dtype, (0.42, -0.5, 0.08))


@public()
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: dtype | None = None
) -> Tensor:
    """Return the Bartlett window: a triangle that starts at 0."""
    period = max(window_length if periodic else window_length - 1, 1)
    places = np.arange(window_length)
    values = np.ones(1) if window_length == 1 else 1 - np.abs(2 * places / period - 1)
    return Tensor.from_array(values.astype((dtype or get_default_dtype()).dtype))

"""The Fourier transforms that are real: of half a spectrum that is real, back to a signal.

Inside they are complex, as NumPy's are; what comes in and goes out is real.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.op import op

# A transform's adjoint goes the other way, and is divided by what the transform was.
_DUAL: dict[str, Any] = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


@op(
    self=lambda g, self_shape, size, dim, norm: spectrum(g, self_shape, size, dim, norm),
    linear=True,
    node="FftC2RBackward0",
    layout="contiguous",
)
def signal(self, /, size, dim, norm):
    """Return the signal of ``size`` along ``dim`` with the spectrum ``self``; of its last dimension
    the first half, the other being equal."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.fft.irfftn(self, size, dim, norm).astype(self.dtype, copy=False)


@op(self=lambda g, size, dim, norm: signal(g, size, dim, norm), linear=True)
def spectrum(self, /, shape, size, dim, norm):
    """Return the gradient, of ``shape``, of what :func:`signal` was given."""
    whole = np.fft.rfftn(self, size, dim, _DUAL[norm]).real
    last = dim[-1]
    # elements of the spectrum that stand for two count twice
    twice = (slice(None),) * (last % self.ndim) + (slice(1, (size[-1] + 1) // 2),)
    whole[twice] *= 2
    result = np.zeros(shape, self.dtype)
    inside = tuple(slice(0, min(have, want)) for have, want in zip(whole.shape, shape, strict=True))
    result[inside] = whole[inside]
    return result

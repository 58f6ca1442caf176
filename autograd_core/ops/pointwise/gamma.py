"""Random numbers of the gamma distribution, with a gradient by its shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.op import pointwise


def _underivable(g: Any) -> Any:
    """Return where PyTorch ends, too."""
    raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


@pointwise(
    result_dtype="float",
    node="StandardGammaBackward0",
    self=lambda g, self, result: g * standard_gamma_grad(self, result),
)
def standard_gamma(self, *, part):
    """Return the number below which is the fraction ``part`` of the gamma distribution of shape
    ``self`` and rate 1: a random one, where ``part`` is random and uniform."""
    from scipy import special  # takes as long to import as our core

    found = special.gammaincinv(self.astype(np.float64), part).astype(self.dtype)
    return np.maximum(found, np.finfo(self.dtype).tiny)


@pointwise(self=lambda g: _underivable(g), output=lambda g: _underivable(g))
def standard_gamma_grad(self, output):
    """Return how ``output`` moves with the shape ``self`` if the fraction below it stays what it
    is."""
    shape, at = np.asarray(self, np.float64), np.asarray(output, np.float64)
    below, density = _fraction_by_shape(shape, at)
    with np.errstate(all="ignore"):
        return np.asarray(-below / density).astype(np.result_type(self, output))


def _fraction_by_shape(
    shape: NDArray[np.float64], at: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the derivative of the fraction below ``at`` by the shape, and the density there, both
    without the factor ``at**shape * exp(-at) / gamma(shape + 1)`` that they share.

    The fraction is the series of ``at**(shape + n) * exp(-at) / gamma(shape + n + 1)``
    (DLMF 8.7.1), which is differentiated term by term; all terms are positive, and they fall once
    ``n`` is above ``at - shape``.
    """
    from scipy import special  # takes as long to import as our core

    term, log_at = np.ones(np.broadcast_shapes(shape.shape, at.shape)), np.log(at)
    psi = special.digamma(shape + 1)
    total, derivative, n = term.copy(), term * (log_at - psi), 0
    while (term > 1e-17 * total).any():
        n += 1
        psi = psi + 1 / (shape + n)
        term = term * (at / (shape + n))
        total += term
        derivative += term * (log_at - psi)
    return derivative, shape / at

"""Parametrizations: weight and spectral normalization."""

from __future__ import annotations

from typing import TypeVar

from autograd_core.nn.modules.module import Module
from autograd_core.nn.utils.norms import length_of, rows_of, singular_step, start_vectors
from autograd_core.nn.utils.parametrize import register_parametrization
from autograd_core.ops.algebra.linalg import dot, mv
from autograd_core.ops.networks.normalization import weight_norm as normed
from autograd_core.tensor import Tensor

__all__ = ["spectral_norm", "weight_norm"]

M = TypeVar("M", bound=Module)


class _WeightNorm(Module):
    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, length: Tensor, direction: Tensor) -> Tensor:
        return normed(direction, length, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Length and direction."""
        return length_of(weight, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Compute the parameter ``name`` from its magnitude ``original0`` and its direction
    ``original1`` (Salimans and Kingma 2016), with one magnitude per slice of dimension ``dim``, or
    a single one if that is None."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim, self.eps, self.n_power_iterations = dim % ndim, eps, n_power_iterations
        if ndim > 1:
            rows = rows_of(weight.detach(), self.dim)
            for name, vector in zip(("_u", "_v"), start_vectors(rows, eps), strict=True):
                self.register_buffer(name, vector)
            for _ in range(15):
                self._step(rows)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return weight / (weight * weight).sum().sqrt().clamp(min=self.eps)
        rows = rows_of(weight, self.dim)
        for _ in range(self.n_power_iterations if self.training else 0):
            self._step(rows)
        # the next call changes the vectors in place; this one's graph keeps its own
        return weight / dot(self._u.clone(), mv(rows, self._v.clone()))

    def _step(self, rows: Tensor) -> None:
        # first `_u`, then `_v`; the hook of `utils.spectral_norm` goes the other way round
        singular_step(rows.mT, self._v, self._u, self.eps)

    def right_inverse(self, value: Tensor) -> Tensor:
        """Taken as it is; another value comes out unless its norm is 1."""
        return value


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide the parameter ``name`` by its largest singular value (Miyato et al. 2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    parametrization = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, parametrization)

"""Matrices held orthogonal (Lezcano-Casado 2019, "Trivializations for gradient-based
optimization on manifolds")."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from autograd_core import linalg
from autograd_core.functions import cat, eye, generator, zeros
from autograd_core.nn.modules.module import Module
from autograd_core.nn.utils.parametrize import register_parametrization
from autograd_core.tensor import Tensor

M = TypeVar("M", bound=Module)
MAPS = ("matrix_exp", "cayley", "householder")


class Orthogonal(Module):
    """A matrix, or several, with orthonormal columns, or rows where there are fewer of them.

    ``base``, the start, is multiplied by an orthogonal matrix that is the image of any matrix
    under ``orthogonal_map``.
    """

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        X = X.mT if wide else X
        Q = _reflected(X) if self.orthogonal_map == "householder" else self._rotated(X)
        if self.use_trivialization:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _rotated(self, X: Tensor) -> Tensor:
        """The first columns of a rotation that a skew-symmetric matrix generates."""
        n, k = X.size(-2), X.size(-1)
        X = X.tril()
        if n != k:
            X = cat([X, zeros(*X.shape[:-2], n, n - k, dtype=X.dtype)], dim=-1)
        A = X - X.mT
        if self.orthogonal_map == "matrix_exp":
            Q = linalg.matrix_exp(A)
        else:
            one = eye(n, dtype=A.dtype)
            Q = linalg.solve(one - A * 0.5, one + A * 0.5)
        return Q if n == k else Q[..., :k]

    def right_inverse(self, Q: Tensor) -> Tensor:
        """What gives ``Q``, or the orthogonal matrix of its QR decomposition."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        wide = Q.size(-2) < Q.size(-1)
        tall = (Q.mT if wide else Q).detach().array
        if self.use_trivialization:
            n, k = tall.shape[-2:]
            noise = generator().standard_normal((*tall.shape[:-2], n, n - k))
            whole = np.concatenate([tall, noise.astype(tall.dtype)], -1)
            keep = n == k and _is_orthogonal(whole)
            self.base = Tensor.from_array(whole.copy() if keep else _orthogonalized(whole))
            start = np.zeros_like(Q.array)
            start[_diagonal(start)] = -1
            return Tensor.from_array(start)
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        A = Tensor.from_array(_reflectors(tall))
        return A.mT if wide else A


def _reflected(X: Tensor) -> Tensor:
    """The product of the Householder reflections by the columns of ``X``."""
    A = X.tril(-1)
    tau = 2 / (1 + (A * A).sum(dim=-2))
    signs = X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
    return linalg.householder_product(A, tau) * signs


def _reflectors(Q: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The reflections of LAPACK's QR decomposition of ``Q``, with the signs of its diagonal, and
    the other sign where no reflection is made."""
    rows, tau = np.linalg.qr(Q, mode="raw")
    A = np.swapaxes(rows, -1, -2).copy()
    signs = np.sign(A[_diagonal(A)])
    A[_diagonal(A)] = np.where(tau == 0, -signs, signs)
    return A


def _diagonal(A: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """The index of the diagonal of each matrix."""
    places = np.arange(min(A.shape[-2:]))
    return ..., places, places


def _orthogonalized(A: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    Q, R = np.linalg.qr(A)
    signed: np.ndarray[Any, Any] = Q * np.sign(R[_diagonal(R)])[..., None, :]
    return signed


def _is_orthogonal(Q: np.ndarray[Any, Any]) -> bool:
    n, k = Q.shape[-2:]
    close = 10 * n * np.finfo(Q.dtype).eps
    return bool(np.allclose(np.swapaxes(Q, -1, -2) @ Q, np.eye(k), atol=close))


def orthogonal(
    module: M,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> M:
    """Hold the parameter ``name``, a matrix or several, orthogonal.

    Args:
        orthogonal_map: "matrix_exp" (for square ones, if None), "cayley" or "householder".
        use_trivialization: start from the orthogonal matrix nearest to the parameter, at the
            price of a buffer of its size.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    square = weight.shape[-2] == weight.shape[-1]
    chosen = orthogonal_map or ("matrix_exp" if square else "householder")
    if chosen not in MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)

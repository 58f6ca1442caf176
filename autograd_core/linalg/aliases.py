"""Linear algebra at the top level of PyTorch, mostly older names for ``torch.linalg``."""

from __future__ import annotations

import math

from autograd_core import return_types
from autograd_core.linalg.factorizations import not_positive
from autograd_core.linalg.systems import pinv
from autograd_core.op import public
from autograd_core.ops.algebra import decompositions, inverses
from autograd_core.ops.algebra import lu as lu_ops
from autograd_core.ops.algebra.matrices import check_info
from autograd_core.ops.pointwise import elementwise
from autograd_core.tensor import Tensor


@public("function method", out="cast")
def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """Compute :func:`autograd_core.linalg.cholesky`, under its older name."""
    L, info = decompositions.cholesky_old(self, upper)
    check_info("cholesky", info.array, not_positive)
    return L


@public("function method", out="expect")
def qr(self: Tensor, some: bool = True) -> return_types.qr:
    """Compute :func:`autograd_core.linalg.qr`, under its older name; ``some=False`` gives a square
    ``Q``."""
    return return_types.qr(*decompositions.qr(self, "reduced" if some else "complete"))


@public("function method", out="expect")
def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> return_types.svd:
    """Return ``U``, ``S`` and ``V`` (not transposed) of ``self = U @ diag(S) @ V.mT``."""
    U, S, Vh = decompositions.svd(self, not some)
    if not compute_uv:
        U, Vh = (Tensor.from_array(part.array * 0) for part in (U, Vh))
    return return_types.svd(U, S, Vh.transpose(-2, -1))


@public("function method", out="expect")
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """Compute :func:`autograd_core.linalg.lu_factor_ex`, under its older name."""
    LU, pivots, info = lu_ops.lu_factor_ex(A, pivot)
    return (LU, pivots, info) if get_infos else (LU, pivots)


@public("function method", out="expect")
def slogdet(self: Tensor) -> return_types.slogdet:
    """Compute :func:`autograd_core.linalg.slogdet`, under its older name."""
    return return_types.slogdet(*inverses.slogdet(self))


@public("function method")
def logdet(self: Tensor) -> Tensor:
    """Return the log of the determinant; NaN where the determinant is negative."""
    sign, logabsdet = inverses.slogdet(self)
    return elementwise.where(sign == -1, math.nan, logabsdet)


@public("function method", out="expect")
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Compute :func:`autograd_core.linalg.lu_solve`, under its older name."""
    return lu_ops.lu_solve(LU_data, LU_pivots, b)


@public("function method")
def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    """Compute :func:`autograd_core.linalg.pinv`, under its older name, with a relative
    tolerance."""
    return pinv(self, rcond)

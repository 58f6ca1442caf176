"""What the ops on matrices share: their checks, their errors, parts of matrices, batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from autograd_core.dtype import from_numpy_dtype
from autograd_core.op.refusals import not_implemented
from autograd_core.ops.checks import LinAlgError
from autograd_core.ops.scipy_functions import from_scipy
from autograd_core.ops.shaping.diagonals import tril
from autograd_core.ops.shaping.shape import transpose
from autograd_core.tensor import Tensor


def mT(x: Any) -> Any:
    """Return matrices transposed."""
    return transpose(x, -2, -1)


def constant(array: Any, like: Any) -> Any:
    """Return ``array`` in the dtype of ``like``, and a tensor if that is one."""
    if isinstance(like, Tensor):
        return Tensor.from_array(np.asarray(array, like.dtype.dtype))
    return np.asarray(array, like.dtype)


def mirrored(x: Any) -> Any:
    """Return the symmetric matrices whose lower triangles are those of ``x``."""
    return tril(x) + mT(tril(x, -1))


# What PyTorch looks at in its kernels only, and there says otherwise.
_KERNELS: Final = {
    "cholesky": "cholesky_cpu",
    "cholesky_inverse": "cholesky_inverse_out_cpu",
    "linalg.eigh": "linalg_eigh_cpu",
    "linalg.solve_triangular": "triangular_solve_cpu",
    "torch.linalg.householder_product": "orgqr_cpu",
    "torch.linalg.lu_factor": "lu_cpu",
}
_KERNELS_OF_HALF: Final = {
    "linalg.cholesky": "cholesky_cpu",
    "linalg.det": "lu_cpu",
    "linalg.qr": "geqrf_cpu",
    "linalg.slogdet": "lu_cpu",
    "linalg.svd": "linalg_svd_cpu",
    "torch.linalg.lu_solve": "linalg.lu_solve_cpu",
}


def check_floating(name: str, x: Any, half: bool = False) -> None:
    """Matrix functions take single and double precision, norms half precision, too."""
    kernel = _KERNELS.get(name) or _KERNELS_OF_HALF.get(name)
    if kernel and (x.dtype == np.float16 or (x.dtype.kind != "f" and name in _KERNELS)):
        raise not_implemented(kernel, from_numpy_dtype(x.dtype))
    if x.dtype.kind != "f":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. "
            f"Got {from_numpy_dtype(x.dtype).scalar_name}"
        )
    if x.dtype == np.float16 and not half:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def check_matrices(name: str, x: Any, half: bool = False) -> None:
    """``x`` is a batch of matrices of a dtype that matrix functions take."""
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    check_floating(name, x, half)


def check_square(name: str, x: Any) -> None:
    """``x`` is a batch of square matrices."""
    check_matrices(name, x)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are "
            f"{x.shape[-2]} by {x.shape[-1]} matrices"
        )


def check_info(name: str, info: Any, wrong: Callable[[int], str]) -> None:
    """Raise if the solver failed for one of the matrices, and say for which.

    ``info`` is zero where it did not, else the place where it stopped, from 1.
    """
    failed = np.flatnonzero(info)
    if len(failed):
        batch = f"(Batch element {failed[0]}): " if np.ndim(info) else ""
        raise LinAlgError(f"{name}: {batch}{wrong(int(np.ravel(info)[failed[0]]))}")


ILL_CONDITIONED: Final = (
    "The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
    "repeated eigenvalues."
)
_NOT_FINITE: Final = (
    "The algorithm failed to converge because the input matrix contained non-finite values."
)


def each_matrix(function: Callable[..., Any], *batches: Any) -> tuple[Any, ...]:
    """Return the results of ``function`` for each matrix, or each tuple of matrices, of equal
    batches, none of which is empty.

    SciPy's solvers take one matrix at a time.
    """
    lead = batches[0].shape[:-2]
    flat = [batch.reshape(-1, *batch.shape[-2:]) for batch in batches]
    results = [function(*matrices) for matrices in zip(*flat, strict=True)]
    return tuple(
        np.stack([np.asarray(part) for part in parts]).reshape((*lead, *np.shape(parts[0])))
        for parts in zip(*results, strict=True)
    )


def same_batch(*arrays: Any) -> list[Any]:
    """Return batches of matrices broadcast to one batch shape."""
    lead = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    return [np.broadcast_to(array, (*lead, *array.shape[-2:])) for array in arrays]


def lapack(x: Any, *names: str) -> Any:
    """LAPACK's or BLAS's routines for the dtype of ``x``."""
    kind = "blas" if names == ("trsm",) else "lapack"
    return from_scipy("linalg", f"get_{kind}_funcs")(names, (x,))


def factored(
    x: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Return the singular values of matrices, and their vectors; NaN where a matrix is infinite.

    LAPACK's routine does not come back from a matrix with infinite elements.
    """
    svd: Any = np.linalg.svd
    if hermitian:  # by eigenvalues
        try:
            return svd(x, full_matrices, compute_uv, bool(x.size))
        except np.linalg.LinAlgError:
            raise LinAlgError(f"linalg.eigh: {ILL_CONDITIONED}") from None
    finite = np.isfinite(x).all((-2, -1))
    if finite.all():
        try:
            return svd(x, full_matrices, compute_uv)
        except np.linalg.LinAlgError:
            raise LinAlgError(f"linalg.svd: {_NOT_FINITE}") from None
    check_info("linalg.svd", np.isnan(x).any((-2, -1)), lambda _: _NOT_FINITE)
    factors = svd(np.where(finite[..., None, None], x, 0), full_matrices, compute_uv)
    for part in factors if compute_uv else (factors,):
        part[~finite] = np.nan
    return factors

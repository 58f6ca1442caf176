"""What functions with several results return: tuples with names, as ``torch.return_types``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from autograd_core.tensor import Tensor


def _shown(self: Any) -> str:
    """Return a line for each field."""
    fields = ",\n".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
    return f"torch.return_types.{type(self).__name__}(\n{fields})"


class _ValuesAndIndices(NamedTuple):
    values: Tensor
    indices: Tensor


class max(_ValuesAndIndices):
    """The largest elements along a dimension, and where they are."""


class min(_ValuesAndIndices):
    """The smallest elements along a dimension, and where they are."""


class cummax(_ValuesAndIndices):
    """The largest elements so far, and where they are."""


class cummin(_ValuesAndIndices):
    """The smallest elements so far, and where they are."""


class kthvalue(_ValuesAndIndices):
    """The k-th smallest elements along a dimension, and where they are."""


class median(_ValuesAndIndices):
    """The middle elements along a dimension, and where they are."""


class mode(_ValuesAndIndices):
    """The most frequent elements along a dimension, and where they are."""


class nanmedian(_ValuesAndIndices):
    """The middle elements that are not NaN, and where they are."""


class sort(_ValuesAndIndices):
    """The elements in order, and where they were."""


class topk(_ValuesAndIndices):
    """The largest or smallest elements, and where they were."""


class aminmax(NamedTuple):
    """The smallest and the largest elements."""

    min: Tensor
    max: Tensor


class frexp(NamedTuple):
    """Numbers as ``mantissa * 2**exponent``."""

    mantissa: Tensor
    exponent: Tensor


# of matrices


class linalg_cholesky_ex(NamedTuple):
    """The factor, and the order of the leading minor that is not positive definite, else 0."""

    L: Tensor
    info: Tensor


class linalg_eigh(NamedTuple):
    """The eigenvalues in ascending order, and the eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class linalg_inv_ex(NamedTuple):
    """The inverse, and the number of the diagonal element that was 0, 0 if there is none."""

    inverse: Tensor
    info: Tensor


class linalg_lstsq(NamedTuple):
    """The solution, the residual sums of squares, the rank and the singular values."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class linalg_lu(NamedTuple):
    """A permutation and two triangular matrices."""

    P: Tensor
    L: Tensor
    U: Tensor


class lu_unpack(linalg_lu):
    """A permutation and two triangular matrices."""


class linalg_lu_factor(NamedTuple):
    """Both triangular matrices in one, and the pivots, counted from 1."""

    LU: Tensor
    pivots: Tensor


class linalg_lu_factor_ex(NamedTuple):
    """Both triangular matrices in one, the pivots, and the diagonal element that is 0, else 0."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class linalg_qr(NamedTuple):
    """A matrix with orthonormal columns, and an upper triangular one."""

    Q: Tensor
    R: Tensor


class qr(linalg_qr):
    """Orthonormal columns, and an upper triangular matrix."""


class linalg_slogdet(NamedTuple):
    """The sign of a determinant, and the log of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


class slogdet(linalg_slogdet):
    """The sign of a determinant, and the logarithm of its absolute value."""


class linalg_solve_ex(NamedTuple):
    """The solution, and the number of the diagonal element that was 0, 0 if there is none."""

    result: Tensor
    info: Tensor


class linalg_svd(NamedTuple):
    """``U``, the singular values, and ``V`` transposed."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class svd(NamedTuple):
    """``U``, the singular values, and ``V``."""

    U: Tensor
    S: Tensor
    V: Tensor


class triangular_solve(NamedTuple):
    """The solution, and a copy of the matrix."""

    solution: Tensor
    cloned_coefficient: Tensor


for _kind in list(globals().values()):
    if isinstance(_kind, type) and _kind.__module__ == __name__:
        _kind.__repr__ = _shown  # type: ignore[assignment]

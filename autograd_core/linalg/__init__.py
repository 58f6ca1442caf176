"""Linear algebra, under the names of ``torch.linalg``."""

from autograd_core.fallback import answer_missing_names
from autograd_core.functions import matmul
from autograd_core.functions.keywords import take_form
from autograd_core.linalg.factorizations import (
    cholesky,
    cholesky_ex,
    eigh,
    eigvalsh,
    householder_product,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from autograd_core.linalg.products import (
    cond,
    cross,
    diagonal,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    norm,
    vander,
    vecdot,
    vector_norm,
)
from autograd_core.linalg.systems import (
    det,
    inv,
    inv_ex,
    lstsq,
    lu_solve,
    pinv,
    slogdet,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from autograd_core.ops.checks import LinAlgError

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

take_form(globals(), [name for name in __all__ if name != "matmul"])

answer_missing_names(__name__)

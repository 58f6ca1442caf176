"""Linear algebra, under the names of ``torch.linalg``."""

from __future__ import annotations

from autograd_core.ops import linalg
from autograd_core.ops.checks import LinAlgError
from autograd_core.tensor import Tensor

__all__ = ["LinAlgError", "solve"]


def solve(A: Tensor, B: Tensor) -> Tensor:
    """The ``X`` of ``A @ X = B``, for square matrices ``A``.

    >>> from autograd_core import tensor
    >>> solve(tensor([[2.0, 0.0], [0.0, 4.0]]), tensor([1.0, 2.0]))
    tensor([0.5000, 0.5000])

    Raises:
        RuntimeError: ``A`` is not square; a LinAlgError where it is singular.
    """
    return linalg.solve_matrix(A, B)

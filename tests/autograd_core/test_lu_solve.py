"""What the solver for factored systems takes, and what it refuses before LAPACK sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import autograd_core as torch

A = [[2.0, 1.0], [1.0, 3.0]]

EMPTY_BATCHES = """
import autograd_core as torch
for size in range(1, 4):
    for _ in range(200):
        LU = torch.zeros(0, size, size, dtype=torch.float64, requires_grad=True)
        b = torch.zeros(0, size, size, dtype=torch.float64, requires_grad=True)
        pivots = torch.zeros(0, size, dtype=torch.int32)
        torch.linalg.lu_solve(LU, pivots, b, left=False).sum().backward()
"""


def pivots(*values: Any, dtype: Any = torch.int32) -> torch.Tensor:
    return torch.tensor(values, dtype=dtype)


def test_an_empty_batch_writes_to_no_memory_of_others() -> None:
    environment = {**os.environ, "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}
    done = subprocess.run(
        [sys.executable, "-c", EMPTY_BATCHES], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0, 2), "Pivots given to lu_solve must all be greater or equal to 1"),
        ((-5, 2), "Pivots given to lu_solve must all be greater or equal to 1"),
        ((3, 2), "Pivots given to lu_solve must all be smaller or equal to LU.size"),
        ((1 << 30, 2), "Pivots given to lu_solve must all be smaller or equal to LU.size"),
        ((1,), "Number of pivots per batch should be same as the dimension of the matrix"),
        ((1, 2, 2), "Number of pivots per batch should be same as the dimension of the matrix"),
        (([1, 2], [1, 2]), "Expected LU.shape.* and pivots.shape to be the same"),
    ],
)
def test_pivots_that_name_no_row_are_refused(given: Any, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.linalg.lu_solve(torch.tensor(A), pivots(*given), torch.ones(2, 1))


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32])
def test_pivots_are_integers_of_32_bits(dtype: Any) -> None:
    with pytest.raises(RuntimeError, match=r"pivots should be a Tensor of scalar type torch.int32"):
        torch.linalg.lu_solve(torch.tensor(A), pivots(1, 2, dtype=dtype), torch.ones(2, 1))
    with pytest.raises(RuntimeError, match="LU_pivots is expected to be a contiguous tensor"):
        torch.lu_unpack(torch.tensor(A), pivots(1, 2, dtype=dtype))


@pytest.mark.parametrize("given", [(0, 2), (3, 2), (-1, 2), (1,), (1, 2, 2)])
def test_no_rows_are_exchanged_by_pivots_that_name_none(given: Any) -> None:
    with pytest.raises(RuntimeError, match=r"pivots passed to lu_unpack|LU_pivots of shape"):
        torch.lu_unpack(torch.tensor(A), pivots(*given))


@pytest.mark.parametrize(
    ("LU", "b", "words"),
    [
        (torch.zeros(2, 3), torch.zeros(2, 1), "A must be batches of square matrices"),
        (torch.zeros(2), torch.zeros(2, 1), "The input tensor A must have at least 2 dimensions"),
        (torch.zeros(2, 2), torch.zeros(2), "The input tensor B must have at least 2 dimensions"),
        (torch.zeros(2, 2), torch.zeros(3, 1), "Incompatible shapes of A and B"),
        (torch.zeros(2, 2), torch.zeros(2, 1, dtype=torch.float64), "to have the same dtype"),
        (torch.zeros(2, 2, dtype=torch.int64), torch.zeros(2, 1), "Expected a floating point"),
    ],
)
def test_systems_of_other_shapes_and_dtypes_are_refused(LU: Any, b: Any, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.linalg.lu_solve(LU, pivots(1, 2), b)


@pytest.mark.parametrize(
    ("matrices", "values", "result"),
    [
        ((0, 2, 2), (0, 2, 3), (0, 2, 3)),
        ((0, 2, 2), (2, 3), (0, 2, 3)),
        ((0, 0), (0, 3), (0, 3)),
        ((2, 0, 0), (2, 0, 3), (2, 0, 3)),
        ((2, 2), (2, 0), (2, 0)),
        ((3, 2, 2), (3, 2, 0), (3, 2, 0)),
    ],
)
@pytest.mark.extra("scipy")
def test_where_nothing_is_to_be_solved_shapes_are_kept(
    matrices: tuple[int, ...], values: tuple[int, ...], result: tuple[int, ...]
) -> None:
    eye = np.broadcast_to(np.eye(matrices[-1]), matrices)
    A, b = torch.tensor(eye, requires_grad=True), torch.ones(values, dtype=torch.float64)
    b.requires_grad_()
    for solve in (
        lambda: torch.linalg.lu_solve(*torch.linalg.lu_factor(A), b),
        lambda: torch.linalg.solve_triangular(A, b, upper=True),
        lambda: torch.cholesky_solve(b, A),
        lambda: torch.linalg.solve(A, b),
    ):
        found = solve()
        assert tuple(found.shape) == result
        gradients = torch.autograd.grad(found.sum(), (A, b))
        assert [tuple(g.shape) for g in gradients] == [matrices, values]
        assert all(not g.any() for g in gradients)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (0, 2, 3), (2, 3, 0)])
@pytest.mark.extra("scipy")
def test_factors_of_empty_matrices_have_the_shapes_of_factors(shape: tuple[int, ...]) -> None:
    *lead, rows, columns = shape
    inner = min(rows, columns)
    LU, exchanges, info = torch.linalg.lu_factor_ex(torch.zeros(shape))
    assert tuple(LU.shape) == shape
    assert tuple(exchanges.shape) == (*lead, inner)
    assert tuple(info.shape) == tuple(lead)
    P, L, U = torch.linalg.lu(torch.zeros(shape))
    assert tuple(P.shape) == (*lead, rows, rows)
    assert tuple(L.shape) == (*lead, rows, inner)
    assert tuple(U.shape) == (*lead, inner, columns)
    np.testing.assert_array_equal(P.numpy(), np.broadcast_to(np.eye(rows), P.shape))


@pytest.mark.extra("scipy")
def test_batches_of_exchanges_become_permutations_one_by_one() -> None:
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.standard_normal((2, 3, 4, 4)))
    P, L, U = torch.linalg.lu(x)
    np.testing.assert_allclose((P @ L @ U).numpy(), x.numpy(), atol=1e-12)

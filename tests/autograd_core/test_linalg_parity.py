"""Functions on matrices, held to PyTorch: values, graphs, gradients of both orders, errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import Case, compare, each

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

A = [[2.0, 0.5, 0.3], [1.0, 3.0, -0.2], [0.4, -1.0, 1.5]]
S = [[3.0, 0.5, 0.2], [0.5, 2.0, -0.4], [0.2, -0.4, 1.0]]
L = [[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.4, -1.0, 1.5]]
TWO = [A, S]


def case(name: str, *leaves: Any, arguments: dict[str, Any] | None = None, **options: Any) -> Case:
    """A case that calls ``linalg.name``, or, with a dot before it, the function at the top."""

    def run(torch: Any, *x: Any) -> Any:
        space = torch if name.startswith(".") else torch.linalg
        found = getattr(space, name.removeprefix("."))(*x, **(arguments or {}))
        return tuple(found) if isinstance(found, tuple) else found

    label = (
        f"{name} {arguments or ''} {[np.shape(x) if isinstance(x, list) else x for x in leaves]}"
    )
    return Case(label, leaves, run, **options)


def invariant(name: str, *parts: int) -> Callable[..., Any]:
    """Vectors whose signs are free, squared."""

    def run(torch: Any, x: Any) -> Any:
        found = getattr(torch.linalg, name)(x)
        return tuple(part**2 if i in parts else part for i, part in enumerate(found))

    return run


def through_lu(**options: Any) -> Callable[..., Any]:
    def run(torch: Any, a: Any, b: Any) -> Any:
        return torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, **options)

    return run


def on_factor(name: str, upper: bool = False) -> Callable[..., Any]:
    """The gradient of a Cholesky factor, where it is triangular."""

    def run(torch: Any, l: Any, *b: Any) -> Any:  # noqa: E741
        factor = torch.linalg.cholesky(l, upper=upper)
        return getattr(torch, name)(*b, factor, upper=upper)

    return run


def turned(name: str, **options: Any) -> Callable[..., Any]:
    return lambda torch, *x: getattr(torch, name)(*x, **options)


CASES = [
    case("cholesky", S), case("cholesky", [S, S], arguments={"upper": True}),
    case("cholesky_ex", S), case(".cholesky", S),
    Case("cholesky_inverse", (S,), on_factor("cholesky_inverse")),
    Case("cholesky_inverse upper", (S,), on_factor("cholesky_inverse", True)),
    Case("cholesky_solve", (S, (3, 2)), on_factor("cholesky_solve")),
    Case("cholesky_solve upper", (S, (3, 2)), on_factor("cholesky_solve", True)),
    *(case("cond", A, arguments={"p": p}) for p in (None, 2, -2, "nuc")),
    # PyTorch changes the inverse in place, and its own derivative then fails
    *(Case(f"cond {p}", (A,), lambda torch, a, p=p: torch.linalg.cond(a.detach(), p))
      for p in ("fro", 1, -1, math.inf, -math.inf)),
    case("cross", (3,), (3,)), case("cross", (2, 3), (1, 3)),
    case("cross", (3, 2), (3, 2), arguments={"dim": 0}),
    case("det", A), case("det", TWO), case(".det", A), case(".logdet", A), case(".logdet", TWO),
    case("slogdet", A), case(".slogdet", TWO),
    case("diagonal", (2, 3, 4)), case("diagonal", A, arguments={"offset": 1}),
    Case("eigh", (S,), invariant("eigh", 1)), case("eigvalsh", [S, S]),
    case("eigvalsh", S, arguments={"UPLO": "U"}),
    case("householder_product", (4, 3), (3,)), case("householder_product", (2, 4, 3), (2, 2)),
    case(".ormqr", (3, 3), (3,), (3, 2)),
    case(".ormqr", (3, 3), (3,), (2, 3), arguments={"left": False, "transpose": True}),
    case("inv", A), case("inv", TWO), case("inv_ex", A), case(".inverse", A),
    case("lstsq", (4, 3), (4, 2)), case("lstsq", (2, 4, 3), (2, 4, 2)),
    case("lstsq", (2, 3), (2, 2)), case("lstsq", (4, 3), (4, 2), arguments={"driver": "gelsd"}),
    case("lu", A), case("lu", (4, 3)), case("lu", (2, 2, 3)),
    case("lu_factor", A), case("lu_factor_ex", TWO), case(".lu", A),
    Case("lu_unpack", (A,), lambda torch, a: tuple(torch.lu_unpack(*torch.linalg.lu_factor(a)))),
    Case("lu_solve", (A, (3, 2)), through_lu()),
    Case("lu_solve adjoint", (A, (2, 3, 2)), through_lu(adjoint=True)),
    Case("lu_solve right", (A, (2, 3)), through_lu(left=False)),
    Case("lu_solve right adjoint", (A, (2, 3)), through_lu(left=False, adjoint=True)),
    Case("lu_solve, older", (A, (3, 2)),
         lambda torch, a, b: torch.lu_solve(b, *torch.linalg.lu_factor(a))),
    *(case("matrix_norm", (2, 3, 4), arguments={"ord": order, "keepdim": keep})
      for order in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf) for keep in (False, True)),
    case("matrix_norm", (2, 3, 4), arguments={"ord": 2, "dim": (0, 2)}),
    case("matrix_norm", (2, 3, 4), arguments={"ord": 1, "dim": (2, 0)}),
    *(case("matrix_power", A, arguments={"n": n}) for n in (-3, -2, -1, 1, 2, 3, 5, 6, 7)),
    case("matrix_power", TWO, arguments={"n": 3}),
    case("matrix_exp", A), case("matrix_exp", (2, 2, 2)), case(".matrix_exp", A),
    *(Case(f"multi_dot {shapes}", shapes, lambda torch, *x: torch.linalg.multi_dot(x))
      for shapes in [((2, 3), (3, 4)), ((2, 3), (3, 4), (4, 2)), ((3,), (3, 4), (4, 2), (2,)),
                     ((2, 3), (3, 4), (4, 2), (2, 5)), ((5, 2), (2, 5), (5, 5))]),
    case("norm", A), case("norm", (3,), arguments={"ord": 1}),
    case("norm", A, arguments={"ord": 2}),
    case("norm", (2, 3, 2), arguments={"dim": (1, 2)}), case("norm", A, arguments={"dim": 0}),
    case("norm", A, arguments={"ord": "nuc"}), case("norm", (2, 3), arguments={"keepdim": True}),
    case("pinv", (4, 3)), case("pinv", (2, 2, 3)), case("pinv", S, arguments={"hermitian": True}),
    case("pinv", (4, 3), arguments={"rtol": 0.1}), case(".pinverse", (4, 3)),
    case("qr", (4, 3)), case("qr", (2, 2, 3)), case("qr", A, arguments={"mode": "complete"}),
    case(".qr", (4, 3)),
    case("solve", A, (3, 2)), case("solve", A, (3,)), case("solve", TWO, (2, 3)),
    case("solve", A, (2, 3), arguments={"left": False}), case("solve", TWO, (3, 2)),
    case("solve_ex", A, (3, 2)),
    case("solve_triangular", A, (3, 2), arguments={"upper": True}),
    case("solve_triangular", A, (2, 3), arguments={"upper": False, "left": False}),
    case("solve_triangular", TWO, (3, 2), arguments={"upper": False, "unitriangular": True}),
    case(".triangular_solve", (3, 2), A),
    case(".triangular_solve", (3, 2), A, arguments={"upper": False, "transpose": True}),
    Case("svd", ((4, 3),), lambda torch, x: tuple(
        part**2 for part in torch.linalg.svd(x, full_matrices=False))),
    Case("svd wide", ((2, 2, 3),), lambda torch, x: tuple(
        part**2 for part in torch.linalg.svd(x, full_matrices=False))),
    case("svdvals", (4, 3)), Case("svd, older", ((4, 3),), lambda torch, x: tuple(
        part**2 for part in torch.svd(x))),
    case("tensorinv", (4, 6, 8, 3)), case("tensorinv", (6, 3, 2), arguments={"ind": 1}),
    case("tensorsolve", (2, 3, 6), (2, 3)), case("tensorsolve", (2, 2, 4, 1), (2, 2)),
    case("vander", (3,)), case("vander", (2, 3), arguments={"N": 2}),
    case("vecdot", (3,), (3,)), case("vecdot", (2, 3), (3,)),
    case("vecdot", (3, 2), (3, 2), arguments={"dim": 0}),
    *(case("vector_norm", (2, 3), arguments={"ord": order, **more})
      for order in (2, 1, 0, 3, 0.5, 1.5, math.inf, -math.inf)
      for more in ({}, {"dim": 1, "keepdim": True})),
    Case("vector_norm of zeros", ([0.0, 0.0],), lambda torch, x: torch.linalg.vector_norm(x),
         second=False),
]  # fmt: skip


@pytest.mark.sampled(40)
@each(CASES)
def test_functions_on_matrices_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


Z, N, R, V = np.zeros((2, 2)), [[1.0, 2.0], [2.0, 1.0]], np.ones((4, 3)), np.ones(3)
ERRORS: list[Callable[[Any, Callable[[Any], Any]], Any]] = [
    lambda la, t: la.inv(t(Z)), lambda la, t: la.inv(t(np.zeros((2, 2, 2)))),
    lambda la, t: la.solve(t(Z), t(Z)), lambda la, t: la.solve(t(np.zeros((2, 2, 2))), t(Z)),
    lambda la, t: la.cholesky(t(N)), lambda la, t: la.cholesky(t([N, N])),
    lambda la, t: la.det(t(R)), lambda la, t: la.inv(t(R)), lambda la, t: la.eigh(t(R)),
    lambda la, t: la.cholesky(t(R)), lambda la, t: la.inv(t(V)), lambda la, t: la.det(t(V)),
    lambda la, t: la.inv(t([[1, 2], [3, 4]])), lambda la, t: la.qr(t(R), "x"),
    lambda la, t: la.matrix_power(t(R), 2), lambda la, t: la.multi_dot([t(Z)]),
    lambda la, t: la.multi_dot([t(Z), t(R)]), lambda la, t: la.matrix_exp(t(R)),
    lambda la, t: la.tensorinv(t(R)), lambda la, t: la.cond(t(Z), 7),
    lambda la, t: la.matrix_norm(t(Z), 7), lambda la, t: la.matrix_norm(t(V)),
    lambda la, t: la.pinv(t(V)), lambda la, t: la.eigh(t(Z), "X"),
    lambda la, t: la.solve_triangular(t(R), t(R), upper=True),
    lambda la, t: la.householder_product(t(R.T), t(V)), lambda la, t: la.matrix_power(t(Z), 1.5),
    lambda la, t: la.vector_norm(t(V), "fro"), lambda la, t: la.lu_factor(t(Z)),
    lambda la, t: la.svd(t(Z * np.nan)),
]  # fmt: skip


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_in_the_words_of_pytorch(call: Callable[..., Any]) -> None:
    with pytest.raises((RuntimeError, TypeError)) as theirs:
        call(torch.linalg, torch.tensor)
    with pytest.raises((RuntimeError, TypeError)) as mine:
        call(autograd_core.linalg, autograd_core.tensor)
    assert str(mine.value) == str(theirs.value)


def test_a_singular_matrix_has_the_derivative_of_its_determinant() -> None:
    """PyTorch has zeros here; the derivatives are the cofactors."""
    a = autograd_core.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    autograd_core.linalg.det(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), [[4.0, -2.0], [-2.0, 1.0]], rtol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{}, {"tol": 0.9}, {"atol": 0.5, "rtol": 0.1}, {"rtol": 0.5}, {"hermitian": True}],
    ids=str,
)
def test_the_rank_counts_singular_values(options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    matrices = np.stack([np.diag([3.0, 1.0, 0.0]), np.ones((3, 3)), np.zeros((3, 3))])
    for array in (
        matrices,
        matrices[0],
        matrices[:, :2] if "hermitian" not in options else matrices,
    ):
        mine, theirs = (
            each.linalg.matrix_rank(each.tensor(array), **options)
            for each in (autograd_core, torch)
        )
        assert repr(mine) == repr(theirs)


def test_arguments_may_be_named_and_results_stored() -> None:
    torch = pytest.importorskip("torch")

    def found(library: Any) -> list[Any]:
        a = library.tensor([[4.0, 1.0], [1.0, 3.0]])
        out = library.empty(2, 2)
        return [
            library.linalg.det(A=a),
            library.linalg.matrix_exp(a),
            library.linalg.cholesky(a, out=out),
            out,
            library.linalg.norm(input=a, dim=1, dtype=library.float64),
            library.linalg.vector_norm(x=a, dtype=library.float64),
            library.linalg.svdvals(a, driver=None),
            library.linalg.solve(A=a, B=a),
            library.linalg.cross(input=a.new_ones(3), other=a.new_ones(3)),
            library.linalg.matmul(a, a),
            library.special.entr(input=a),
            library.special.expit(a, out=library.empty(0)),
            library.special.polygamma(n=1, input=a),
            library.special.xlog1py(input=a, other=a),
            library.special.multigammaln(a, 2),
            library.fft.irfft(input=a.new_ones(3), n=4),
        ]

    for mine, theirs in zip(found(autograd_core), found(torch), strict=True):
        assert str(mine.dtype) == str(theirs.dtype)
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5)


def test_infinite_matrices_have_no_singular_values_but_an_answer() -> None:
    matrices = [[[1.0, math.inf], [math.inf, 1.0]], [[2.0, 0.0], [0.0, 1.0]]]
    found = autograd_core.linalg.svdvals(autograd_core.tensor(matrices))
    np.testing.assert_allclose(found.numpy(), [[math.nan] * 2, [2, 1]])
    errors = []
    for t in (autograd_core, torch):
        with pytest.raises(RuntimeError) as raised:
            t.linalg.svd(t.tensor([[[1.0]], [[math.nan]]]))
        errors.append(str(raised.value))
    assert errors[0] == errors[1]

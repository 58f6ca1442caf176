"""Calls that the tables do not hold, one by one, as PyTorch answers them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import assert_same_outcome, evaluated

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


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


def test_whole_numbers_transform_as_floats() -> None:
    assert autograd_core.fft.irfft(autograd_core.tensor([1, 2, 3])).dtype is autograd_core.float32


def test_a_nan_stays_where_it_is_when_an_image_grows() -> None:
    x = autograd_core.tensor([[[1.0, float("nan"), 3.0]]])
    found = autograd_core.nn.functional.interpolate(x, scale_factor=2).numpy()
    np.testing.assert_array_equal(np.isnan(found[0, 0]), [False, False, True, True, False, False])


def test_labels_that_do_not_fit_are_infinitely_unlikely() -> None:
    F = autograd_core.nn.functional
    scores = autograd_core.zeros(2, 1, 3)
    loss = F.ctc_loss(scores, autograd_core.tensor([[1, 1]]), (2,), (2,), reduction="none")
    assert loss.tolist() == [float("inf")]


def test_a_soft_choice_is_random_and_a_hard_one_has_its_gradient() -> None:
    for namespace in (autograd_core, torch):
        namespace.manual_seed(0)
        scores = namespace.tensor([[0.0, 1.0, 4.0]] * 500, requires_grad=True)
        chosen = namespace.nn.functional.gumbel_softmax(scores, tau=0.5, hard=True)
        assert set(np.unique(chosen.detach().numpy().round(6))) <= {0.0, 1.0}
        shares = chosen.detach().numpy().mean(0)
        np.testing.assert_allclose(shares, np.exp([0, 1, 4]) / np.exp([0, 1, 4]).sum(), atol=0.06)
        chosen[:, 0].sum().backward()
        assert (scores.grad.numpy() != 0).any()


def test_an_out_of_another_shape_is_resized_with_a_warning() -> None:
    for namespace in (autograd_core, torch):
        out = namespace.zeros(3)
        with pytest.warns(UserWarning, match=r"was resized since it had shape \[3\]"):
            assert namespace.sin(namespace.ones(2), out=out) is out
        np.testing.assert_allclose(out.numpy(), np.sin([1, 1]), rtol=1e-6)


def test_devices_look_as_in_pytorch() -> None:
    for namespace in (autograd_core, torch):
        cpu, gpu = namespace.device("cpu"), namespace.device("cuda", 1)
        assert (repr(cpu), str(cpu), cpu.type, cpu.index) == (
            "device(type='cpu')",
            "cpu",
            "cpu",
            None,
        )
        assert (repr(gpu), str(gpu)) == ("device(type='cuda', index=1)", "cuda:1")
        assert cpu == namespace.device("cpu")
        assert cpu != "cpu"
        assert namespace.ones(2).device == cpu
        assert hash(cpu) == hash(namespace.ones(1).device)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda t, x: t.mul(x), "mul"),
        (lambda t, x: t.mul(x, x, other=x), "mul"),
        (lambda t, x: t.mul(x, x, colour=1), "mul"),
    ],
)
def test_wrong_numbers_of_arguments_are_refused(call: Callable[..., Any], said: str) -> None:
    for library in (autograd_core, torch):
        with pytest.raises(TypeError, match=said):
            call(library, library.ones(2))


def test_rows_of_an_embedding_do_not_exceed_its_norm() -> None:
    t, rng = autograd_core, np.random.default_rng(0)
    for seed in range(20):
        rows = rng.standard_normal((8, 5)).astype(np.float32) * 10
        found = []
        for space in (t, torch):
            weight = space.tensor(rows)
            space.nn.functional.embedding(space.arange(8), weight, max_norm=1.0)
            found.append(weight.numpy())
        assert (np.linalg.norm(found[0].astype(np.float64), axis=1) <= 1 + 1e-6).all()
        np.testing.assert_allclose(*found, rtol=3e-7, err_msg=str(seed))


def test_targets_of_uint8_count_as_numbers_in_a_soft_margin_loss() -> None:
    t = autograd_core
    x = t.tensor([0.5, -1.5], requires_grad=True)
    t.nn.functional.soft_margin_loss(x, t.tensor([1, 1], dtype=t.uint8)).backward()
    gradient = x.grad
    x.grad = None
    t.nn.functional.soft_margin_loss(x, t.tensor([1.0, 1.0])).backward()
    assert gradient.tolist() == x.grad.tolist()


F = "t.nn.functional"
CALLS = [
    f"{F}.mse_loss(x, y, None, None, 'sum')", f"{F}.mse_loss(x, y, False)",
    f"{F}.mse_loss(x, y, reduce=False)", f"{F}.mse_loss(x, y[:2])",
    f"{F}.mse_loss(x, y, weight=y[:1])", f"{F}.mse_loss(x, y, reduction='no', weight=y * y)",
    f"{F}.l1_loss(x, y, reduction='sum', weight=y * y)", f"{F}.l1_loss(x, y, reduction='no')",
    f"{F}.huber_loss(x, y, weight=y[:1])", f"{F}.huber_loss(x, y, delta=0.)",
    f"{F}.huber_loss(x, y, 'none', 0.3, y * y)", f"{F}.smooth_l1_loss(x, y, beta=-1.)",
    f"{F}.smooth_l1_loss(x, y, None, None, 'sum', 0.3)",
    f"{F}.cross_entropy(x[None], i, None, None, 2)", f"{F}.nll_loss(x[None], i, None, False)",
    f"{F}.kl_div(x, y * y)", f"{F}.kl_div(x[0], (y * y)[0], reduction='batchmean')",
    f"{F}.kl_div(x, y, None, False)", f"{F}.soft_margin_loss(x, y, False)",
    f"{F}.multi_margin_loss(x[None], i, 1, 0.5, x[None])", f"{F}.multi_margin_loss(x[None], i, 3)",
    f"{F}.binary_cross_entropy(y * y, y[:2])", f"{F}.binary_cross_entropy_with_logits(x, y[:2])",
    f"{F}.cosine_similarity(a, b, dim=-2)", f"{F}.cosine_similarity(a, b, dim=0)",
    f"{F}.cosine_similarity(a * 0, b)", f"{F}.cosine_similarity(x * 1e-9, y, 0)",
    f"{F}.cosine_similarity(x[0], y, 0)", f"{F}.cosine_similarity(a, y[:2])",
    "t.nn.MSELoss(False)(x, y)", "t.nn.CrossEntropyLoss(None, None, 2)(x[None], i)",
    "t.nn.KLDivLoss(None, None, 'sum', True)(x, y)",
    f"{F}.embedding(i.to(t.uint8), a[0])", f"{F}.embedding(i.bool(), a[0])",
    f"{F}.embedding(i.short(), a[0])", f"{F}.embedding(i, x)",
]  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_arguments_of_losses_are_those_of_pytorch(text: str) -> None:
    mine, theirs = (
        evaluated(
            t,
            text,
            x=t.tensor([0.5, -1.5, 2.0], requires_grad=True),
            y=t.tensor([0.25, 0.5, -1.0]),
            i=t.tensor([2]),
            a=t.tensor([[[0.5, -1.0, 2.0], [1.0, 3.0, -0.5]]]),
            b=t.tensor([[[1.5, 1.0, -2.0]], [[0.5, 0.25, 1.0]]]),
        )
        for t in (autograd_core, torch)
    )
    assert_same_outcome(mine, theirs)

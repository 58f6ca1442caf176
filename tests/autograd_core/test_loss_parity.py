"""Every loss on every mixture of dtypes, held to PyTorch: values, dtypes, gradients and errors."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import assert_same_outcome, evaluated, outcome

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

KINDS = ["float32", "float64", "float16", "int64", "int32", "uint8", "bool"]
FEWER = ["float32", "float64", "int64", "bool"]

SHARES = [[0.2, 0.7, 0.5], [0.9, 0.1, 0.4]]
OTHERS = [[0.6, 0.3, 0.8], [0.2, 0.5, 0.9]]
X = [[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]]
Y = [[1.0, 0.5, -1.0], [2.0, -0.25, 0.5]]
Z = [[-1.0, 1.5, 0.25], [0.5, 1.0, -2.0]]
SIGNS = [[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]]
TRUTHS = [[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
COUNTS = [[3.0, 0.0, 2.0], [1.0, 5.0, 0.5]]
LABELS = [2.0, 0.0]
BY_CLASS = [0.5, 1.0, 2.0]

Loss = tuple[Callable[..., Any], list[Any]]
LOSSES: dict[str, Loss] = {
    "mse_loss": (lambda F, a, b: F.mse_loss(a, b), [X, Y]),
    "mse_loss, none": (lambda F, a, b: F.mse_loss(a, b, reduction="none"), [X, Y]),
    "mse_loss, weight": (lambda F, a, b, w: F.mse_loss(a, b, weight=w), [X, Y, SHARES]),
    "l1_loss": (lambda F, a, b: F.l1_loss(a, b), [X, Y]),
    "l1_loss, weight": (lambda F, a, b, w: F.l1_loss(a, b, weight=w), [X, Y, SHARES]),
    "smooth_l1_loss": (lambda F, a, b: F.smooth_l1_loss(a, b), [X, Y]),
    "smooth_l1_loss, sum": (lambda F, a, b: F.smooth_l1_loss(a, b, reduction="sum"), [X, Y]),
    "smooth_l1_loss, beta 0": (lambda F, a, b: F.smooth_l1_loss(a, b, beta=0.0), [X, Y]),
    "huber_loss": (lambda F, a, b: F.huber_loss(a, b), [X, Y]),
    "huber_loss, weight": (lambda F, a, b, w: F.huber_loss(a, b, weight=w), [X, Y, SHARES]),
    "binary_cross_entropy": (lambda F, a, b: F.binary_cross_entropy(a, b), [SHARES, TRUTHS]),
    "binary_cross_entropy, weight": (
        lambda F, a, b, w: F.binary_cross_entropy(a, b, w), [SHARES, TRUTHS, OTHERS],
    ),
    "binary_cross_entropy_with_logits": (
        lambda F, a, b: F.binary_cross_entropy_with_logits(a, b), [X, TRUTHS],
    ),
    "binary_cross_entropy_with_logits, weight": (
        lambda F, a, b, w: F.binary_cross_entropy_with_logits(a, b, w), [X, TRUTHS, SHARES],
    ),
    "binary_cross_entropy_with_logits, pos_weight": (
        lambda F, a, b, w: F.binary_cross_entropy_with_logits(a, b, pos_weight=w),
        [X, TRUTHS, SHARES],
    ),
    "kl_div": (lambda F, a, b: F.kl_div(a, b, reduction="batchmean"), [X, SHARES]),
    "kl_div, log": (lambda F, a, b: F.kl_div(a, b, reduction="sum", log_target=True), [X, Y]),
    "poisson_nll_loss": (lambda F, a, b: F.poisson_nll_loss(a, b), [X, Y]),
    "poisson_nll_loss, full": (lambda F, a, b: F.poisson_nll_loss(a, b, full=True), [X, COUNTS]),
    "poisson_nll_loss, rate": (
        lambda F, a, b: F.poisson_nll_loss(a, b, log_input=False), [SHARES, COUNTS],
    ),
    "gaussian_nll_loss": (lambda F, a, b, v: F.gaussian_nll_loss(a, b, v), [X, Y, SHARES]),
    "gaussian_nll_loss, full": (
        lambda F, a, b, v: F.gaussian_nll_loss(a, b, v, full=True), [X, Y, SHARES],
    ),
    "gaussian_nll_loss, number": (lambda F, a, b: F.gaussian_nll_loss(a, b, 0.5), [X, Y]),
    "soft_margin_loss": (lambda F, a, b: F.soft_margin_loss(a, b), [X, SIGNS]),
    "hinge_embedding_loss": (lambda F, a, b: F.hinge_embedding_loss(a, b), [X, SIGNS]),
    "cosine_embedding_loss": (
        lambda F, a, b, y: F.cosine_embedding_loss(a, b, y), [X, Y, [1.0, -1.0]],
    ),
    "margin_ranking_loss": (
        lambda F, a, b, y: F.margin_ranking_loss(a, b, y, margin=0.5), [X, Y, SIGNS],
    ),
    "triplet_margin_loss": (lambda F, a, b, c: F.triplet_margin_loss(a, b, c), [X, Y, Z]),
    "triplet_margin_loss, swap": (
        lambda F, a, b, c: F.triplet_margin_loss(a, b, c, swap=True), [X, Y, Z],
    ),
    "triplet_margin_with_distance_loss": (
        lambda F, a, b, c: F.triplet_margin_with_distance_loss(a, b, c), [X, Y, Z],
    ),
    "nll_loss": (lambda F, a, b: F.nll_loss(a, b), [X, LABELS]),
    "nll_loss, weight": (lambda F, a, b, w: F.nll_loss(a, b, w), [X, LABELS, BY_CLASS]),
    "cross_entropy": (lambda F, a, b: F.cross_entropy(a, b), [X, LABELS]),
    "cross_entropy, weight": (lambda F, a, b, w: F.cross_entropy(a, b, w), [X, LABELS, BY_CLASS]),
    "cross_entropy, smooth": (
        lambda F, a, b, w: F.cross_entropy(a, b, w, label_smoothing=0.1), [X, LABELS, BY_CLASS],
    ),
    "cross_entropy, shares": (lambda F, a, b: F.cross_entropy(a, b), [X, SHARES]),
    "cross_entropy, shares and weight": (
        lambda F, a, b, w: F.cross_entropy(a, b, w), [X, SHARES, BY_CLASS],
    ),
    "cross_entropy, shares, smooth": (
        lambda F, a, b: F.cross_entropy(a, b, label_smoothing=0.1), [X, SHARES],
    ),
    "multi_margin_loss": (lambda F, a, b: F.multi_margin_loss(a, b), [X, LABELS]),
    "multi_margin_loss, weight": (
        lambda F, a, b, w: F.multi_margin_loss(a, b, weight=w), [X, LABELS, BY_CLASS],
    ),
    "multilabel_margin_loss": (
        lambda F, a, b: F.multilabel_margin_loss(a, b), [X, [[2.0, 0.0, -1.0], [1.0, -1.0, 0.0]]],
    ),
    "multilabel_soft_margin_loss": (
        lambda F, a, b: F.multilabel_soft_margin_loss(a, b), [X, TRUTHS],
    ),
    "multilabel_soft_margin_loss, weight": (
        lambda F, a, b, w: F.multilabel_soft_margin_loss(a, b, w), [X, TRUTHS, SHARES],
    ),
    "cosine_similarity": (lambda F, a, b: F.cosine_similarity(a, b).sum(), [X, Y]),
    "pairwise_distance": (lambda F, a, b: F.pairwise_distance(a, b).sum(), [X, Y]),
    "ctc_loss": (
        lambda F, a, b: F.ctc_loss(a.reshape(2, 1, 3).log_softmax(2), b.reshape(1, 1), (2,), (1,)),
        [X, [1.0]],
    ),
}  # fmt: skip
# PyTorch's own backward pass overflows there: it takes -1 for 255.
WRONG_IN_PYTORCH = {("soft_margin_loss", "uint8")}


def attempt(t: Any, loss: Loss, kinds: tuple[str, ...]) -> Any:
    """The loss, and the gradients of what can have one."""
    leaves = []
    for data, kind in zip(loss[1], kinds, strict=True):
        numbers = np.array(data)
        array = (np.abs(numbers) if kind in ("uint8", "bool") else numbers).astype(kind)
        leaves.append(t.tensor(array, requires_grad=array.dtype.kind == "f"))
    found = loss[0](t.nn.functional, *leaves)
    if found.requires_grad:
        found.sum().backward()
    for leaf in leaves:
        assert leaf.grad is None or leaf.grad.dtype is leaf.dtype
    return [found, *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_mixed_dtypes_are_those_of_pytorch(name: str) -> None:
    loss = LOSSES[name]
    count = len(loss[1])
    for kinds in itertools.product(KINDS if count < 3 else FEWER, repeat=count):
        if (name, kinds[1]) in WRONG_IN_PYTORCH:
            continue
        mine, theirs = (outcome(partial(attempt, t, loss, kinds)) for t in (autograd_core, torch))
        rtol = 2e-2 if "float16" in kinds else 1e-5
        assert_same_outcome(mine, theirs, rtol, atol=2e-2 if "float16" in kinds else 1e-6)


def test_targets_of_uint8_count_as_numbers_in_a_soft_margin_loss() -> None:
    t = autograd_core
    x = t.tensor([0.5, -1.5], requires_grad=True)
    t.nn.functional.soft_margin_loss(x, t.tensor([1, 1], dtype=t.uint8)).backward()
    gradient = x.grad
    x.grad = None
    t.nn.functional.soft_margin_loss(x, t.tensor([1.0, 1.0])).backward()
    assert gradient.tolist() == x.grad.tolist()


# Arguments

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
    f"{F}.poisson_nll_loss(x, y * y, True, True, None, 1e-8, None, 'none')",
    f"{F}.poisson_nll_loss(x, y, reduction='no')", f"{F}.kl_div(x, y * y)",
    f"{F}.kl_div(x[0], (y * y)[0], reduction='batchmean')", f"{F}.kl_div(x, y, None, False)",
    f"{F}.gaussian_nll_loss(x, y, -1.)", f"{F}.gaussian_nll_loss(x, y, y)",
    f"{F}.gaussian_nll_loss(x, y, x[:2] * x[:2])", f"{F}.gaussian_nll_loss(x, y, x * x, eps=1.)",
    f"{F}.gaussian_nll_loss(x, y, (x * x)[0], reduction='none')",
    f"{F}.gaussian_nll_loss(x, y, (x * x)[:1], reduction='none')",
    f"{F}.gaussian_nll_loss(x, y, x * x, reduction='no')", f"{F}.margin_ranking_loss(x, y, i)",
    f"{F}.margin_ranking_loss(x, y, i[0])", f"{F}.triplet_margin_loss(x, y, x, margin=0.)",
    f"{F}.triplet_margin_with_distance_loss(x, y, x[0])",
    f"{F}.multi_margin_loss(x[None], i, 1, 0.5, x[None])", f"{F}.multi_margin_loss(x[None], i, 3)",
    f"{F}.multilabel_soft_margin_loss(x, y, reduction='no')", f"{F}.soft_margin_loss(x, y, False)",
    f"{F}.hinge_embedding_loss(i, i, reduction='none')",
    f"{F}.binary_cross_entropy(y * y, y[:2])", f"{F}.binary_cross_entropy_with_logits(x, y[:2])",
    f"{F}.cosine_similarity(a, b, dim=-2)", f"{F}.cosine_similarity(a, b, dim=0)",
    f"{F}.cosine_similarity(a * 0, b)", f"{F}.cosine_similarity(x * 1e-9, y, 0)",
    f"{F}.cosine_similarity(x[0], y, 0)", f"{F}.cosine_similarity(a, y[:2])",
    "t.nn.MSELoss(False)(x, y)", "t.nn.CrossEntropyLoss(None, None, 2)(x[None], i)",
    "t.nn.KLDivLoss(None, None, 'sum', True)(x, y)",
    "t.nn.PoissonNLLLoss(True, False, False)(x, y)",
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


NAMES = [name for name in LOSSES if inspect.isfunction(getattr(torch.nn.functional, name, None))]


@pytest.mark.parametrize("name", NAMES)
def test_signatures_of_losses_are_those_of_pytorch(name: str) -> None:
    mine, theirs = (
        list(inspect.signature(getattr(t.nn.functional, name)).parameters)
        for t in (autograd_core, torch)
    )
    assert mine == theirs


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

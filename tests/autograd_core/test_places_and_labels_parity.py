"""Images looked up at places, sequences of labels, and pairs of points, held to PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core
from tests.autograd_core.side_by_side import Case, compare, each

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:Default .* behavior")]

RNG = np.random.default_rng(4)
IMAGES, VOLUMES = RNG.standard_normal((2, 3, 4, 5)), RNG.standard_normal((2, 2, 3, 4, 3))
PLACES, SPOTS = RNG.uniform(-1.6, 1.6, (2, 4, 2, 2)), RNG.uniform(-1.6, 1.6, (2, 2, 2, 2, 3))


def looked_up(x: Any, grid: Any, mode: str, padding: str, align: bool) -> Case:
    def run(torch: Any, x: Any, grid: Any) -> Any:
        return torch.nn.functional.grid_sample(x, grid, mode, padding, align)

    # PyTorch has no second derivative of this
    return Case(f"{x.ndim - 2}d {mode} {padding} {align}", (x, grid), run, second=False)


@each(
    [
        looked_up(x, grid, mode, padding, align)
        for x, grid in ((IMAGES, PLACES), (VOLUMES, SPOTS))
        for mode in ("bilinear", "nearest", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for align in (True, False)
        if x.ndim == 4 or mode != "bicubic"
    ]
)
def test_images_at_places_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


@each(
    [
        Case(
            f"{size} {align}",
            ((2, len(size) - 2, len(size) - 1),),
            lambda torch, theta, size=size, align=align: torch.nn.functional.affine_grid(
                theta, size, align
            ),
        )
        for size in ((2, 3, 4, 5), (2, 3, 1, 5), (2, 1, 3, 4, 2))
        for align in (True, False)
    ]
)
def test_places_of_affine_maps_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


def spelled(targets: Any, inputs: Any, lengths: Any, **options: Any) -> Case:
    def run(torch: Any, x: Any) -> Any:
        F = torch.nn.functional
        scores = F.log_softmax(x, -1)
        told = [torch.tensor(each) for each in (targets, inputs, lengths)]
        return F.ctc_loss(scores, *told, **options)

    return Case(f"{lengths} {options}", ((6, 3, 5),), run, second=False)


PADDED = np.array([[1, 2, 2], [3, 1, 0], [1, 1, 1]])


@each(
    [
        *(
            spelled(PADDED, (6, 4, 5), (3, 2, 3), **options)
            for options in ({}, {"reduction": "sum"}, {"reduction": "none"}, {"blank": 4})
        ),
        spelled(np.array([1, 2, 2, 3, 1]), (6, 4, 5), (3, 2, 0)),
        spelled(PADDED, (6, 4, 3), (3, 2, 3), zero_infinity=True),
    ]
)
def test_the_loss_of_unaligned_labels_is_that_of_pytorch(case: Case) -> None:
    compare(torch, case)


def test_labels_that_do_not_fit_are_infinitely_unlikely() -> None:
    F = autograd_core.nn.functional
    scores = autograd_core.zeros(2, 1, 3)
    loss = F.ctc_loss(scores, autograd_core.tensor([[1, 1]]), (2,), (2,), reduction="none")
    assert loss.tolist() == [float("inf")]


@each(
    [
        Case(f"pdist {p}", ((4, 3),), lambda torch, x, p=p: torch.pdist(x, p), second=False)
        for p in (2.0, 1.0, 3.0, float("inf"))
    ]
)
def test_distances_of_pairs_are_those_of_pytorch(case: Case) -> None:
    compare(torch, case)


LABELS = np.array([[0, 2], [1, 1]])
MORE = [
    Case("one_hot", (), lambda t: t.nn.functional.one_hot(t.tensor(LABELS))),
    Case("one_hot 5", (), lambda t: t.nn.functional.one_hot(t.tensor(LABELS), 5)),
    Case(
        "triplets",
        ((3, 4), (3, 4), (3, 4)),
        lambda t, a, b, c: t.nn.functional.triplet_margin_with_distance_loss(
            a, b, c, distance_function=lambda x, y: (x - y).abs().sum(-1), swap=True, margin=2.0
        ),
        graph=False,
    ),
    Case(
        "linear_cross_entropy",
        ((3, 4), (5, 4), (5,)),
        lambda t, x, weight, bias: t.nn.functional.linear_cross_entropy(
            x, weight, t.tensor([0, 4, 2]), linear_bias=bias, label_smoothing=0.1
        ),
        graph=False,
    ),
    Case(
        "native_layer_norm",
        ((3, 4), (4,), (4,)),
        lambda t, x, w, b: t.native_layer_norm(x, (4,), w, b, 1e-5),
    ),
    Case(
        "native_batch_norm",
        ((3, 4), (4,), (4,)),
        lambda t, x, w, b: t.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5),
    ),
    Case(
        "native_group_norm",
        ((3, 4, 2), (4,), (4,)),
        lambda t, x, w, b: t.native_group_norm(x, w, b, 3, 4, 2, 2, 1e-5)[0],
    ),
]


@each(MORE)
def test_what_else_is_like_pytorch(case: Case) -> None:
    compare(torch, case)


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


ERRORS: list[Callable[[Any, Any], Any]] = [
    lambda t, F: F.grid_sample(t.ones(1, 1, 2, 2), t.ones(2, 1, 1, 2)),
    lambda t, F: F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 3)),
    lambda t, F: F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2), "cubic"),
    lambda t, F: F.grid_sample(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 2), padding_mode="some"),
    lambda t, F: F.affine_grid(t.ones(2, 2, 2), (2, 1, 3, 3)),
    lambda t, F: F.one_hot(t.tensor([1.0])),
    lambda t, F: F.one_hot(t.tensor([-1])),
    lambda t, F: F.one_hot(t.tensor([3]), 2),
    lambda t, F: F.pdist(t.ones(3)),
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_in_the_words_of_pytorch(call: Callable[..., Any]) -> None:
    kinds = (RuntimeError, ValueError)
    with pytest.raises(kinds) as theirs:
        call(torch, torch.nn.functional)
    with pytest.raises(kinds) as mine:
        call(autograd_core, autograd_core.nn.functional)
    assert str(mine.value) == str(theirs.value)

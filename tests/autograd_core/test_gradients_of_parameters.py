"""Gradients of what an op does, not of what it does it to: each fact on this core and PyTorch."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("places", "gradient"), [([0, 0], 1), ([0, 2, 0, 2], 2), ([], 0), ([1], 1)]
)
def test_a_number_filled_in_twice_at_one_place_counts_once(
    torch: Any, places: list[int], gradient: float
) -> None:
    value = torch.tensor(2.0, requires_grad=True)
    index = torch.tensor(places, dtype=torch.int64)
    torch.zeros(3).index_fill(0, index, value).sum().backward()
    assert value.grad == gradient


def test_places_to_fill_may_count_from_the_end() -> None:
    """PyTorch refuses them in the backward pass."""
    import autograd_core as torch

    value = torch.tensor(2.0, requires_grad=True)
    torch.zeros(3, 2).index_fill(0, torch.tensor([-1, 2, 0]), value).sum().backward()
    assert value.grad == 4


ROWS = [[1.0, 5.0, 2.0], [3.0, 7.0, 4.0]]
NANS = [[1.0, 5.0, 2.0], [3.0, float("nan"), 4.0], [float("nan")] * 3]


@pytest.mark.parametrize(
    ("name", "rows", "gradient"),
    [
        ("quantile", ROWS, [4, 12]), ("nanquantile", ROWS, [4, 12]),
        ("quantile", NANS, [2, 6]), ("nanquantile", NANS, [3, 7]),
    ],
)  # fmt: skip
def test_a_quantile_has_the_slope_between_neighbours(
    torch: Any, name: str, rows: list[list[float]], gradient: list[float]
) -> None:
    q = torch.tensor([0.3, 0.6], requires_grad=True)
    x = torch.tensor(rows, requires_grad=True)
    (found,) = torch.autograd.grad(getattr(torch, name)(x, q, 1).nansum(), q, create_graph=True)
    assert found.tolist() == pytest.approx(gradient)
    assert torch.autograd.grad(found[0], x)[0][0].tolist() == pytest.approx([-2, 0, 2])


@pytest.mark.parametrize("way", ["lower", "higher", "nearest", "midpoint"])
def test_a_quantile_that_is_no_slope_has_no_gradient_of_its_place(torch: Any, way: str) -> None:
    q = torch.tensor([0.3, 0.6], requires_grad=True)
    assert not torch.quantile(torch.tensor(ROWS), q, interpolation=way).requires_grad

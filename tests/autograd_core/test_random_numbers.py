"""Generators and the state of random numbers, in both libraries: which numbers come is each
library's own."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def test_a_generator_gives_the_same_numbers_from_the_same_seed(torch: Any) -> None:
    g = torch.Generator()
    assert g.manual_seed(3) is g
    for draw in (
        lambda: torch.rand(4, generator=g),
        lambda: torch.randn(2, 2, generator=g),
        lambda: torch.randint(9, (5,), generator=g),
        lambda: torch.randperm(6, generator=g),
        lambda: torch.empty(3).uniform_(generator=g),
        lambda: torch.bernoulli(torch.full((9,), 0.5), generator=g),
    ):
        g.manual_seed(3)
        first = draw()
        g.manual_seed(3)
        assert torch.equal(draw(), first)
    assert g.initial_seed() == 3


def test_a_generator_of_ones_own_leaves_the_other_alone(torch: Any) -> None:
    torch.manual_seed(0)
    plain = torch.rand(3)
    torch.manual_seed(0)
    torch.rand(5, generator=torch.Generator())
    assert torch.equal(torch.rand(3), plain)


def test_a_state_can_be_gone_back_to(torch: Any) -> None:
    state = torch.get_rng_state()
    assert state.dtype is torch.uint8
    first = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(3), first)
    g = torch.Generator().manual_seed(1)
    state = g.get_state()
    first = torch.rand(2, generator=g)
    g.set_state(state)
    assert torch.equal(torch.rand(2, generator=g), first)
    with pytest.raises(RuntimeError):
        g.set_state(state[:4])


def test_a_fork_leaves_no_trace(torch: Any) -> None:
    random = importlib.import_module(f"{torch.__name__}.random")
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    with random.fork_rng():
        torch.rand(7)
    assert torch.equal(torch.rand(2), expected)


def test_seeds_may_be_negative(torch: Any) -> None:
    torch.manual_seed(-1)
    first = torch.rand(2)
    torch.manual_seed(-1)
    assert torch.equal(torch.rand(2), first)


def test_a_tensor_is_filled_with_random_numbers_by_named_parameters(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.empty(20_000)
    assert x.normal_(mean=3.0, std=0.5) is x
    assert (x.mean().item(), x.std().item()) == pytest.approx((3, 0.5), abs=0.05)
    assert x.uniform_(2, to=4).mean().item() == pytest.approx(3, abs=0.05)
    assert x.exponential_(lambd=2.0).mean().item() == pytest.approx(0.5, abs=0.05)
    assert x.bernoulli_(p=0.2).mean().item() == pytest.approx(0.2, abs=0.05)
    assert x.geometric_(p=0.5).mean().item() == pytest.approx(2, abs=0.1)
    assert x.cauchy_(median=5.0, sigma=0.1).median().item() == pytest.approx(5, abs=0.05)
    assert x.log_normal_(mean=0.0, std=0.1).log().std().item() == pytest.approx(0.1, abs=0.01)
    with pytest.raises(TypeError):
        x.normal_(sigma=1.0)


def test_a_tensor_is_filled_with_random_integers(torch: Any) -> None:
    classes = torch.empty(200, dtype=torch.long).random_(5)
    assert sorted(set(classes.tolist())) == [0, 1, 2, 3, 4]
    assert set(torch.empty(200).random_(-1, 2).tolist()) == {-1, 0, 1}
    assert set(torch.empty(100, dtype=torch.bool).random_().tolist()) == {False, True}
    assert torch.empty(100, dtype=torch.int8).random_().min().item() >= 0
    assert 2**20 < torch.empty(100).random_().max().item() <= 2**24
    assert torch.empty(100, dtype=torch.int64).random_().max().item() > 2**60
    with pytest.raises(RuntimeError, match="'from' to be less than 'to', but got from=3 >= to=3"):
        torch.empty(1).random_(3, 3)

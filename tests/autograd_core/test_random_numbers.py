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


def test_data_are_split_and_shuffled_by_a_generator(torch: Any) -> None:
    data = importlib.import_module(f"{torch.__name__}.utils.data")

    def parts() -> list[list[int]]:
        own = torch.Generator().manual_seed(42)
        split = data.random_split(range(9), [4, 5], generator=own)
        loader = data.DataLoader(range(9), batch_size=9, shuffle=True, generator=own)
        return [*map(list, split), next(iter(loader)).tolist()]

    assert parts() == parts()
    assert sorted(parts()[0] + parts()[1]) == sorted(parts()[2]) == list(range(9))

"""Modules that take the size of their input from the first one, in both libraries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _lazy_modules_are_new() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says that they are
        yield


def test_a_network_takes_its_sizes_from_its_first_input(torch: Any) -> None:
    nn = torch.nn
    net = nn.Sequential(
        nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(3)
    )
    assert repr(net[4]) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    assert repr(net[4].weight) == "<UninitializedParameter>"
    assert isinstance(net[4].weight, nn.Parameter)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    net(torch.ones(2, 3, 8, 8)).sum().backward()
    before = net[4].bias.detach().clone()
    optimizer.step()
    assert [type(module).__name__ for module in net] == [
        "Conv2d", "BatchNorm2d", "ReLU", "Flatten", "Linear"
    ]  # fmt: skip
    assert [tuple(p.shape) for p in net.parameters()] == [
        (4, 3, 3, 3), (4,), (4,), (4,), (3, 144), (3,)
    ]  # fmt: skip
    assert net[4].in_features == 144
    assert (before - net[4].bias).tolist() == pytest.approx([1, 1, 1])
    assert net[1].running_mean.shape == (4,)
    assert not net[0]._forward_pre_hooks


CASES: list[tuple[Callable[[Any], Any], tuple[int, ...], str]] = [
    (lambda nn: nn.LazyLinear(3, bias=False), (5,), "Linear(in_features=5, out_features=3, bias=F"),
    (lambda nn: nn.LazyConv1d(4, 2), (2, 5, 9), "Conv1d(5, 4, "),
    (lambda nn: nn.LazyConv1d(4, 2), (5, 9), "Conv1d(5, 4, "),
    (lambda nn: nn.LazyConv3d(4, 2, groups=2), (1, 6, 3, 3, 3), "Conv3d(6, 4, "),
    (lambda nn: nn.LazyConvTranspose2d(4, 2), (1, 6, 3, 3), "ConvTranspose2d(6, 4, "),
    (lambda nn: nn.LazyBatchNorm1d(eps=0.1), (2, 7), "BatchNorm1d(7, eps=0.1, "),
    (lambda nn: nn.LazyInstanceNorm2d(), (2, 7, 3, 3), "InstanceNorm2d(7, eps=1e-05, "),
]


@pytest.mark.parametrize(("make", "shape", "text"), CASES)
def test_each_becomes_what_it_is_made_for(
    make: Callable[[Any], Any], shape: tuple[int, ...], text: str, torch: Any
) -> None:
    lazy = make(torch.nn)
    module = make(torch.nn)
    module(torch.ones(*shape))
    assert repr(module).startswith(text)
    assert list(module.state_dict()) == list(lazy.state_dict())


def test_a_state_that_is_loaded_gives_the_shapes(torch: Any) -> None:
    nn = torch.nn
    trained, lazy = nn.Linear(4, 3), nn.LazyLinear(3)
    lazy.load_state_dict(trained.state_dict())
    x = torch.ones(2, 4)
    assert lazy(x).tolist() == trained(x).tolist()
    assert repr(lazy) == repr(trained)


def test_what_has_no_shape_yet_says_so(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        _ = torch.nn.LazyLinear(3).weight.shape


def test_a_module_without_its_start_values_uses_up_no_random_number(torch: Any) -> None:
    skip_init = torch.nn.utils.skip_init
    torch.manual_seed(0)
    expected = torch.rand(2).tolist()
    torch.manual_seed(0)
    assert skip_init(torch.nn.Linear, 5, 3).weight.shape == (3, 5)
    assert torch.rand(2).tolist() == expected
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        skip_init(torch.nn.ReLU)


def test_batch_norm_over_all_processes_is_batch_norm_where_there_is_one(torch: Any) -> None:
    torch.manual_seed(0)
    x = torch.randn(4, 3, 2)
    one, all_ = torch.nn.BatchNorm1d(3), torch.nn.SyncBatchNorm(3)
    assert torch.allclose(one(x), all_(x))
    with pytest.raises(ValueError, match="at least 2D input"):
        all_(torch.ones(3))

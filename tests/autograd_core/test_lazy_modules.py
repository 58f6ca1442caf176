"""Modules that learn sizes from their first input: each fact once, on this core and on PyTorch."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import pytest

import autograd_core

# name, arguments, the shape of an input, the arguments of the module that it becomes
LAYERS: list[tuple[str, tuple[Any, ...], tuple[int, ...], tuple[Any, ...]]] = [
    ("Linear", (4,), (2, 3), (3, 4)),
    ("Conv1d", (4, 2), (2, 3, 5), (3, 4, 2)),
    ("Conv2d", (4, 2), (3, 5, 5), (3, 4, 2)),
    ("Conv3d", (4, 2), (2, 3, 5, 5, 5), (3, 4, 2)),
    ("ConvTranspose1d", (4, 2), (3, 5), (3, 4, 2)),
    ("ConvTranspose2d", (4, 2), (2, 3, 5, 5), (3, 4, 2)),
    ("ConvTranspose3d", (4, 2), (2, 3, 5, 5, 5), (3, 4, 2)),
    ("BatchNorm1d", (), (2, 3), (3,)),
    ("BatchNorm2d", (1e-3, 0.2), (2, 3, 5, 5), (3, 1e-3, 0.2)),
    ("BatchNorm3d", (), (2, 3, 5, 5, 5), (3,)),
    ("InstanceNorm1d", (1e-5, 0.1, True, True), (2, 3, 5), (3, 1e-5, 0.1, True, True)),
    ("InstanceNorm2d", (1e-5, 0.1, False), (2, 3, 5, 5), (3, 1e-5, 0.1, False, True)),
    ("InstanceNorm3d", (), (2, 3, 5, 5, 5), (3, 1e-5, 0.1, True, True)),
]
UNUSABLE = "Attempted to use an uninitialized parameter"


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer[0])
def test_a_lazy_module_becomes_what_it_stands_for(torch: Any, layer: Any) -> None:
    name, given, shape, full = layer
    whole = getattr(torch.nn, name)(*full)
    lazy = getattr(torch.nn, f"Lazy{name}")(*given)
    assert repr(lazy).startswith(f"Lazy{name}(")
    assert list(lazy.state_dict()) == list(whole.state_dict())
    held = [*lazy.parameters(), *lazy.buffers()]
    assert lazy.has_uninitialized_params() == any(map(torch.nn.parameter.is_lazy, held))
    result = lazy(torch.ones(shape))
    assert type(lazy) is type(whole)
    assert repr(lazy) == repr(whole)
    for mine, theirs in zip(held, (*whole.parameters(), *whole.buffers()), strict=True):
        assert mine.shape == theirs.shape
        assert (mine.dtype, mine.requires_grad) == (theirs.dtype, theirs.requires_grad)
    after = (*lazy.parameters(), *lazy.buffers())
    assert all(p is q for p, q in zip(held, after, strict=True))
    whole.load_state_dict(lazy.state_dict())
    if "BatchNorm" not in name:  # which has run once more
        assert lazy(torch.ones(shape)).tolist() == whole(torch.ones(shape)).tolist()
    if result.requires_grad:
        result.sum().backward()
        assert all(p.grad.shape == p.shape for p in lazy.parameters())


def test_a_net_is_converted_and_given_to_an_optimizer_before_it_is_called(torch: Any) -> None:
    nn = torch.nn
    net = nn.Sequential(
        nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.ReLU(), nn.LazyLinear(1)
    ).double()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.rand(3, 2, dtype=torch.float64)).sum().backward()
    before = net[0].weight.detach().clone()
    optimizer.step()
    assert net[0].weight.dtype is net[1].running_mean.dtype is torch.float64
    assert net[1].num_batches_tracked.item() == 1
    assert not torch.equal(before, net[0].weight)


def test_weights_begin_as_those_of_the_whole_module(torch: Any) -> None:
    lazy = torch.nn.LazyLinear(50)
    lazy(torch.ones(1, 100))
    assert 0.09 < lazy.weight.abs().max() <= 0.1
    assert lazy.weight.unique().numel() > 1000
    assert 0 < lazy.bias.abs().max() <= 0.1


def test_a_parameter_without_a_shape_is_of_no_use_but_to_get_one(torch: Any) -> None:
    nn = torch.nn
    weight = nn.LazyLinear(3).weight
    assert repr(weight) == "<UninitializedParameter>"
    assert isinstance(weight, nn.Parameter)
    assert isinstance(weight, nn.UninitializedParameter)
    assert not isinstance(torch.ones(1), nn.UninitializedParameter)
    assert (weight.dtype, weight.requires_grad, weight.is_leaf) == (torch.float32, True, True)
    assert weight.grad is None
    with pytest.raises(RuntimeError, match=r"^Can't access the shape of an uninitialized"):
        weight.shape  # noqa: B018
    for use in (
        lambda: weight * 2,
        lambda: torch.ones(3) @ weight,
        lambda: torch.cat([torch.ones(2), weight]),
        lambda: torch.nn.functional.linear(torch.ones(1, 2), weight),
        lambda: weight.detach(),
        lambda: weight.numel(),
        lambda: nn.init.zeros_(weight),
        lambda: weight.add_(1),
        lambda: weight.sum().backward(),
    ):
        with pytest.raises(ValueError, match=UNUSABLE):
            use()
    weight.materialize((3, 2))
    assert tuple(weight.shape) == (3, 2)
    assert not isinstance(weight, nn.UninitializedParameter)
    assert isinstance(weight, nn.Parameter)
    assert weight.requires_grad


def test_a_buffer_without_a_shape_gets_one(torch: Any) -> None:
    buffer = torch.nn.UninitializedBuffer(dtype=torch.float64)
    assert repr(buffer) == "<UninitializedBuffer>"
    assert not buffer.requires_grad
    module = torch.nn.Module()
    module.register_buffer("mean", buffer)
    buffer.materialize((2,))
    assert module.mean.dtype is torch.float64
    assert [tuple(each.shape) for each in module.buffers()] == [(2,)]


def test_a_state_is_saved_and_loaded_before_and_after(torch: Any) -> None:
    nn = torch.nn
    state = nn.LazyLinear(3).state_dict()
    assert [repr(value) for value in state.values()] == ["<UninitializedParameter>"] * 2
    lazy = nn.LazyLinear(3)
    assert repr(lazy.load_state_dict(state)) == "<All keys matched successfully>"
    assert lazy.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="happens in `load_state_dict` when trying to load an"):
        nn.Linear(2, 3).load_state_dict(state)
    whole = nn.Linear(2, 3)
    lazy.load_state_dict(whole.state_dict())
    assert not lazy.has_uninitialized_params()
    assert repr(lazy) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    with pytest.raises(AssertionError, match="in_features inferred from input: 4 is not equal to"):
        lazy(torch.ones(1, 4))
    assert lazy(torch.ones(1, 2)).tolist() == whole(torch.ones(1, 2)).tolist()
    assert repr(lazy) == repr(whole)


def test_an_input_of_the_wrong_rank_is_refused(torch: Any) -> None:
    with pytest.raises(
        RuntimeError, match=r"^Expected 3D \(unbatched\) or 4D \(batched\) input to LazyConv2d, but"
    ):
        torch.nn.LazyConv2d(3, 3)(torch.ones(2, 2))


def test_a_module_is_copied_before_it_is_called(torch: Any) -> None:
    copied = copy.deepcopy(torch.nn.LazyLinear(3))
    assert tuple(copied(torch.ones(1, 2)).shape) == (1, 3)


def test_a_module_is_pickled_before_it_is_called() -> None:
    module = pickle.loads(pickle.dumps(autograd_core.nn.LazyLinear(3)))
    assert repr(module.weight) == "<UninitializedParameter>"
    assert tuple(module(autograd_core.ones(1, 2)).shape) == (1, 3)


@pytest.mark.torch
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer[0])
def test_parameters_have_the_names_and_the_order_of_pytorch(layer: Any) -> None:
    torch = pytest.importorskip("torch")
    name, given, shape, _ = layer
    for call in (False, True):
        mine, theirs = (getattr(t.nn, f"Lazy{name}")(*given) for t in (autograd_core, torch))
        if call:
            mine(autograd_core.ones(shape))
            theirs(torch.ones(shape))
        assert repr(mine) == repr(theirs)
    names = [list(inspect.signature(getattr(t.nn, f"Lazy{name}")).parameters)
             for t in (autograd_core, torch)]  # fmt: skip
    assert names[0] == names[1]

"""Tensors, modules and optimizers are copied and pickled as in PyTorch."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import autograd_core
from tests.autograd_core.outcomes import each, outcome


def again(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def leaf(t: Any) -> Any:
    x = t.tensor([1.0, 2.0], requires_grad=True)
    x.grad, x.note = t.ones(2), "mine"
    y = again(x)
    return y, y.requires_grad, y.is_leaf, y.grad is None, y.note


def of_a_graph(t: Any) -> Any:
    y = again(t.ones(2, requires_grad=True) * 2)
    return y, y.requires_grad, y.is_leaf


def two_views(t: Any) -> Any:
    x = t.arange(6.0).reshape(2, 3)
    a, b = again((x.t(), x[:, 1]))
    a[0, 0] = 9
    return a, b, a.stride()


def every_dtype(t: Any) -> Any:
    kinds = (t.float64, t.float32, t.float16, t.int64, t.int32, t.uint8, t.bool)
    return [again(t.ones((2, 0), dtype=k)).shape == (2, 0) for k in kinds], [
        again(t.ones((), dtype=k)) for k in kinds
    ]


def trained(t: Any) -> Any:
    model = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3), t.nn.ReLU())
    with t.no_grad():
        for p in model.parameters():
            p.fill_(0.5)
    optimizer = t.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    t.optim.lr_scheduler.StepLR(optimizer, 2)
    model(t.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    optimizer.step()
    return model, optimizer


def model_and_optimizer(t: Any) -> Any:
    model, optimizer = again(trained(t))
    assert model[0].weight is optimizer.param_groups[0]["params"][0]
    model(t.tensor([[1.0, 2.0], [3.0, 4.0]])).pow(2).sum().backward()
    optimizer.step()
    return [isinstance(p, t.nn.Parameter) for p in model.parameters()], list(model.parameters())


def deep_copies(t: Any) -> Any:
    model, optimizer = copy.deepcopy(trained(t))
    optimizer.step()
    return list(model.state_dict().values()), len(optimizer.state)


def shallow_copies(t: Any) -> Any:
    model, optimizer = trained(t)
    x = t.ones(2, requires_grad=True)
    y, other = copy.copy(x), copy.copy(model)
    return (
        y.is_leaf, y.requires_grad, y.data_ptr() == x.data_ptr(), other[0] is model[0],
        copy.copy(optimizer).param_groups is optimizer.param_groups,
    )  # fmt: skip


EXPECTED: dict[Callable[[Any], Any], Any] = {
    leaf: [[1, 2], True, True, True, "mine"],
    of_a_graph: [[2, 2], True, True],
    two_views: [[[9, 3], [1, 4], [2, 5]], [1, 4], [1, 3]],
    every_dtype: [[True] * 7, [1, 1, 1, 1, 1, 1, True]],
    shallow_copies: [True, True, True, True, True],
}
PROGRAMS = [*EXPECTED, model_and_optimizer, deep_copies]


@each(EXPECTED)
def test_a_copy_is_what_it_is_a_copy_of(program: Any, expected: Any) -> None:
    assert outcome(autograd_core, program) == expected


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS)
def test_copies_are_those_of_pytorch(program: Any) -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = outcome(autograd_core, program), outcome(torch, program)
    assert _rounded(mine) == _rounded(theirs)


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def test_a_pickled_model_trains_on() -> None:
    kinds, parameters = model_and_optimizer(autograd_core)
    assert all(kinds)
    assert [p.grad is not None for p in parameters] == [True] * 4


def test_whole_modules_are_not_saved_but_their_states() -> None:
    with pytest.raises(TypeError, match=r"of a module or an optimizer, save its state_dict\(\)"):
        autograd_core.save(autograd_core.nn.Linear(1, 1), io.BytesIO())
    with pytest.raises(Exception, match=r"pickle|not a file"):
        autograd_core.load(io.BytesIO(pickle.dumps(autograd_core.ones(2))))

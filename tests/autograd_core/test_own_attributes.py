"""What users keep on tensors, and ``detach_``."""

from __future__ import annotations

import copy
from typing import Any

import pytest


def test_tensors_take_any_attribute(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    x.name_of_mine, y.tag = 1, "b"
    assert (x.name_of_mine, y.tag) == (1, "b")
    assert (vars(x), vars(y)) == ({"name_of_mine": 1}, {"tag": "b"})
    del y.tag
    assert not hasattr(y, "tag")
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        _ = x.nothing


def test_parameters_do_too(torch: Any) -> None:
    p = torch.nn.Parameter(torch.ones(1))
    p.special = 3
    assert vars(p) == {"special": 3}


def test_copies_take_attributes_along_and_results_do_not(torch: Any) -> None:
    t = torch.ones(1)
    t.tag = [1]
    deep, shallow = copy.deepcopy(t), copy.copy(t)
    assert (deep.tag, deep.tag is t.tag) == ([1], False)
    assert shallow.tag is t.tag
    for other in (t.detach(), t.clone(), t.data, t + 1):
        assert not hasattr(other, "tag")


def test_detach_in_place_makes_a_leaf(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    before = y[0:1]
    assert y.detach_() is y
    assert (y.requires_grad, y.is_leaf, y.grad_fn, y._version) == (False, True, None, 0)
    assert before.requires_grad
    assert x.detach_().requires_grad is False


def test_views_cannot_be_detached_in_place(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"Can't detach views in-place. Use detach\(\)"):
        y[0].detach_()

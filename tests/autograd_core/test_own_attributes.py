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


def test_parameters_take_any_attribute_too(torch: Any) -> None:
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


def test_a_deep_copy_of_a_parameter_leaves_its_gradient_and_attributes_behind(torch: Any) -> None:
    x, p = torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2))
    for t in (x, p):
        (t * 2).sum().backward()
        t.tag = 1
    assert copy.deepcopy(x).grad.tolist() == [2, 2]
    copied = copy.deepcopy(p)
    assert copied.grad is None
    assert not hasattr(copied, "tag")
    assert isinstance(copied, torch.nn.Parameter)


def test_a_shallow_copy_shares_the_data_and_has_no_gradient(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    copied = copy.copy(x)
    assert copied.data_ptr() == x.data_ptr()
    assert copied.requires_grad
    assert copied.grad is None

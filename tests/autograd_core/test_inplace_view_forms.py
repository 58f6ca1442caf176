"""Tensors that become views of themselves, held to PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core

Change = Callable[[Any], Any]
CHANGES: list[Any] = [
    pytest.param(lambda x: x.t_(), id="t_"),
    pytest.param(lambda x: x.unsqueeze_(0), id="unsqueeze_"),
    pytest.param(lambda x: x.squeeze_(), id="squeeze_"),
    pytest.param(lambda x: x.squeeze_(0), id="squeeze_ 0"),
    pytest.param(lambda x: x.transpose_(0, 1), id="transpose_"),
    pytest.param(lambda x: x.swapaxes_(0, 1), id="swapaxes_"),
    pytest.param(lambda x: x.swapdims_(0, 1), id="swapdims_"),
]
NODES = {"t_": "TBackward1", "unsqueeze_": "UnsqueezeBackward1", "squeeze_": "SqueezeBackward3"}


def leaf(torch: Any) -> Any:
    return torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)


@pytest.mark.parametrize("change", CHANGES)
def test_a_tensor_that_becomes_its_view_has_its_gradient(torch: Any, change: Change) -> None:
    a = leaf(torch)
    x = a * 2
    version = x._version
    weights = change((a.detach() + 1).clone())
    assert change(x) is x
    assert tuple(x.shape) == tuple(weights.shape)
    assert x._version == version + 1
    assert x._base is None
    assert [node.name() for node, _ in x.grad_fn.next_functions] == ["MulBackward0"]
    (x * weights).sum().backward()
    assert a.grad.tolist() == [[4.0, 6.0, 8.0], [10.0, 12.0, 14.0]]


@pytest.mark.parametrize("change", CHANGES)
def test_a_view_that_becomes_another_stays_a_view(torch: Any, change: Change) -> None:
    a = leaf(torch)
    base = a * 2
    view = base[0:1]
    change(view)
    assert view._base is base
    view.mul_(10)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    base.sum().backward()
    assert a.grad.tolist() == [[20.0, 20.0, 20.0], [2.0, 2.0, 2.0]]


def _row_of_what_is_turned(x: Any) -> list[Any]:
    row = x[0]
    x.t_()
    return [x, row]


def _row_changed_afterwards(x: Any) -> list[Any]:
    x, row = _row_of_what_is_turned(x)
    row.mul_(3)
    return [x, row]


def _base_changed_afterwards(x: Any) -> list[Any]:
    x, row = _row_of_what_is_turned(x)
    x.mul_(2)
    return [x, row]


def _view_of_a_view_that_is_turned(x: Any) -> list[Any]:
    part = x[0:2]
    row = part[0]
    part.t_()
    row.mul_(2)
    part.mul_(3)
    return [x, part, row]


def _turned_and_turned_back(x: Any) -> list[Any]:
    row = x[1]
    end = row[1:]
    x.transpose_(0, 1)
    end.mul_(5)
    x.transpose_(0, 1)
    row.mul_(2)
    return [x, row, end]


def _views_from_before_and_after(x: Any) -> list[Any]:
    before = x[1]
    x.swapdims_(0, 1)
    after = x[2]
    before.mul_(2)
    after.mul_(7)
    return [x, before, after]


def _flat_view_of_what_is_turned(x: Any) -> list[Any]:
    flat = x.view(6)
    x.t_()
    flat[1:3].mul_(2)
    return [x, flat]


def _squeezed(x: Any) -> list[Any]:
    x = x.reshape(1, 2, 3) * 1
    row = x[0, 1]
    x.squeeze_()
    row.mul_(3)
    return [x, row]


def _unsqueezed(x: Any) -> list[Any]:
    row = x[1]
    x.unsqueeze_(1)
    x.mul_(2)
    row.exp_()
    return [x, row]


def _base_of_a_turned_view_is_turned(x: Any) -> list[Any]:
    part = x[0:2]
    row = part[0]
    part.t_()
    x.t_()
    row.mul_(2)
    part.mul_(3)
    return [x, part, row]


TURNED = (
    _row_of_what_is_turned, _row_changed_afterwards, _base_changed_afterwards,
    _view_of_a_view_that_is_turned, _turned_and_turned_back, _views_from_before_and_after,
    _flat_view_of_what_is_turned, _squeezed, _unsqueezed, _base_of_a_turned_view_is_turned,
)  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("program", TURNED)
def test_views_made_before_follow_a_tensor_that_becomes_a_view(
    program: Callable[[Any], list[Any]],
) -> None:
    reference = pytest.importorskip("torch")
    outcomes = []
    for library in (autograd_core, reference):
        a = library.tensor([[0.1, 0.4, 0.7], [1.0, 1.3, 1.6]], dtype=library.float64)
        a.requires_grad_()
        results = program(a * 1)
        loss = sum((number + 2) * (t * t.detach()).sum() for number, t in enumerate(results))
        loss.backward()
        outcomes.append([t.detach().tolist() for t in results] + [a.grad.tolist()])
    for ours, theirs in zip(*outcomes, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_views_made_before_follow_under_the_same_names(torch: Any) -> None:
    base = leaf(torch) * 2
    row = base[0]
    base.t_()
    assert base.grad_fn.name() == "TBackward1"
    assert [t._version for t in (base, row)] == [1, 1]
    assert row._base is base
    row.mul_(10)
    assert base.tolist() == [[20.0, 8.0], [40.0, 10.0], [60.0, 12.0]]
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    seen: list[Any] = []
    base.register_hook(lambda g: seen.append(tuple(g.shape)))
    row.sum().backward()
    assert seen == [(3, 2)]  # the gradient of the row comes by its base as that is now


@pytest.mark.parametrize("change", [lambda x: x.mul_(2), lambda x: x.t_()])
def test_views_that_may_not_be_changed_have_no_gradient_once_their_base_was(
    torch: Any, change: Change
) -> None:
    base = leaf(torch) * 1
    first, _ = base.unbind(0)
    change(base)
    with pytest.raises(RuntimeError, match="Output 0 of Unbind is a view and its base or another"):
        (first * 2).sum().backward()
    with torch.no_grad():
        assert (first * 2).tolist() == (base.t() if base.shape[0] == 3 else base)[0].mul(2).tolist()

    base = leaf(torch) * 1
    with torch.no_grad():
        row = base[0]
    change(base)
    with pytest.raises(RuntimeError, match="created in no_grad mode and its base or another view"):
        (row * 2).sum().backward()


@pytest.mark.parametrize("change", CHANGES)
def test_a_leaf_that_requires_a_gradient_cannot_become_a_view(torch: Any, change: Change) -> None:
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in"):
        change(leaf(torch))


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_base_is_seen_through_a_view_that_became_another(
    torch: Any, change: Change
) -> None:
    base = torch.zeros(2, 3)
    view = base[0:1]
    change(view)
    view.add_(1)
    assert base.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


def test_nodes_of_views_in_place_have_names_of_their_own(torch: Any) -> None:
    for name, node in NODES.items():
        x = leaf(torch) * 2
        getattr(x, name)(*((0,) if name == "unsqueeze_" else ()))
        assert x.grad_fn.name() == node


def test_the_diagonal_is_filled_through_a_view(torch: Any) -> None:
    a = leaf(torch)
    x = a * 2
    x.fill_diagonal_(5)
    assert x.tolist() == [[5.0, 4.0, 6.0], [8.0, 5.0, 12.0]]
    assert x.grad_fn.name() == "torch::autograd::CopySlices"
    x.sum().backward()
    assert a.grad.tolist() == [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0]]
    assert torch.zeros(7, 3).fill_diagonal_(1, wrap=True)[:, 0].tolist() == [1, 0, 0, 0, 1, 0, 0]
    assert torch.zeros(3, 3, 3).fill_diagonal_(1).sum() == 3
    with pytest.raises(RuntimeError, match="dimensions must larger than 1"):
        torch.ones(3).fill_diagonal_(1)


def test_only_what_needs_no_gradient_is_resized(torch: Any) -> None:
    assert torch.arange(6).resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert tuple(torch.ones(2).resize_(3, 4).shape) == (3, 4)
    assert tuple(torch.ones(2).resize_as_(torch.ones(1, 2)).shape) == (1, 2)
    for x in (leaf(torch), leaf(torch) * 2):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            x.resize_(2)


def test_what_a_tensor_tells_of_its_memory(torch: Any) -> None:
    x = torch.zeros(2, 3)
    part = x[1:].t()
    assert (x.stride(), part.stride(), x.stride(0)) == ((3, 1), (1, 3), 3)
    assert (part.storage_offset(), x.storage_offset()) == (3, 0)
    assert x.is_contiguous()
    assert not x.t().is_contiguous()
    assert part.data_ptr() == x.data_ptr() + 3 * x.element_size()
    assert (x.ndimension(), x.itemsize, x.get_device(), x.is_cuda) == (2, 4, -1, False)
    assert x.type_as(torch.tensor(1)).dtype is torch.int64
    assert 0.0 in x
    assert 1.0 not in x
    assert torch.tensor(2.0).is_nonzero()
    assert x.is_same_size(torch.ones(2, 3))
    assert (x.type(), x.type("torch.LongTensor").dtype) == ("torch.FloatTensor", torch.int64)
    assert [n.item() for n in reversed(torch.arange(3))] == [2, 1, 0]

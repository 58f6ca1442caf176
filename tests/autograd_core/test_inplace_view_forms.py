"""Tensors that become views of themselves, held to PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

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
NODES = {
    "t_": "TBackward1", "unsqueeze_": "UnsqueezeBackward1", "squeeze_": "SqueezeBackward3",
}  # fmt: skip


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

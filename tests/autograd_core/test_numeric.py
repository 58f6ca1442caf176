"""Constants, limits of dtypes and early tensor types, in both libraries."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

import numpy as np
import pytest

import autograd_core


def test_constants_are_there(torch: Any) -> None:
    assert (torch.pi, torch.e, torch.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(torch.nan)
    assert torch.newaxis is None


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_limits_of_floating_point_dtypes(name: str) -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = (t.finfo(getattr(t, name)) for t in (autograd_core, torch))
    for each in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(mine, each) == getattr(theirs, each)
    assert autograd_core.finfo().dtype == "float32"


def test_integers_and_floats_know_their_limits(torch: Any) -> None:
    limits = torch.iinfo(torch.int16)
    assert (limits.min, limits.max, limits.bits) == (-(2**15), 2**15 - 1, 16)
    with pytest.raises(TypeError, match="requires an integer input type"):
        torch.iinfo(torch.float32)
    with pytest.raises(TypeError, match="requires a floating point input type"):
        torch.finfo(torch.int64)


def test_dtypes_and_shapes_are_compared(torch: Any) -> None:
    assert torch.can_cast(torch.int64, torch.float16)
    assert not torch.can_cast(torch.float16, torch.int64)
    assert tuple(torch.broadcast_shapes((2, 1), (3,))) == (2, 3)


def test_types_of_early_days_make_tensors_and_recognize_them(torch: Any) -> None:
    assert torch.FloatTensor([1, 2]).tolist() == [1.0, 2.0]
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert tuple(torch.DoubleTensor(2, 3).shape) == (2, 3)
    assert isinstance(torch.ones(2), torch.FloatTensor)
    assert not isinstance(torch.ones(2), torch.LongTensor)


def test_the_oldest_constructor_takes_sizes_or_values(torch: Any) -> None:
    assert repr(torch.Tensor([1, 2])) == "tensor([1., 2.])"
    assert (
        tuple(torch.Tensor(2, 3).shape) == tuple(torch.Tensor(torch.Size([2, 3])).shape) == (2, 3)
    )
    assert repr(torch.Tensor()) == "tensor([])"
    assert torch.Tensor([[1.0]]).requires_grad_().is_leaf
    for wrong, error in ((3.0, TypeError), ("a", TypeError), (-1, RuntimeError)):
        with pytest.raises(error):
            torch.Tensor(wrong)
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.Tensor([1]).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_arrays_and_tensors_meet(torch: Any) -> None:
    x = torch.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy wants more of __array_wrap__ than PyTorch gives
        for found in (x * np.array([2.0, 3.0]), np.sqrt(x * 4), x + np.arange(2)):
            assert isinstance(found, torch.Tensor)
        assert (x * np.array([2.0, 3.0])).dtype is torch.float64
        assert (x + np.arange(2)).dtype is torch.float64
        assert (np.float64(3) * x).dtype is torch.float32
        with pytest.raises(RuntimeError, match="call numpy"):
            x.requires_grad_() * np.ones(2)


def test_the_gradient_of_what_is_no_leaf_is_asked_for_in_vain(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    y.sum().backward()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad.tolist() == [1, 1]


def test_elements_are_counted_as_in_pytorch(torch: Any) -> None:
    assert torch.histc(torch.tensor([1.0, 2.0, 1.0]), 4, 0, 3).tolist() == [0, 2, 1, 0]
    assert torch.histc(torch.tensor([1.0, 2.0, 4.0]), 3).tolist() == [1, 1, 1]
    assert torch.isin(torch.tensor([1, 2]), torch.tensor([2])).tolist() == [False, True]
    x = torch.tensor([1, 1, 2, 1])
    values, inverse, counts = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert (values.tolist(), inverse.tolist()) == ([1, 2, 1], [0, 0, 1, 2])
    assert counts.tolist() == [2, 1, 1]
    rows = torch.tensor([[1, 2], [1, 2], [3, 4]])
    assert torch.unique_consecutive(rows, dim=0).tolist() == [[1, 2], [3, 4]]


@pytest.mark.torch
@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_the_hann_window_is_that_of_pytorch(periodic: bool, length: int) -> None:
    torch = pytest.importorskip("torch")
    mine, theirs = (
        t.hann_window(length, periodic=periodic, dtype=t.float64).numpy()
        for t in (autograd_core, torch)
    )
    np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_what_scripts_set_is_accepted(torch: Any) -> None:
    torch.set_num_threads(1)
    assert torch.asarray([1.0]).tolist() == [1]
    assert torch.typename(torch.ones(1)) == "torch.FloatTensor"
    assert torch.is_nonzero(torch.tensor(1.0))
    assert repr(torch.ones(1).layout) == "torch.strided"
    assert str(type(torch.ones(1))).endswith(f"{torch.__name__}.Tensor'>")


@pytest.mark.extra("scipy")
def test_the_first_name_has_functions_of_networks(torch: Any) -> None:
    assert tuple(torch.layer_norm(torch.ones(2, 3), (3,)).shape) == (2, 3)
    assert torch.ones(1).polygamma(1).item() == pytest.approx(1.6449341)


def test_labels_of_a_sum_may_be_numbers(torch: Any) -> None:
    x, y = torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(3, 4)
    assert torch.equal(torch.einsum(x, [0, 1], y, [1, 2], [2, 0]), (x @ y).T)
    assert torch.equal(torch.einsum(x, [30, 1]), x.T)
    assert torch.equal(torch.einsum(x, [..., 0], y, [0, 1]), x @ y)


def test_parts_and_sums_of_sizes_are_sizes(torch: Any) -> None:
    size = torch.ones(2, 3).shape
    for found in (size[1:], size + (4,), (1,) + size, size * 2, torch.broadcast_shapes((2, 1), 3)):  # noqa: RUF005
        assert type(found) is torch.Size
    assert (size[0], repr(size[1:]), tuple((1,) + size)) == (2, "torch.Size([3])", (1, 2, 3))  # noqa: RUF005


def test_handles_of_hooks_are_where_pytorch_has_them(torch: Any) -> None:
    hooks = importlib.import_module(f"{torch.__name__}.utils.hooks")
    handle = torch.ones(1, requires_grad=True).register_hook(print)
    assert isinstance(handle, hooks.RemovableHandle)
    assert f"<{torch.__name__}.utils.hooks.RemovableHandle object" in repr(handle)

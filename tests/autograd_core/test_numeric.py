"""Constants, limits of dtypes and early tensor types, in both libraries."""

from __future__ import annotations

import math
from typing import Any

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


def test_limits_of_integers(torch: Any) -> None:
    limits = torch.iinfo(torch.int16)
    assert (limits.min, limits.max, limits.bits) == (-(2**15), 2**15 - 1, 16)
    with pytest.raises(TypeError, match="requires an integer input type"):
        torch.iinfo(torch.float32)
    with pytest.raises(TypeError, match="requires a floating point input type"):
        torch.finfo(torch.int64)


def test_how_dtypes_meet(torch: Any) -> None:
    assert torch.promote_types(torch.int32, torch.float16) is torch.float16
    assert torch.result_type(torch.ones(2, dtype=torch.int64), 1.5) is torch.float32
    assert torch.can_cast(torch.int64, torch.float16)
    assert not torch.can_cast(torch.float16, torch.int64)
    assert tuple(torch.broadcast_shapes((2, 1), (3,))) == (2, 3)


def test_types_of_early_days(torch: Any) -> None:
    assert torch.FloatTensor([1, 2]).tolist() == [1.0, 2.0]
    assert torch.LongTensor([1, 2]).dtype is torch.int64
    assert tuple(torch.DoubleTensor(2, 3).shape) == (2, 3)
    assert isinstance(torch.ones(2), torch.FloatTensor)
    assert not isinstance(torch.ones(2), torch.LongTensor)


def test_the_oldest_constructor(torch: Any) -> None:
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

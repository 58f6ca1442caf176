"""How dtypes combine, and what gradients make of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.dtype import ALL, dtype, from_numpy_dtype, promote_types
from autograd_core.tensor import Tensor

dtypes = st.sampled_from(ALL)


@pytest.mark.torch
def test_dtypes_meet_as_in_pytorch() -> None:
    """Each with each: as dtypes, as tensors with and without dimensions, and beside numbers."""
    pytorch = pytest.importorskip("torch")
    for ours in product(ALL, repeat=2):
        theirs = [getattr(pytorch, each.name) for each in ours]
        assert repr(promote_types(*ours)) == repr(pytorch.promote_types(*theirs))
        for shapes in product([(), (2,)], repeat=2):
            pairs = [
                [t.ones(shape, dtype=kind) for kind, shape in zip(kinds, shapes, strict=True)]
                for t, kinds in ((torch, ours), (pytorch, theirs))
            ]
            assert repr(torch.result_type(*pairs[0])) == repr(pytorch.result_type(*pairs[1]))
            assert repr((pairs[0][0] + pairs[0][1]).dtype) == repr(
                (pairs[1][0] + pairs[1][1]).dtype
            )
            for number in (True, 2, 2.5):
                assert repr((pairs[0][0] * number).dtype) == repr((pairs[1][0] * number).dtype)


def test_the_default_dtype_is_what_floats_become() -> None:
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.tensor(1.5).dtype is torch.float64
        assert (torch.tensor([1, 2]) * 2.5).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.tensor(1.5).dtype is torch.float32


@given(dtypes.filter(lambda d: d.is_floating_point), dtypes)
def test_a_gradient_has_the_dtype_of_its_leaf(leaf: dtype, other: dtype) -> None:
    x = torch.ones(2, 3, dtype=leaf, requires_grad=True)
    y = torch.ones(3, dtype=other)
    (x * y + torch.cat([x, y.unsqueeze(0)])[:2]).sum().backward()
    assert x.grad.dtype is leaf
    assert x.grad.array.dtype == leaf.dtype
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_arrays_of_other_kinds_are_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type complex128"):
        from_numpy_dtype(np.dtype(complex))
    with pytest.raises(TypeError, match="uint16"):
        Tensor.from_array(np.zeros(2, np.uint16))


@pytest.mark.parametrize("kind", [each for each in ALL if not each.is_floating_point])
def test_the_graph_ends_where_a_tensor_becomes_whole_numbers(kind: dtype) -> None:
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    whole = x.to(kind)
    assert not whole.requires_grad
    assert not whole.float().requires_grad

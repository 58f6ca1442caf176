"""How dtypes combine, by laws that hold for all of them, and some facts spelled out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_core as torch
from autograd_core.dtype import ALL, dtype, from_numpy_dtype, promote_types, result_type
from autograd_core.tensor import Tensor

dtypes = st.sampled_from(ALL)
operands = st.lists(st.tuples(dtypes, st.integers(0, 2)), min_size=1, max_size=4)


@given(dtypes, dtypes)
def test_the_order_of_two_dtypes_does_not_matter(a: dtype, b: dtype) -> None:
    assert promote_types(a, b) is promote_types(b, a)


@given(dtypes)
def test_a_dtype_combined_with_itself_is_itself(a: dtype) -> None:
    assert promote_types(a, a) is a


@given(dtypes, dtypes)
def test_nothing_is_lost_but_the_width_of_integers_beside_floats(a: dtype, b: dtype) -> None:
    result = promote_types(a, b)
    assert result.category == max(a.category, b.category)
    for each in (a, b):
        if each.category == result.category:
            assert np.can_cast(each.dtype, result.dtype)


@given(operands)
def test_the_highest_category_decides_and_the_lower_rank_yields(
    operands: list[tuple[dtype, int]],
) -> None:
    result = result_type(*operands)
    category = max(d.category for d, _ in operands)
    assert result.category == category
    rank = max(r for d, r in operands if d.category == category)
    strongest = [d for d, r in operands if d.category == category and r == rank]
    if not (rank == 0 and category == 2):
        assert all(np.can_cast(d.dtype, result.dtype) for d in strongest)
        assert result_type(*((d, 2) for d in strongest)) is result


@given(operands)
def test_the_order_of_operands_does_not_matter(operands: list[tuple[dtype, int]]) -> None:
    assert result_type(*operands) is result_type(*reversed(operands))


FACTS = [
    (torch.float16, torch.int64, torch.float16),
    (torch.uint8, torch.int8, torch.int16),
    (torch.float32, torch.float64, torch.float64),
    (torch.bool, torch.uint8, torch.uint8),
    (torch.int32, torch.int64, torch.int64),
]


@pytest.mark.parametrize(("a", "b", "result"), FACTS)
def test_two_dtypes_meet_in_the_one_of_the_table(a: dtype, b: dtype, result: dtype) -> None:
    assert promote_types(a, b) is result
    assert (torch.zeros(2, dtype=a) + torch.zeros(2, dtype=b)).dtype is result


def test_numbers_and_scalars_yield_to_tensors() -> None:
    half, integers = torch.ones(2, dtype=torch.float16), torch.tensor([1, 2])
    assert (half * 2.5).dtype is torch.float16
    assert (half + torch.tensor(1.0, dtype=torch.float64)).dtype is torch.float16
    assert (integers * 2.5).dtype is torch.float32
    assert (integers / 2).dtype is torch.float32
    assert (integers + torch.tensor(1.5, dtype=torch.float64)).dtype is torch.float64


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

"""What is computed a block at a time is what would be computed at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.nn import functional as F
from autograd_core.ops.pointwise.blocks import in_blocks

IN_BLOCKS = (
    F.elu, F.celu, F.gelu, F.silu, F.mish, F.softplus, F.logsigmoid, F.hardsigmoid, F.hardswish,
    F.sigmoid,
)  # fmt: skip


@pytest.mark.parametrize("function", IN_BLOCKS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_large_array_gets_the_bits_of_its_parts(function: Any, dtype: str) -> None:
    array = np.linspace(-9, 9, 40_000).astype(dtype).reshape(200, 200)
    whole = torch.tensor(array, requires_grad=True)
    rows = [torch.tensor(row, requires_grad=True) for row in array]
    result = function(whole)
    parts = [function(row) for row in rows]
    assert result.detach().array.tobytes() == b"".join(r.detach().array.tobytes() for r in parts)
    result.sum().backward()
    for part in parts:
        part.sum().backward()
    assert whole.grad is not None
    assert whole.grad.array.tobytes() == b"".join(row.grad.array.tobytes() for row in rows)


def test_blocks_are_for_large_arrays_in_order() -> None:
    sizes: list[int] = []

    @in_blocks
    def twice(x: Any) -> Any:
        sizes.append(x.size)
        return x * 2

    large = np.arange(40_000.0).reshape(200, 200)
    assert (twice(large) == large * 2).all()
    assert len(sizes) > 1
    assert sum(sizes) == large.size
    sizes.clear()
    assert (twice(large.T) == large.T * 2).all()
    assert sizes == [large.size]


def test_gelu_of_floats_is_as_exact_as_its_dtype() -> None:
    x = np.linspace(-10, 10, 20_001).astype(np.float32)
    exact = [value * 0.5 * math.erfc(-value / math.sqrt(2)) for value in x.tolist()]
    found = F.gelu(torch.tensor(x)).array
    assert np.abs(found - np.array(exact)).max() < 1e-6
    ends = F.gelu(torch.tensor([math.inf, math.nan, 0.0])).tolist()
    assert ends[0] == math.inf
    assert math.isnan(ends[1])
    assert ends[2] == 0

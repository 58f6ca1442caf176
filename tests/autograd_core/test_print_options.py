"""``set_printoptions``, held to PyTorch's output on any tensor and any options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import autograd_core

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(1, 8),
        "threshold": st.integers(0, 40),
        "edgeitems": st.integers(1, 4),
        "linewidth": st.integers(30, 120),
        "profile": st.sampled_from(["default", "short", "full", "Short"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)
SHAPES = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)
NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, -3.5, 1e-6, 2.5e9, 123.456, 0.1, np.inf, -np.inf, np.nan]
)
ARRAYS = st.one_of(
    arrays.arrays(np.float64, SHAPES, elements=NUMBERS),
    arrays.arrays(np.float32, SHAPES, elements=st.floats(-1e4, 1e4, width=32)),
    arrays.arrays(np.int64, SHAPES, elements=st.integers(-1000, 1000)),
    arrays.arrays(np.bool_, SHAPES),
)


@pytest.fixture(autouse=True)
def usual_options() -> Iterator[None]:
    yield
    for namespace in (autograd_core, torch):
        namespace.set_printoptions(profile="default")


@settings(max_examples=300, deadline=None)
@given(array=ARRAYS, options=OPTIONS, leaf=st.booleans())
def test_any_tensor_prints_as_in_pytorch(array: Any, options: dict[str, Any], leaf: bool) -> None:
    texts = []
    for namespace in (autograd_core, torch):
        namespace.set_printoptions(profile="default")
        namespace.set_printoptions(**options)
        tensor = namespace.tensor(array)
        texts.append(repr(tensor.requires_grad_() if leaf and array.dtype.kind == "f" else tensor))
    assert texts[0] == texts[1]


def test_the_options_can_be_read() -> None:
    autograd_core.set_printoptions(precision=2)
    autograd_core.set_printoptions(linewidth=100)
    assert autograd_core.get_printoptions() == {
        "precision": 2, "threshold": 1000, "edgeitems": 3, "linewidth": 100, "sci_mode": None,
    }  # fmt: skip

"""Numbers that describe tensors: of several together as of all their elements in one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd_core.dag.statistics import pooled, statistics

ELEMENTS = st.one_of(
    st.floats(-1e200, 1e200), st.sampled_from([0.0, 1e-200, math.nan, math.inf, -math.inf])
)
TENSORS = st.lists(st.lists(ELEMENTS, min_size=1, max_size=5), min_size=1, max_size=4)


@given(TENSORS)
def test_statistics_of_parts_are_those_of_the_whole(parts: list[list[float]]) -> None:
    # a single number is its own extremum, whatever it is; of several only finite ones count
    whole = statistics(np.concatenate([*parts, [0.0, 0.0]]))
    found = pooled([statistics(np.array([*part])) for part in [*parts, [0.0, 0.0]]])
    assert found._replace(rms=0) == whole._replace(rms=0)
    assert found.rms == pytest.approx(whole.rms, rel=1e-12)

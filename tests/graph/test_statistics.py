"""Numbers that describe tensors: of several together as of all their elements in one."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.debugger.snapshot.tensor_views import heat_map, histogram
from gradstep.graph.statistics import _of_any, statistics
from gradstep.graph.statistics_columns import StatisticsColumns
from gradstep.graph.statistics_table import StatisticsTable, statistics_of_each, statistics_of_parts

ELEMENTS = st.one_of(
    st.floats(-1e200, 1e200), st.sampled_from([0.0, 1e-200, math.nan, math.inf, -math.inf])
)
TENSORS = st.lists(st.lists(ELEMENTS, min_size=1, max_size=5), min_size=1, max_size=4)


@given(TENSORS)
def test_statistics_of_parts_are_those_of_the_whole(parts: list[list[float]]) -> None:
    # a single number is its own extremum, whatever it is; of several only finite ones count
    whole = statistics(np.concatenate([*parts, [0.0, 0.0]]))
    each = [statistics(np.array([*part])) for part in [*parts, [0.0, 0.0]]]
    found = StatisticsTable.of(each).pooled()
    assert found._replace(rms=0) == whole._replace(rms=0)
    assert found.rms == pytest.approx(whole.rms, rel=1e-12)


@given(TENSORS)
def test_statistics_of_parts_that_lie_together_are_those_of_each(parts: list[list[float]]) -> None:
    together = statistics_of_parts(np.concatenate(parts), [len(part) for part in parts])
    for part, found in zip(parts, together, strict=True):
        expected = statistics(np.array(part))
        extreme = max(abs(expected.minimum), abs(expected.maximum))
        if expected.trouble or not (1e-150 < extreme < 1e150 or extreme == 0):
            assert found is None
        else:
            assert found is not None
            assert found._replace(rms=0) == expected._replace(rms=0)
            assert found.rms == pytest.approx(expected.rms, rel=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("size", [2, 40_000, 100_000])
def test_statistics_of_moderate_numbers_are_those_of_any_numbers(dtype: str, size: int) -> None:
    array = (np.random.default_rng(0).normal(size=size) * 3).astype(dtype)
    found, expected = statistics(array), _of_any(array.astype(np.float64))
    assert found._replace(rms=0) == expected._replace(rms=0)
    assert found.rms == pytest.approx(expected.rms, rel=1e-12)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e200, -1e200, 1e-200])
@pytest.mark.parametrize("place", [0, 40_000, 99_999])
def test_one_odd_element_of_many_is_told(odd: float, place: int) -> None:
    array = np.ones(100_000)
    array[place] = odd
    with np.errstate(all="raise"):
        found = statistics(array)
    assert str(found._replace(rms=0)) == str(_of_any(array)._replace(rms=0))  # NaN is not equal


@given(TENSORS)
def test_statistics_in_a_table_are_those_that_were_put_there(parts: list[list[float]]) -> None:
    each = [statistics(np.array(part)) for part in parts]
    table = StatisticsTable.of([None, *each])
    assert str(list(table)) == str([table[at] for at in range(len(table))]) == str([None, *each])
    assert table.troubled().tolist() == [at for at, one in enumerate(each, 1) if one.trouble]
    worst = max(each, key=lambda one: (one.nans > 0, one.nans, one.infs))
    assert str(table.worst()) == str(worst if worst.trouble else None)


def test_statistics_by_id_are_made_when_they_are_read() -> None:
    good, bad, other = (statistics(np.array(part)) for part in ([3.0, 4.0], [math.inf, 1.0], [2.0]))
    described = StatisticsColumns(StatisticsTable.of([bad, None, good]), np.array([2, -1, 1, 0]))
    described[5] = other
    assert list(described.troubled()) == [3]
    assert list(described.table([0, 1, 2, 3, 4, 5])) == [good, None, None, bad, None, other]
    assert len(described) == 3
    assert [described.get(id) for id in range(6)] == [good, None, None, bad, None, other]
    assert described == {0: good, 3: bad, 5: other}
    assert len(described) == 3
    with pytest.raises(KeyError):
        described[1]


def test_nans_of_whatever_bits_are_counted_without_a_warning() -> None:
    bits = [0x7F800001, 0xFF812345, 0, 0x3F800000]  # two that signal; what nobody has written
    few = np.array(bits, np.uint32).view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (few, np.tile(few, 10), np.tile(few, 20_000)):
            assert statistics(array).nans == array.size // 2
            (described,) = statistics_of_each([array])
            assert described is not None
            assert described.nans == array.size // 2
            assert histogram(array).nans == array.size // 2
            assert heat_map(array.reshape(2, -1), 2, 2).trouble.any()

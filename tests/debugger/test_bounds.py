"""A norm rules a condition out only where it does not hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradstep.debugger.breakpoints.predicate import parse_predicate
from gradstep.debugger.breakpoints.predicate.bounds import (
    BoundedGradient,
    BoundedSubject,
    may_hold,
)
from gradstep.debugger.snapshot import Value

CONDITIONS = [
    "rms > {0}", "rms <= {0}", "norm > {0}", "{0} < absmax", "absmax < {0}", "min < -{0}",
    "max >= {0} and not zero", "nan", "inf", "not inf", "zero", "zeros > 0.5", "zeros < {0}",
    "not (rms > {0})",
    "rms == {0}", "rms != {0}", "1 < norm < {0}", "nan or rms > {0}", "mean > {0}", "size > 2",
    "rms * 2 > {0}", "log10(rms) > {0}", "max > min", "abs(min) > {0}", "denormal", "shape == (3,)",
    'dtype == "float32" and rms > {0}', "ratio > {0} or norm < {0}",
]  # fmt: skip
NUMBERS = st.sampled_from(
    [0.0, 1.0, -1.0, 2.5, 1e-30, -1e-22, 1e18, 3e38, 1e-3, np.inf, -np.inf, np.nan]
)


def norm_of(array: Any) -> float:
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.sum(array * array, dtype=np.float32)))


class Real(BoundedSubject):
    """The gradient itself, of which everything is known but the ratio."""

    ratio = 1.0  # type: ignore[assignment]


@given(
    gradients=st.lists(
        arrays.arrays(np.float32, st.integers(0, 5), elements=NUMBERS), min_size=1, max_size=4
    ),
    text=st.sampled_from(CONDITIONS),
    number=st.sampled_from(["0", "1", "0.5", "1e-20", "1e9", "2.5"]),
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_ruled_out_does_not_hold(gradients: list[Any], text: str, number: str) -> None:
    condition = parse_predicate(text.format(number))
    norms = [norm_of(each) for each in gradients]
    bounded = [
        BoundedGradient.of(each.size, norm) for each, norm in zip(gradients, norms, strict=True)
    ]
    sizes = [each.size for each in gradients]
    together = None
    if all(sizes) and np.isfinite(norms).all():
        together = BoundedGradient.any_of(sizes, norms)
    for each, known in zip(gradients, bounded, strict=True):
        try:
            holds = condition.evaluate(Real(Value(each))) is True
        except (ArithmeticError, ValueError, LookupError):
            continue  # it cannot be answered, and counts as not hit
        if holds:
            assert may_hold(condition, known)
            assert may_hold(condition, Value(each))
            assert together is None or may_hold(condition, together)


@pytest.mark.parametrize(
    "text", ["nan", "inf", "nan, inf", "rms > 1e3", "norm > 1e3 or nan", "absmax > 1e4",
             "rms > 1e3 and op == 'mul'", "op == 'mul' and rms > 1e3", "zero"]
)  # fmt: skip
def test_usual_gradients_are_ruled_out(text: str) -> None:
    text = text.replace("'", '"')
    assert not may_hold(parse_predicate(text), BoundedGradient.of(12, 3.0))


def test_a_gradient_that_was_not_measured_is_looked_at() -> None:
    for norm in (None, float("nan"), float("inf")):
        assert may_hold(parse_predicate("rms > 1e3"), BoundedGradient.of(12, norm))
    assert not may_hold(parse_predicate("nan"), BoundedGradient.of(12, 1.0))

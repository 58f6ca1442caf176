"""Operators where SciPy, which is an extra, is not installed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from autograd_core.autograd import gradcheck
from autograd_core.nn import functional as F
from autograd_core.ops import scipy_functions

POINTS = np.linspace(-6, 6, 601)


class NoScipy:
    """Finds no SciPy, in Python's words."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name == "scipy":
            raise ModuleNotFoundError("No module named 'scipy'", name="scipy")


@pytest.fixture
def _no_scipy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("scipy", "scipy.special", "scipy.linalg"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [NoScipy, *sys.meta_path])
    scipy_functions._special.cache_clear()
    yield
    scipy_functions._special.cache_clear()


BY_PYTHON = [
    (torch.erf, math.erf),
    (torch.erfc, math.erfc),
    (torch.special.ndtr, lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    (F.gelu, lambda x: x * math.erfc(-x / math.sqrt(2)) / 2),
]


@pytest.mark.usefixtures("_no_scipy")
@pytest.mark.parametrize(("function", "exact"), BY_PYTHON)
def test_the_error_function_and_gelu_are_computed_all_the_same(
    function: Callable[[Any], Any], exact: Callable[[float], float]
) -> None:
    found = function(torch.tensor(POINTS))
    assert found.dtype is torch.float64
    np.testing.assert_allclose(found.array, [*map(exact, POINTS)], rtol=1e-13, atol=1e-15)
    assert function(torch.tensor(0.5)).dtype is torch.float32
    assert np.isnan(function(torch.tensor([1.0, math.nan])).array[1])
    x = torch.tensor(POINTS[::60], requires_grad=True)
    assert gradcheck(function, (x,))


@pytest.mark.extra("scipy")
@pytest.mark.parametrize("name", scipy_functions._BY_PYTHON)
def test_scipy_gives_the_same_bits_in_single_precision(
    name: str, request: pytest.FixtureRequest
) -> None:
    points = POINTS.astype(np.float32)
    by_scipy = scipy_functions.special(name, points)
    request.getfixturevalue("_no_scipy")
    assert scipy_functions.special(name, points).tobytes() == by_scipy.tobytes()


@pytest.mark.usefixtures("_no_scipy")
@pytest.mark.parametrize(
    ("function", "needed"),
    [
        (torch.lgamma, "special.gammaln"),
        (torch.linalg.lu_factor, "linalg.get_lapack_funcs"),
        (torch.matrix_exp, "linalg.expm"),
    ],
)
def test_other_operators_name_the_extra(function: Callable[[Any], Any], needed: str) -> None:
    with pytest.raises(ImportError) as caught:
        function(torch.eye(2))
    assert str(caught.value) == (
        f"this operator needs scipy.{needed}, and SciPy is not installed; "
        'pip install "gradstep[scipy]"'
    )

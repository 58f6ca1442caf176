"""Infinities and NaN, of which NumPy warns, are computed in silence, as in PyTorch."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core as torch
from gradstep.findings import check_derivatives

F = torch.nn.functional
CALLS: list[Callable[[Any], Any]] = [
    lambda x: x.sum(0), lambda x: x.mean(), lambda x: x.cumsum(0), lambda x: x.prod(),
    lambda x: x.cumprod(0), lambda x: x.var(0), lambda x: torch.std_mean(x, 0)[1], lambda x: x @ x,
    lambda x: F.layer_norm(x, [2]), lambda x: F.group_norm(x, 1),
    lambda x: F.batch_norm(x, torch.zeros(2), torch.ones(2), training=True),
    lambda x: F.batch_norm(x[None, None], torch.zeros(1), torch.ones(1), training=True),
    lambda x: torch.fft.irfft(x), lambda x: x / (x - x), lambda x: x.exp(),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("values", [[np.inf, -np.inf], [3e38, 3e38]])
def test_nothing_is_said_of_infinities(call: Any, values: list[float]) -> None:
    x = torch.tensor([values, values[::-1]], requires_grad=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd_core\.")
        call(x).sum().backward()
    assert not [str(each.message) for each in told]


def test_the_filter_is_for_this_package_alone() -> None:
    program = "import numpy, autograd_core; numpy.cumsum([numpy.inf, -numpy.inf])"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "invalid value encountered" in ran.stderr


def test_nothing_is_said_when_a_rule_is_checked() -> None:
    x = torch.zeros(3, requires_grad=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_derivatives((x * 0).sqrt().sum())
    assert not [str(each.message) for each in told]

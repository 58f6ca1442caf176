"""What the parity tests share: each fact is stated once, and holds in both libraries."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest

import autograd_core

pytest.register_assert_rewrite("tests.autograd_core.outcomes")  # says what differs

for _part in ("fft", "nn", "special"):
    getattr(autograd_core, _part)  # imported when first asked for; the op table is then complete


collect_ignore_glob = ["programs_for_pytorch/*"]  # no modules: a test runs them


_PARTS = (
    "autograd.forward_ad", "autograd.function", "autograd.functional", "autograd.gradcheck",
    "autograd.graph", "nn.modules.module", "utils.checkpoint",
)  # fmt: skip


@pytest.fixture(params=["autograd_core", pytest.param("torch", marks=pytest.mark.torch)])
def torch(request: pytest.FixtureRequest) -> Any:
    """This core, and PyTorch where it is installed."""
    name: str = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    for part in _PARTS:
        importlib.import_module(f"{name}.{part}")
    return importlib.import_module(name)

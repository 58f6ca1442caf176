"""Which libraries a test runs on that takes the fixture ``torch``: both, unless it says so."""

from __future__ import annotations

import pytest

TORCH = pytest.param("torch", marks=pytest.mark.torch)
on_the_core = pytest.mark.parametrize("torch", ["autograd_core"], indirect=True)
on_pytorch = pytest.mark.parametrize("torch", [TORCH], indirect=True)

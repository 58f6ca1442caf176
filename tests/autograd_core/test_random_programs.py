"""Random programs of views, in-place writes, hooks and custom Functions do here what they do in
PyTorch.

More, and other ones every time::

    python -m pytest -m torch --hypothesis-profile=full tests/autograd_core/test_random_programs.py
"""

from __future__ import annotations

import random

import pytest
from hypothesis import settings

import autograd_core
from tests.autograd_core.random_programs import differences

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

PARTS = 4
EACH = 8 * settings.default.max_examples  # 96, and 16,000 of the profile `full`


@pytest.mark.sampled(2)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_random_program_does_what_it_does_in_pytorch(part: int) -> None:
    start = 0 if settings.default.derandomize else random.randrange(10**9)
    for seed in range(start + part * EACH, start + (part + 1) * EACH):
        found = list(differences(autograd_core, torch, seed))
        assert not found, f"program {seed}:\n" + "\n".join(found)


def test_a_difference_is_told_with_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autograd_core.Tensor, "tanh", autograd_core.Tensor.sin)
    found = [text for seed in range(60) for text in differences(autograd_core, torch, seed)]
    assert any(".tanh()\n" in text and "\n# v" in text for text in found)

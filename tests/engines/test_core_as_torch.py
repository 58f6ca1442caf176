"""The core in PyTorch's place, as libraries that look for PyTorch by its name need it."""

from __future__ import annotations

import sys

import pytest

import autograd_core
import gradstep
from gradstep import trace


def test_the_core_under_the_name_of_pytorch_is_not_taken_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", autograd_core)
    with trace():
        x = autograd_core.tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x).sum()
    assert "requires grad" in gradstep.render(loss, format="txt").text
    assert x.grad is None

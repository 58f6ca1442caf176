"""The generated signatures of Tensor's methods: fresh, whole, and of use to a type checker."""

from __future__ import annotations

import ast

import autograd_core as torch
from autograd_core.op.stub import FILE, stub_text


def test_the_stub_is_fresh() -> None:
    assert FILE.read_text("utf-8") == stub_text(), "run: python -m autograd_core.op.stub"


def test_the_stub_names_what_tensors_can_do() -> None:
    (methods,) = (n for n in ast.parse(stub_text()).body if isinstance(n, ast.ClassDef))
    named = {n.name for n in methods.body if isinstance(n, ast.FunctionDef)}
    assert {"__add__", "__iadd__", "sum", "view", "add_", "backward", "T", "max"} <= named
    assert all(hasattr(torch.Tensor, name) for name in named)
    assert not any(name in named for name in ("detach", "requires_grad_", "grad", "shape"))

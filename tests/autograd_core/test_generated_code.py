"""The text that declarations become, as a reader would review it.

A change of the generator shows here as a diff.
"""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

import autograd_core as torch
from autograd_core.op import OPS
from autograd_core.op.generate import code_text
from tests.golden import check_golden

GOLDEN = Path(__file__).with_name("generated_ops.txt")
SHOWN = ("mul", "tanh", "max_dim", "unbind", "cat")


def generated() -> str:
    return "\n".join(f"# {name}\n\n{code_text(OPS[name])}" for name in SHOWN)


def test_the_generated_text_is_the_reviewed_one() -> None:
    check_golden(GOLDEN, generated())


def test_equal_texts_are_compiled_once() -> None:
    x = torch.ones(2)
    for name in ("sin", "cos", "exp"):
        OPS[name].call(x)
    sin, cos, exp = (OPS[name].call.__code__ for name in ("sin", "cos", "exp"))
    assert sin.co_filename == cos.co_filename != exp.co_filename
    assert sin is not cos  # Python tunes the code of each to its own globals


def test_a_traceback_shows_the_generated_line() -> None:
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError) as caught:
        torch.mm(x, x)
    shown = "".join(traceback.format_exception(caught.value))
    assert 'File "<op call ' in shown
    assert "r = kernel(self.array, mat2.array)" in shown


def test_calls_lead_back_to_their_entry() -> None:
    assert torch.tanh.op is OPS["tanh"]
    assert torch.tanh.__name__ == "tanh"
    assert torch.tanh.__module__ == "autograd_core.ops.pointwise.elementwise"
    assert torch.tanh.__doc__ == "Return the hyperbolic tangent."

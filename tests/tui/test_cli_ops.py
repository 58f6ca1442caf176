"""``gradstep ops``: the op table on paper."""

from __future__ import annotations

import pytest

from autograd_core.op import OPS
from gradstep_tui.cli import main


def test_the_table_has_a_line_for_every_op(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "elementwise:" in lines
    assert "  mul(self, other)  self: g * other; other: g * self  [saves other, self]" in lines
    assert "  eq(self, other)  no derivative" in lines
    assert {
        name for name, op in OPS.items() if op.function.__module__.startswith("autograd_core")
    } <= {line.strip().partition("(")[0] for line in lines}


def test_one_op_is_shown_with_all_its_entry_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "tanh"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tanh(self)",
        "  Return the hyperbolic tangent.",
        "",
        "  derivative by self: g * (1 - result * result)",
        "  node: TanhBackward0",
        "  saves: result",
        "  is: elementwise",
        "  called: torch.tanh, Tensor.tanh, Tensor.tanh_",
    ]


def test_an_op_is_found_by_its_node_and_an_overload_by_its_function(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ops", "AddmmBackward0"]) == 0
    assert capsys.readouterr().out.startswith("addmm(self, mat1, mat2, /, beta=1, alpha=1)\n")
    assert main(["ops", "sum"]) == 0
    out = capsys.readouterr().out
    assert "sum_all(self, /, dtype=None)" in out
    assert "sum_dim(self, /, dim, keepdim=False, dtype=None)" in out


def test_the_code_of_an_entry_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "exp", "--code"]) == 0
    out = capsys.readouterr().out
    compile(out, "<exp>", "exec")
    assert "def call(self):" in out
    assert "g_self = g * result" in out


def test_wrong_use_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "layernorm"]) == 2
    assert "did you mean layer_norm" in capsys.readouterr().err
    assert main(["ops", "--code"]) == 2
    assert "name the op" in capsys.readouterr().err
    assert main(["ops", "mul", "--cod"]) == 2
    assert "did you mean --code?" in capsys.readouterr().err

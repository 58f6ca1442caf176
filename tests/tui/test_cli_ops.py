"""``gradstep ops``: the op table on paper."""

from __future__ import annotations

import pytest

from autograd_core.op import OPS
from tui.cli import main


def test_the_table_has_a_line_for_every_op(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "elementwise:" in lines
    assert "  mul(x, y)  x: g * y; y: g * x  [saves y, x]" in lines
    assert "  eq(x, y)  no derivative" in lines
    assert {name for name, op in OPS.items() if op.function.__module__.startswith("autograd_core")
            } <= {line.strip().partition("(")[0] for line in lines}  # fmt: skip


def test_one_op_is_shown_with_all_its_entry_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "tanh"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tanh(x)",
        "  Hyperbolic tangent.",
        "",
        "  derivative by x: g * (1 - ans * ans)",
        "  node: TanhBackward0",
        "  saves: ans",
        "  is: elementwise",
        "  called: torch.tanh, Tensor.tanh, Tensor.tanh_",
    ]


def test_an_op_is_found_by_its_node_and_an_overload_by_its_function(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ops", "AddmmBackward0"]) == 0
    assert capsys.readouterr().out.startswith("addmm(bias, a, b, /, beta=1, alpha=1)\n")
    assert main(["ops", "sum"]) == 0
    out = capsys.readouterr().out
    assert "sum_all(x, /, dtype=None)" in out
    assert "sum_dim(x, /, dim, keepdim=False, dtype=None)" in out


def test_the_code_of_an_entry_can_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "exp", "--code"]) == 0
    out = capsys.readouterr().out
    compile(out, "<exp>", "exec")
    assert "def call(x):" in out
    assert "g_x = rule_x(g, ans)" in out


def test_wrong_use_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "layernorm"]) == 2
    assert "did you mean layer_norm" in capsys.readouterr().err
    assert main(["ops", "--code"]) == 2
    assert "name it" in capsys.readouterr().err
    assert main(["ops", "mul", "--cod"]) == 2
    assert "did you mean --code?" in capsys.readouterr().err

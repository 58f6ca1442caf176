"""The generated signatures of Tensor's methods: fresh, whole, and of use to a type checker."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import autograd_core as torch
from autograd_core.op.stub import methods_text, texts


def test_the_stubs_are_fresh() -> None:
    for file, text in texts().items():
        assert file.read_text("utf-8") == text, "run: python -m autograd_core.op.stub"


def test_the_stub_names_what_tensors_can_do() -> None:
    (methods,) = (n for n in ast.parse(methods_text()).body if isinstance(n, ast.ClassDef))
    named = {n.name for n in methods.body if isinstance(n, ast.FunctionDef)}
    named |= {ast.unparse(n.targets[0]) for n in methods.body if isinstance(n, ast.Assign)}
    assert {"__add__", "__iadd__", "sum", "view", "add_", "backward", "T", "max"} <= named
    assert all(hasattr(torch.Tensor, name) for name in named)
    assert not any(name in named for name in ("detach", "requires_grad_", "grad", "shape"))


SAMPLE = """\
from autograd_core import Tensor


def use(x: Tensor) -> None:
    reveal_type(x.sum(0, keepdim=True))
    reveal_type(x + 1)
    reveal_type(x.T.view(6))
    x.add_(1).backward()
    x.summ()
    x.sum(dim="first")
"""


@pytest.mark.slow
def test_a_type_checker_knows_the_methods_and_finds_what_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed (the group 'dev' has it)")
    (tmp_path / "sample.py").write_text(SAMPLE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--follow-imports=silent",
         str(tmp_path / "sample.py")],
        cwd=Path(torch.__file__).parents[1], capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = [line.split(": ", 1)[1] for line in done.stdout.splitlines()]
    tensor = 'note: Revealed type is "autograd_core.tensor.tensor.Tensor"'
    assert found[:3] == [tensor] * 3
    assert found[3].startswith('error: "Tensor" has no attribute "summ"')
    assert (
        found[4].startswith('error: No overload variant of "sum"') or 'Argument "dim"' in found[4]
    )

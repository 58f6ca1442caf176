"""An op is one entry: what users, type checkers and readers have of it follows from that."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_core as torch
from autograd_core import functions
from autograd_core.autograd.gradcheck import gradcheck, gradgradcheck
from autograd_core.op import OPS, public
from autograd_core.op.stub import functions_text, methods_text
from gradstep import capture
from gradstep_tui.commands.ops import _entry
from tests.autograd_core.op_samples import samples_of
from tests.autograd_core.test_op_table import Call, check_first, check_second

ENTRY = """\
from autograd_core.op import pointwise


@pointwise(
    self=lambda g, self: g * (3 * self * self),
    variants="function method inplace",
    aliases="third_power",
)
def cube(self):
    \"\"\"The third power.\"\"\"
    return self * self * self
"""
NAMES = [
    form
    for name in ("cube", "third_power")
    for form in (f"torch.{name}", f"Tensor.{name}", f"Tensor.{name}_")
]


@pytest.fixture
def cubes(tmp_path: Path, declared: None) -> Iterator[Any]:
    """A module with one entry."""
    file = tmp_path / "cubes.py"
    file.write_text(ENTRY)
    spec = importlib.util.spec_from_file_location("cubes", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["cubes"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["cubes"]


@pytest.mark.usefixtures("cubes")
@pytest.mark.parametrize("name", ["cube", "third_power"])
def test_an_entry_gives_a_function_a_method_and_an_in_place_form(name: str) -> None:
    x = torch.tensor([2.0, -1.0])
    assert getattr(torch, name)(x).tolist() == [8, -1]
    assert getattr(functions, name)(input=x).tolist() == [8, -1]
    assert getattr(x, name)().tolist() == [8, -1]
    assert getattr(x, f"{name}_")() is x
    assert x.tolist() == [8, -1]
    assert getattr(torch, f"{name}_")(x).tolist() == [512, -1]


@pytest.mark.usefixtures("cubes")
def test_an_entry_says_what_it_takes_as_out() -> None:
    x, out = torch.tensor([2.0, -1.0]), torch.zeros(2, dtype=torch.float64)
    assert torch.cube(x, out=out) is out
    assert out.tolist() == [8, -1]
    with pytest.raises(RuntimeError, match=r"^Found dtype Double but expected Float$"):
        torch.abs(x, out=out)
    with pytest.raises(TypeError, match=r"^relu\(\) got an unexpected keyword argument 'out'$"):
        torch.relu(x, out=out)


def test_an_entry_with_an_unknown_kind_of_out_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^cube: out is one of cast, .*, not any$"):
        public(name="cube", out="any")(torch.abs)  # type: ignore[arg-type]


@pytest.mark.usefixtures("cubes")
def test_a_type_checker_sees_what_an_entry_gives() -> None:
    assert "    def cube(self) -> Tensor: ...\n" in methods_text()
    assert "cube_ = cube" in methods_text()
    stub = functions_text("", "functions")
    assert "from cubes import cube, cube as third_power\n" in stub
    assert '"cube",' in stub


@pytest.mark.usefixtures("cubes")
def test_an_entry_is_documented() -> None:
    assert _entry(OPS["cube"]).splitlines() == [
        "cube(self)",
        "  The third power.",
        "",
        "  derivative by self: g * (3 * self * self)",
        "  node: CubeBackward0",
        "  saves: self",
        "  is: elementwise",
        f"  called: {', '.join(NAMES)}",
    ]


@pytest.mark.usefixtures("cubes")
def test_the_documentation_has_a_row_for_an_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason="sphinx is not installed (the group 'docs' has it)")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs" / "_ext")
    rows = importlib.import_module("operators").entry_lines(OPS["cube"])
    assert list(rows)[:5] == [
        "``cube(self)``",
        "    The third power.",
        "",
        f"    | {', '.join(f'``{name}``' for name in NAMES)}",
        "    | by ``self``: ``g * (3 * self * self)``",
    ]


@pytest.mark.usefixtures("cubes")
def test_an_entry_is_checked_by_differences() -> None:
    for sample in samples_of(OPS["cube"]):
        call = Call(OPS["cube"], sample)
        check_first(call)
        check_second(call)
    x = torch.tensor([0.5, -2.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(torch.cube, (x,))  # type: ignore[attr-defined]
    assert gradgradcheck(torch.cube, (x,))  # type: ignore[attr-defined]


@pytest.mark.usefixtures("cubes")
def test_the_rule_of_an_entry_is_the_formula_that_people_read() -> None:
    a = torch.tensor([2.0], requires_grad=True)
    y = torch.cube(a)  # type: ignore[attr-defined]
    (node,) = (n for n in capture(y, "backward", names={"a": a}).nodes() if n.kind == "op")
    assert (node.name, node.formula) == ("CubeBackward0", "g · (3 · a · a)")


def test_an_unknown_variant_is_an_error_where_it_is_declared(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="cube: no variant is called methods"):
        exec(ENTRY.replace("function method inplace", "methods"), {"__name__": "cubes"})
    OPS.pop("cube")

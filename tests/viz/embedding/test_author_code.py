"""Running the code in a document: what is taken from it, and what is said when it fails."""

from __future__ import annotations

import _json
import inspect
import os
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from gradstep_viz.embedding.drawing import Request, draw
from gradstep_viz.embedding.running import Found, run
from gradstep_viz.embedding.snippet import snippet_of
from gradstep_viz.errors import CodeFailed

LEAVES = """\
import autograd_core as torch
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)
"""


def taken(folder: Path, *codes: str, line: int = 1) -> Found:
    return run([snippet_of(dedent(code), folder, line) for code in codes])


@pytest.mark.parametrize(
    ("ending", "name", "value"),
    [
        ("out = x * 2\nz = x * 3\nx * y", "", 10.0),
        ("out = x * 2\nz = x * 3\nprint(z)", "out", 4.0),
        ("z = x * y\nloss = z + 1\nz.backward()", "loss", 11.0),
    ],
)
def test_the_last_expression_is_taken_else_out_else_the_single_scalar(
    tmp_path: Path, ending: str, name: str, value: float
) -> None:
    found = taken(tmp_path, LEAVES + ending)
    assert (found.name, found.value.item()) == (name, value)
    assert {"x", "y", "torch"} <= set(found.variables)


def test_several_scalars_are_named_and_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(CodeFailed, match=r"several scalars with a graph \(a, b\); end the code"):
        taken(tmp_path, LEAVES + "a = x * 2\nb = x * 3")
    with pytest.raises(CodeFailed, match="no tensor with a graph"):
        taken(tmp_path, "pass")


def test_a_file_is_found_beside_the_document_and_gives_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "helper_of_mine.py").write_text("def double(x):\n    return x + x\n")
    (tmp_path / "model.py").write_text(
        LEAVES
        + "from helper_of_mine import double\n"
        + "def loss():\n    return double(x)\n"
        + "class Net:\n    sample_inputs = (x,)\n    def __call__(self, x):\n        return x * y\n"
        + "net = Net()\n"
        + "if __name__ == '__main__':\n    raise SystemExit('the main part ran')\n"
    )
    assert taken(tmp_path, "model.py:x").value.item() == 2.0
    assert taken(tmp_path, "model.py:loss").value.item() == 4.0
    assert taken(tmp_path, "model.py:net").value.item() == 10.0
    assert taken(tmp_path, "model.py:net.sample_inputs").name == "net.sample_inputs"
    with pytest.raises(CodeFailed, match=r"model.py has no los; did you mean loss\?"):
        taken(tmp_path, "model.py:los")
    with pytest.raises(CodeFailed, match="torch is a module; name a tensor"):
        taken(tmp_path, "model.py:torch")
    with pytest.raises(CodeFailed, match=r"cannot read missing.py \(no such file or directory\)"):
        taken(tmp_path, "missing.py:x")


def test_a_module_beside_the_document_gives_what_it_names_or_is_run(tmp_path: Path) -> None:
    package = tmp_path / "package_of_mine"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "part.py").write_text(LEAVES)
    (package / "train.py").write_text(
        "from .part import *\nassert __name__ == '__main__'\nloss = x * y\n"
    )
    assert taken(tmp_path, "package_of_mine.part:y").value.item() == 5.0
    found = taken(tmp_path, "-m package_of_mine.train")
    assert (found.name, found.value.item()) == ("loss", 10.0)
    assert str(package / "part.py") in found.files
    with pytest.raises(CodeFailed, match=r"there is no module package_of_mine\.lost"):
        taken(tmp_path, "package_of_mine.lost:y")
    with pytest.raises(CodeFailed, match=r"package_of_mine\.part has no z"):
        taken(tmp_path, "package_of_mine.part:z")
    assert "package_of_mine" not in sys.modules


@pytest.mark.parametrize(
    ("code", "said", "line"),
    [
        ("x = 1\n\n1 / 0\n", "ZeroDivisionError: division by zero", 12),
        ("def f():\n    raise KeyError('a')\n\nf()\n", "KeyError: 'a'", 11),
        ("x = 1\nif x\n", "SyntaxError: expected ':'", 11),
        ("x = 1\nimport sys; sys.exit(3)", "the code exited with 3", 0),
    ],
)
def test_an_error_is_told_with_its_line_in_the_document(
    tmp_path: Path, code: str, said: str, line: int
) -> None:
    with pytest.raises(CodeFailed) as caught:
        taken(tmp_path, code, line=10)
    assert (caught.value.what, caught.value.line) == (said, line)


@pytest.mark.parametrize("how", [{"film": True}, {"step": -1}])
def test_a_graph_that_the_code_has_freed_is_told(how: dict[str, int], tmp_path: Path) -> None:
    code = snippet_of(f"{LEAVES}z = x * y\nz.backward()", tmp_path, 1)
    with pytest.raises(CodeFailed, match="freed by a backward"):
        draw(Request((code,), {}, **how))
    draw(Request((code,), {}))


def test_an_error_in_a_file_is_told_with_that_file(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import other_of_mine\n")
    (tmp_path / "other_of_mine.py").write_text("\n\nraise ValueError('no data')\n")
    with pytest.raises(CodeFailed, match=r"other_of_mine.py:3: ValueError: no data"):
        taken(tmp_path, "model.py")


def test_blocks_of_one_context_share_their_variables(tmp_path: Path) -> None:
    found = taken(tmp_path, LEAVES, "z = x * y", "z * z")
    assert found.value.item() == 100.0


def test_classes_can_be_looked_up_by_dataclasses(tmp_path: Path) -> None:
    code = """
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import ClassVar
        @dataclass
        class Sizes:
            width: int = 3
            known: ClassVar[int] = 1
    """
    assert taken(tmp_path, dedent(code) + LEAVES + "x * Sizes().width").value.item() == 6.0


def test_code_of_a_page_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # inspect looks through all modules, and has seen the file of another main module before
    monkeypatch.setattr(inspect, "modulesbyfile", {})
    inspect.getmodule(inspect.currentframe())
    code = "import inspect\nhome = inspect.getsourcefile(inspect.currentframe())\n"
    assert "home" in taken(tmp_path, LEAVES + code + "x * y").variables


def test_nothing_of_the_process_is_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (os.getcwd(), sys.argv, sys.path[:], sys.modules["__main__"], np.geterr())
    code = "import sys, os\nprint('noise')\nassert os.getcwd() == sys.path[0]\nsys.path.append('q')"
    taken(tmp_path, LEAVES + code + "\nimport numpy\nnumpy.seterr(all='ignore')\nx * y")
    with pytest.raises(CodeFailed):
        taken(tmp_path, code + "\n1/0")
    assert (os.getcwd(), sys.argv, sys.path[:], sys.modules["__main__"], np.geterr()) == before
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(not hasattr(_json, "__file__"), reason="_json is built into this Python")
def test_no_library_is_forgotten_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As PyTorch on ``PYTHONPATH``, and packages with compiled parts in the project itself."""
    (tmp_path / "project" / "docs").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "library_of_others.py").touch()
    (tmp_path / "project" / "model_of_mine.py").touch()
    package = tmp_path / "project" / "compiled_of_mine"
    package.mkdir()
    (package / "__init__.py").write_text("from compiled_of_mine import _json")
    shutil.copy(_json.__file__, package)
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(tmp_path / "project")
    code = "import library_of_others, model_of_mine, compiled_of_mine\n"
    found = taken(tmp_path / "project" / "docs", LEAVES + code + "x * y")
    kept = {"library_of_others", "model_of_mine", "compiled_of_mine"} & set(sys.modules)
    assert kept == {"library_of_others", "compiled_of_mine"}
    assert {Path(file).name for file in found.files} >= {"model_of_mine.py"}
    assert "library_of_others.py" not in {Path(file).name for file in found.files}

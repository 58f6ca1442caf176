"""``import gradstep`` and ``python -m gradstep``: what they give, and what may shadow them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gradstep

ROOT = Path(__file__).parents[1]
SCRIPT = """\
import autograd_core as torch

x = torch.tensor(3.0, requires_grad=True)
(x * x).backward()
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in ``folder``, where gradstep is installed."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_all_that_users_call_has_one_name() -> None:
    import autograd_core.debug
    import tui
    import viz

    assert gradstep.render is viz.render
    assert gradstep.to_graphviz is viz.to_graphviz
    assert gradstep.film is viz.film
    assert gradstep.debug is tui.debug
    assert gradstep.Session is autograd_core.debug.Session
    assert gradstep.check is autograd_core.debug.check
    assert gradstep.why is autograd_core.debug.why
    assert set(gradstep.__all__) <= set(dir(gradstep))
    with pytest.raises(AttributeError, match="has no attribute 'draw'"):
        _ = gradstep.draw


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_why_answers_before_backward_and_leaves_no_trace(library: str) -> None:
    torch = pytest.importorskip(library)
    x = torch.tensor([-1.0, -2.0], requires_grad=True)
    loss = x.relu().sum()
    said = str(gradstep.why(loss, x))
    assert said.startswith("x.grad is 0 everywhere: #2 relu:1 caused it")
    assert str(gradstep.why(loss, "x")) == said
    assert x.grad is None
    loss.backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        gradstep.why(loss, x)
    with pytest.raises(ValueError, match="target is int, not a tensor or the name of one"):
        gradstep.why(x.sum(), 3)


@pytest.mark.parametrize("name", ["viz", "tui"])
def test_the_command_works_where_a_folder_has_the_name_of_a_package(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("mine = 7\n")
    (tmp_path / "script.py").write_text(f"import {name}\nassert {name}.mine == 7\n{SCRIPT}")
    done = run(tmp_path, "-m", "gradstep", "render", "script.py")
    assert (done.returncode, done.stderr) == (0, "gradstep: wrote script.svg\n")
    assert (tmp_path / "script.svg").is_file()


def test_the_command_names_what_comes_before_its_own_package(tmp_path: Path) -> None:
    (tmp_path / "viz.py").touch()
    first = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gradstep; gradstep.main()"
    done = run(ROOT, "-c", first)
    assert str(tmp_path / "viz.py") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["viz", "tui"])
def test_a_program_with_a_folder_of_that_name_is_told_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / "program.py").write_text("import gradstep\ngradstep.render\n")
    done = run(tmp_path, "program.py")
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"ImportError: the package {name} that Python finds is not gradstep's")
    assert str(tmp_path / name) in said
    assert "rename yours, or run your program by the gradstep command" in said

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
    import gradstep.console.session
    import gradstep_tui

    assert gradstep.render is gradstep.render
    assert gradstep.to_graphviz is gradstep.to_graphviz
    assert gradstep.film is gradstep.film
    assert gradstep.debug is gradstep_tui.debug
    assert gradstep.Session is gradstep.console.session.Session
    assert gradstep.check is gradstep.program.watching.check
    assert gradstep.why is gradstep.findings.why
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
    with pytest.raises(ValueError, match="ask why before it, or call it with retain_graph=True"):
        gradstep.why(loss, x)
    with pytest.raises(ValueError, match="target is int, not a tensor or the name of one"):
        gradstep.why(x.sum(), 3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["viz", "tui"])
@pytest.mark.parametrize("module", ["__init__", "plots"])  # a package, and a folder of modules
def test_a_program_may_have_folders_called_as_those_of_this_repository(
    tmp_path: Path, name: str, module: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / f"{module}.py").write_text("mine = 7\n")
    full = name if module == "__init__" else f"{name}.{module}"
    (tmp_path / "script.py").write_text(
        f"import {full}, gradstep\nassert {full}.mine == 7\ngradstep.render\n{SCRIPT}"
    )
    assert run(tmp_path, "script.py").returncode == 0
    done = run(tmp_path, "-m", "gradstep", "render", "script.py")
    assert (done.returncode, done.stderr) == (0, "gradstep: wrote script.svg\n")
    assert (tmp_path / "script.svg").is_file()


@pytest.mark.torch
def test_drawing_a_graph_of_pytorch_loads_no_module_of_the_core(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import sys, torch, gradstep\n"
        "net = torch.nn.Linear(3, 2)\n"
        "gradstep.render(net(torch.ones(1, 3)).sum(), 'net.svg')\n"
        "print(sorted(name for name in sys.modules if name.startswith('autograd_core')))\n"
    )
    done = run(tmp_path, "script.py")
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


@pytest.mark.sampled(1)
@pytest.mark.torch
@pytest.mark.parametrize(
    "command",
    ["render -o net.svg", "film -o net.svg", "check -q", "record", "debug --batch --ex continue"],
)
def test_a_command_loads_no_module_of_the_core_for_a_script_of_pytorch(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "script.py").write_text(
        "import atexit, sys, torch\n"
        "told = lambda: sorted(name for name in sys.modules if name.startswith('autograd_core'))\n"
        "atexit.register(lambda: print(told(), file=sys.stderr))\n"
        "net = torch.nn.Linear(3, 2)\n"
        "net(torch.ones(1, 3)).sum().backward()\n"
    )
    done = run(tmp_path, "-m", "gradstep", *command.split(), "script.py")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]"), done.stderr

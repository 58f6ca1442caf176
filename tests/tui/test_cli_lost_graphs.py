"""A loss without a graph: the line that took it out stands below the traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import autograd_core as core
from gradstep_tui.cli import main

Run = Callable[..., str]

HEAD = """\
import LIBRARY as torch
w = torch.ones(3, requires_grad=True)
for step in range(2):
"""
LOSSES = [
    (
        "    loss = (w * 2).sum()\n    loss.backward()\n    torch.set_grad_enabled(False)\n",
        "mul ran with gradients switched off at train.py:4",
    ),
    (
        "    y = w * 2\n    y = y.detach() if step else y\n    y.sum().backward()\n",
        "took a value out of the graph at train.py:5",
    ),
    (
        "    y = w * 2\n    y = y.argmax() if step else y\n    y.sum().backward()\n",
        "argmax gives numbers of dtype int64 at train.py:5",
    ),
    (
        "    y = w * 2\n    y = y if not step else torch.ones(3) * 2\n    y.sum().backward()\n",
        "nothing that it was computed from requires one",
    ),
]


@pytest.fixture(params=["autograd_core", pytest.param("torch", marks=pytest.mark.torch)])
def run(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run ``gradstep`` on a script that fails, with either library; what is printed."""
    if request.param == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)

    def run(script: str, *command: str) -> str:
        Path("train.py").write_text((HEAD + script).replace("LIBRARY", request.param))
        assert main([*command, "train.py"]) in (1, 5)  # check may have found the cause
        return capsys.readouterr().err

    return run


@pytest.fixture(autouse=True)
def _gradients_on() -> Iterator[None]:
    yield
    core.set_grad_enabled(True)
    if (pytorch := sys.modules.get("torch")) is not None:
        pytorch.set_grad_enabled(True)


@pytest.mark.parametrize(("body", "cause"), LOSSES)
def test_the_line_is_named(run: Run, body: str, cause: str) -> None:
    said = run(body, "check")
    assert "does not require grad and does not have a grad_fn" in said
    assert "(the loss requires no gradient: " in said
    assert f"{cause})" in said


@pytest.mark.torch
def test_without_a_traced_forward_pass_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text((HEAD + LOSSES[1][0]).replace("LIBRARY", "torch"))
    assert main(["debug", "--fail-on", "nan", "train.py"]) == 1
    said = capsys.readouterr().err
    assert "gradstep check names the line that took the loss out" in said


def test_another_error_has_no_such_note(run: Run) -> None:
    said = run("    raise RuntimeError('mine')\n", "check")
    assert said.rstrip().endswith("RuntimeError: mine")


def test_a_hook_of_the_program_gets_a_traceback_without_our_frames(run: Run) -> None:
    hook = "import sys\nsys.excepthook = lambda *given: sys.__excepthook__(*given)\n"
    said = run(f"    pass\n{hook}y = w * 2\ny.detach().sum().backward()\n", "check")
    assert "origins.py" not in said
    assert "entry.py" not in said
    assert "gradstep: the loss requires no gradient: detach()" in said

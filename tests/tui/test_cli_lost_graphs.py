"""A loss without a graph: the line that took it out stands below the traceback."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.both import on_pytorch
from tests.tui.conftest import Gradstep

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


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Run ``gradstep`` on a script that fails; what is printed."""

    def run(script: str, *command: str) -> str:
        ended = gradstep(HEAD + script, *command, "train.py")
        assert ended.code in (1, 5)  # check may have found the cause
        return ended.err

    return run


@pytest.mark.parametrize(("body", "cause"), LOSSES)
def test_the_line_is_named(run: Run, body: str, cause: str) -> None:
    said = run(body, "check")
    assert "does not require grad and does not have a grad_fn" in said
    assert "(the loss requires no gradient: " in said
    assert f"{cause})" in said


@on_pytorch
def test_without_a_traced_forward_pass_the_command_is_named(run: Run) -> None:
    said = run(LOSSES[1][0], "debug", "--fail-on", "nan")
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

"""Tracebacks of scripts that use PyTorch have the frames that they have without gradstep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.both import TORCH
from tests.forking import run_python
from tests.tui.conftest import Ended, Gradstep

Run = Callable[..., Ended]
pytestmark = [
    pytest.mark.parametrize("torch", [TORCH], indirect=True),
    pytest.mark.usefixtures("no_modes"),
]


@pytest.fixture
def run(gradstep: Gradstep) -> Run:
    """Check ``script`` with these arguments, and return what came of it."""
    return lambda script, *arguments: gradstep(script, "check", *(arguments or ("train.py",)))


@pytest.fixture
def no_modes(torch: Any) -> None:
    """Take away function modes, such as a default device, that an earlier test has left: their
    frames stand in every traceback."""
    while torch.overrides._get_current_function_mode_stack():
        torch.overrides._pop_mode()


@pytest.mark.parametrize(
    "last",
    ["torch.ones(2) @ torch.ones(3)", "F.apply(x)", "x.view(7)", "x.sum().backward(x)"],
)
def test_the_traceback_of_a_failing_script_has_no_frame_of_a_mode(run: Run, last: str) -> None:
    script = f"""
        import torch

        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x @ torch.ones(3)

        x = torch.ones(2, requires_grad=True)
        {last}
        """
    code, _, err = run(script)
    assert code == 1
    files = [Path(each.split('"')[1]).name for each in err.splitlines() if "  File" in each]
    assert files[0] == "train.py"
    assert set(files[1:]) <= {"train.py", "function.py", "_tensor.py", "__init__.py", "graph.py"}


def test_tracebacks_that_a_script_prints_have_no_frame_of_ours(
    gradstep: Gradstep, tmp_path: Path
) -> None:
    script = str(tmp_path / "train.py")
    code, out, err = gradstep(PRINTS_TRACEBACKS, "debug", "--fail-on", "nan", script)
    plain = run_python([script], tmp_path)
    assert plain.stdout.count("in forward") == 2
    assert plain.stdout.endswith("2 backward\n")
    assert (code, out) == (0, plain.stdout)
    assert "in backward\n    traceback.print_stack()" in err
    assert "autograd_core" not in err


PRINTS_TRACEBACKS = """\
    import traceback
    import torch

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            traceback.print_stack()
            stack = traceback.StackSummary.extract(traceback.walk_stack(None))
            print(sum("train.py" in each.filename for each in stack), stack[0].name)
            return g * 2

    class Inner(torch.nn.Module):
        def forward(self, x):
            return x @ torch.ones(7, 7)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            try:
                return self.inner(x)
            except RuntimeError:
                print(traceback.format_exc())
                return Double.apply(x)

    Net()(torch.ones(2, 3, requires_grad=True)).sum().backward()
"""


def test_the_traceback_of_anomaly_mode_has_the_frames_of_the_script_only(run: Run) -> None:
    script = """
        import torch

        x = torch.zeros((), requires_grad=True)
        with torch.autograd.set_detect_anomaly(True):
            torch.nn.functional.softplus(x.sqrt() * 0).backward()
        """
    with pytest.warns(UserWarning, match="Error detected in SqrtBackward0") as told:
        code, _, _ = run(script, "--call", "2", "train.py")
    assert code == 1
    said = str(told[0].message)
    assert said.count("  File ") == said.count("train.py") == 1, said

"""Tracebacks of scripts that use PyTorch have the frames that they have without gradstep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from gradstep_tui.cli import main  # noqa: E402
from tests.forking import run_python  # noqa: E402

pytestmark = pytest.mark.torch

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Check ``script`` with these arguments, and return what came of it."""
    monkeypatch.chdir(tmp_path)

    def check(script: str, *arguments: str) -> tuple[int, str, str]:
        Path("train.py").write_text(dedent(script), "utf-8")
        code = main(["check", *(arguments or ("train.py",))])
        return code, *capsys.readouterr()

    return check


@pytest.fixture
def no_modes() -> None:
    """Take away function modes, such as a default device, that an earlier test has left: their
    frames stand in every traceback."""
    while torch.overrides._get_current_function_mode_stack():
        torch.overrides._pop_mode()


@pytest.mark.usefixtures("no_modes")
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


@pytest.mark.usefixtures("no_modes")
def test_tracebacks_that_a_script_prints_have_no_frame_of_ours(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(dedent(PRINTS_TRACEBACKS), "utf-8")
    plain = run_python([str(script)], tmp_path)
    assert plain.stdout.count("in forward") == 2
    assert plain.stdout.endswith("2 backward\n")
    assert main(["debug", "--fail-on", "nan", str(script)]) == 0
    out, err = capsys.readouterr()
    assert out == plain.stdout
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

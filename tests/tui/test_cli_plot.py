"""``gradstep plot``: of a recording, and of a program that is recorded for it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from gradstep_tui.cli import main

SCRIPT = """
import sys
import autograd_core as torch
from autograd_core import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
frozen, trained = net[0], net[2]
optimizer = torch.optim.SGD(trained.parameters(), lr=0.1)
for step in range(12):
    optimizer.zero_grad()
    net(torch.ones(2, 3)).sum().backward()
    optimizer.step()
print("printed")
sys.exit(int(sys.argv[1]))
"""
needs_matplotlib = pytest.mark.extra("plot")


@pytest.fixture(params=["autograd_core", pytest.param("torch", marks=pytest.mark.torch)])
def script(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    engine = "import torch\nfrom torch import nn"
    core = "import autograd_core as torch\nfrom autograd_core import nn"
    Path("train.py").write_text(
        SCRIPT if request.param != "torch" else SCRIPT.replace(core, engine)
    )
    return Path("train.py")


@needs_matplotlib
def test_a_program_is_recorded_and_plotted_at_once(
    script: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["plot", "train.py", "3"]) == 3
    out, err = capfd.readouterr()
    assert out == "printed\n"
    assert "wrote train-plot.svg" in err
    assert "exit code 3" in err
    svg = Path("train-plot.svg").read_text("utf-8")
    assert "train.py 3: 12 calls" in svg
    assert "0.weight and 0.bias never change; no optimizer holds them" in svg
    assert {each.name for each in Path().iterdir()} == {"train.py", "train-plot.svg"}


def test_on_a_terminal_a_plot_is_drawn_in_it(
    script: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "90")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert main(["plot", "--what", "rms", "train.py", "0"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("train.py 0: 12 calls\n")
    assert "0.weight │" in out
    assert "printed" in err  # standard output is for the plot
    assert "wrote" not in err
    assert {each.name for each in Path().iterdir()} == {"train.py"}


@needs_matplotlib
def test_a_recording_is_plotted_without_its_program(
    script: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["record", "train.py", "0"]) == 0
    script.unlink()
    capfdbinary.readouterr()
    command = ["plot", "--what", "rms", "--call", "3:8", "--of", "2", "-o"]
    assert main([*command, "flow.html", "run.gsr"]) == 0
    page = Path("flow.html").read_text("utf-8")
    assert "train.py 0: 6 calls" in page
    assert '"rows":["2.weight","2.bias"]' in page
    assert main([*command, "-", "--format", "svg", "run.gsr"]) == 0
    out, _ = capfdbinary.readouterr()
    assert out.startswith(b"<svg")
    assert main(["plot", "--of", "nothing", "run.gsr"]) == 2
    assert main(["plot", "--call", "40", "run.gsr"]) == 3
    _, err = capfdbinary.readouterr()
    assert b"no leaf matches 'nothing'" in err
    assert b"no such call was recorded" in err


@needs_matplotlib
@pytest.mark.parametrize(("words", "code", "said"), [
    (["run.gsr"], 3, "cannot read run.gsr"),
    (["other.gsr"], 3, "is not a recording"),
    (["-o", "x.dot", "train.py", "0"], 2, "use svg, png, pdf, html"),
    (["--call", "never", "train.py", "0"], 2, "a call is a positive integer"),
    (["train.py:net"], 2, "takes a script or a module"),
    (["other.gsr", "more"], 2, "one word too many"),
    (["--what", "size", "train.py"], 2, "--what"),
])  # fmt: skip
def test_a_mistake_is_told_before_anything_runs(
    words: list[str], code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT)
    Path("other.gsr").write_text("what is it?")
    assert main(["plot", *words]) == code
    out, err = capfd.readouterr()
    assert said in err
    assert out == ""


def test_without_matplotlib_the_program_does_not_run(
    script: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["plot", "train.py", "0"]) == 4
    out, err = capfd.readouterr()
    assert out == ""
    assert 'pip install "gradstep[plot]"' in err


@needs_matplotlib
def test_a_program_that_fails_before_its_first_call_ends_as_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("raise ValueError('early')")
    assert main(["plot", "train.py"]) == 1
    assert "ValueError: early" in capfd.readouterr().err
    Path("train.py").write_text("pass")
    assert main(["plot", "train.py"]) == 3
    assert "no call was recorded" in capfd.readouterr().err


@pytest.mark.torch
@needs_matplotlib
def test_both_sick_layers_of_the_documentation_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = Path(__file__).parents[2] / "docs" / "examples" / "sick_layers.py"
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(example.read_text("utf-8").replace("range(500)", "range(40)"))
    assert main(["plot", "-o", "plot.html", "train.py"]) == 0
    page = Path("plot.html").read_text("utf-8")
    assert "neck.weight and neck.bias never change; no optimizer holds them" in page
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["rows"][0] == "stem.weight"
    assert data["rows"][-1] == "head.bias"
    sizes = [
        float(re.search(r"rms (\S+)", row[0][2])[1].replace("\N{MINUS SIGN}", "-"))  # type: ignore[index]
        for row in data["cells"]
    ]
    assert sizes[0] < 1e-4 * sizes[-1]

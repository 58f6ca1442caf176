"""``gradstep check -o``: reports as files, and the page that is written while a run goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradstep_tui.cli import main
from gradstep_tui.commands import check_page
from gradstep_tui.errors import ExitCode
from tests.viz.test_report_page import SICK

HEALTHY = """\
import autograd_core as torch

torch.manual_seed(0)
layer = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
x = torch.rand(8, 3)
y = x @ torch.tensor([[1.0], [2.0], [3.0]])
for step in range(20):
    optimizer.zero_grad()
    loss = (layer(x) - y).pow(2).mean()
    loss.backward()
    optimizer.step()
"""
REFRESH = 'http-equiv="refresh"'


@pytest.fixture
def program(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.py"
    path.write_text(SICK)
    return path


@pytest.fixture
def run_cli(capfd):
    """Run the command; its exit code, and what it wrote on standard output and error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        written = capfd.readouterr()
        return code, written.out, written.err

    return run


def test_the_page_of_a_script(program, run_cli):
    code, out, err = run_cli("check", "-o", "report.html", "train.py")
    assert (code, out) == (ExitCode.FOUND, "")
    assert err.endswith("gradstep: wrote report.html: 1 warning\n")
    page = Path("report.html").read_text("utf-8")
    assert "train.py" in page
    assert "stale-grad" in page
    assert 'class="node row' in page
    assert REFRESH not in page
    assert sorted(path.name for path in program.parent.iterdir()) == ["report.html", "train.py"]


def test_the_page_of_a_recording(program, run_cli):
    run_cli("record", "-o", "run.gsr", "train.py")
    code, _, err = run_cli("check", "-o", "report.html", "run.gsr")
    assert code == ExitCode.FOUND
    assert "wrote report.html" in err
    page = Path("report.html").read_text("utf-8")
    assert "run.gsr" in page
    assert 'class="node row' in page
    assert "rules did not run" in page


def test_a_program_without_mistakes_has_a_page_that_says_no_more(program, run_cli):
    program.write_text(HEALTHY)
    assert run_cli("check", "-o", "report.html", "train.py")[0] == 0
    page = Path("report.html").read_text("utf-8")
    assert "Nothing suspicious was found" in page
    assert "The loss goes from" in page


def test_a_program_that_fails_has_a_page_that_says_so(program, run_cli):
    program.write_text(HEALTHY + "raise ValueError('<no> more data')\n")
    code, _, err = run_cli("check", "-o", "report.html", "train.py")
    assert code == 1
    assert "ValueError" in err
    page = Path("report.html").read_text("utf-8")
    assert "ValueError: &lt;no&gt; more data" in page
    assert REFRESH not in page


@pytest.fixture
def pages(program, monkeypatch) -> list[str]:
    """The pages that a run writes where there is one for each call."""
    written: list[str] = []
    write = check_page.write_atomically

    def keep(path: Path, data: bytes) -> Path:
        written.append(data.decode())
        return write(path, data)

    monkeypatch.setattr(check_page, "write_atomically", keep)
    monkeypatch.setattr(check_page, "_PAUSE", 0.0)
    monkeypatch.setattr(check_page, "_SHARE", 1e9)
    return written


def test_the_page_is_written_anew_while_the_run_goes_on(program, run_cli, pages):
    run_cli("check", "-o", "report.html", "train.py")
    assert [REFRESH in page for page in pages] == [True] * 6
    assert "what 1 call showed" in pages[0]
    assert "what 6 calls showed" in pages[-1]
    assert REFRESH not in Path("report.html").read_text("utf-8")


def test_a_live_page_changes_nothing_that_is_found_or_computed(program, run_cli, pages):
    program.write_text(SICK + "print(repr(loss.item()), torch.rand(2).tolist())\n")
    _, with_page, _ = run_cli("check", "-o", "report.html", "train.py")
    plain, _, _ = run_cli("check", "-o", "report.json", "train.py")
    told = json.loads(Path("report.json").read_text())
    for finding in told["findings"]:
        assert finding["what"] in Path("report.html").read_text("utf-8")
    _, without, _ = run_cli("check", "-o", "report.txt", "train.py")
    assert with_page == without
    assert plain == ExitCode.FOUND


def test_a_page_that_nobody_writes_again_is_loaded_no_more(program, run_cli, pages, monkeypatch):
    def fails(*given: object) -> None:
        raise RuntimeError("no report")

    monkeypatch.setattr("gradstep_tui.commands.check_run._Progress.close", fails)
    with pytest.raises(RuntimeError, match="no report"):
        run_cli("check", "-o", "report.html", "train.py")
    page = Path("report.html").read_text("utf-8")
    assert REFRESH not in page
    assert "what came after 6 calls: there is no report on that" in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "report.pdf"], "a report cannot be written as pdf; name it .html, .json or .txt"),
        (["--format", "json", "-o", "report.html"], "says html, but json was asked for"),
        (["--format", "text", "-o", "train.py"], "cannot write train.py, which this command reads"),
        (["-o", "nowhere/report.html"], "there is no directory nowhere; create it first"),
        (["-o", "."], "it is a directory"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_program_runs(program, run_cli, options, said):
    program.write_text(SICK + "print('ran')\n")
    code, out, err = run_cli("check", *options, "train.py")
    assert code == ExitCode.USAGE
    assert said in err
    assert "ran" not in out
    assert [path.name for path in program.parent.iterdir()] == ["train.py"]
    assert program.read_text().startswith(SICK)


def test_the_page_of_somebody_else_stays(program, run_cli):
    Path("report.html").write_text("mine")
    code, _, err = run_cli("check", "-o", "report.html", "train.py")
    assert code != 0
    assert "which gradstep has not written" in err
    assert Path("report.html").read_text() == "mine"


def test_a_page_and_data_on_standard_output(program, run_cli):
    program.write_text(SICK + "print('printed')\n")
    code, out, _ = run_cli("check", "--format", "html", "-o", "-", "train.py")
    assert code == ExitCode.FOUND
    assert out.startswith("<!DOCTYPE html>")
    assert "\nprinted\n" not in out
    assert run_cli("check", "--format", "html", "train.py")[1].startswith("<!DOCTYPE html>")
    assert json.loads(run_cli("check", "--format", "json", "train.py")[1])["findings"]

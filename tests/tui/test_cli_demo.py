"""``gradstep demo`` copies programs with a bug, and looks at one; and ``gradstep help``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gradstep_tui.cli import COMMANDS, main

BUGS = Path(__file__).parents[2] / "samples" / "bugs"


def test_a_demo_is_copied_and_checked(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradstep_tui.commands.demo.find_spec", lambda _: None)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "dead_relu.py").write_text("print('mine')")
    assert main(["demo", "-o", "demo", "detached_branch"]) == 0
    out, err = capfd.readouterr()
    assert "gradstep: copied 23 programs to demo; they use gradstep's own engine" in err
    assert "import autograd_core as torch" in out
    assert '   1 | """' in out
    assert "\n$ gradstep check demo/detached_branch.py\n" in out
    assert "error [cut]" in out or "warning [cut]" in out
    assert "gradstep debug --batch -x demo/detached_branch.commands demo/" in out
    copied = {path.name for path in (tmp_path / "demo").iterdir()}
    assert copied == {path.name for path in BUGS.glob("*.*")}
    assert (tmp_path / "demo" / "dead_relu.py").read_text() == "print('mine')"


def test_demos_are_listed_and_a_wrong_name_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(path.stem for path in BUGS.glob("*.py"))
    assert all(len(line.split()) > 5 for line in lines)
    assert main(["demo", "dead_relo"]) == 2
    assert "did you mean dead_relu" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["demo", "-o", str(tmp_path / "file")]) == 3
    assert "choose another folder with -o" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_its_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", name]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: gradstep {name}")
    assert main([name, "--help"]) == 0
    assert capsys.readouterr().out == said


def test_help_alone_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n  {name} " in said for name in COMMANDS)


def test_a_notebook_as_target_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.ipynb").touch()
    assert main(["check", str(tmp_path / "model.ipynb")]) == 2
    said = capsys.readouterr().err
    assert "begin a cell with %%gradstep check" in said
    assert "jupyter nbconvert --to script" in said


@pytest.mark.parametrize(("name", "remedy"), [("torch", "pip install torch"), ("x", "install it")])
def test_a_library_that_is_missing_is_told_with_the_environment(
    name: str, remedy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(f"raise ModuleNotFoundError(name='{name}')")
    assert main(["check", str(tmp_path / "train.py")]) == 1
    said = f"in the environment of gradstep, {sys.prefix}: {remedy} there"
    assert said in capsys.readouterr().err

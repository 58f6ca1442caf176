"""Where commands write: in place of their own older output, and of nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import autograd_core as torch
import gradstep
from gradstep.user_files import write_new
from gradstep_tui.cli import main
from gradstep_tui.commands.embed import embed
from gradstep_tui.errors import Failure
from gradstep_viz.errors import CannotWrite
from gradstep_viz.formats import FORMATS

Captured = pytest.CaptureFixture[str]
SCRIPT = """\
print("ran")
import autograd_core as torch
x = torch.tensor(3.0, requires_grad=True)
loss = x * x
loss.backward()
"""
needs_matplotlib = pytest.mark.extra("plot")
TEXTS = [name for name, format in FORMATS.items() if format.is_text]
PAINTED = [pytest.param(name, marks=pytest.mark.fonts) for name in ("png", "pdf")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("train.py").write_text(SCRIPT)
    Path("other.py").write_text(SCRIPT.replace("3.0", "4.0"))
    Path("package").mkdir()
    for name in ("__init__", "__main__", "train"):
        Path(f"package/{name}.py").write_text(SCRIPT if name != "__init__" else "")
    Path("link.py").symlink_to("train.py")
    os.link("train.py", "hard.py")
    return tmp_path


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("render --format svg -o train.py train.py", "train.py"),
        ("render --format svg -o ./package/../train.py train.py", "package/../train.py"),
        ("render --format svg -o link.py train.py", "link.py"),
        ("render --format svg -o hard.py train.py", "hard.py"),
        ("render --format svg -o train.py link.py", "train.py"),
        ("render --format svg -o train.py train.py:loss", "train.py"),
        ("render --format svg -o package/train.py -m package.train", "package/train.py"),
        ("render --format svg -o package/train.py package.train:loss", "package/train.py"),
        ("render --format svg -o package/__main__.py -m package", "package/__main__.py"),
        ("render --format svg -o package/__init__.py -m package", "package/__init__.py"),
        ("record -o train.py train.py", "train.py"),
        ("record --when nan -o package/train.py -m package.train", "package/train.py"),
        pytest.param("plot --format svg -o train.py train.py", "train.py", marks=needs_matplotlib),
        pytest.param("plot --format svg -o run.gsr run.gsr", "run.gsr", marks=needs_matplotlib),
        ("diff -o a.json a.json b.json", "a.json"),
        ("diff -o b.json a.json b.json", "b.json"),
        ("diff -o b.json train.py b.json", "b.json"),
    ],
)
def test_what_a_command_reads_is_not_written(words: str, named: str, capfd: Captured) -> None:
    main(["record", "train.py"])
    for name, script in [("a.json", "train.py"), ("b.json", "other.py")]:
        main(["render", "-o", name, script])
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    capfd.readouterr()
    assert main(words.split()) == 2
    out, err = capfd.readouterr()
    assert (out, err) == (
        "",
        f"gradstep: cannot write {named}, which this command reads; name another file with -o\n",
    )
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("format", [*TEXTS, *PAINTED])
def test_a_picture_replaces_one_of_gradsteps_and_nothing_else(format: str, capfd: Captured) -> None:
    file = Path(f"it.{format}")
    command = ["render", "-o", str(file), "train.py"]
    file.touch()  # an empty file is nobody's
    for script in ("train.py", "train.py", "other.py"):
        assert main([*command[:-1], script]) == 0
    ours = file.read_bytes()
    for theirs in (b"<svg><!-- drawn for weeks --></svg>", b"{}", b"flowchart of a graph", b"\0"):
        file.write_bytes(theirs)
        capfd.readouterr()
        assert main(command) == 2
        out, err = capfd.readouterr()
        assert out == "", "the program has run for nothing"
        assert err == (
            f"gradstep: {file}: cannot replace this file, which gradstep has not written; name "
            "another one, or remove it first\n"
        )
        assert file.read_bytes() == theirs
    for other in {"svg", "json", "dot"} - {format}:
        Path("x").write_bytes(ours)
        assert main(["render", "--format", other, "-o", "x", "train.py"]) == 2
    x = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(CannotWrite, match="which gradstep has not written"):
        gradstep.render(x * x, file)
    assert file.read_bytes() == theirs


@pytest.mark.sampled(2)
@needs_matplotlib
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("film", "it.svg"), ("film", "it.html"), ("film", "frames"), ("plot", "it.svg"),
        ("plot", "it.html"), ("plot", "it.png"), ("diff", "it.svg"), ("diff", "it.html"),
        ("diff", "it.txt"),
    ],
)  # fmt: skip
def test_what_other_commands_draw_is_replaced_by_the_same_rule(
    command: str, name: str, capfd: Captured
) -> None:
    words = [command, "-o", name, "train.py", *(["other.py"] if command == "diff" else [])]
    for _ in range(2):
        assert main(words) in (0, 5)
        assert f"wrote {name}" in capfd.readouterr().err
    file = Path("frames/01.svg" if name == "frames" else name)
    file.write_text("all of it")
    assert main(words) == 2
    out, err = capfd.readouterr()
    assert f"{file}: cannot replace this file" in err
    assert "ran" not in out
    assert file.read_text() == "all of it"


def test_programs_of_one_name_have_pictures_of_their_own(capfd: Captured) -> None:
    for folder in ("new", "old"):
        Path(folder).mkdir()
        Path(folder, "train.py").write_text(SCRIPT)
    os.chdir("new")
    wanted = {
        "train.py": "train.svg",
        "../old/train.py": "old-train.svg",
        "../train.py:loss": "train-loss.svg",
        "package.train:loss": "package-train-loss.svg",
        str(Path("../old/train.py").resolve()): "old-train.svg",
    }
    for target, name in wanted.items():
        assert main(["render", target]) == 0
        assert f"wrote {name}\n" in capfd.readouterr().err
    os.chdir("..")
    for command, name in [("render", "old-train.svg"), ("film", "old-train-film.svg")]:
        assert main([command, "old/train.py"]) == 0
        assert f"wrote {name}" in capfd.readouterr().err
    assert main(["record", "-o", "old/run.gsr", "train.py"]) == 0
    assert main(["render", "old/run.gsr"]) == 0
    assert "wrote old-run.svg\n" in capfd.readouterr().err


@pytest.mark.parametrize("there", ["model.py", "README.md", "notes.svg"])
def test_a_document_does_not_have_other_files_replaced(there: str) -> None:
    Path("model.py").write_text(SCRIPT)
    Path("notes.svg").write_text("all of it")
    text = f"<!-- gradstep: render --format svg -o {there} model.py:loss -->\n<!-- /gradstep -->\n"
    Path("README.md").write_text(text)
    before = Path(there).read_bytes()
    with pytest.raises(Failure, match=r"README\.md:1: .* which gradstep has not written"):
        embed(["README.md"], check=False)
    assert Path("README.md").read_text() == text
    assert Path(there).read_bytes() == before


def test_a_new_file_takes_the_place_of_none(tmp_path: Path) -> None:
    path = tmp_path / "screen.svg"
    names = [write_new(path, text).name for text in ("a", "b", "b", "a", "c")]
    assert names == ["screen.svg", "screen.1.svg", "screen.1.svg", "screen.svg", "screen.2.svg"]
    assert path.read_text() == "a"


@pytest.mark.parametrize("words", ["render", "render -o p.html", "film", "plot --format txt"])
@pytest.mark.parametrize("can_open", [True, False])
def test_a_picture_is_opened_where_that_is_asked_for(
    words: str, can_open: bool, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda place: opened.append(place) or can_open)
    assert main([*words.split(), "--open", "train.py"]) == 0
    (place,) = opened
    assert Path(place.removeprefix("file://")).is_file()
    assert ("but no browser opened" in capfd.readouterr().err) != can_open


def test_a_program_may_have_its_pictures_opened_in_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda place: opened.append(place) or True)
    Path("pyproject.toml").write_text("[tool.gradstep]\nopen = true\n")
    assert main(["render", "train.py"]) == 0  # nobody looks
    monkeypatch.setattr("gradstep_tui.output.is_shown_on_terminal", lambda: True)
    assert main(["render", "--no-open", "train.py"]) == 0
    assert main(["render", "-o", "-", "train.py"]) == 0
    assert main(["plot", "train.py"]) == 0  # in the terminal
    assert not opened
    assert main(["render", "train.py"]) == 0
    assert len(opened) == 1


def test_an_open_that_is_neither_true_nor_false_is_refused(capfd: Captured) -> None:
    Path("pyproject.toml").write_text('[tool.gradstep]\nopen = "yes"\n')
    assert main(["render", "train.py"]) == 2
    assert "open is 'yes'; it is true or false" in capfd.readouterr().err


def test_standard_output_is_not_opened(capfd: Captured) -> None:
    assert main(["render", "--open", "-o", "-", "train.py"]) == 2
    assert "--open needs a file" in capfd.readouterr().err

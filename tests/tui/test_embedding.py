"""``gradstep embed``: what stands in a document is what its commands make."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep_tui.cli import main
from gradstep_tui.commands import embed as embed_module
from gradstep_tui.commands.embed import embed
from gradstep_tui.errors import ExitCode, Failure
from tests.forking import fork_commands

MODEL = """\
import autograd_core as torch
a = torch.tensor(3.0, requires_grad=True)
loss = a * a
"""

README = """\
# Mine

<!-- gradstep: render model.py:loss --view backward -o images/loss.svg -->
<!-- /gradstep -->

    <!-- gradstep: render model.py:loss --format txt --view forward -o - -->
    old
    <!-- /gradstep -->

```html
<!-- gradstep: only shown, not run -->
```

The end.
"""


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in documents run in processes that are forked."""
    fork_commands(monkeypatch, embed_module)


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    (tmp_path / "model.py").write_text(MODEL)
    path = tmp_path / "README.md"
    path.write_text(README)
    return path


def test_pictures_are_written_and_shown_and_output_stands_in_the_text(readme: Path) -> None:
    code, notes = embed([str(readme)], check=False)
    text = readme.read_text(encoding="utf-8")
    assert code == ExitCode.FINE
    assert [note.rpartition("/")[2] for note in notes] == ["README.md:3", "loss.svg", "README.md:6"]
    assert (
        "![Backward graph of loss = a * a: 1 node from MulBackward0 back to the leaf a.]"
        "(images/loss.svg)\n<!-- /gradstep -->" in text
    )
    assert (readme.parent / "images" / "loss.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (
        "$ gradstep render model.py:loss --format txt --view forward -o -\nloss = a * a\n\nfor"
        in text
    )
    assert "  mul   9  ← a, a" in text
    assert "old" not in text
    assert text.endswith("<!-- gradstep: only shown, not run -->\n```\n\nThe end.\n")


def test_what_is_up_to_date_is_left_alone(readme: Path) -> None:
    embed([str(readme)], check=False)
    before = readme.read_bytes()
    assert embed([str(readme)], check=True) == (ExitCode.FINE, ["everything is up to date"])
    assert embed([str(readme)], check=False) == (ExitCode.FINE, ["everything is up to date"])
    assert readme.read_bytes() == before


def test_check_finds_what_is_stale_and_touches_nothing(readme: Path) -> None:
    embed([str(readme)], check=False)
    picture = readme.parent / "images" / "loss.svg"
    before = readme.read_bytes(), picture.read_bytes()
    (readme.parent / "model.py").write_text(MODEL + "loss = loss * 2\n")
    code, notes = embed([str(readme)], check=True)
    assert code == ExitCode.FOUND
    assert [note.endswith("is stale") for note in notes] == [True, True, True, False]
    assert notes[-1] == f"run: gradstep embed {readme}"
    assert (readme.read_bytes(), picture.read_bytes()) == before


def test_the_command_says_what_it_did_and_ends_with_the_code(
    readme: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    readme.write_text("<!-- gradstep: ops exp -->\n<!-- /gradstep -->\n")
    assert main(["embed", "--check", str(readme)]) == ExitCode.FOUND
    assert "is stale" in capfd.readouterr().err
    assert main(["embed", str(readme)]) == ExitCode.FINE
    assert capfd.readouterr().err == f"gradstep: wrote {readme}:1\n"
    assert main(["embed", str(readme), "--check"]) == ExitCode.FINE
    assert "$ gradstep ops exp\n" in readme.read_text(encoding="utf-8")
    assert main(["embed", str(readme), "--chek"]) == ExitCode.USAGE
    assert "did you mean --check?" in capfd.readouterr().err


def test_words_of_the_author_are_kept(readme: Path) -> None:
    embed([str(readme)], check=False)
    text = readme.read_text(encoding="utf-8")
    own = '<img src="images/loss.svg" alt="my own words" width="300">'
    readme.write_text(text.replace(text.split("\n")[3], own), encoding="utf-8")
    assert embed([str(readme)], check=True)[0] == ExitCode.FINE


def test_words_made_from_the_graph_follow_the_graph(readme: Path) -> None:
    embed([str(readme)], check=False)
    (readme.parent / "model.py").write_text(MODEL + "loss = loss * 2\n")
    embed([str(readme)], check=False)
    assert ": 2 nodes from MulBackward0 back to the leaf a.]" in readme.read_text(encoding="utf-8")


def test_a_file_without_commands_is_no_mistake_beside_one_that_has_them(readme: Path) -> None:
    """But alone it is: a comment with a slip in it would never be checked."""
    other = readme.parent / "other.md"
    other.write_text("<!-- gradstep render model.py:loss -o loss.svg -->\n")
    assert embed([str(readme), str(other)], check=False)[0] == ExitCode.FINE
    with pytest.raises(
        Failure,
        match=r"there is no command in .*other\.md; write one as <!-- "
        r"grad",
    ):
        embed([str(other)], check=True)


def test_a_diagram_that_readers_draw_stands_there_as_such(readme: Path) -> None:
    command = "render model.py:loss --format mermaid -o -"
    readme.write_text(f"<!-- gradstep: {command} -->\n<!-- /gradstep -->\n")
    embed([str(readme)], check=False)
    assert "-->\n```mermaid\nflowchart" in readme.read_text(encoding="utf-8")


def test_a_report_stands_there_without_colours(
    readme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    readme.write_text("<!-- gradstep: check model.py:loss -->\n<!-- /gradstep -->\n")
    embed([str(readme)], check=False)
    text = readme.read_text(encoding="utf-8")
    assert "\nnext: gradstep debug model.py:loss\n" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!-- gradstep: render model.py:los -o - -->\n<!-- /gradstep -->", "model.py has no los"),
        (
            "<!-- gradstep: render model.py -o x.svg -->\n<!-- /gradstep -->",
            r"gradstep go before it: gradstep render -o x.svg model.py;",
        ),
        (
            "<!-- gradstep: render -- model.py -o x.svg -->\n<!-- /gradstep -->",
            "did not write x.svg; options go before TARGET",
        ),
        ("<!-- gradstep: paint -->\n<!-- /gradstep -->", "no command 'paint'"),
        ("<!-- gradstep: render 'model.py -->\n<!-- /gradstep -->", "No closing quotation"),
        ("<!-- gradstep: render model.py:loss -->", "this command is not closed"),
    ],
)
def test_a_command_that_fails_is_told_with_its_line_and_nothing_is_written(
    readme: Path, text: str, said: str
) -> None:
    readme.write_text(f"Title\n{text}\n")
    with pytest.raises(Failure, match=said) as caught:
        embed([str(readme)], check=False)
    assert caught.value.message.startswith(f"{readme}:2: ")
    assert readme.read_text() == f"Title\n{text}\n"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"cannot read .*none\.md"):
        embed([str(tmp_path / "none.md")], check=True)


@pytest.mark.parametrize("name", ["../loss.svg", "images/../../loss.svg"])
def test_pictures_are_written_below_the_folder_of_the_document(readme: Path, name: str) -> None:
    folder = readme.parent / "below"
    folder.mkdir()
    page = folder / "page.md"
    place = folder / name
    command = f"render ../model.py:loss -o {name}"
    page.write_text(f"<!-- gradstep: {command} -->\n<!-- /gradstep -->\n")
    (folder / "images").mkdir()
    with pytest.raises(Failure, match=r"page.md:1: .*loss.svg is outside the document's folder"):
        embed([str(page)], check=False)
    assert not place.exists()
    embed([str(page)], check=False, anywhere=True)
    assert place.exists()

"""What documents show runs: their Python, their commands, and what these print."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import Block, blocks_of, commands_of, opens_screen, with_outputs
from tests.docs.terminal import run_screen
from tests.forking import run_gradstep, run_python
from tests.golden import IS_RENEWED

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
shell = importlib.import_module("shell")  # no package: Sphinx finds it in the same way
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.rst"))]
# what needs no test of its own, and who runs it
ELSEWHERE = {
    "sh": "the README's commands: .ci/run, in a fresh copy",
    "bat": "the same for Windows, which nobody runs here",
    "rst": "tests/viz/embedding/test_published_instructions.py",
    "yaml": "the same, and below",
    "markdown": "the same",
    "json": "tests/dap, of an editor",
    "lua": "for an editor that is not installed here",
    "samples": "directive `console`, which the build runs (test_site.py)",
    "samples/bugs": "the same",
    "docs/examples": "the same",
    "docs/gallery": "the same",
    "none": "text, not code",
    "": "text, not code; or the directive `console`",
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


def shown(page: Path) -> object:
    """A page with commands, and the folder in which it says that they run, under its name; some
    of them need fonts, and those that run programs of PyTorch are shown as they once ran."""
    paints = any(re.search(r"\.(png|pdf)\b", command.text) for command in commands_of(page))
    marks = [pytest.mark.fonts] if paints else []
    stands = re.search(r"\b[Ii]n\s``((?:docs|samples)[\w/]*)``", page.read_text("utf-8"))
    folder = DOCS / "examples" if page.name == "index.rst" else ROOT / (stands or [0, "?"])[1]
    programs = [folder / word for c in commands_of(page) for word in c.text.split()]
    if any(imports_torch(program) for program in programs if program.suffix == ".py"):
        marks.append(pytest.mark.torch)
    if any(re.match(r"gradstep diff .*\.py\b", command.text) for command in commands_of(page)):
        marks.append(pytest.mark.slow)  # it runs each program in a process of its own, many times
    return pytest.param(page, folder, id=str(page.relative_to(ROOT)), marks=marks)


def imports_torch(path: Path) -> bool:
    """Whether a program, or the Python of a page, does so."""
    text = path.read_text("utf-8") if path.is_file() else ""
    return re.search("^(>>> |   )?import torch$", text, re.MULTILINE) is not None


def torch_mark(path: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.torch] if imports_torch(path) else []


def library_marks(page: Path) -> list[pytest.MarkDecorator]:
    """Skips a page whose Python imports a library that is not installed."""
    text = page.read_text("utf-8")
    names = [name for name in ("lightning", "transformers") if f"integrations.{name}" in text]
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return [pytest.mark.skip(f"{' and '.join(missing)}: not installed")] if missing else []


def of(page: Path, *languages: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.language in languages]


def runnable(page: Path) -> object:
    """A page with Python, under its name; some of it needs PyTorch."""
    return pytest.param(
        page, id=str(page.relative_to(ROOT)), marks=[*torch_mark(page), *library_marks(page)]
    )


@pytest.mark.parametrize("page", [runnable(p) for p in PAGES if of(p, "python", "pycon")])
def test_the_python_of_a_page_runs_and_shows_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of a page share their variables, as a reader would have them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gradstep_tui.debug", lambda *_: None)  # the screen is tested elsewhere
    if imports_torch(page):
        importlib.import_module("torch")  # which cannot be loaded twice
    elif "torch" not in sys.modules:  # a page may put the core in its place, for all that follow
        monkeypatch.setitem(sys.modules, "torch", None)
        monkeypatch.delitem(sys.modules, "torch")
    variables: dict[str, object] = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in of(page, "python", "pycon"):
        if ">>> " in block.text:
            test = doctest.DocTestParser().get_doctest(
                block.text, {}, page.name, str(page), block.line - 1
            )
            test.globs = variables
            said: list[str] = []
            runner.run(test, out=said.append, clear_globs=False)
            assert not said, "".join(said)
        else:
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, str(page), "exec"), variables)


def run_command(command: str, folder: Path, code: int) -> Any:
    """Run a command as the directive ``console`` does, without a shell if it needs none; ``code``
    is that of the command before.

    What ``record`` and ``--fail-on`` say beside the program depends on when its output is written:
    these are real processes.
    """
    if re.match(r"gradstep (?!record |debug --fail-on)[^|<>;&$*]*$", command):
        plain = {"NO_COLOR": "1", "COLUMNS": "80"}
        done = run_gradstep(shlex.split(command)[1:], folder, plain, merged=True)
        output = done.stdout.replace(f"{folder}{os.sep}", "")
        return shell.Done(command, output, done.returncode)
    (last,) = shell.run_commands([f"(exit {code})\n{command}"], folder)
    return last


@pytest.mark.documents
@pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("bash", "less")),
    reason="the commands use bash and less",
)
@pytest.mark.sampled(4, torch=1)
@pytest.mark.parametrize(
    ("page", "folder"), [shown(page) for page in PAGES if page != README and of(page, "console")]
)
def test_the_commands_of_a_page_run_and_print_what_stands_below_them(
    page: Path, folder: Path
) -> None:
    """GRADSTEP_UPDATE_GOLDEN=1 writes what they print into the page first."""
    wanted = commands_of(page)
    assert wanted
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    outputs, codes = [], [0]
    with shell.copy_of(folder) as copy:
        for command in wanted:
            if opens_screen(command.text):
                gradstep = [sys.executable, "-P", "-m", "gradstep"]
                typed = [*gradstep, *command.text.split()[1:]]
                done = shell.Done("", command.output, run_screen(typed, copy, environment))
            else:
                done = run_command(command.text, copy, codes[-1])
            outputs.append(done.output)
            codes.append(done.code)
    if IS_RENEWED:
        page.write_text(with_outputs(page, outputs), "utf-8")
    for command, output, code in zip(commands_of(page), outputs, codes[1:], strict=True):
        command.check(output, code)


@pytest.mark.parametrize("page", named(PAGES))
def test_every_block_is_of_a_language_that_somebody_runs(page: Path) -> None:
    known = {"python", "pycon", "console", *ELSEWHERE}
    assert {block.language for block in blocks_of(page)} <= known


@pytest.mark.parametrize("page", named(PAGES))
def test_no_block_of_a_page_is_overlooked(page: Path) -> None:
    lines = [line.strip() for line in page.read_text(encoding="utf-8").splitlines()]
    blocks = blocks_of(page)
    if page.suffix == ".md":
        opened = sum(line.startswith("```") for line in lines) / 2
    else:
        opened = sum(line.startswith((".. code-block::", ".. console::")) for line in lines)
    assert len([block for block in blocks if block.language != "pycon"]) == opened
    typed = "".join(block.text for block in blocks).count(">>> ")
    assert typed == sum(line.startswith(">>> ") for line in lines)


def test_the_commands_of_the_workflow_run(tmp_path: Path) -> None:
    page = DOCS / "how_to" / "ci.rst"
    (workflow,) = of(page, "yaml")
    commands = [line.partition(".venv/bin/gradstep ")[2] for line in workflow.text.splitlines()]
    assert all(commands)
    for command in commands:
        done = run_gradstep(command.split(), ROOT)
        assert done.returncode == 0, done.stderr


def example(path: Path) -> object:
    return pytest.param(path, id=str(path.relative_to(ROOT)), marks=torch_mark(path))


@pytest.mark.sampled(torch=4)
@pytest.mark.parametrize(
    "path", [example(path) for path in sorted((DOCS / "examples").glob("*.py"))]
)
def test_an_example_runs_by_itself(path: Path, tmp_path: Path) -> None:
    if path.name == "own_renderer.py" and shutil.which("rsvg-convert") is None:
        pytest.skip("rsvg-convert is not installed")
    done = run_python([str(path)], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_commands_work_on_a_copy_and_fail_where_a_part_of_a_pipe_does(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    with shell.copy_of(tmp_path) as copy:
        done = list(shell.run_commands(["rm kept.txt; pwd", "false | true", "echo $?"], copy))
    assert (tmp_path / "kept.txt").read_text() == "kept"
    assert [each.code for each in done] == [0, 1, 0]
    assert done[2].output == "1\n"

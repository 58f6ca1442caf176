"""Each program in samples/bugs is found out by the commands beside it, which name the cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep_tui.commands.demo import on_the_core
from tests.forking import run_gradstep, run_python

BUGS = Path(__file__).parents[1] / "samples" / "bugs"
NAMES = sorted(path.stem for path in BUGS.glob("*.py"))
ENGINES = ["core", pytest.param("torch", marks=pytest.mark.torch)]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=ENGINES)
def program(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A program as it stands there, or with the core in PyTorch's place."""
    text = (BUGS / f"{name}.py").read_text("utf-8")
    copy = tmp_path / f"{name}.py"
    copy.write_text(text if request.param == "torch" else on_the_core(text), "utf-8")
    return copy


def expected(commands: Path) -> list[tuple[str, list[str]]]:
    """The commands of a file, each with the texts that its answer is promised to hold."""
    found: list[tuple[str, list[str]]] = []
    for line in commands.read_text("utf-8").splitlines():
        if line.startswith("# -> "):
            found[-1][1].append(line.removeprefix("# -> "))
        elif line and not line.startswith("#"):
            found.append((line, []))
    return found


def answers(output: str) -> list[tuple[str, str]]:
    """The commands in what was printed, each with its answer, in single spaces."""
    parts = output.split("(gradstep) ")[1:]
    return [(part.partition("\n")[0], " ".join(part.split())) for part in parts]


@pytest.mark.sampled(12, torch=5)
def test_the_commands_beside_a_bug_name_its_cause(program: Path) -> None:
    commands = BUGS / f"{program.stem}.commands"
    done = run_gradstep(["debug", "--batch", "-x", str(commands), program.name], program.parent)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = expected(commands)
    given = answers(done.stdout)
    assert [command for command, _ in given] == [command for command, _ in wanted]
    for (command, texts), (_, answer) in zip(wanted, given, strict=True):
        for text in texts:
            assert text in answer, command
    assert any(texts for _, texts in wanted)


@pytest.mark.sampled(8)
def test_every_bug_is_a_program_that_runs_by_itself(program: Path) -> None:
    done = run_python([program.name], program.parent)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_list_of_bugs_is_complete() -> None:
    listed = [
        line.split("`")[1]
        for line in (BUGS / "README.md").read_text("utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert sorted(listed) == NAMES

"""The README, followed line by line by somebody who has typed its first command."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of, commands_of, opens_screen
from tests.docs.terminal import run_screen
from tests.forking import run_gradstep

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
shell = importlib.import_module("shell")  # no package: Sphinx finds it in the same way
PYTORCH = [command for command in commands_of(README) if "samples/bugs/" in command.text]
_, _, ACTIVATE, *_ = [block.text.strip() for block in blocks_of(README) if block.language == "sh"]


def environment_without_gradstep() -> dict[str, str]:
    """What a new terminal has: nothing in it knows of the virtual environment."""
    folders = os.environ["PATH"].split(os.pathsep)
    elsewhere = [folder for folder in folders if not Path(folder, "gradstep").exists()]
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return kept | {"PATH": os.pathsep.join(elsewhere)}


@pytest.mark.documents
@pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "gradstep").exists(),
    reason="the README's first command has not been run here: there is no .venv/bin/gradstep",
)
@pytest.mark.skipif(
    any(shutil.which(name) is None for name in ("bash", "less")),
    reason="the commands use bash and less",
)
def test_after_the_first_command_and_its_activation_every_command_runs_as_it_is_written() -> None:
    environment = environment_without_gradstep()
    wanted = [command for command in commands_of(README) if command not in PYTORCH]
    plain = [command for command in wanted if not opens_screen(command.text)]
    assert 0 < len(plain) < len(wanted)
    with shell.copy_of(ROOT) as copy:
        (copy / ".venv").symlink_to(ROOT / ".venv")
        texts = [command.text for command in plain]
        results = shell.run_in_shell(texts, copy, environment, opening=ACTIVATE)
        for command, done in zip(plain, results, strict=True):
            command.check(done.output, done.code)
        for command in wanted:
            if opens_screen(command.text):
                typed = ["bash", "-c", f"{ACTIVATE}\n{command.text}"]
                assert run_screen(typed, copy, environment) == 0


@pytest.mark.torch
def test_the_programs_with_bugs_are_found_out() -> None:
    program = (ROOT / "samples" / "bugs" / "replaced_head.py").read_text("utf-8")
    shown, *_ = [block.text for block in blocks_of(README) if block.language == "python"]
    assert set(shown.splitlines()) < set(program.splitlines())
    plain = {"NO_COLOR": "1", "COLUMNS": "80"}
    for command in PYTORCH:
        done = run_gradstep(command.text.split()[1:], ROOT, plain, merged=True)
        command.check(done.stdout, done.returncode)


def test_it_is_short_and_its_badges_say_what_the_package_says() -> None:
    text = README.read_text("utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert len(text.splitlines()) < 120
    assert re.findall(r"badge/(\w+)-([\w.]+)", text) == [
        ("Python", project["requires-python"].removeprefix(">=")),
        ("PyTorch", project["optional-dependencies"]["torch"][0].removeprefix("torch>=")),
        ("licence", project["license"]),
    ]


def test_the_front_page_of_the_documentation_activates_it_with_the_same_line() -> None:
    assert f"``{ACTIVATE}``" in (ROOT / "docs" / "index.rst").read_text(encoding="utf-8")

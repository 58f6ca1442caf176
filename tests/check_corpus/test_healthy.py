"""`gradstep check` has nothing to say of programs in which nothing is wrong.

Those of libraries run with the versions that libraries.txt names: ``nox -s healthy``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.check_corpus.report import CODE
from tests.check_corpus.running import FOLDER, healthy_programs, text
from tests.check_corpus.test_check_corpus import SAMPLE, WITHOUT_BUGS
from tests.forking import run_python

CHECK = ("-m", "gradstep", "check", "train.py")
LIBRARIES = sorted((FOLDER / "libraries").glob("*.py"))
OWN = [
    pytest.param(
        program,
        engine,
        id=case.id,
        marks=[*case.marks, *([] if program.stem in SAMPLE else [pytest.mark.slow])],
    )
    for case in WITHOUT_BUGS
    for program, engine in [case.values]
]


def assert_nothing_is_said(done: subprocess.CompletedProcess[str]) -> None:
    assert not CODE.findall(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("program", "engine"), OWN)
def test_nothing_is_said_of_a_healthy_program(program: Path, engine: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text(program, engine), "utf-8")
    assert_nothing_is_said(run_python(CHECK, tmp_path, with_torch=engine == "torch"))


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("GRADSTEP_LIBRARIES"), reason="nox -s healthy runs these")
@pytest.mark.parametrize("program", LIBRARIES, ids=lambda program: program.stem)
def test_nothing_is_said_of_a_program_of_a_library(program: Path, tmp_path: Path) -> None:
    shutil.copy(program, tmp_path / "train.py")
    command = [sys.executable, *CHECK]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert_nothing_is_said(done)


def test_there_are_enough_of_them() -> None:
    assert len(LIBRARIES) >= 30
    assert len(LIBRARIES) + len(healthy_programs()) >= 80

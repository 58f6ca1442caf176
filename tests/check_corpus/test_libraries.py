"""`gradstep check` has nothing to say of programs that use libraries as their users do.

They run with the versions that libraries.txt names: ``nox -s healthy``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.check_corpus.report import CODE
from tests.check_corpus.running import FOLDER, healthy_programs

LIBRARIES = sorted((FOLDER / "libraries").glob("*.py"))


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("GRADSTEP_LIBRARIES"), reason="nox -s healthy runs these")
@pytest.mark.parametrize("program", LIBRARIES, ids=lambda program: program.stem)
def test_check_finds_nothing_in_a_program_of_a_library(program: Path, tmp_path: Path) -> None:
    shutil.copy(program, tmp_path / "train.py")
    command = [sys.executable, "-m", "gradstep", "check", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not CODE.findall(done.stdout), done.stdout
    assert done.returncode == 0, done.stderr


def test_there_are_enough_of_them() -> None:
    assert len(LIBRARIES) >= 30
    assert len(LIBRARIES) + len(healthy_programs()) >= 80

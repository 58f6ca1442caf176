"""Runs the commands of a document as a reader would, in a shell that stays open."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 3600.0  # seconds for one command; only what hangs takes as long
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*", "_build")


class Done(NamedTuple):
    """A command that was run, what it printed, and its exit code."""

    command: str
    output: str
    code: int


@contextmanager
def copy_of(folder: Path) -> Iterator[Path]:
    """A temporary copy of ``folder``, which commands may change."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "copy")
        shutil.copytree(folder, copy, ignore=_NOT_COPIED)
        yield copy


def run_commands(commands: Sequence[str], folder: Path) -> Iterator[Done]:
    """Run ``commands`` in ``folder``; ``gradstep`` and ``python`` are those that run here."""
    with tempfile.TemporaryDirectory() as programs:
        _program(Path(programs, "gradstep"), f'exec "{sys.executable}" -P -m gradstep "$@"')
        _program(Path(programs, "python"), f'exec "{sys.executable}" "$@"')
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}
        yield from run_in_shell(commands, folder, environment)


def run_in_shell(
    commands: Sequence[str], folder: Path, environment: Mapping[str, str], opening: str = ""
) -> Iterator[Done]:
    """Run ``commands`` in ``folder``, one after the other, as in a shell that stays open.

    ``$?`` is the exit code of the command before; ``opening`` is what was typed first.
    """
    plain = {
        "PYTHONIOENCODING": "utf-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "COLUMNS": "80",
    }
    code = 0
    for command in commands:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", f"{opening}\n(exit {code})\n{command}"],
            cwd=folder,
            env={**environment, **plain},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=TIME_LIMIT,
            check=False,
        )
        code = done.returncode
        yield Done(command, done.stdout.replace(f"{folder}{os.sep}", ""), code)


def _program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)

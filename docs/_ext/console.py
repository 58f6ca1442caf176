"""``.. console::`` runs commands when the documentation is built, and shows what they print.

A document names the commands, each after ``$``, and the folder in which they run::

    .. console:: samples/bugs

       $ gradstep check wrong_backward.py
       $ echo $?

They run one after the other in a temporary copy of that folder.  What a document shows is
therefore what the program says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 120.0  # seconds for one command
_NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*", "_build")
logger = logging.getLogger(__name__)


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
    """Run ``commands`` in ``folder``, one after the other.

    ``gradstep`` and ``python`` are those that run here, and ``$?`` is the exit code of the
    command before, as in a shell that stays open.
    """
    with tempfile.TemporaryDirectory() as programs:
        _program(Path(programs, "gradstep"), f'exec "{sys.executable}" -P -m tui "$@"')
        _program(Path(programs, "python"), f'exec "{sys.executable}" "$@"')
        environment = os.environ | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
            "COLUMNS": "80",
        }
        code = 0
        for command in commands:
            done = subprocess.run(
                ["bash", "-o", "pipefail", "-c", f"(exit {code})\n{command}"],
                cwd=folder,
                env=environment,
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


class Console(SphinxDirective):
    """Runs commands, and shows them with their output.

    A command may fail only where the next one is ``echo $?``: the reader is then told.
    """

    has_content = True
    optional_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"class": directives.class_option}

    def run(self) -> list[nodes.Node]:
        folder = ROOT / (self.arguments[0] if self.arguments else "samples")
        commands = [line.removeprefix("$ ") for line in self.content if line.startswith("$ ")]
        if not commands or len(commands) != sum(bool(line.strip()) for line in self.content):
            raise self.error("each line is a command, and begins with '$ '")
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                self.env.note_dependency(str(file))
        lines = []
        for done, follower in zip(run_commands(commands, folder), [*commands[1:], ""], strict=True):
            if done.code and follower != "echo $?":
                logger.warning(
                    "'%s' ended with exit code %d:\n%s",
                    done.command,
                    done.code,
                    done.output,
                    location=self.get_location(),
                )
            lines += [f"$ {done.command}", *done.output.rstrip("\n").splitlines()]
        block = nodes.literal_block("\n".join(lines), "\n".join(lines), language="console")
        block["classes"] += self.options.get("class", [])
        self.set_source_info(block)
        return [block]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive ``console`` with Sphinx."""
    app.add_directive("console", Console)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

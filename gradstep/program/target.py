"""TARGET: a script or a module that is run whole, a name in one of them, or a recording."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gradstep.guest.cells import is_cell
from gradstep.program.errors import BadTarget, ProgramError
from gradstep.text import did_you_mean, in_shell

_FORMS = (
    "a TARGET is file.py, file.py:name, package.module:name, -m package.module or a recording, "
    "run.gsr"
)
RECORDING = ".gsr"
"""The suffix of a recording."""


class Target(NamedTuple):
    """A file (``train.py``) or a module (``package.train``), and what to take from it; with the
    ``name`` "" it is run whole, a module as ``python -m`` does. A recording (``run.gsr``) is read.
    The place of a cell of a notebook is its name, ``Cell In[3]``.
    """

    place: str
    name: str = ""

    @property
    def path(self) -> Path | None:
        """The file, None for a module."""
        return Path(self.place) if self.place.endswith((".py", RECORDING)) else None

    @property
    def is_recording(self) -> bool:
        """Whether it is a recording, which is read and not run."""
        return self.place.endswith(RECORDING)

    def files(self) -> list[Path]:
        """Return the files that are read to run it, as far as that is known before it runs."""
        if self.path is not None:
            return [self.path]
        inside = Path(*self.place.split("."))
        names = (inside.with_suffix(".py"), inside / "__main__.py", inside / "__init__.py")
        for folder in ["", *sys.path]:
            files = [file for file in (Path(folder, name) for name in names) if file.is_file()]
            if files:
                return files
        return []

    @property
    def folder(self) -> Path:
        """The folder of its files, the current directory for a module."""
        return Path.cwd() if self.path is None else self.path.absolute().parent

    @property
    def stem(self) -> str:
        """The name of a picture of it: ``train``, or ``train-loss``.

        >>> Target("train.py", "loss").stem, Target("net.train").stem
        ('train-loss', 'net-train')
        """
        stem = self.place.replace(".", "-") if self.path is None else picture_name(self.path)
        return f"{stem}-{self.name}" if self.name else stem

    def with_arguments(self, arguments: Sequence[str]) -> str:
        """Return what a command for it is given: ``train.py --epochs 1``; "" for a cell, of which a
        shell knows nothing."""
        if is_cell(self.place):
            return ""
        return in_shell([str(self), *arguments])

    def __str__(self) -> str:
        if self.name:
            return f"{self.place}:{self.name}"
        return self.place if self.path or is_cell(self.place) else f"-m {self.place}"


def picture_name(path: Path) -> str:
    """Return the name of a picture of a file. Where that is in another folder, the name tells so:
    files of the same name have pictures of their own.

    >>> picture_name(Path("train.py")), picture_name(Path("../old/train.py"))
    ('train', 'old-train')
    """
    try:
        path = Path(os.path.relpath(path))
    except ValueError:  # on another drive
        path = Path(path.name)
    return "-".join(part for part in path.with_suffix("").parts if part != os.pardir)


def parse_target(text: str, *, module: bool = False) -> Target:
    """Take TARGET apart; with ``module``, ``text`` is what stands after ``-m``.

    >>> parse_target("train.py"), parse_target("models/net.py:loss")
    (Target(place='train.py', name=''), Target(place='models/net.py', name='loss'))
    >>> str(parse_target("package.train", module=True))
    '-m package.train'

    Raises:
        BadTarget: it has none of the forms.
    """
    if module:
        if not _is_dotted(text):
            raise BadTarget(f"-m takes package.module, not '{text}'")
        return Target(text)
    if text.endswith(RECORDING) or is_cell(text):
        return Target(text)
    file = re.fullmatch(r"(?P<place>.+?\.py)(?::(?P<name>.*))?", text, re.DOTALL)
    if file and not file["name"]:
        return Target(file["place"])
    place, _, name = text.rpartition(":") if file is None else (file["place"], "", file["name"])
    if not _is_dotted(name) or not (file or _is_dotted(place)):
        raise BadTarget(f"'{text}' is not a target: {_instead(text)}")
    return Target(place, name)


def _is_dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _instead(text: str) -> str:
    """Suggest what the user may have meant by a text that is not a target."""
    path = Path(text)
    if text and path.is_dir():
        return f"it is a directory; {_FORMS}"
    if path.suffix == ".ipynb":
        return (
            "it is a notebook; in it, run %load_ext gradstep, then begin a cell with %%gradstep "
            f"check, or write it out as a script: jupyter nbconvert --to script {text}"
        )
    if path.is_file():
        return f"the name of a Python file ends in .py; {_FORMS}"
    if Path(f"{text}.py").is_file():
        return f"did you mean {text}.py?"
    if _is_dotted(text):
        return f"name a tensor in that module, as in {text}:loss, or run it with -m {text}"
    return _FORMS


def require_file(target: Target) -> None:
    """See that the file of ``target`` exists.

    Raises:
        ProgramError: it does not; with the name of one that does, and looks like it.
    """
    path = target.path
    if path is None or path.is_file():
        return
    if path.is_dir():
        raise ProgramError(
            f"{path} is a directory, not a {'recording' if target.is_recording else 'script'}"
        )
    raise ProgramError(
        f"{path} does not exist", remedy=did_you_mean(str(path), _files_beside(path))
    )


def _files_beside(path: Path) -> list[str]:
    try:
        return sorted(str(file) for file in path.parent.glob(f"*{path.suffix}"))
    except OSError:
        return []

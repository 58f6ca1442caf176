"""Files that a user may want: output of this program takes the place of none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, count
from os.path import samefile
from pathlib import Path
from typing import Final

_OF_RANK: Final = re.compile(r"(.*?)((?:\.rank\d+)?)", re.DOTALL)


def numbered_names(path: Path) -> Iterator[Path]:
    """Yield names like that of ``path``. The number stands before that of a process, so that
    ``run.rank*.gsr`` are the files of one job, and ``run.1.rank*.gsr`` those of another.

    >>> [str(next(numbered_names(Path(name)))) for name in ("a/run.gsr", "run.rank0.gsr", "run")]
    ['a/run.1.gsr', 'run.1.rank0.gsr', 'run.1']
    """
    parts = _OF_RANK.fullmatch(path.stem)
    assert parts is not None
    for number in count(1):
        yield path.with_name(f"{parts[1]}.{number}{parts[2]}{path.suffix}")


def write_new(path: Path, text: str) -> Path:
    """Write a file that is not there yet, of the next free name where another one is."""
    data = text.encode()
    for place in chain([path], numbered_names(path)):
        try:
            with place.open("xb") as file:
                file.write(data)
        except FileExistsError:
            if place.read_bytes() != data:
                continue
        return place
    raise AssertionError("names are without end")


def is_same_file(one: Path, other: Path) -> bool:
    """Return whether two names lead to the same file, also by a link, or written in another case
    where the file system does not tell them apart.

    >>> is_same_file(Path("."), Path("..") / Path.cwd().name), is_same_file(Path("no"), Path("nor"))
    (True, False)
    """
    try:
        return samefile(one, other)
    except OSError:  # one of them is not there
        return False

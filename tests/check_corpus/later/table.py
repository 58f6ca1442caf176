"""Programs that were written apart from the rules: 60 with bugs, 40 unusual healthy ones.

They were written from public reports before the rules that are to find them, by someone who had
not read these. The classes of the bugs were drawn by lot, and so were the healthy programs: one
half may be read by whoever writes rules; the other, `unread`, is for measuring only. No class
occurs in both halves.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal, NamedTuple, get_args

Half = Literal["read", "unread"]
HALVES: tuple[Half, ...] = get_args(Half)
FOLDER = Path(__file__).parent


class Bug(NamedTuple):
    """One program of ``buggy``, in a half's table.toml."""

    name: str
    kind: str  # its class: the kind of mistake, in words
    field: str
    idea: str  # what people report
    at: tuple[str, ...]  # text of the lines of which a finding has to name one
    words: tuple[str, ...]  # what that finding has to name; `a|b`: either
    says: str  # what a good tool would say
    old: str  # occurs once in the program
    new: str  # its remedy
    measure: str  # what the last line of the output calls the number that shows success
    with_bug: float
    fixed: float
    silent: str = ""  # why the measure does not show the bug, where it does not


def bugs(half: Half) -> list[Bug]:
    table = tomllib.loads((FOLDER / half / "table.toml").read_text("utf-8"))
    return [
        Bug(name, kind=row.pop("class"), **{key: _frozen(value) for key, value in row.items()})
        for name, row in table.items()
    ]


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def program_of(half: Half, bug: Bug) -> Path:
    return FOLDER / half / "buggy" / f"{bug.name}.py"


def healthy(half: Half) -> list[Path]:
    return sorted((FOLDER / half / "healthy").glob("*.py"))

"""What a project sets for gradstep: ``[tool.gradstep]`` in its pyproject.toml."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from gradstep.findings.thresholds import Thresholds
from gradstep.guest.own_files import is_of_library, is_user_file
from gradstep.program.errors import BadTarget
from gradstep.text import did_you_mean

FILE: Final = "pyproject.toml"
THEMES: Final = ("auto", "light", "dark")


class BadSettings(BadTarget, ValueError):
    """A file whose ``[tool.gradstep]`` has a key or a value that it cannot have."""


class Settings(NamedTuple):
    """What is set.

    Attributes:
        ignore: codes of findings to leave out.
        theme: of pictures and the screen.
        open: whether a browser opens the pictures that commands write.
        thresholds: numbers of rules.
        file: where it is set, as messages name it; "" where nothing is.
    """

    ignore: tuple[str, ...] = ()
    theme: str = "auto"
    open: bool = False
    thresholds: Thresholds = Thresholds()
    file: str = ""

    def ignored(self, also: Collection[str] = ()) -> tuple[str, ...]:
        """Return all codes to leave out, those too that are given beside these.

        Raises:
            BadSettings: there is no finding of a code that is set.
            ValueError: there is none of one that is given.
        """
        # late: pictures need no rules
        from gradstep.findings.explanations import require_codes

        require_codes(also)
        try:
            require_codes(self.ignore)
        except ValueError as error:
            raise BadSettings(f"{self.file}: ignore: {error}") from None
        return (*self.ignore, *also)


def script_of_program() -> str:
    """Return the script that runs, "" where it is no file of the user's, as in a notebook, or under
    a command that was installed, such as pytest."""
    file = str(getattr(sys.modules.get("__main__"), "__file__", None))
    is_users = file.endswith(".py") and is_user_file(file) and not is_of_library(file)
    return file if is_users else ""


def settings_of_program() -> Settings:
    """Return what is set for the program that runs.

    Raises:
        BadSettings: a key or a value is wrong.
    """
    return settings_for(script_of_program())


def settings_for(script: str | os.PathLike[str] = "") -> Settings:
    """Return what is set in the nearest pyproject.toml with a ``[tool.gradstep]``: in the folder of
    a script, or one above it; without a script, from the current directory on.

    Raises:
        BadSettings: a key or a value is wrong.
    """
    start = Path(script).absolute().parent if script else Path.cwd()
    for folder in (start, *start.parents):
        table = _table_in(folder / FILE)
        if table is not None:
            return _settings(table, _name_of(folder / FILE))
    return Settings()


def _table_in(file: Path) -> Mapping[str, Any] | None:
    """Return the table of a file, None where it has none, or cannot be read."""
    try:
        text = file.read_text("utf-8")
        if "gradstep" not in text:  # as most: it need not be read as TOML
            return None
        table = tomllib.loads(text).get("tool", {}).get("gradstep")
    except (OSError, UnicodeDecodeError):
        return None
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{_name_of(file)}: it is not TOML: {error}") from None
    if table is not None and not isinstance(table, dict):
        raise BadSettings(
            f"{_name_of(file)}: tool.gradstep is not a table", remedy="write [tool.gradstep]"
        )
    return table


def _name_of(file: Path) -> str:
    """Return a file as seen from the current directory."""
    try:
        return os.path.relpath(file)
    except ValueError:  # on another drive
        return str(file)


def _settings(table: Mapping[str, Any], file: str) -> Settings:
    _require_keys(table, ("ignore", "theme", "open", "thresholds"), f"{file}: [tool.gradstep]")
    ignore, theme = table.get("ignore", []), table.get("theme", "auto")
    if not isinstance(ignore, list) or not all(isinstance(code, str) for code in ignore):
        raise BadSettings(
            f"{file}: ignore is {ignore!r}", remedy='it is a list of codes: ["dead-units"]'
        )
    if theme not in THEMES:
        remedy = (
            did_you_mean(str(theme), THEMES) or f"it is {', '.join(THEMES[:-1])} or {THEMES[-1]}"
        )
        raise BadSettings(f"{file}: theme is {theme!r}", remedy=remedy)
    opens = table.get("open", False)
    if not isinstance(opens, bool):
        raise BadSettings(f"{file}: open is {opens!r}", remedy="it is true or false")
    numbers = dict(_numbers(table.get("thresholds", {}), file))
    return Settings(tuple(ignore), theme, opens, Thresholds(**numbers), file)


def _numbers(table: Any, file: str) -> Iterator[tuple[str, float]]:
    """Yield the thresholds that are set."""
    if not isinstance(table, dict):
        raise BadSettings(f"{file}: thresholds is {table!r}", remedy="it is a table")
    names = {field.replace("_", "-"): field for field in Thresholds._fields}
    _require_keys(table, names, f"{file}: [tool.gradstep.thresholds]")
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise BadSettings(f"{file}: {name} is {value!r}", remedy="it is a number above 0")
        yield names[name], float(value)


def _require_keys(table: Mapping[str, Any], names: Collection[str], where: str) -> None:
    for name in [name for name in table if name not in names]:
        remedy = did_you_mean(name, names) or f"it takes {', '.join(names)}"
        raise BadSettings(f"{where} has no key {name!r}", remedy=remedy)

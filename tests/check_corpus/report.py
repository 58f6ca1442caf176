"""What a report of `gradstep check` says, judged by the table."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.check_corpus.running import lines_of
from tests.check_corpus.table import Bug

FOUND_SOMETHING = 5  # the exit code, as the help text has it
CODE = re.compile(r"^(?:error|warning)\b.*?\[([a-z][a-z-]*)\]", re.MULTILINE)
LINE = re.compile(r"\b(?:train\.py:|line )(\d+)\b")


def applied(report: str, program: str) -> str:
    """Return the program after the remedies that a report prints as lines of code; of two for one
    line, the first."""
    lines: dict[int, list[str]] = {}
    number = 0
    for line in report.splitlines():
        if line.startswith("  remedy:"):
            number = -1
        elif number and (first := re.fullmatch(r"    (\d+) \| (.*)", line)):
            number = int(first[1])
            if number in lines:
                number = -1
            else:
                lines[number] = [first[2]]
        elif number > 0 and (more := re.fullmatch(r" +\| (.*)", line)):
            lines[number].append(more[1])
        elif not number or not line.startswith("    "):
            number = 0
    return "\n".join(
        "\n".join(indent + each for each in lines.get(number, [line.strip()]))
        for number, line in enumerate(program.split("\n"), 1)
        for indent in [line[: len(line) - len(line.lstrip())]]
    )


class Verdict(NamedTuple):
    """What a report says of one program."""

    exit_code: int
    codes: tuple[str, ...]  # of errors and warnings
    line: bool | None  # whether it names a line of the table; None: nothing is wrong
    missing: tuple[str, ...]  # what the table asks for and the report does not name

    @property
    def found(self) -> bool:
        """Whether the report has an error or a warning, be it the right one or not."""
        return self.exit_code == FOUND_SOMETHING

    @property
    def told(self) -> bool:
        """Whether the report names the line and the cause."""
        return self.found and self.line is True and not self.missing

    def __str__(self) -> str:
        words = [f"exit {self.exit_code}", ",".join(self.codes) or "-"]
        if self.line is not None:
            words.append("line" if self.line else "NO LINE")
            words.append(f"NOT NAMED: {', '.join(self.missing)}" if self.missing else "names")
        return "  ".join(words)


def verdict(report: str, exit_code: int, bug: Bug | None) -> Verdict:
    """Judge the report on a program that is named train.py there."""
    codes = tuple(dict.fromkeys(CODE.findall(report)))
    if bug is None:
        return Verdict(exit_code, codes, None, ())
    lines = {int(number) for number in LINE.findall(report)}
    missing = tuple(
        names for names in bug.names if not any(is_named(name, report) for name in names.split("|"))
    )
    return Verdict(exit_code, codes, not lines.isdisjoint(lines_of(bug)), missing)


def is_named(name: str, report: str) -> bool:
    """Whether ``name`` stands in the report, not inside of a longer word.

    Endings are allowed, as in "saturated"; a name of one letter stands alone.
    """
    ending = r"(?!\w)" if len(name) == 1 else ""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}{ending}", report) is not None

"""The blocks of code in a document, in reStructuredText or Markdown."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

_DIRECTIVE = re.compile(r"(?P<indent> *)\.\. (?:code-block|console):: ?(?P<language>[\w.+/-]*)\s*")
_FENCE = re.compile(r"(?P<marks>`{3,})(?P<language>[\w-]*)")


class Block(NamedTuple):
    """A block of code, and the line of the document at which its text begins, from 1 on."""

    language: str
    text: str
    line: int


class Command(NamedTuple):
    """A command after ``$``, and the output that is shown below it, if any."""

    text: str
    output: str

    def check(self, output: str, code: int) -> None:
        """Fail unless it printed what is shown, or succeeded where nothing is."""
        ran = f"$ {self.text}\n{output}"
        if self.output.strip():
            flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
            assert doctest.OutputChecker().check_output(self.output, output, flags), ran
        else:
            assert code == 0, ran


def commands_of(path: Path) -> list[Command]:
    """The commands of all ``console`` blocks of a document, in their order."""
    texts = [block.text for block in blocks_of(path) if block.language == "console"]
    parts = [part for text in texts for part in f"\n{text}".split("\n$ ")[1:]]
    return [Command(text, output) for text, _, output in (part.partition("\n") for part in parts)]


def with_outputs(path: Path, outputs: Sequence[str]) -> str:
    """The text of a document whose commands printed ``outputs``, where it shows them whole."""
    text, at = path.read_text(encoding="utf-8"), 0
    for command, output in zip(commands_of(path), outputs, strict=True):
        at = text.index(f"   $ {command.text}\n", at) + len(command.text) + 6
        shown = _indented(command.output)
        if shown and "..." not in shown:
            text = text[:at] + text[at:].replace(shown, _indented(output), 1)
    return text


def _indented(output: str) -> str:
    lines = output.rstrip("\n").splitlines()
    return "\n".join(f"   {line}".rstrip() for line in lines)


def opens_screen(command: str) -> bool:
    """Whether a command opens the full screen, which wants a terminal."""
    without = ("--batch", "--fail-on", "--certify")
    return command.startswith("gradstep debug ") and not any(each in command for each in without)


def blocks_of(path: Path) -> list[Block]:
    """All blocks of a document; in reStructuredText also doctests that stand alone."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = _in_markdown(lines) if path.suffix == ".md" else _in_rest(lines)
    return list(found)


def _in_markdown(lines: list[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        number += 1
        if opening is None:
            continue
        end = next(n for n in range(number, len(lines)) if lines[n] == opening["marks"])
        yield Block(opening["language"], "\n".join(lines[number:end]) + "\n", number + 1)
        number = end + 1


def _in_rest(lines: list[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        directive = _DIRECTIVE.fullmatch(lines[number])
        if directive:
            start = number + 1
            number = _end_of_indented(lines, start, len(directive["indent"]))
            first = next((n for n in range(start, number) if not _is_option(lines[n])), number)
            text = dedent("\n".join(lines[first:number])).strip("\n") + "\n"
            yield Block(directive["language"], text, first + 2)
        elif lines[number].startswith(">>> "):
            start = number
            while number < len(lines) and lines[number].strip():
                number += 1
            yield Block("pycon", "\n".join(lines[start:number]) + "\n", start + 1)
        else:
            number += 1


def _is_option(line: str) -> bool:
    return re.match(r" +:[\w-]+:", line) is not None


def _end_of_indented(lines: list[str], start: int, indent: int) -> int:
    inside = (
        n
        for n in range(start, len(lines))
        if lines[n].strip() and len(lines[n]) - len(lines[n].lstrip()) <= indent
    )
    return next(inside, len(lines))

"""``gradstep embed``: commands that stand in a Markdown file, and what they make of it.

A command stands between two comments, which readers do not see::

    <!-- gradstep: render -o docs/loss.svg train.py:loss -->
    ![Backward graph of loss: …](docs/loss.svg)
    <!-- /gradstep -->

What a command writes to a file is shown as an image, what it prints as a block of code.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradstep.guest.own_files import FOLDER
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import say
from gradstep_viz.errors import CannotWrite
from gradstep_viz.formats import FORMATS
from gradstep_viz.output.files import is_marked, require_replaceable, write_atomically
from gradstep_viz.output.svg import title_of

_NOTES = """\
Write a command in a comment; it runs in the folder of FILE:

  <!-- gradstep: render -o docs/loss.svg train.py:loss -->
  ![Backward graph of loss: ...](docs/loss.svg)
  <!-- /gradstep -->

If the command writes a picture, you get an image, and may change its alt text.
If it prints text, you get a code block, or a diagram if it is Mermaid.

examples:
  gradstep embed README.md
  gradstep embed --check README.md docs/*.md
"""


def parser() -> Parser:
    """Return the options of ``gradstep embed``."""
    command = Parser(
        "embed",
        "[OPTIONS] FILE...",
        "Run the gradstep commands in the comments of Markdown files, and update the\n"
        "pictures and output below them.",
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("--check", action="store_true", help="change nothing; list what is stale, and exit with "
        "code 5 if anything is")
    add("--anywhere", action="store_true", help="also let commands write files outside the "
        "document's folder")
    # fmt: on
    command.add_argument("target", metavar="FILE", nargs="+", help=argparse.SUPPRESS)
    return command


def run(options: argparse.Namespace) -> ExitCode:
    """Carry out ``gradstep embed``."""
    code, notes = embed(options.target, check=options.check, anywhere=options.anywhere)
    for note in notes:
        say(note)
    return code


_BEGIN = re.compile(r"\s*<!--\s*gradstep:(?P<command>.*?)-->\s*")
_END = re.compile(r"\s*<!--\s*/gradstep\s*-->\s*")
_FENCE = re.compile(r"\s*(```+|~~~+)")
_DRAWN_BY_READERS = ("mermaid", "dot")


class Block(NamedTuple):
    """The lines between two comments: from ``start`` up to, not including, ``stop``."""

    command: str
    start: int
    stop: int


class Made(NamedTuple):
    """The output of a command: the lines to stand in the document, and the file it wrote."""

    lines: list[str]
    file: Path | None
    content: bytes


def embed(
    files: Sequence[str], *, check: bool, anywhere: bool = False
) -> tuple[ExitCode, list[str]]:
    """Bring what stands in ``files`` up to date; with ``check``, only say what is not.

    Pictures are written below the folder of their document, unless ``anywhere``.

    Returns:
        The exit code (FOUND when ``check`` found something), and notes for the user.

    Raises:
        Failure: a file cannot be read or written, or a command in it fails; then nothing of
            that file has been touched. Or there is no command in any of them.
    """
    counts, notes = zip(*(_embed_into(Path(file), check, anywhere) for file in files), strict=True)
    if not any(counts):
        raise Failure(
            f"there is no command in {', '.join(files)}; write one as <!-- gradstep: render "
            "train.py:loss -o loss.svg -->, and <!-- /gradstep --> below it",
            ExitCode.USAGE,
        )
    stale = [note for of_file in notes for note in of_file]
    if check and stale:
        return ExitCode.FOUND, [*stale, f"run: gradstep embed {shlex.join(files)}"]
    return ExitCode.FINE, stale or ["everything is up to date"]


def _embed_into(path: Path, check: bool, anywhere: bool) -> tuple[int, list[str]]:
    """Carry out the commands that stand there; return how many, and what is to be told of them."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise Failure(f"cannot read {path} ({reason.lower()})", ExitCode.USAGE) from None
    lines = text.split("\n")
    notes: list[str] = []
    blocks = list(find_blocks(lines, path))
    if not anywhere:
        for block in blocks:
            _require_below(path, block)
    results = [(block, _make(path, block, lines)) for block in blocks]
    for block, result in reversed(results):
        places = []
        if lines[block.start : block.stop] != result.lines:
            lines[block.start : block.stop] = result.lines
            places.append(f"{path}:{block.start}")
        if result.file is not None and _content(result.file) != result.content:
            places.append(str(result.file))
            if not check:
                _write(result.file, result.content)
        notes[:0] = [f"{place} is stale" if check else f"wrote {place}" for place in places]
    if not check and "\n".join(lines) != text:
        _write(path, "\n".join(lines).encode())
    return len(results), notes


def find_blocks(lines: Sequence[str], path: Path) -> Iterator[Block]:
    """Yield the blocks of a document; what stands in a block of code is none.

    >>> lines = ["<!-- gradstep: ops mul -->", "old", "<!-- /gradstep -->"]
    >>> list(find_blocks(lines, Path("README.md")))
    [Block(command='ops mul', start=1, stop=2)]

    Raises:
        Failure: one has no end.
    """
    number, fence = 0, ""
    while number < len(lines):
        line = lines[number]
        number += 1
        marks = _FENCE.match(line)
        if marks:
            fence = "" if fence and marks[1].startswith(fence) else fence or marks[1]
        begin = None if fence else _BEGIN.fullmatch(line)
        if begin is None:
            continue
        ends = (n for n in range(number, len(lines)) if _END.fullmatch(lines[n]))
        stop = next(ends, None)
        if stop is None:
            raise Failure(
                f"{path}:{number}: this command is not closed; add <!-- /gradstep --> below it",
                ExitCode.USAGE,
            )
        yield Block(begin["command"].strip(), number, stop)
        number = stop + 1


def _words(path: Path, block: Block) -> tuple[list[str], int]:
    """Return the words of a command, and which of them names the file that it writes; 0 for
    none."""
    try:
        words = shlex.split(block.command)
    except ValueError as error:
        raise Failure(f"{path}:{block.start}: {error}", ExitCode.USAGE) from None
    places = (n + 1 for n, word in enumerate(words[:-1]) if word == "-o")
    return words, next(places, 0)


def _require_below(path: Path, block: Block) -> None:
    """See that a command writes below the folder of its document, before anything runs.

    Raises:
        Failure: it does not.
    """
    words, output = _words(path, block)
    folder = path.resolve().parent
    if output and not (folder / words[output]).resolve().is_relative_to(folder):
        raise Failure(
            f"{path}:{block.start}: {words[output]} is outside the document's folder; name a "
            f"file below it, or allow it with --anywhere",
            ExitCode.USAGE,
        )


def _make(path: Path, block: Block, lines: Sequence[str]) -> Made:
    words, output = _words(path, block)
    name = words[output] if output else "-"
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder, Path(name).name)
        if name != "-":
            words[output] = str(written)
        printed = _run(words, path, block, {str(written): name})
        if name == "-":
            return Made(_as_code(block.command, words, printed), None, b"")
        if not written.exists():
            raise Failure(
                f"{path}:{block.start}: the command did not write {name}; options go before TARGET",
                ExitCode.USAGE,
            )
        if not written.is_file():
            raise Failure(f"{path}:{block.start}: {name} is not a single file", ExitCode.USAGE)
        content = written.read_bytes()
    file = path.parent / name
    _require_replaceable(file, content, f"{path}:{block.start}")
    old = list(lines[block.start : block.stop])
    by_hand = any(name in line for line in old) and old != _as_image(name, _content(file) or b"")
    return Made(old if by_hand else _as_image(name, content), file, content)


def _run(words: Sequence[str], path: Path, block: Block, names: Mapping[str, str]) -> str:
    """Run the command where the document is, and return what it printed; what it says of files
    that have other ``names`` in the document says these."""
    search = os.pathsep.join(filter(None, (FOLDER, os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gradstep", *words],
        cwd=path.absolute().parent,
        env={**os.environ, "PYTHONPATH": search, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        capture_output=True,
        check=False,
    )
    if done.returncode not in (ExitCode.FINE, ExitCode.FOUND) or not words:
        message = done.stderr.decode(errors="replace").strip()
        for written, name in names.items():
            message = message.replace(written, name)
        raise Failure(f"{path}:{block.start}: {message}", ExitCode.SCRIPT_FAILED)
    return done.stdout.decode(errors="replace")


def _as_code(command: str, words: Sequence[str], printed: str) -> list[str]:
    """Return a block of code; of a language that a reader's program draws, without the command."""
    language = next((w for w in words if w in _DRAWN_BY_READERS), "console")
    body = printed.rstrip("\n").split("\n")
    if language == "console":
        body.insert(0, f"$ gradstep {command}")
    longest = max((len(run) for run in re.findall(r"`+", printed)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *body, fence]


def _as_image(name: str, content: bytes) -> list[str]:
    """Return a picture, with the sentence that an SVG has about itself as its alternative text."""
    words = re.sub(r"[\[\]\n]", " ", title_of(content.decode(errors="replace")))
    return [f"![{words}]({name})"]


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _require_replaceable(file: Path, content: bytes, place: str) -> None:
    """See that a picture takes the place of one of its format."""
    try:
        for format in FORMATS.values():
            if is_marked(content, format.mark):
                require_replaceable(file, format.mark)
    except CannotWrite as error:
        raise Failure(f"{place}: {error}", ExitCode.USAGE) from None


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except CannotWrite as error:
        raise Failure(str(error), ExitCode.USAGE) from None

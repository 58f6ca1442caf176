"""What is different about two runs before anything has run: lines of the program, its arguments,
versions, settings, and the options of optimizers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final, Literal, NamedTuple

from gradstep.graph.model import Source
from gradstep.recording.run import Run

_TOKEN: Final = re.compile(r"[\w.]+\s*=(?!=)\s*[^\s,()=]+|[\w.]+|\S")
"""A word of a line of code; a keyword argument is one."""


class Circumstance(NamedTuple):
    """Something that is different: what it is in either run, "" where it is not there at all.

    Attributes:
        kind: a line of the program, an argument, the version of a package, a setting of a library,
            or an option of an optimizer.
        name: of a version, a setting or an option, what it is called.
        sources: of a line, its place in either program.
    """

    kind: Literal["line", "argument", "version", "setting", "option"]
    name: str
    one: str
    other: str
    sources: tuple[Source | None, Source | None] = (None, None)


def circumstances(one: Run, other: Run) -> list[Circumstance]:
    """Return all that is different, lines first; nothing of a run that is a graph only."""
    headers = one.header, other.header
    if not (headers[0].versions and headers[1].versions):
        return []
    arguments = zip_longest(headers[0].command[1:], headers[1].command[1:], fillvalue="")
    engines = headers[0].engines, headers[1].engines
    versions = [{**header.versions, **header.engines} for header in headers]
    if not engines[0].keys() & engines[1].keys():
        versions = [dict(header.versions) for header in headers]
    return [
        *_lines(one, other),
        *(Circumstance("argument", "", *pair) for pair in arguments if pair[0] != pair[1]),
        *_entries("version", versions[0], versions[1]),
        *_entries("setting", headers[0].settings, headers[1].settings),
        *_entries("option", _options(one), _options(other)),
    ]


def _entries(
    kind: Literal["version", "setting", "option"], one: Mapping[str, str], other: Mapping[str, str]
) -> Iterator[Circumstance]:
    """Yield what both have, each otherwise."""
    for name in one:
        if name in other and one[name] != other[name]:
            yield Circumstance(kind, name, one[name], other[name])


def _options(run: Run) -> dict[str, str]:
    return {
        f"{group.kind} {option}" + (f" of group {number}" if number > 1 else ""): f"{value:g}"
        for number, group in enumerate(run.training.groups, 1)
        for option, value in group.options.items()
    }


def _lines(one: Run, other: Run) -> Iterator[Circumstance]:
    """Yield the lines that are not the same, of files of the same name and of the two scripts."""
    there = set(other.files)
    scripts = tuple(run.header.command[:1] for run in (one, other))
    for file in one.files:
        partner = scripts[1][0] if scripts[1] and scripts[0] == (file,) else file
        if partner not in there:
            continue
        texts = one.source(file) or "", other.source(partner) or ""
        if texts[0] != texts[1]:
            yield from changed_lines(texts, (file, partner))


def changed_lines(texts: tuple[str, str], files: tuple[str, str]) -> Iterator[Circumstance]:
    """Yield where two texts differ, line by line, but for comments and empty lines.

    >>> said = changed_lines(("x = f(1, lr=0.1)", "# now\\nx = f(1, lr=0.2)"), ("a.py", "a.py"))
    >>> [(each.one, each.other, each.sources[1].line) for each in said]
    [('lr=0.1', 'lr=0.2', 2)]
    """
    sides = [
        [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
        for text in texts
    ]
    mine, its = (
        [(number, line) for number, line in side if line and not line.startswith("#")]
        for side in sides
    )
    words = [line for _, line in mine], [line for _, line in its]
    for tag, start, end, start_there, end_there in SequenceMatcher(
        None, *words, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        for line, line_there in zip_longest(mine[start:end], its[start_there:end_there]):
            parts = ("" if each is None else each[1] for each in (line, line_there))
            sources = tuple(
                None if each is None else Source(file, each[0])
                for each, file in ((line, files[0]), (line_there, files[1]))
            )
            yield Circumstance("line", "", *changed_part(*parts), (sources[0], sources[1]))


def changed_part(one: str, other: str) -> tuple[str, str]:
    """Return the part of two lines of code in which they differ, in whole words.

    >>> changed_part("opt = SGD(weights, lr=0.05)", "opt = SGD(weights, lr=1)")
    ('lr=0.05', 'lr=1')
    >>> changed_part("loss = f(x)", "loss = f(x) / 2")
    ('loss = f(x)', 'loss = f(x) / 2')
    """
    words = [list(_TOKEN.finditer(line)) for line in (one, other)]
    tokens = [[word[0] for word in side] for side in words]
    shorter = min(map(len, tokens))
    first = next((at for at in range(shorter) if tokens[0][at] != tokens[1][at]), shorter)
    last = next(
        (at for at in range(shorter - first) if tokens[0][~at] != tokens[1][~at]), shorter - first
    )
    ends = [len(side) - last for side in tokens]
    parts = [
        line[side[first].start() : side[end - 1].end()] if first < end else ""
        for line, side, end in zip((one, other), words, ends, strict=True)
    ]
    if not all(re.search(r"\w", part) and part.count("(") == part.count(")") for part in parts):
        return one, other  # a part would say nothing
    return parts[0], parts[1]

"""Lines of the program around the forward line of a node."""

from __future__ import annotations

import linecache
from typing import NamedTuple

from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.passes.inspector import source_line
from gradstep.graph.model import Source


class SourceLine(NamedTuple):
    """A line of a file, and whether it is the one in question."""

    number: int
    text: str
    here: bool


def lines_around(source: Source, before: int, after: int) -> list[SourceLine]:
    """Return the lines of a file around ``source``; none where it cannot be read."""
    text = linecache.getlines(source.file)
    if not 0 < source.line <= len(text):
        return []
    first = max(0, source.line - 1 - before)
    shown = text[first : source.line + after]
    return [
        SourceLine(number, text.rstrip().expandtabs(4), number == source.line)
        for number, text in enumerate(shown, first + 1)
    ]


def forward_line(session: PassSession, index: int) -> tuple[int, Source] | None:
    """Return the forward line of node ``index``, or, of a leaf, that of the node which sends to it:
    the node that it belongs to, and the line; None where neither is known."""
    graph = session.graph
    owner: int | None = index
    if index not in graph.sources and graph.names[index] == "AccumulateGrad":
        owner = session.first_sender(index)
    source = None if owner is None else graph.sources.get(owner)
    return None if owner is None or source is None else (owner, source)


def quoted(source: Source) -> str:
    """Return the line with its number and its text: ``14 │ h = torch.tanh(x)``; "" when it cannot
    be read."""
    text = source_line(source)
    return f"{source.line} \N{BOX DRAWINGS LIGHT VERTICAL} {text}" if text else ""

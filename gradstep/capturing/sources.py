"""Names of source files that are the same wherever a program lies."""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import replace
from pathlib import Path
from types import CodeType

from gradstep.graph.entries import SharedEntries
from gradstep.graph.model import Graph, Source
from gradstep.graph.saved_columns import SavedColumns
from gradstep.guest.cells import cell_of


def with_portable_sources(graph: Graph, here: Path) -> Graph:
    """Return ``graph`` with its source files named by :func:`portable`."""
    names: dict[str, str] = {}

    def named(at: Source) -> Source:
        if at.file not in names:
            names[at.file] = portable(at.file, here)
        return Source(names[at.file], at.line)

    return replace(
        graph,
        sources=SharedEntries.of(graph.sources).mapped(named),
        saved=SavedColumns.of(graph.saved).with_lines(named),
    )


def definition(code: CodeType) -> Source:
    """Return the line of ``def``; the first line of a function is that of its first decorator."""
    for line in range(code.co_firstlineno, code.co_firstlineno + _MOST_DECORATORS):
        if linecache.getline(code.co_filename, line).lstrip().startswith(("def ", "async def ")):
            return Source(code.co_filename, line)
    return Source(code.co_filename, code.co_firstlineno)


_MOST_DECORATORS = 20  # lines


def portable(file: str, here: Path) -> str:
    """Return ``file`` as seen from ``here``, or from where Python found it; one that lies elsewhere
    goes by its bare name; so does the cell of a notebook."""
    if cell := cell_of(file):
        return cell
    for place in (str(here), str(here.resolve()), *sorted(sys.path, key=len, reverse=True)):
        if place and file.startswith(f"{place.rstrip(os.sep)}{os.sep}"):
            return Path(file).relative_to(place).as_posix()
    return Path(file).name if os.path.isabs(file) else file

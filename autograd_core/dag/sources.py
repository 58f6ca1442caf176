"""Names of source files that are the same wherever a program lies."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from autograd_core.dag.model import Graph, Source


def with_portable_sources(graph: Graph, here: Path) -> Graph:
    """``graph`` with its source files named by :func:`portable`."""
    files = {source.file for source in graph.sources.values()}
    names = {file: portable(file, here) for file in files}
    sources = {id: Source(names[at.file], at.line) for id, at in graph.sources.items()}
    return replace(graph, sources=sources)


def portable(file: str, here: Path) -> str:
    """``file`` as seen from ``here``, or from where Python found it; one that lies elsewhere goes
    by its bare name."""
    for place in (str(here), str(here.resolve()), *sorted(sys.path, key=len, reverse=True)):
        if place and file.startswith(f"{place.rstrip(os.sep)}{os.sep}"):
            return Path(file).relative_to(place).as_posix()
    return Path(file).name if os.path.isabs(file) else file

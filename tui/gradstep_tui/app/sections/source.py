"""The program around the forward line of a node."""

from __future__ import annotations

import os
from pathlib import Path

from gradstep.findings.reports.source import SourceLine, lines_around
from gradstep.graph.model import Source
from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView
from gradstep_tui.app.widgets.text import Line, Part, node_label, wrapped

AROUND = 40  # lines before and after


def page(view: ScreenView) -> Page:
    """Return the file around the forward line of the selected node, with that line marked."""
    snapshot = view.snapshot
    origin = view.facts.forward_line(view.node)
    if origin is None:
        lines: list[Line] = [
            [Part("forward line", "title"), Part("  not traced", "muted")],
            *wrapped([Part("  " + printable(snapshot.hint), "muted")], view.width),
        ]
        return Page(lines if snapshot.hint else lines[:1])
    owner, source = origin
    of_leaf = "" if owner == view.node else f", which sends to {node_label(snapshot, view.node)}"
    lines = [
        [Part(source_text(source), "title"),
         Part(f"  {node_label(snapshot, owner)}{of_leaf}", "muted")]
    ]  # fmt: skip
    around = lines_around(source, AROUND, AROUND)
    place = next((number for number, line in enumerate(around, 1) if line.here), 0)
    lines += [numbered(line, len(str(around[-1].number))) for line in around]
    # a few lines below it are in view as well
    return Page(lines, focus=min(len(lines) - 1, place + view.height // 2 - 1))


def numbered(line: SourceLine, width: int) -> Line:
    """Return a line of a file behind its number, the one in question with a mark."""
    if line.here:
        return [Part(f"▸ {line.number:>{width}} │ {printable(line.text)}", "strong")]
    return [Part(f"  {line.number:>{width}} │ ", "muted"), Part(printable(line.text))]


def source_text(source: Source) -> str:
    """File and line, the file as seen from the current directory where it lies inside."""
    here = f"{Path.cwd()}{os.sep}"
    return printable(f"{source.file.removeprefix(here)}:{source.line}")

"""The saved values of a node, in which state they are, and which line made them so."""

from __future__ import annotations

import os
from pathlib import Path

from gradstep.debugger.snapshot import Saved
from gradstep.debugger.snapshot.wording import described
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_bytes
from gradstep.text import printable
from gradstep_tui.app.widgets.text import Line, Part, StyleName, fit, shape_text

NAME_WIDTH = 10


def saved_lines(saved: tuple[Saved, ...]) -> list[Line]:
    """Return a heading, and one or more lines per tensor."""
    if not saved:
        return [[Part("saved", "saved"), Part("  nothing", "muted")]]
    total = format_bytes(sum(each.nbytes for each in saved))
    lines: list[Line] = [[Part("saved", "saved"), Part(f"  {total}", "muted")]]
    for each in saved:
        lines += _lines(each)
    return lines


def _lines(saved: Saved) -> list[Line]:
    shape = f"{shape_text(saved.shape)} {saved.dtype}  " if saved.dtype else ""
    line: Line = [Part("  " + fit(saved.name, NAME_WIDTH) + " "), Part(shape, "muted")]
    if saved.value is not None:
        first, *others = described(saved.value)
        style: StyleName = "trouble" if saved.value.statistics.trouble else "text"
        line.append(Part("" if others else first, style))
        if saved.value.size > 1:
            line.append(Part(saved.value.text(4), "muted"))
    lines = [line]
    if saved.value is not None and saved.value.size > 1:
        lines += [[Part("    " + text, style)] for text in (first, *others)]
    if saved.state == "freed":
        line.append(Part("freed by an earlier backward", "trouble"))
    elif saved.state == "packed":
        line.append(Part("packed by hooks", "muted"))
    elif saved.state == "changed":
        lines.append([Part("    ! changed in place since it was saved", "trouble")])
    word = "by" if saved.state == "freed" else "at"
    lines += [[Part(f"    {word} {source_text(source)}", "muted")] for source in saved.lines]
    return lines


def source_text(source: Source) -> str:
    """File and line, the file as seen from the current directory where it lies inside."""
    here = f"{Path.cwd()}{os.sep}"
    return printable(f"{source.file.removeprefix(here)}:{source.line}")

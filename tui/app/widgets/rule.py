"""The rule pane: the formula that runs, what the node saved, and the line that made it."""

from __future__ import annotations

import os
from pathlib import Path

from autograd_core.dag.statistics import format_bytes, format_shape
from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.snapshot import NodeDetail, Saved, Snapshot
from tui.app.widgets.line_view import LinesView
from tui.app.widgets.text import Line, Part, fit, is_accumulate, plain, value_part

NAME_WIDTH = 10


class RulePane(LinesView):
    """Formulas, saved values, hooks and source line of one node."""

    def show(self, session: DebugSession, snapshot: Snapshot, index: int) -> None:
        """Show node ``index`` as it stands in ``snapshot``."""
        self.show_lines(rule_lines(session.detail(index), snapshot))


def rule_lines(detail: NodeDetail, snapshot: Snapshot) -> list[Line]:
    """All lines of the pane for one node; a part that is empty says so in one word."""
    return [
        *_formula_lines(detail, snapshot),
        *_saved_lines(detail),
        *_source_lines(detail, snapshot),
        *_hook_lines(detail),
    ]


def _formula_lines(detail: NodeDetail, snapshot: Snapshot) -> list[Line]:
    head: Line = [Part("formula", "backward"), Part("  g is the incoming sum", "muted")]
    if detail.formulas:
        return [
            head,
            *(
                [Part("  ∂ " + fit(name, NAME_WIDTH) + " "), Part(plain(rule), "strong")]
                for name, rule in detail.formulas
            ),
        ]
    if is_accumulate(snapshot.graph.names[detail.index]):
        name = plain(snapshot.graph.variables.get(detail.index, "leaf"))
        return [head, [Part(f"  {name}.grad += g", "leaf")]]
    return [[Part("formula", "backward"), Part("  not known for this node", "muted")]]


def _saved_lines(detail: NodeDetail) -> list[Line]:
    if not detail.saved:
        return [[Part("saved", "saved"), Part("  nothing", "muted")]]
    total = sum(saved.nbytes for saved in detail.saved)
    head: Line = [Part("saved", "saved"), Part(f"  {format_bytes(total)}", "muted")]
    return [head, *map(_saved_line, detail.saved)]


def _saved_line(saved: Saved) -> Line:
    shape = f"{format_shape(saved.shape)} {saved.dtype}"
    line: Line = [Part("  " + fit(saved.name, NAME_WIDTH) + " "), Part(shape + "  ", "muted")]
    if saved.state == "freed":
        line.append(Part("freed by an earlier backward", "trouble"))
    elif saved.state == "changed":
        line.append(Part("changed in place since it was saved", "trouble"))
    if saved.value is not None:
        line.append(value_part(saved.value))
        if saved.value.array.size > 1:
            line.append(Part("  " + saved.value.text(4), "muted"))
    return line


def _source_lines(detail: NodeDetail, snapshot: Snapshot) -> list[Line]:
    source = snapshot.graph.sources.get(detail.index)
    if source is None and not detail.source_line:
        return [[Part("forward line", "title"), Part("  not traced", "muted")]]
    where = "" if source is None else f"  {plain(_shown_path(source.file))}:{source.line}"
    return [
        [Part("forward line", "title"), Part(where, "muted")],
        [Part("  " + plain(detail.source_line.strip()))],
    ]


def _shown_path(file: str) -> str:
    """The file as seen from the current directory, where it lies inside."""
    here = f"{Path.cwd()}{os.sep}"
    return file.removeprefix(here)


def _hook_lines(detail: NodeDetail) -> list[Line]:
    if not detail.hooks:
        return []
    return [[Part("hooks", "title")], *([Part("  " + plain(hook))] for hook in detail.hooks)]

"""The tree of modules, which folds the execution list too."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.graph.addresses import in_scope
from gradstep.graph.columns import lazy_column
from gradstep.text import printable
from gradstep_tui.app.plan.modules import Branch
from gradstep_tui.app.sections.page import Page, ScopeTarget, ScreenView, Target, sentence
from gradstep_tui.app.widgets.text import Line, Part, changed, fit


def page(view: ScreenView) -> Page:
    """Return every module with the number of its nodes; ``z`` folds one, here and in the list."""
    branches = view.modules.visible(view.folded)
    if not branches:
        return sentence(view, "no modules, or the forward pass was not traced")
    scope = view.modules.scope_of(view.node)

    def target(line: int, column: int) -> Target | None:
        branch = branches[line]
        return ScopeTarget(branch.scope, branch.spans[0].start)

    lines = lazy_column(len(branches), lambda line: _line(branches[line], view, scope))
    return Page(lines, focus=_line_of(branches, scope), target=target)


def _line_of(branches: Sequence[Branch], scope: str) -> int:
    """Return the line of the innermost module around ``scope`` that is shown."""
    return max(
        (number for number, branch in enumerate(branches) if in_scope(scope, branch.scope)),
        default=0,
    )


def _line(branch: Branch, view: ScreenView, scope: str) -> Line:
    """Return the line of one module; ``scope`` is that of the selected node."""
    here = in_scope(scope, branch.scope)
    fold = "▸" if branch.scope in view.folded else "▾" if branch.has_children else "·"
    name = branch.scope.rpartition(".")[2]
    kind = view.snapshot.graph.modules.get(branch.scope, "")
    nodes, done = branch.nodes, branch.done(view.snapshot.position)
    count = f"{done:,}/{nodes:,}" if 0 < done < nodes else f"{nodes:,}"
    mark = "✓" if done == nodes else "▶" if branch.scope == _current(view) else " "
    indent = "  " * min(branch.depth, 8)
    room = max(8, view.width - len(count) - 5)
    label = printable(f"{indent}{fold} {name}")
    move = view.last_move
    ran = any(span.start < move.stop and move.start < span.stop for span in branch.spans)
    return [
        Part("▌" if here else " ", "strong"),
        Part(mark + " ", "muted"),
        Part(label, "strong" if here else "text"),
        Part(fit("  " + printable(kind), max(0, room - len(label))), "muted"),
        Part(" "),
        changed(Part(count, "muted"), ran),
    ]


def _current(view: ScreenView) -> str:
    """Return the scope of the node that runs next."""
    position = view.snapshot.position
    return view.modules.scope_of(position) if position < view.snapshot.length else ""

"""The tree of modules, which folds the execution list too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from autograd_core.dag.addresses import in_scope
from tui.app.modules import Branch
from tui.app.sections.page import Page, ScopeTarget, Target, View, sentence
from tui.app.widgets.text import Line, Part, fit, plain


class BranchLines(Sequence[Line]):
    """One line per module, made when it is looked at."""

    def __init__(self, branches: Sequence[Branch], view: View) -> None:
        self._branches = branches
        self._view = view
        self._here = view.modules.scope_of(view.node)

    def __len__(self) -> int:
        return len(self._branches)

    @overload
    def __getitem__(self, place: int) -> Line: ...
    @overload
    def __getitem__(self, place: slice) -> list[Line]: ...
    def __getitem__(self, place: int | slice) -> Line | list[Line]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        return self._line(self._branches[place])

    def _line(self, branch: Branch) -> Line:
        view, modules = self._view, self._view.snapshot.graph.modules
        here = in_scope(self._here, branch.scope)
        fold = "▸" if branch.scope in view.folded else "▾" if branch.has_children else "·"
        name = branch.scope.rpartition(".")[2]
        kind = modules.get(branch.scope, "")
        nodes, done = branch.nodes, branch.done(view.snapshot.position)
        count = f"{done:,}/{nodes:,}" if 0 < done < nodes else f"{nodes:,}"
        mark = "✓" if done == nodes else "▶" if branch.scope == self._current() else " "
        indent = "  " * min(branch.depth, 8)
        room = max(8, view.width - len(count) - 5)
        label = plain(f"{indent}{fold} {name}")
        return [
            Part("▌" if here else " ", "strong"),
            Part(mark + " ", "muted"),
            Part(label, "strong" if here else "text"),
            Part(fit("  " + plain(kind), max(0, room - len(label))), "muted"),
            Part(f" {count}", "muted"),
        ]

    def _current(self) -> str:
        position = self._view.snapshot.position
        if position >= self._view.snapshot.length:
            return ""
        return self._view.modules.scope_of(position)


def page(view: View) -> Page:
    """Every module with the number of its nodes; ``z`` folds one, here and in the list."""
    branches = view.modules.visible(view.folded)
    if not branches:
        return sentence("no modules, or the forward pass was not traced")
    scope = view.modules.scope_of(view.node)

    def target(line: int, column: int) -> Target | None:
        branch = branches[line]
        return ScopeTarget(branch.scope, branch.spans[0].start)

    return Page(BranchLines(branches, view), focus=_line_of(branches, scope), target=target)


def _line_of(branches: Sequence[Branch], scope: str) -> int:
    """The line of the innermost module around ``scope`` that is shown."""
    return max(
        (number for number, each in enumerate(branches) if in_scope(scope, each.scope)), default=0
    )

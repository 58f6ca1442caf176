"""What a section is: a function from what the debugger knows to the lines of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.records.snapshot import Reply, Snapshot
from tui.app.plan.lanes import PlanEdges
from tui.app.plan.modules import Modules
from tui.app.widgets.text import Line, Part, wrapped


class NodeTarget(NamedTuple):
    """A line that speaks of a plan node."""

    node: int


class PointTarget(NamedTuple):
    """A line that speaks of a breakpoint, and of the first plan node it means (-1: none)."""

    number: int
    node: int


class ScopeTarget(NamedTuple):
    """A line that speaks of a module, and of the first plan node in it."""

    scope: str
    node: int


Target = NodeTarget | PointTarget | ScopeTarget


@dataclass
class Notes:
    """What the screen keeps besides the snapshot: answers to questions that were asked once."""

    checks: dict[int, Reply] = field(default_factory=dict)
    difference: str = ""
    difference_at: int = -1
    transcript: list[Line] = field(default_factory=list)
    added: dict[str, list[float | None]] = field(default_factory=dict)
    added_at: int = -1


class View(NamedTuple):
    """What a section may look at; ``node`` is the selected plan node, ``folded`` names the
    modules that are folded, ``width`` and ``height`` are the room there is."""

    session: DebugSession
    snapshot: Snapshot
    node: int
    edges: PlanEdges
    modules: Modules
    notes: Notes
    folded: frozenset[str] = frozenset()
    width: int = 80
    height: int = 24


def _nothing(line: int, column: int) -> Target | None:
    return None


class Page(NamedTuple):
    """The lines of a section; ``heading`` stays in view, ``focus`` is a line to be seen.

    ``target`` says what a line speaks of, at a column.
    """

    lines: Sequence[Line]
    heading: Line | None = None
    focus: int | None = None
    target: Callable[[int, int], Target | None] = _nothing


class Section(NamedTuple):
    """A page of a pane: its name on the tab, what it shows, and who writes it.

    ``per_node`` says that it speaks of the selected node.
    """

    name: str
    summary: str
    page: Callable[[View], Page]
    per_node: bool = True


def sentence(view: View, *texts: str) -> Page:
    """A page of what there is to say where there is nothing to list, one line or more each."""
    return Page([line for text in texts for line in wrapped([Part(text, "muted")], view.width)])

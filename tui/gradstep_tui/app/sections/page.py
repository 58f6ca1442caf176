"""The protocol of a section: a function from what the debugger knows to the lines of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from gradstep.debugger.snapshot import Snapshot
from gradstep_tui.app.facts import Facts
from gradstep_tui.app.plan.flow import Flow
from gradstep_tui.app.plan.lanes import PlanEdges
from gradstep_tui.app.plan.listing import IN_PLAN_ORDER, Listing
from gradstep_tui.app.plan.modules import Modules
from gradstep_tui.app.widgets.text import Line, Part, wrapped


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


class CallTarget(NamedTuple):
    """A place that stands for a call of the recording, as the command ``call`` names it."""

    name: str
    node: int = -1


Target = NodeTarget | PointTarget | ScopeTarget | CallTarget


MOST_MARKED = 12  # nodes that a move may run or take back for what it changed to be marked
_NUMBERED = (
    "gradient", "report", "why", "contributions", "values", "leaves", "graph", "flow", "run",
)  # fmt: skip
DIGITS = {name: str(place) for place, name in enumerate(_NUMBERED, 1)}
"""The key of a section, the same at every size of the terminal."""
SECTION_DIGITS = {digit: name for name, digit in DIGITS.items()}


def tab_text(name: str) -> str:
    """Return what the tab of a section says.

    >>> tab_text("gradient"), tab_text("console")
    ('1 gradient', 'console')
    """
    return f"{DIGITS[name]} {name}" if name in DIGITS else name


Shown = Literal["gradient", "value", "both"]


@dataclass
class Notes:
    """The screen's memory besides the snapshot: answers to questions that were asked once."""

    difference: str = ""
    difference_at: int = -1
    report: str = ""
    transcript: list[Line] = field(default_factory=list)
    added: dict[str, list[float | None]] = field(default_factory=dict)
    added_at: int = -1
    flow: Flow = field(default_factory=Flow)


@dataclass(frozen=True, eq=False)
class ScreenView:
    """The content of the screen: where the session stands, and what the user chose to see of it.

    ``node`` is the selected plan node (-1 in an empty plan), ``folded`` names the modules that
    are folded, ``shown`` is what the list tells of each node, and ``listing`` which of them in
    which order.  ``last_move`` are the nodes that it ran or took back, ``changed`` those whose
    gradient it changed, ``width`` and ``height`` are the room that a section has.
    """

    facts: Facts
    snapshot: Snapshot
    edges: PlanEdges
    modules: Modules
    notes: Notes
    node: int
    folded: frozenset[str] = frozenset()
    shown: Shown = "gradient"
    listing: Listing = IN_PLAN_ORDER
    last_move: range = range(0)
    changed: frozenset[int] = frozenset()
    width: int = 80
    height: int = 24

    @classmethod
    def of(cls, facts: Facts, snapshot: Snapshot, notes: Notes) -> ScreenView:
        """Return the view of a plan, with the current node selected, and the long loops
        folded."""
        graph, length = snapshot.graph, snapshot.length
        edges, modules = PlanEdges(graph, length), Modules(graph, length)
        node, folded = min(snapshot.position, length - 1), modules.long_loops()
        return cls(facts, snapshot, edges, modules, notes, node, folded)

    def moved(self, snapshot: Snapshot, selected: int | None) -> ScreenView:
        """Return the view once the session stands at ``snapshot``: where that moved, the current
        node is selected, and otherwise the one that a command chose (``selected``)."""
        old = self.snapshot
        if snapshot.graph is not old.graph:
            self.notes.flow.forget()
            view = ScreenView.of(self.facts, snapshot, self.notes)
        else:
            view = replace(self, snapshot=snapshot)
            before, now = old.position, snapshot.position
            if now != before:
                move = range(min(before, now), max(before, now))
                # marks on everything say nothing
                move = move if len(move) <= MOST_MARKED else range(now, now)
                changed = self.edges.targets_of_all(move)
                folded = self.folded - self.modules.entered(before, now)
                view = replace(view, last_move=move, changed=changed, folded=folded).select(now)
            elif snapshot.phase != old.phase:
                view = replace(view, last_move=range(now, now + 1), changed=_sent_to(old, snapshot))
            if snapshot.edits != old.edits:
                self.notes.flow.forget(now)
                edited = {edit.index for edit in {*snapshot.edits} ^ {*old.edits}}
                view = replace(view, last_move=range(now, now), changed=frozenset(edited))
        if selected is None or selected == snapshot.position:
            return view
        return view.select(selected)

    def select(self, node: int) -> ScreenView:
        """Return the view with another node selected, or the nearest one that there is."""
        return replace(self, node=min(max(0, node), self.snapshot.length - 1))


def _sent_to(before: Snapshot, now: Snapshot) -> frozenset[int]:
    """Return the nodes to which a move inside a node sent something, or from which it took it
    back."""
    longer = max(before, now, key=lambda snapshot: snapshot.phase).current
    if longer is None:
        return frozenset()
    first, last = sorted((before.phase, now.phase))
    sent = {phase.output_nr for phase in longer.phases[first:last] if phase.kind == "delivery"}
    return frozenset(
        outgoing.target
        for outgoing in longer.outgoing
        if outgoing.output_nr in sent and outgoing.target is not None
    )


def _nothing(line: int, column: int) -> Target | None:
    return None


class Page(NamedTuple):
    """The lines of a section; ``heading`` stays in view, ``focus`` is a line to be seen.

    ``target`` says what a line speaks of, at a column; ``along`` which plan node is so many
    columns to the right, on a page whose columns stand for nodes.
    """

    lines: Sequence[Line]
    heading: Line | None = None
    focus: int | None = None
    target: Callable[[int, int], Target | None] = _nothing
    along: Callable[[int], int] | None = None


class Section(NamedTuple):
    """A page of a pane: its name on the tab, what it shows, and who writes it.

    ``per_node`` says that it speaks of the selected node.
    """

    name: str
    summary: str
    page: Callable[[ScreenView], Page]
    per_node: bool = True


def sentence(view: ScreenView, *texts: str) -> Page:
    """Return a page of what there is to say where there is nothing to list, one line or more
    each."""
    return Page([line for text in texts for line in wrapped([Part(text, "muted")], view.width)])

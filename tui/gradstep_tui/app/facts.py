"""What the screen reads beside the snapshot: records about the pass, and no way to move it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gradstep.console.session import Session
from gradstep.debugger.snapshot import LedgerEntry, NodeDetail, Phase, Snapshot, Value
from gradstep.findings.reports.move import move_text, phase_move_text
from gradstep.findings.reports.source import forward_line
from gradstep.findings.reports.stop import stop_text
from gradstep.findings.reports.why import Explanation, explain_node
from gradstep.graph.model import Source
from gradstep.graph.statistics import Statistics
from gradstep.recording.run import Run
from gradstep_tui.app.plan.flow import NodeFlow, flow_of

_MOST_KEPT = 256  # records of nodes, of one snapshot


class RecordedPlace(NamedTuple):
    """A recorded run, and the call of it that is looked at."""

    run: Run
    call: int


class OtherNode(NamedTuple):
    """A node in the other pass, where two are compared: what to say of it, whether it differs, what
    is known of it there (None where it is not there), and where that pass stands."""

    name: str
    text: str
    differs: bool
    detail: NodeDetail | None
    position: int
    length: int


class StopReport(NamedTuple):
    """Why a session stood at a stop when the screen opened: in a line, in full, and the node."""

    reason: str
    text: str
    node: int


class Facts:
    """Records about the pass, as of the snapshot that is shown.

    Every method raises AtWork while the session is doing something: it may be past that snapshot.

    Attributes:
        compares: whether another pass goes along with this one.
    """

    def __init__(self, session: Session, at_rest: Callable[[], Session]) -> None:
        self.compares = session.beside is not None
        self._at_rest = at_rest
        self._details: dict[int, NodeDetail] = {}
        self._phases: dict[int, tuple[Phase, ...]] = {}

    def forget(self) -> None:
        """Drop what was kept: there is another snapshot."""
        self._details.clear()
        self._phases.clear()

    def detail(self, node: int) -> NodeDetail:
        """Return what is known about a node."""
        session = self._at_rest()
        # several panes ask for the node that is selected, which may send to thousands
        if node not in self._details:
            self._make_room()
            self._details[node] = session.detail(node)
        return self._details[node]

    def _make_room(self) -> None:
        if len(self._details) + len(self._phases) >= _MOST_KEPT:
            self.forget()

    def contributions(self, node: int, input_nr: int) -> Iterator[LedgerEntry]:
        """Yield each contribution to an input of a node, with the running sum."""
        return self._at_rest().contributions(node, input_nr)

    def phases(self, node: int) -> tuple[Phase, ...]:
        """Return what has happened inside a node so far."""
        session = self._at_rest()
        if node not in self._phases:
            self._make_room()
            self._phases[node] = session.phases(node)
        return self._phases[node]

    def forward_value(self, node: int) -> Value | Statistics | None:
        """Return the result of the forward op of a node, or what is known of it."""
        return self._at_rest().forward_value(node)

    def forward_line(self, node: int) -> tuple[int, Source] | None:
        """Return the node that the forward line of a node belongs to, and that line."""
        return forward_line(self._at_rest(), node)

    def explanation(self, node: int) -> Explanation:
        """Return why the gradient of a node is what it is."""
        return explain_node(self._at_rest(), node)

    def flow(self, node: int) -> NodeFlow:
        """Return the flow at a node that has run."""
        session = self._at_rest()
        inspector = session.inspector
        return flow_of(session.graph, node, inspector.incoming(node), inspector.outgoing(node))

    def other(self, node: int) -> OtherNode | None:
        """Return the partner of a node in the other pass; None where no other is compared."""
        beside = self._at_rest().beside
        if beside is None:
            return None
        partner, other = beside.partners[node], beside.session
        detail = other.detail(partner) if partner >= 0 else None
        return OtherNode(
            beside.name, beside.text(node), beside.differs(node), detail, other.position,
            other.length,
        )  # fmt: skip

    def recorded(self) -> RecordedPlace | None:
        """Return the recording that the call comes from; None of a call that runs."""
        call = self._at_rest().backward_call
        run: Run | None = getattr(call, "run", None)
        return None if run is None else RecordedPlace(run, getattr(call, "index", 0))

    def stop(self) -> StopReport | None:
        """Return why the session stands at a stop already, where it was run up to one."""
        session = self._at_rest()
        reached = session.breakpoints.last
        if reached is None or not session.position or session.reason != reached.reason:
            return None
        node = reached.trigger.subject.index
        return StopReport(reached.reason, stop_text(session, reached), node)

    def move_text(self, before: Snapshot, now: Snapshot) -> str:
        """Say what came of a move, or of one that ended inside a node or came out of it."""
        session = self._at_rest()
        if (before.position, before.phase) == (now.position, now.phase):
            return ""
        if now.phase or now.position == before.position:
            return phase_move_text(session, before, now)
        return move_text(session, before.position, now.position)

    def completions(self, line: str, column: int) -> list[str]:
        """Return what may stand before a column of a command line."""
        return self._at_rest().complete(line, column)

"""What the screen reads beside the snapshot: frozen records about nodes, and no way to move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradstep.debugger.session import Session
from gradstep.debugger.snapshot import LedgerEntry, NodeDetail, Phase, Snapshot, Value
from gradstep.findings.reports.source import forward_line
from gradstep.findings.reports.why import Explanation, explain_node
from gradstep.graph.model import Source
from gradstep.graph.statistics import Statistics
from gradstep.recording.run import Run
from gradstep_tui.app.plan.flow import Flow, NodeFlow
from gradstep_tui.app.worker import SessionWorker

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


class Facts:
    """Records about the nodes of the pass, as of the snapshot that is shown.

    Every method raises AtWork while the session is doing something: it may be past that snapshot.
    """

    def __init__(self, worker: SessionWorker) -> None:
        self._worker = worker
        self._details: dict[int, NodeDetail] = {}
        self._phases: dict[int, tuple[Phase, ...]] = {}
        self._kept_at: Snapshot | None = None

    def detail(self, node: int) -> NodeDetail:
        """Return what is known about a node."""
        session = self._at_rest()
        if node not in self._details:
            self._details[node] = session.detail(node)
        return self._details[node]

    def _at_rest(self) -> Session:
        """Return the session; what was kept of another snapshot is dropped."""
        # several panes ask for the node that is selected, which may send to thousands
        session, now = self._worker.session, self._worker.snapshot
        if self._kept_at is not now or len(self._details) + len(self._phases) >= _MOST_KEPT:
            self._details, self._phases, self._kept_at = {}, {}, now
        return session

    def contributions(self, node: int, input_nr: int) -> Iterator[LedgerEntry]:
        """Yield each contribution to an input of a node, with the running sum."""
        return self._worker.session.contributions(node, input_nr)

    def phases(self, node: int) -> tuple[Phase, ...]:
        """Return what has happened inside a node so far."""
        session = self._at_rest()
        if node not in self._phases:
            self._phases[node] = session.phases(node)
        return self._phases[node]

    def forward_value(self, node: int) -> Value | Statistics | None:
        """Return the result of the forward op of a node, or what is known of it."""
        return self._worker.session.forward_value(node)

    def forward_line(self, node: int) -> tuple[int, Source] | None:
        """Return the node that the forward line of a node belongs to, and that line."""
        return forward_line(self._worker.session, node)

    def explanation(self, node: int) -> Explanation:
        """Return why the gradient of a node is what it is."""
        return explain_node(self._worker.session, node)

    def flow(self, flow: Flow, node: int) -> NodeFlow:
        """Return the flow at a node that has run, and have ``flow`` keep it."""
        return flow.at(self._worker.session, node)

    def other(self, node: int) -> OtherNode | None:
        """Return the partner of a node in the other pass; None where no other is compared."""
        beside = self._worker.session.beside
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
        call = self._worker.session.backward_call
        run: Run | None = getattr(call, "run", None)
        return None if run is None else RecordedPlace(run, getattr(call, "index", 0))

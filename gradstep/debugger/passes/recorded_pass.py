"""One backward pass under the debugger: all that a session needs to move in it and to show it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from weakref import ref

from gradstep.capturing import capture
from gradstep.capturing.names import Names, caller_names
from gradstep.contract.driver import Driver, Nested
from gradstep.contract.lookup import stepping_of
from gradstep.debugger.history import DEFAULT_BUDGET
from gradstep.debugger.history.ledger import Ledger
from gradstep.debugger.passes.certificate import Certificate, certificate
from gradstep.debugger.passes.cursor import Cursor
from gradstep.debugger.passes.editor import Editor
from gradstep.debugger.passes.inspector import Inspector
from gradstep.debugger.passes.leaf_history import leaf_name
from gradstep.debugger.passes.scopes import Scopes
from gradstep.debugger.snapshot.timeline import CallRecord
from gradstep.graph.addresses import NOT_TRACED, node_text
from gradstep.graph.model import Source
from gradstep.guest.fence import answered, tell
from gradstep.records import LEAF, BackwardCall, Gradients, Node, Profile
from gradstep.text import listed

_LOOKED_AT = 1000  # nodes; a graph is traced, or freed, as a whole


class RecordedPass:
    """A pass, its graph, and where one stands in it.

    Passes that are started by a hook or a custom Function while this one runs are recorded
    whole, and kept with the node that started them; they can be looked at, not changed.  They are
    ``inner`` ones.
    """

    def __init__(
        self,
        call: BackwardCall,
        names: Names,
        history_bytes: int,
        measured: Profile | None = None,
        number: int = 1,
        inner: bool = False,
        keep_graph: bool = True,
        driver: Driver | None = None,
    ) -> None:
        self.call = call
        self.number = number
        self.names = names
        self._history_bytes = history_bytes
        stepping = stepping_of(call)
        if driver is None:
            driver = stepping.driver(call, halting=not inner, keep=keep_graph)
        self.driver = driver
        self.graph = capture(
            call.roots,
            "backward",
            names=names,
            gradient=stepping.seeds(call),
            plan=driver.plan,
            order=driver.order,
            live=True,
            profile=measured,
        )
        self.cursor = cursor = Cursor(driver, history_bytes)
        self.ledger = Ledger(
            self.graph,
            driver.order,
            driver.state.entering_seeds(),
            cursor.history,
            lambda: driver.state.pending,
            driver.state.places,
            lambda: driver.state.disturbances,
        )
        self.inspector = Inspector(cursor, self.graph, self.ledger, names, number)
        self.scopes = Scopes(self.graph, cursor.length)
        self.edit = Editor(cursor, self.inspector.leaf, self.inspector.edited)
        self.places: dict[str, tuple[int, ...]] = {}  # what places mean here, once looked up
        self.inside = -1  # the node of the pass around this one that started it
        self.hint = driver.state.read_only or _hint(driver.order[:_LOOKED_AT])
        self._intercept_nested()

    @property
    def title(self) -> str:
        """The call as the program wrote it: ``loss.backward()``."""
        return f"{self.graph.title}.{self.call.kind}()"

    def run_user_code(self) -> tuple[int, ...]:
        """Return the nodes that run user code."""
        return tuple(filter(self.driver.runs_user_code, range(self.cursor.length)))

    def nested(self, index: int) -> tuple[RecordedPass, ...]:
        """Return the passes that were started inside node ``index``; if it raised, up to then."""
        passes = self.cursor.nested(index)
        return tuple(inner for inner in passes if isinstance(inner, RecordedPass))

    def _intercept_nested(self) -> None:
        mine = ref(self)  # the driver is this pass's own: a strong reference would be a cycle

        def intercept(call: BackwardCall) -> bool | Gradients:
            around = mine()
            assert around is not None
            nested, names = around.driver.state.nested, around.names
            return record_nested(call, nested, names, around._history_bytes, around.number)

        self.driver.state.intercept = intercept

    def certificate(self) -> Certificate:
        """Call every node that has run once more, and compare."""
        certificates: list[Certificate] = []

        def work() -> None:
            certificates.append(certificate(self.driver, self.cursor.history))

        control = self.driver.control
        if control is None:
            work()
        else:
            control.in_engine_thread(work)
        error, at = self.cursor.error, self.cursor.position
        if error is None:
            return certificates[0]
        where = node_text(self.graph, at)
        return certificates[0]._replace(ended=f"{where} raised {type(error).__name__}")

    def record(self) -> CallRecord:
        """Record what it did, for the timeline; it is over."""
        line = self.call.line
        return CallRecord(
            self.number,
            self.title,
            None if line is None else Source(*line),
            self.cursor.length,
            self.call.graph,
            self.call.keep,
            () if self.call.is_grad else tuple(self.inspector.leaf_calls()),
            self.call.kind,
        )

    # the end

    def close(self) -> None:
        """End what waits for the pass to continue."""
        if self.driver.control is not None:
            self.driver.control.close()

    def run_out(self) -> None:
        """Run what is left, and let go of saved values, also those of passes inside.

        Raises:
            Exception: whatever a node or a hook raised.
        """
        try:
            self.cursor.run_out()
        except BaseException:
            self.close()
            self._release(len(self.cursor.history))
            raise
        if len(self.cursor.history) == self.cursor.length and not self.call.is_grad:
            self._check_leaves()
        self._release(self.cursor.length)

    def _check_leaves(self) -> None:
        """Say which ``.grad`` is not what is shown."""
        untrue = untrue_leaves(self.cursor)
        if not untrue:
            return
        names = listed([f"{leaf_name(self.graph, index)}.grad" for index in untrue], 3, ", ")
        tell(
            f"at the end of {self.title}, {names} is not what was shown: another thread "
            "changed it, or gradstep did, which you should report"
        )

    def _release(self, stop: int) -> None:
        """Let go of what nodes up to ``stop`` have saved, and passes inside them."""
        self.driver.release(stop)
        for inner in (*self.driver.inner_passes(), *self.driver.state.nested):
            if isinstance(inner, RecordedPass):
                inner._release(len(inner.cursor.history))


def record_nested(
    call: BackwardCall,
    nested: list[Nested],
    around: Names,
    history_bytes: int = DEFAULT_BUDGET,
    number: int = 1,
) -> bool | Gradients:
    """Carry out a call that a node of another pass has made, with the names ``around`` it, recorded
    whole and added to those ``nested`` there; return what answers it."""
    return answered(
        call,
        partial(_record_nested, call, nested, around, history_bytes, number),
        "a pass inside another one",
    )


def _record_nested(
    call: BackwardCall, nested: list[Nested], around: Names, history_bytes: int, number: int
) -> bool | Gradients:
    names = caller_names()  # of the hook or Function, and behind them the program's
    names.add_missing(around)
    inner = RecordedPass(call, names, history_bytes, number=number, inner=True)
    nested.append(inner)
    inner.cursor.travel(inner.cursor.length)
    inner.driver.state.read_only = "a nested pass is read-only"
    if inner.cursor.error is not None:
        raise inner.cursor.error
    inner.driver.run(inner.cursor.length)  # what is raised behind the last node
    return inner.driver.gradients() if call.is_grad else True


def _hint(nodes: Sequence[Node]) -> str:
    """Say what to do to see more, or why this pass will not run; "" when all is well."""
    freed = next((node for node in nodes if node.is_freed), None)
    if freed is not None:
        where = "" if freed.freed_at is None else f", at {Source(*freed.freed_at).place}"
        return (
            f"an earlier backward pass freed the values this graph saved{where}: call that one "
            "with retain_graph=True"
        )
    if any(node.record is not None for node in nodes if node.kind != LEAF):
        return ""
    return f"scopes and source lines are unknown: {NOT_TRACED}"


def untrue_leaves(cursor: Cursor) -> list[int]:
    """List the leaves, by plan index, whose ``.grad`` in the program is not the one that is shown,
    or whose shown one is not the sum of what arrived; the pass is over, and recorded whole."""
    driver, edited = cursor.driver, set(cursor.edits.leaves)
    # callbacks of torch.distributed change .grad after the last node
    if driver.state.read_only and not driver.call.graph:
        return []
    differing = []
    for index, node in enumerate(driver.order):
        if node.kind != LEAF or index in edited:
            continue
        step = cursor.history[index]
        later = [at for at in driver.state.changed_gradients.get(index, {}) if at > index]
        if later:
            shown = driver.state.changed_gradients[index][max(later)]
        else:
            shown = driver.undoing.step_when_run(step).after
        if not (
            driver.leaves.agree(shown, driver.leaves.grad(index))
            and driver.leaves.agree(step.after, driver.leaves.summed_up(step))
        ):
            differing.append(index)
    return differing

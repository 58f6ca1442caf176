"""From the recording to the records that faces show."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradstep.capturing.gradients import describe
from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of_call
from gradstep.contract.parameters import named_parameters
from gradstep.contract.protocol import OWN_RESULT
from gradstep.debugger.history.contributions import PassState
from gradstep.debugger.history.ledger import Ledger
from gradstep.debugger.passes.cursor import Cursor
from gradstep.debugger.passes.leaf_history import LeafHistory, UntouchedLeaves, leaf_name
from gradstep.debugger.passes.terms import terms_of
from gradstep.debugger.snapshot import (
    Incoming,
    LeafGradient,
    LeafTable,
    LedgerEntry,
    NodeDetail,
    Outgoing,
    Pending,
    Phase,
    Saved,
    SumEdit,
    Value,
)
from gradstep.debugger.snapshot.timeline import LeafCall
from gradstep.debugger.snapshot.value import array_of, current_value
from gradstep.graph.model import Cost, Graph, Source
from gradstep.graph.statistics import Statistics
from gradstep.records import Node

FAR = 64  # positions; from here on, looking at the whole plan costs less than each node


class Inspector:
    """Describes nodes, leaves and waiting sums at any position of a recording.

    What is asked for at every stop costs what was moved since the last one, not what was run.

    Attributes:
        graph: node k of it is plan index k.
        number: which call of the program the pass belongs to, from 1 on.
    """

    def __init__(
        self, cursor: Cursor, graph: Graph, ledger: Ledger, names: Names, number: int
    ) -> None:
        self.graph = graph
        self.number = number
        self._cursor = cursor
        self._engine = engine = engine_of_call(cursor.driver.call)
        self._numbers = engine.numbers or engine.cannot("show gradients")
        self._order = cursor.driver.order
        self._ledger = ledger
        self._contributions = ledger.order_of_contributions
        self._names = names
        self._gradients = LeafHistory(cursor, ledger.values)
        self._place = {index: number for number, index in enumerate(self._gradients.leaves)}
        self._untouched = UntouchedLeaves(graph, self._gradients, self._order, self._contributions)
        self._rows: list[LeafGradient | None] = [None] * len(self._place)  # None: untouched
        self._table = self._leaf_table()
        self._at = 0
        self._waiting = set(self._contributions.waiting(0))
        self._stale = self._place.keys() & self._waiting
        self._edited: set[int] = set()
        self._changes = 0  # how often user code is known to have changed a .grad

    @property
    def length(self) -> int:
        """The number of nodes in the plan."""
        return self._cursor.length

    @property
    def position(self) -> int:
        """The plan index of the node that runs next."""
        return self._cursor.position

    def tensor(self, name: str) -> Any:
        """Return the program's tensor of that name, None where there is none; one of a module also
        by its path, with or without the module's name in front."""
        for tensor in self._names.tensors():
            if self._names.of(tensor) == name:
                return tensor
        for variable, module in self._names.modules.items():
            for path, parameter in named_parameters(module):
                if name in (path, f"{variable}.{path}"):
                    return parameter
            for path, buffer in module.named_buffers():
                if name in (path, f"{variable}.{path}"):
                    return buffer
        return None

    def index_of_leaf(self, tensor: Any) -> int | None:
        """Return the position of the AccumulateGrad of a leaf, None where it has none here."""
        for index in self._place:
            if self._engine.leaf(self._order[index]) is tensor:
                return index
        return None

    def _source_line(self, index: int) -> str:
        """Return the text of the forward line of a node, "" when it cannot be read; say so where
        that is only the line of another call."""
        text = source_line(self.graph.sources.get(index))
        places = self._engine.places
        like = places.taken_from(self._order[index]) if places is not None else ""
        return f"{text}  (as in {like}, whose graph is alike)" if text and like else text

    def incoming(self, index: int) -> tuple[Incoming, ...]:
        """List what has arrived at node ``index``; the part of :meth:`detail` that is quickly
        told."""
        arrivals = self._ledger.incoming(index, self._cursor.state)
        if not self._cursor.edits:
            return arrivals
        return tuple(
            replace(arrival, edits=self._edits(index, arrival.input_nr)) for arrival in arrivals
        )

    def _edits(self, index: int, input_nr: int) -> tuple[SumEdit, ...]:
        values = self._ledger.values
        return tuple(
            SumEdit(position, text, values.of(total))
            for position, text, total in self._cursor.edits.of_sum(index, input_nr)
        )

    def outgoing(self, index: int) -> tuple[Outgoing, ...]:
        """List what node ``index`` has sent; see :meth:`incoming`."""
        return self._ledger.outgoing(index, self._cursor.state)

    def contributions(self, index: int, input_nr: int = 0) -> Iterator[LedgerEntry]:
        """Return every contribution to one input of node ``index`` so far, and every change by the
        user, with the running sum."""
        changes = self._cursor.edits.of_sum(index, input_nr)
        return self._ledger.entries(index, input_nr, self._cursor.state, changes)

    def path(self, index: int) -> tuple[int, ...]:
        """Return the shortest way of the gradient from a root to node ``index``, as plan
        indices."""
        return self._contributions.path(index)

    def first_sender(self, index: int) -> int | None:
        """Return the first node that sends to node ``index``; None if only a seed does."""
        return self._contributions.first_sender(index)

    def detail(self, index: int) -> NodeDetail:
        """Return all that is known about node ``index`` where the cursor stands."""
        cursor, node, rules = self._cursor, self._order[index], self._engine.rules
        ran = index < cursor.position
        inside = index == cursor.position and bool(cursor.phase)
        outgoing = self.outgoing(index)
        saved = tuple(self._saved(node))
        cost = self.graph.costs.get(index, Cost())
        return NodeDetail(
            index=index,
            status="done" if ran else "current" if index == cursor.position else "waiting",
            incoming=self.incoming(index),
            outgoing=outgoing,
            saved=saved,
            formulas=node.formulas(),
            hooks=() if node.hooks is None else node.hooks.names(),
            source_line=self._source_line(index),
            phases=cursor.phases[: cursor.phase] if inside else (),
            seconds=cursor.history.seconds(index) if ran or inside else None,
            nbytes=cursor.driver.step_bytes(cursor.history[index]) if ran else 0,
            forward=getattr(node.record, "statistics", None),
            forward_seconds=cost.forward_seconds,
            forward_bytes=cost.forward_bytes,
            terms=terms_of(
                rules, node, self._given(index, ran or inside), saved, outgoing, self._names
            ),
            nested=tuple(inner.title for inner in cursor.nested(index))
            if ran or cursor.error
            else (),
            rule_line=None if rules is None else rules.rule_line(node),
        )

    def forward_value(self, index: int) -> Value | Statistics | None:
        """Return what the forward op of node ``index`` made, or what the leaf holds, as far as a
        node still keeps it; else what tracing noted of it, None where that is nothing."""
        node, engine = self._order[index], self._engine
        if (leaf := engine.leaf(node)) is not None:
            return current_value(leaf)
        for root in self._cursor.driver.call.roots:
            if _made_by(held := engine.reading.user_tensor(root), node):
                return current_value(held)
        edges = ((self._order[source.producer], source.output_nr)
                 for source in self._contributions.sources(index)
                 if source.producer >= 0 and not source.input_nr)  # fmt: skip
        for keeper, edge in ((node, OWN_RESULT), *edges):
            for name, kept, state in keeper.saved():
                tensor = self._numbers.kept_tensor(keeper, name, kept) if state == "kept" else None
                at = None if tensor is None else engine.reading.input_of(keeper, name)
                if at == OWN_RESULT and name not in ("result", "result0"):
                    continue  # such as the indices of a maximum
                if at == edge or _made_by(tensor, node):
                    return current_value(tensor)
        stats: Statistics | None = getattr(node.record, "statistics", None)
        return stats

    def _given(self, index: int, ran: bool) -> Sequence[Any]:
        """Return what the rules of node ``index`` were given, or what has arrived for them so
        far."""
        if ran:
            return self._cursor.history.shown(index).hooked
        node, pending = self._order[index], self._cursor.driver.state.pending
        if not node.ported:
            return (pending[node],)
        return list(map(pending.get, self._cursor.driver.state.places(node)))

    def phases(self, index: int) -> tuple[Phase, ...]:
        """List what has happened inside node ``index``."""
        cursor = self._cursor
        if index == cursor.position:
            return cursor.phases[: cursor.phase]
        return cursor.phases_of(index)

    def _saved(self, node: Node) -> Iterator[Saved]:
        """List what ``node`` keeps."""
        for name, kept, state in node.saved():
            tensor = self._numbers.kept_tensor(node, name, kept)
            if kept is None:
                at = node.freed_at if state == "freed" else None
                lines: tuple[Source, ...] = () if at is None else (Source(*at[:2]),)
                yield Saved(name, (), "", 0, state, None, lines)
            elif (extent := self._engine.reading.extent(kept)) is not None:
                current = None if tensor is None else current_value(tensor)
                if tensor is not None and current is None:
                    state = "freed"  # by the program, which may fill it again
                lines = tuple(Source(*line[:2]) for line in node.changed_at(name))
                shape, dtype, nbytes = extent.shape or (), extent.dtype, extent.nbytes
                yield Saved(name, shape, dtype, nbytes, state, current, lines)

    # leaves

    def leaves(self) -> LeafTable:
        """Return the ``.grad`` of every leaf, in the order in which they are done."""
        self._catch_up()
        state = self._cursor.state
        self._stale.update(self._cursor.edits.leaves)
        at = state.position
        # inside a node, only part of what it does is done, which is soon different
        partial = (at, *self._contributions.targets(at), *self._changed(at)) if state.inside else ()
        self._forget(partial)
        if self._stale:
            for index in self._stale:
                self._rows[self._place[index]] = self._leaf(index, state)
            self._stale.clear()
            self._table = self._leaf_table()
        self._forget(partial)
        return self._table

    def leaf(self, index: int) -> LeafGradient | None:
        """Return the ``.grad`` of the leaf at node ``index``, None if that is no leaf's node."""
        return self._leaf(index, self._cursor.state) if index in self._place else None

    def change(self, index: int, position: int) -> tuple[Value | None, Value | None] | None:
        """Return what the node before ``position`` made of the ``.grad`` of the leaf at node
        ``index``: the old one and the new one; None if it left it alone."""
        return self._gradients.change(index, position) if index in self._place else None

    def _leaf(self, index: int, state: PassState) -> LeafGradient:
        arrived, expected = self._contributions.arrived(index, state)
        done = state.has_accumulated(index)
        waiting = None if done else self._ledger.total(index, 0, state)
        return LeafGradient(
            index=index,
            name=leaf_name(self.graph, index),
            shape=self._order[index].output_shape,
            before=self._gradients.before(index),
            now=self._now(index, state),
            pending=self._ledger.values.of(waiting),
            arrived=arrived,
            expected=expected,
        )

    def _leaf_table(self) -> LeafTable:
        return LeafTable(self._gradients.leaves, tuple(self._rows), self._untouched)

    def _now(self, index: int, state: PassState) -> Value | None:
        if index == state.position and state.accumulated:
            last = self._cursor.phases[self._cursor.phase - 1]
            return last.after[0]
        return self._gradients.at(index, state.position)

    def leaf_calls(self) -> Iterator[LeafCall]:
        """List what the pass, which is over, did to each leaf."""
        befores = [self._gradients.before(index) for index in self._place]
        afters = [self._cursor.driver.leaves.grad(index) for index in self._place]
        added = list(map(self._added, self._place, befores, afters))
        other = [None if one is after else one for one, after in zip(added, afters, strict=True)]
        known = list(self._numbers.all_statistics([*afters, *other]))
        rows = zip(self._place, befores, added, other, known, known[len(afters) :], strict=False)
        for index, before, one, apart, after, described in rows:
            yield LeafCall(
                leaf_name(self.graph, index),
                None if before is None else before.statistics,
                after if apart is None else described or describe(one),
                after,
            )

    def _added(self, index: int, before: Value | None, after: Any) -> Any:
        """Return what the pass added to the ``.grad`` of a leaf: ``after`` itself, where that has
        its numbers."""
        history = self._cursor.history
        if (added := self._cursor.driver.leaves.added(index)) is not None:
            return added
        if index < len(history):
            step = history.shown(index)
            return after if before is None and step.after is after else step.hooked[0]
        if after is None or before is None:
            return after
        array = array_of(after)
        return after if array is None or not before.is_here else array - before.array

    # waiting sums

    def pending(self) -> tuple[Pending, ...]:
        """Return the sums that wait for a node that has not run."""
        self._catch_up()
        state = self._cursor.state
        waiting = set(self._waiting)
        if state.inside:
            waiting.update(self._contributions.targets(state.position))
        return tuple(
            Pending(index, total.input_nr, total.arrived, total.expected, total.total)
            for index in sorted(waiting)
            for total in self._ledger.sums(index, state)
            if total.total is not None
        )

    def _catch_up(self) -> None:
        """Bring what depends on the position from where it was to where the cursor is."""
        position = self._cursor.position
        if abs(position - self._at) > FAR:
            first, last = sorted((self._at, position))
            moved = (index for index in self._cursor.driver.state.effects if first <= index < last)
            self._forget(range(first, last))
            self._forget(self._contributions.targets_between(first, last))
            for index in moved:
                self._forget(self._changed(index))
            self._at = position
            edited = (index for index in self._edited if index >= position)
            self._waiting = {*self._contributions.waiting(position), *edited}
        while self._at < position:
            self._waiting.discard(self._at)
            targets = self._contributions.targets(self._at)
            self._waiting.update(targets)
            self._forget((self._at, *targets, *self._changed(self._at)))
            self._at += 1
        while self._at > position:
            self._at -= 1
            targets = self._contributions.targets(self._at)
            for target in targets:
                if not self._waits(target):
                    self._waiting.discard(target)
            if self._waits(self._at):
                self._waiting.add(self._at)
            self._forget((self._at, *targets, *self._changed(self._at)))
        # what ran ahead of here may have written into memory that rows made before show
        changed = self._cursor.driver.state.changed_gradients
        if (changes := sum(map(len, changed.values()))) != self._changes:
            self._changes = changes
            self._forget(changed)

    def _changed(self, index: int) -> tuple[int, ...]:
        """Return the leaves of which user code at node ``index`` changed ``.grad``, or what
        waits."""
        if self._cursor.driver.state.changed_pending.get(index):
            return tuple(self._place)
        effects = self._cursor.driver.state.effects.get(index)
        return () if effects is None else tuple(leaf for leaf, _ in effects.gradients)

    def _waits(self, index: int) -> bool:
        return (
            index in self._edited or self._contributions.arrived(index, PassState(self._at))[0] > 0
        )

    def _forget(self, indices: Iterable[int]) -> None:
        self._stale.update(self._place.keys() & indices)

    def edited(self, indices: tuple[int, ...]) -> None:
        """Take note that the user changed sums, at these nodes."""
        self._edited.update(indices)
        self._waiting.update(indices)
        self._stale.update(self._place)


def _made_by(tensor: Any, node: Node) -> bool:
    """Return whether ``tensor`` is the result of the op of ``node``."""
    maker = getattr(tensor, "grad_fn", None)
    return maker is not None and maker in (node, getattr(node, "origin", None))


def source_line(source: Source | None) -> str:
    """Return the text of the forward line, "" when it cannot be read."""
    return "" if source is None else linecache.getline(source.file, source.line).strip()

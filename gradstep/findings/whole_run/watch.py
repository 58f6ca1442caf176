"""Looks at the calls of a run one by one, and keeps the facts that rules read at its end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any, Final, NamedTuple
from weakref import ref

from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of_call, is_tensor
from gradstep.contract.op_records import LeafRecord, OpRecord
from gradstep.contract.protocol import Engine
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot.value import whole_array_of
from gradstep.findings.checking import NodeCheck, Progress, check
from gradstep.findings.finding import Finding
from gradstep.findings.linting import lint
from gradstep.findings.listing import Listing
from gradstep.findings.passes import run_pass
from gradstep.findings.reports.why.sizes import Link, main_way
from gradstep.findings.source_lines import assigned_from_itself
from gradstep.findings.whole_run.history import is_nothing
from gradstep.findings.whole_run.zero_causes import ZeroCause, zero_causes
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.guest.fence import NewFailures, carried_out, is_ours, within_fence
from gradstep.recording.facts import CallFacts, Header
from gradstep.recording.leaves import LeafWatch
from gradstep.recording.run import MemoryRun, Run
from gradstep.recording.schedule import Account, Schedule
from gradstep.records import LEAF, BackwardCall, Gradients

_CHAIN: Final = 6
"""Calls in which the graphs of tensors that are made from themselves are measured."""
_FIRST: Final = 2
"""Calls of a line in which leaves are looked at: in the second, those that a step made."""
_LONG: Final = 10_000
"""Nodes of such a graph from which on it is not measured again."""
_CHECKED: Final = 2
"""Calls of a line in which derivatives are compared with finite differences."""
_MAY_TAKE: Final = 1.5  # as a multiple of what the run takes plainly


class Way(NamedTuple):
    """What changes the size of a gradient most on its way from the loss: ``12 nodes sigmoid (x
    1e-12)``, and the line of the first one."""

    what: str
    source: Source | None


class Trained(NamedTuple):
    """A leaf that an optimizer has: the names of both, and the leaf."""

    name: str
    optimizer: str
    leaf: Any


class Kept(NamedTuple):
    """How many losses of earlier calls live with their graphs, and in which list."""

    losses: int = 0
    holder: str = ""


@dataclass
class Evidence:
    """What is known of a run at its end.

    Attributes:
        run: the facts of its calls.
        is_whole: whether all calls were looked for, and not only those that were asked for.
        is_cut_short: whether the run ended before the program did.
        seen: what was found in each call, with its title, the first of each cause.
        checks: the rules that were compared with finite differences: of the program's own
            Functions, or all.
        reached: the names of the leaves that some call came to.
        trained: the leaves of optimizers, by identity.
        zero: why gradients were 0, of the first call on each line, and of the first call after
            one that sent nothing but zeros.
        ways: how the gradients came to their size that are smallest and largest, by their names.
        places: where in the pass of the first call each leaf comes, by its name.
        uses: the line of the forward pass that uses a leaf first, by its name.
        names: those of the last call that was looked at.
        looked_at: the indices of the calls that were looked at closely.
        roots: the tensors on which each call was made, as long as they live.
        carried: tensors of the program that have a graph when a call ends, and the line that made
            them, by their names.
        by_inputs: the lines that call autograd.grad() by something else than parameters.
        kept: the most losses of earlier calls that lived at once.
        chains: of tensors of the program that are made from themselves, the sizes of their graphs
            at the calls that were looked at, by name.
        equal_rows: the weights whose rows were all the same when they were first seen, by name.
        lowest: of the lines that call backward(), the term of the loss that is smallest: its name
            and line.
        results: tensors that an op made of a leaf without a name: the op and its line, by name.
        optimizers: how many optimizers a name had, one after the other.
        skipped: of each pass from a scaled loss, whether the scaler skips its step.
        dry_runs: how many calls depend on memory that nobody has written.
        failures: what a defect of ours has lost outside of the calls that were looked at.
    """

    run: Run = field(default_factory=lambda: MemoryRun(Header()))
    is_whole: bool = True
    is_cut_short: bool = False
    seen: list[tuple[str, Finding]] = field(default_factory=list)
    checks: list[NodeCheck] = field(default_factory=list)
    reached: set[str] = field(default_factory=set)
    trained: dict[int, Trained] = field(default_factory=dict)
    zero: dict[str, ZeroCause] = field(default_factory=dict)
    ways: dict[str, Way] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    uses: dict[str, Source] = field(default_factory=dict)
    names: Names = field(default_factory=Names)
    looked_at: list[int] = field(default_factory=list)
    roots: list[tuple[int, ref[Any]]] = field(default_factory=list)
    carried: dict[str, Source | None] = field(default_factory=dict)
    by_inputs: set[Source | None] = field(default_factory=set)
    optimizers: Counter[str] = field(default_factory=Counter)
    skipped: list[bool] = field(default_factory=list)
    kept: Kept = field(default_factory=Kept)
    chains: dict[str, list[int]] = field(default_factory=dict)
    equal_rows: dict[str, ref[Any]] = field(default_factory=dict)
    lowest: dict[Source | None, tuple[str, Source | None]] = field(default_factory=dict)
    results: dict[str, tuple[str, Source | None]] = field(default_factory=dict)
    dry_runs: int = 0
    failures: NewFailures = field(default_factory=NewFailures)

    @property
    def is_complete(self) -> bool:
        """Whether no defect of ours has lost something of a call, or a whole one."""
        return not (self.run.incomplete or self.failures)

    @property
    def has_waiting_optimizers(self) -> bool:
        """Whether the steps of some optimizers may come after the end of the run."""
        return self.is_cut_short and len({leaf.optimizer for leaf in self.trained.values()}) > 1

    @property
    def line(self) -> Source | None:
        """The line of the first call of which it is known."""
        return next((call.line for call in self.run.calls() if call.line is not None), None)

    def lost(self) -> dict[str, list[Trained]]:
        """Return the leaves that an optimizer has and no call came to, by its name."""
        lost: dict[str, list[Trained]] = {}
        for trained in self.trained.values():
            if trained.name not in self.reached and trained.leaf.grad is None:
                lost.setdefault(trained.optimizer, []).append(trained)
        if self.trained:
            return lost
        for group in self.run.training.groups:  # as a recording tells
            for number in group.leaves:
                if not any(facts.arrived for _, facts in self.run.over_calls(number)):
                    trained = Trained(self.run.leaves[number].name, group.optimizer, None)
                    lost.setdefault(group.optimizer, []).append(trained)
        return lost


class Watch:
    """Carries out the calls of a run, and gathers the evidence.

    Args:
        derivatives: compare all rules with finite differences, not only the program's own;
            ``progress`` is told how far that is.
        is_whole: whether it gets all calls; of those that somebody asked for, each is looked at
            closely.
    """

    def __init__(
        self, *, derivatives: bool = False, is_whole: bool = True, progress: Progress | None = None
    ) -> None:
        self._run = MemoryRun(Header())
        self.evidence = Evidence(self._run, is_whole)
        self._derivatives = derivatives
        self._progress = progress
        self._leaves = LeafWatch(self._run)
        self._schedule = Schedule(budget=_MAY_TAKE)
        self._account = Account(self._schedule)
        self._line: Any = None  # of the last call
        self._follows: dict[Any, Any] = {}  # the line of the call after one on a line, of late
        self._is_traced = True  # values are described since the last call
        self._counts: Counter[tuple[Any, bool]] = Counter()
        self._nodes: dict[int, int] = {}
        self._reached: set[int] = set()
        self._missed: list[tuple[str, Any, int, int]] = []
        self._causes: set[Finding] = set()
        self._places: set[tuple[str, str, Source | None]] = set()  # of what was found
        self._looks: Counter[Any] = Counter()  # at traced calls, by their line
        self._explained: set[Any] = set()  # lines of which a gradient that is not finite is told
        self._rules: set[Any] = set()
        self._optimizers: dict[str, ref[Any]] = {}  # of the last call
        self._zero: set[Any] = set()  # lines of which some call sent nothing but zeros
        self._to_ask: set[Any] = set()  # of these, the ones whose next call is asked why
        self._left = 0.0
        self.trouble = ""
        """What is NaN or infinite from a call on: nothing that follows says anything."""

    def __call__(self, call: BackwardCall, names: Names, number: int) -> bool | Gradients:
        """Look at a call, number ``number`` of its kind, and carry it out."""
        index = sum(self._counts.values()) + 1
        try:
            return self._look_and_carry_out(call, names, number)
        except Exception as error:
            if is_ours(error):
                self.evidence.failures.told_soon()
                self._run.add_incomplete(index)
            raise
        finally:
            if self.evidence.failures.noted():
                self._run.add_incomplete(index)

    def _look_and_carry_out(
        self, call: BackwardCall, names: Names, number: int
    ) -> bool | Gradients:
        entered = process_time()  # other programs may run beside this one
        engine, line = engine_of_call(call), call.line
        is_dry = False
        with within_fence("whether a call is a dry run"):
            is_dry = engine.reads_unwritten(call)
        if is_dry:
            self.evidence.dry_runs += 1
            gradients = carried_out(partial(engine.run, call))
            return gradients if call.is_grad else True
        last, self._line = self._line, (line, call.is_grad)
        self._follows[last] = self._line
        self._counts[self._line] += 1
        nth = self._counts[self._line]
        index = sum(self._counts.values())
        source = None if line is None else Source(*line[:2])
        kind = "grad" if call.is_grad else "backward"
        facts = CallFacts(index, kind, number, source, "leaves", began=perf_counter())  # type: ignore[arg-type]
        closely = False
        losses: list[Any] = []
        with within_fence(facts.title):
            closely = self._is_looked_at(engine, call, nth)
            losses = self._before(engine, call, names, facts, closely=closely)
        before = None
        with within_fence(f"the leaves of {facts.title}"):
            before = self._leaves.before(engine, call, lambda: names)
        self._run.add_begun(facts)
        started, own = perf_counter(), process_time()
        asks = nth == 1 or self._line in self._to_ask
        self._to_ask.discard(self._line)
        answer = self._carry_out(engine, call, names, number, asks=asks)
        seconds, own = perf_counter() - started, process_time() - own
        with within_fence(f"what {facts.title} made"):
            self._note_reached_inside()
            described = () if before is None else self._leaves.after(engine, before)
            loss = engine.scalar_statistics(call.roots[0]) if len(call.roots) == 1 else None
            told = replace(
                facts,
                seconds=seconds,
                loss=None if loss is None else loss.scalar,
                nodes=self._nodes.get(index),
                is_troubled=any(leaf.is_troubled for leaf in described),
            )
            self._run.add_ended(told, described, None)
            if self._line not in self._zero and is_nothing(told, described):
                self._zero.add(self._line)
                if nth > 1:
                    self._to_ask.add(self._line)
            self._note_carried(line, losses, names)
            names.keep_leaves()
        now = process_time()
        if index > 1:  # before the first one, a program imports
            self._account.ran(entered - self._left + own, traced=self._is_traced)
        self._account.spent("stats" if closely else "call", now - entered - own)
        self._left = now
        if self.evidence.is_whole:
            following = self._follows.get(self._line, self._line)
            level = self._account.wanted(self._counts[following] + 1).level
            is_wanted = level == self._schedule.full
            self._is_traced = engine.describe_ops(on=is_wanted) and is_wanted
        return answer

    def _is_looked_at(self, engine: Engine, call: BackwardCall, nth: int) -> bool:
        """Return whether to look at a call closely: also where a loss is not finite."""
        if self._is_traced or self._schedule.requires(nth):
            return True
        losses = map(engine.scalar_statistics, call.roots)
        return any(loss is not None and loss.trouble for loss in losses)

    def _before(
        self,
        engine: Engine,
        call: BackwardCall,
        names: Names,
        facts: CallFacts,
        *,
        closely: bool,
    ) -> list[Any]:
        """Look at a call and, if ``closely``, at its graph; its losses."""
        evidence = self.evidence
        losses = [engine.user_tensor(root) for root in call.roots]
        if call.is_grad:
            reached = [engine.user_tensor(tensor) for tensor in call.inputs]
            if not all(tensor.is_parameter for tensor in call.inputs):
                evidence.by_inputs.add(facts.line)
        else:
            reached = list(engine.accumulated(call))
        evidence.reached.update(filter(None, map(names.of, reached)))
        self._reached.update(map(id, reached))
        for name, optimizer in names.optimizers.items():
            if name not in self._optimizers or self._optimizers[name]() is not optimizer:
                self._optimizers[name] = ref(optimizer)
                evidence.optimizers[name] += 1
        if not closely:
            return losses
        self._looks[self._line] += self._is_traced
        looks = self._looks[self._line]
        order = engine.plan(call.roots).order
        self._nodes[facts.index] = len(order)
        evidence.names = names
        evidence.looked_at.append(facts.index)
        for optimizer, _, used in names.trained():
            for identity, leaf in used.items():
                if is_tensor(leaf) and leaf.requires_grad:
                    name = names.of_identity(identity) or f"a leaf of shape {list(leaf.shape)}"
                    evidence.trained[identity] = Trained(name, optimizer, leaf)
        evidence.reached.update(
            trained.name for key, trained in evidence.trained.items() if key in self._reached
        )
        alive = [tensor for _, held in evidence.roots if (tensor := held()) is not None]
        held_in = Counter(
            name.partition("[")[0] for tensor in alive if "[" in (name := names.of(tensor))
        )
        for holder, count in held_in.most_common(1):
            if count > evidence.kept.losses and any(tensor.grad_fn is not None for tensor in alive):
                evidence.kept = Kept(count, holder)
        del alive
        evidence.roots += [(facts.index, ref(loss)) for loss in losses if is_tensor(loss)]
        if looks <= _FIRST:
            leaves = [engine.user_tensor(engine.leaf(node)) for node in order if node.kind == LEAF]
            self._look_at_first(engine, leaves, names)
        self._look_at_terms(engine, call, facts.line, names)
        findings = lint(tuple(call.roots), names=names)  # their graph is read once
        missed = {name for each in findings if each.code == "unreached" for name in each.leaves}
        leaves = [leaf for leaf in names.tensors() if names.of(leaf) in missed] if missed else []
        self._missed = [(names.of(leaf), leaf, *_gradient_of(leaf)) for leaf in leaves]
        if call.is_grad:  # it leaves .grad alone
            findings = Listing(finding for finding in findings if finding.code != "unreached")
        if not self._is_traced:
            findings = Listing(finding for finding in findings if finding.code != "untraced")
        # whether a step uses an old .grad is known at the end only
        self._take(facts.title, [finding for finding in findings if finding.code != "stale-grad"])
        if self._is_traced and looks <= _CHECKED:
            self._check(call.roots, names)
        return losses

    def _note_reached_inside(self) -> None:
        """Take note of leaves that the graph of the call does not lead to, and whose ``.grad`` has
        changed: a pass inside a node adds to them."""
        inside = {name for name, leaf, *before in self._missed if [*_gradient_of(leaf)] != before}
        self._missed.clear()
        if inside:
            self.evidence.reached |= inside
            self.evidence.seen[:] = [
                (title, finding)
                for title, finding in self.evidence.seen
                if finding.code != "unreached" or not inside.issuperset(finding.leaves)
            ]

    def _look_at_first(self, engine: Engine, leaves: Sequence[Any], names: Names) -> None:
        """Take note of how leaves begin, and of tensors that stand where a leaf was meant."""
        for leaf in leaves:
            if leaf is not None and (name := names.of(leaf)) and has_equal_rows(leaf):
                self.evidence.equal_rows.setdefault(name, ref(leaf))
        for tensor in names.tensors():
            if not engine.owns(tensor) or tensor.is_leaf or not tensor.requires_grad:
                continue
            (seen,) = engine.tensors([tensor])
            record = seen.record[0] if isinstance(seen.record, tuple) else None
            first = record.inputs[0] if isinstance(record, OpRecord) and record.inputs else None
            if (
                isinstance(record, OpRecord)
                and isinstance(first, tuple)
                and isinstance(first[0], LeafRecord)
                and first[0].requires_grad
                and not names.of(first[0].tensor())
            ):
                how = "a cast" if record.name in ("to", "cast") else f"{record.name}()"
                self.evidence.results[names.of(tensor)] = how, record.source

    def _look_at_terms(
        self, engine: Engine, call: BackwardCall, line: Source | None, names: Names
    ) -> None:
        """Take note of the smallest term of a loss, and of graphs beside its own that may grow."""
        roots = engine.tensors(engine.user_tensor(root) for root in call.roots)
        record = roots[0].record[0] if roots and isinstance(roots[0].record, tuple) else None
        if isinstance(record, OpRecord) and record.name in ("add", "sub"):
            terms = [origin[0] for origin in record.inputs if isinstance(origin, tuple)]
            known = [
                (term.statistics.minimum, at, term)
                for at, term in enumerate(terms)
                if isinstance(term, OpRecord) and term.statistics is not None
            ]
            if known:
                smallest = min(known)[2]
                named = {
                    seen.record[0]: names.of(tensor)
                    for tensor in names.tensors()
                    if engine.owns(tensor) and not tensor.is_leaf
                    for seen in engine.tensors([tensor])
                    if isinstance(seen.record, tuple)
                }
                name = named.get(smallest) or f"the term that {smallest.name} makes"
                self.evidence.lowest[line] = name, smallest.source
        for tensor in names.tensors():
            name = names.of(tensor)
            if line is None or not engine.owns(tensor) or tensor.is_leaf:
                continue
            if tensor.requires_grad and assigned_from_itself(name, line.file):
                counts = self.evidence.chains.setdefault(name, [])
                if len(counts) < _CHAIN and not (counts and counts[-1] > _LONG):
                    counts.append(len(engine.plan(engine.tensors([tensor])).order))

    def _check(self, roots: Sequence[Any], names: Names) -> None:
        """Compare the rules of the program's own Functions, or all, with finite differences, once
        each."""
        own = not self._derivatives
        for node in check(tuple(roots), names=names, own=own, progress=self._progress):
            if node.is_identity:
                continue  # it changes the gradient on purpose, as a gradient reversal does
            key = (node.op, node.rule) if node.rule is not None else (node.op, node.source)
            if key not in self._rules or node.verdict == "wrong":
                self._rules.add(key)
                self.evidence.checks.append(node)

    def _carry_out(
        self, engine: Engine, call: BackwardCall, names: Names, number: int, *, asks: bool
    ) -> bool | Gradients:
        """Carry out a call, which may be asked why gradients are 0, and find out what it made that
        is not finite."""
        has_run = False
        if asks and not call.is_grad:
            session = PassSession.of_call(call, names=names, call=number)
            is_finite, has_run = session.host(partial(self._ask, engine, session, names))
            if is_finite:
                return True
        explains = (call.line, call.is_grad) not in self._explained
        passed = run_pass(call, names, number, explains=explains, has_run=has_run)
        if passed.findings:
            self._explained.add((call.line, call.is_grad))
            title = call_title(call, number)
            self._take(title, passed.findings)
            if not call.is_grad and any(finding.is_bad for finding in passed.findings):
                self.trouble = f"NaN or infinity in {title}"
        if passed.scaling is not None:
            self.evidence.skipped.append(not passed.finite)
            seen = self.evidence.seen
            seen[:] = [(title, passed.scaling.softened(finding, call)) for title, finding in seen]
        return passed.answer

    def _ask(self, engine: Engine, session: PassSession, names: Names) -> tuple[bool, bool]:
        """Carry out the call of a session; returns whether its gradients are finite, and whether it
        has run: where they are not, all is put back, if it can be.

        Raises:
            Exception: whatever the pass raises.
        """
        ended = session.finish
        try:
            session.jump(session.length)
            if session.cursor.error is not None:
                return False, True
            leaves = [
                session.leaf(index) for index, node in enumerate(session.order) if node.kind == LEAF
            ]
            now = [leaf.now for leaf in leaves if leaf is not None]
            is_finite = not any(value is not None and value.statistics.trouble for value in now)
            if is_finite:
                with within_fence("why gradients are 0"):
                    self._learn(engine, session, names)
            elif not session.cursor.driver.why_not_replayable(0):
                ended = session.abort
        finally:
            ended()
        return is_finite, ended == session.finish

    def _learn(self, engine: Engine, session: PassSession, names: Names) -> None:
        self.evidence.zero.update(zero_causes(session, names.of))
        self._follow(engine, session, names)
        graph = session.graph
        for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True):
            node = session.order[target]
            if source in graph.sources and node.kind == LEAF:
                name = names.of(engine.user_tensor(engine.leaf(node)))
                self.evidence.uses.setdefault(name, graph.sources[source])

    def _follow(self, engine: Engine, session: PassSession, names: Names) -> None:
        """Find out how the smallest and the largest gradient of a pass came to their sizes."""
        sizes: dict[int, float] = {}
        for index, node in enumerate(session.order):
            leaf = engine.leaf(node) if node.kind == LEAF else None
            if leaf is None:
                continue
            own = engine.user_tensor(leaf)
            self.evidence.places.setdefault(names.of(own), index)
            totals = [incoming.total for incoming in session.inspector.incoming(index)]
            size = max((total.statistics.rms for total in totals if total is not None), default=0.0)
            if size > 0 and own.ndim > 1:
                sizes[index] = size
        for index in (
            {min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)} if sizes else ()
        ):
            name = names.of(engine.user_tensor(engine.leaf(session.order[index])))
            down = sizes[index] <= median(sizes.values())
            way = _mostly(session, main_way(session, index), down=down)
            if way is not None:
                self.evidence.ways.setdefault(name, way)

    def _note_carried(self, line: Any, losses: Sequence[Any], names: Names) -> None:
        """Take note of what an iteration uses that is made in the one before: its name is assigned
        from itself."""
        if line is None or self.evidence.carried:
            return
        own = set(map(id, losses))
        for tensor in names.tensors():
            if id(tensor) not in own and tensor.requires_grad and not tensor.is_leaf:
                name = names.of(tensor).partition("[")[0]
                lines = assigned_from_itself(name, line[0])
                if lines:
                    self.evidence.carried[name] = lines[0]

    def _take(self, title: str, findings: Sequence[Finding]) -> None:
        for finding in findings:
            cause = finding.cause
            place = cause.code, cause.address, cause.source
            if cause in self._causes or (not self._is_traced and place in self._places):
                continue  # what was not traced is told in fewer words
            self._causes.add(cause)
            self._places.add(place)
            self.evidence.seen.append((title, finding))


def call_title(call: BackwardCall, number: int) -> str:
    """Return ``backward() call 2``, ``autograd.grad() call 1``."""
    return f"{'autograd.grad()' if call.is_grad else 'backward()'} call {number}"


def _mostly(session: PassSession, links: Sequence[Link], *, down: bool) -> Way | None:
    """Return the op whose nodes, taken together, change the size of a gradient most."""
    graph = session.graph
    sums: dict[str, float] = {}
    places: dict[str, list[int]] = {}
    for link in links:
        if link.factor > 0:
            stem = graph.stem(link.index)
            sums[stem] = sums.get(stem, 0.0) + math.log(link.factor)
            places.setdefault(stem, []).append(link.index)
    if not sums:
        return None
    stem = min(sums, key=sums.__getitem__) if down else max(sums, key=sums.__getitem__)
    times = format_number(math.exp(sums[stem]))
    at = places[stem]
    named = graph.address(at[0]) if len(at) == 1 else f"{len(at)} nodes {stem}"
    source = next((graph.sources[index] for index in at if index in graph.sources), None)
    return Way(f"{named} (x {times})", source)


def has_equal_rows(tensor: Any, apart: float = 0.0) -> bool:
    """Return whether a matrix has several rows, all the same to the bit, or ``apart`` by so much of
    its largest element at most."""
    array = whole_array_of(tensor)  # a nested tensor has no shape
    if array is None or array.ndim < 2 or len(array) < 2 or not array.size:
        return False
    if not apart:
        return bool((array == array[:1]).all())
    return bool(abs(array - array[:1]).max() <= apart * abs(array).max())


def lines_of(run: Run) -> Iterator[tuple[Source | None, list[CallFacts]]]:
    """Yield the calls of ``backward()``, by the line that made them."""
    by_line: dict[Source | None, list[CallFacts]] = {}
    for call in run.calls():
        if call.kind == "backward":
            by_line.setdefault(call.line, []).append(call)
    yield from by_line.items()


def _gradient_of(leaf: Any) -> tuple[int, int]:
    """Return the identity and the version of the ``.grad`` of a leaf."""
    gradient = leaf.grad
    return id(gradient), 0 if gradient is None else gradient._version

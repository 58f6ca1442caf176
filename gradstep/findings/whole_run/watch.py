"""Looks at the calls of a run one by one, and gathers the facts that rules read at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Final
from weakref import ref

from gradstep.capturing.names import Names, caller_names
from gradstep.contract.budget import SMALL_BUDGET
from gradstep.contract.insides import insides_of
from gradstep.contract.lookup import numbers_of, running_of
from gradstep.contract.protocol import Engine
from gradstep.debugger.history.observed_pass import graph_of_call
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.checking import Progress
from gradstep.findings.facts import (
    LARGEST_DRAWN,
    LIVE,
    MOST_DRAWN,
    Fact,
    Facts,
    Given,
    lacking,
)
from gradstep.findings.facts.data import SeenData
from gradstep.findings.facts.history import is_nothing
from gradstep.findings.facts.learning import Learning
from gradstep.findings.finding import Finding, Reason, Rule
from gradstep.findings.linting import findings_of
from gradstep.findings.not_finite import NotFinite
from gradstep.findings.passes import Passed, passed_in, run_pass
from gradstep.findings.rules.graph import RULES as GRAPH_RULES
from gradstep.findings.rules.graph.leaves import OldGradients, Unreached
from gradstep.findings.rules.graph.untraced import Untraced
from gradstep.findings.rules.run import RULES as RUN_RULES
from gradstep.findings.rules.run.derivatives import Checks
from gradstep.findings.source_lines import calls_of
from gradstep.findings.thresholds import Thresholds
from gradstep.graph.model import Source
from gradstep.guest.collector import collector_slowed
from gradstep.guest.fence import carried_out, tell, variables_in, within_fence
from gradstep.recording.facts import Header, LeafFacts
from gradstep.recording.look import Look
from gradstep.recording.run import MemoryRun
from gradstep.recording.schedule import Schedule
from gradstep.recording.watcher import Told, Watcher
from gradstep.records import LEAF, BackwardCall, Gradients

_ASKING: Final = ("isfinite", "isnan", "isinf")
_CALM: Final = 1e6
"""A loss so small has no gradient that overflows, as a rule."""
_MAY_TAKE: Final = 1.15  # as a multiple of what the run takes plainly
_HISTORY: Final = SMALL_BUDGET // 2
"""Bytes of the gradients of a call that may be asked why some are 0."""
RULES: Final[tuple[Rule[Any], ...]] = (*GRAPH_RULES, *RUN_RULES)
_READ: Final[Sequence[type[Any]]] = [kind for rule in RULES for kind in (*rule.needs, *rule.uses)]
NEEDED: Final[Sequence[type[Fact]]] = tuple(
    dict.fromkeys([SeenData, *(kind for kind in _READ if issubclass(kind, Fact))])
)
"""The kinds of facts that a report shows, or some rule needs, or uses."""


def gathered(facts: Facts) -> list[Fact]:
    """Return the facts that can be gathered of a run."""
    return [facts[kind] for kind in NEEDED if not lacking([kind], facts.given)]


class Watch(Watcher):
    """Carries out the calls of a run, and gathers the facts.

    Args:
        derivatives: compare all rules with finite differences, not only the program's own;
            ``progress`` is told how far that is.
        is_whole: whether it gets all calls; of those that somebody asked for, each is looked at
            closely.
        given: what rules may read, which may be less than what is known of a program that runs.
        thresholds: from where on something is a finding.
        more: facts to gather that no rule reads.
    """

    def __init__(
        self,
        *,
        derivatives: bool = False,
        is_whole: bool = True,
        progress: Progress | None = None,
        given: frozenset[type[Given]] = LIVE,
        thresholds: Thresholds | None = None,
        more: Sequence[Fact] = (),
    ) -> None:
        run = MemoryRun(Header())
        super().__init__(run, Schedule(budget=_MAY_TAKE))
        self.facts = Facts(run, is_whole=is_whole, given=given)
        self.facts.thresholds = thresholds or self.facts.thresholds
        self.facts[Checks].all, self.facts[Checks].progress = derivatives, progress
        self._failures = self.facts.failures
        self._gathered = [*gathered(self.facts), *more]
        self._before, self._after = (  # each call comes to these
            [fact for fact in self._gathered if name in _methods_of(type(fact))]
            for name in ("before", "after")
        )
        self._of_line: Any = None  # the line of the last call
        self._follows: dict[Any, Any] = {}  # the line of the call after one on a line, of late
        self._is_traced = True  # values are described since the last call
        self._on_line: Counter[tuple[Any, bool]] = Counter()
        self._missed: list[tuple[str, Any, int, int]] = []
        self._causes: set[tuple[Reason, str]] = set()
        self._places: set[tuple[str, str, Source | None]] = set()  # of what was found
        self._likened: set[str] = set()  # calls whose lines others have
        self._looks: Counter[Any] = Counter()  # at traced calls, by their line
        self._explained: set[Any] = set()  # lines of which a gradient that is not finite is told
        self._zero: set[Any] = set()  # lines of which some call sent nothing but zeros
        self._to_ask: set[Any] = set()  # of these, the ones whose next call is asked why
        self._is_scaled = True  # the program has a scaler, as far as is known
        # of the leaves of a pass not finite, and which of them were not finite themselves
        self._versions: list[tuple[ref[Any], int, bool]] = []
        self._skipped: list[str] = []
        self.trouble = ""
        """What is NaN or infinite from a call on: nothing that follows says anything."""

    def look(self, call: BackwardCall, names: Callable[[], Names], number: int) -> bool | Gradients:
        """Look at a call, number ``number`` of its kind, and carry it out; ``names`` finds those of
        the program."""
        is_dry = False
        with within_fence("whether a call is a dry run"):
            is_dry = running_of(call).reads_unwritten(call)
        if is_dry:
            self.facts.dry_runs += 1
            gradients = carried_out(partial(running_of(call).run, call))
            return gradients if call.is_grad else True
        self.counts[call.kind], self._names = number, names
        try:
            return self(call)
        finally:
            self._names = caller_names  # what finds them holds variables of the program

    def may_be_skipped(self) -> bool:
        """Return whether the program may leave out the step after a pass that is not finite: it
        asks whether numbers are."""
        return any(calls_of(name, self.facts.file) for name in _ASKING)

    def was_skipped(self, call: BackwardCall) -> bool:
        """Return whether no leaf has changed since such a pass, when ``call`` comes, and go on."""
        is_changed = True
        with within_fence("whether a step was skipped"), running_of(call).unseen():
            kept = [(leaf(), version, before) for leaf, version, before in self._versions]
            # a fused optimizer changes leaves and does not count their versions
            is_changed = any(
                leaf is None or _version_of(leaf) != version or _is_troubled(leaf) > before
                for leaf, version, before in kept
            )
        if is_changed:
            return False
        self._skipped.append(self.trouble)
        self.trouble = ""
        return True

    def facts_so_far(self, *, is_cut_short: bool) -> Facts:
        """Return the facts of the calls so far. What is not finite is a note where the program
        left out the steps for it, which are few, and went on."""
        facts = copy(self.facts)
        facts.is_cut_short = is_cut_short
        if not self.trouble and 2 * len(self._skipped) < len(self.facts.run.indices):
            facts.seen = [
                (title, replace(each, is_note=each.is_note or _in(title) in self._skipped))
                if isinstance(each, NotFinite) else (title, each)
                for title, each in facts.seen
            ]  # fmt: skip
        with within_fence("the optimizers"):
            self._leaves.end()
        return facts

    def _line_of(self, call: BackwardCall) -> Source | None:
        return None if call.line is None else Source(*call.line[:2])

    def _look_at(self, look: Look) -> None:
        """Look at a call and, where it is time or its loss is not finite, at its graph."""
        call, last = look.call, self._of_line
        line = self._of_line = call.line, call.is_grad
        self._follows[last] = line
        self._on_line[line] += 1
        closely = (
            self._is_traced
            or self._account.requires(self._on_line[line])
            or _is_loss_troubled(look)
        )
        level = self._schedule.full if closely else self._account.wanted_leaves()
        if level != look.facts.level:
            look.facts = look.facts._replace(level=level)
        for fact in self._before:
            fact.before(look)
        if closely:
            with collector_slowed():  # it would look through a large graph ever again
                self._look_closely(look)

    def _look_closely(self, look: Look) -> None:
        engine, call, names, facts = look.engine, look.call, look.names, self.facts
        self._is_scaled = bool(names.scalers)
        self._looks[self._of_line] += self._is_traced
        look.looks, look.is_traced = self._looks[self._of_line], self._is_traced
        look.order = engine.reading.plan(call.roots).order
        look.facts = look.facts._replace(nodes=len(look.order))
        self._account.nodes = len(look.order)
        facts.names = names
        facts.looked_at.append(look.facts.index)
        self._find_places(look)
        for fact in self._gathered:
            fact.closely(look)
        findings = findings_of(tuple(call.roots), names, facts.given)  # their graph is read once
        # which has found names of what only ops know
        self._leaves.learn(engine, running_of(call).accumulated(call), names)
        reasons = [finding.reason for finding in findings]
        missed = {name for each in reasons if isinstance(each, Unreached) for name in each.leaves}
        leaves = [leaf for leaf in names.tensors() if names.of(leaf) in missed] if missed else []
        self._missed = [(names.of(leaf), leaf, *_gradient_of(leaf)) for leaf in leaves]
        # whether a step uses an old .grad is known at the end only
        others: tuple[type[Reason], ...] = (OldGradients,)
        if call.is_grad:  # it leaves .grad alone
            others = (*others, Unreached)
        if not self._is_traced:
            others = (*others, Untraced)
        self._take(
            look.facts.title,
            [
                reason if self._is_traced else reason.of_call(look.facts.option)
                for reason in reasons
                if not isinstance(reason, others)
            ],
        )

    def _find_places(self, look: Look) -> None:
        """Keep the lines and modules of a call, or give it those of one whose graph is alike, where
        they were not noted."""
        if (places := look.engine.places) is None or not self.facts.is_whole:
            return
        like = places.take_places(look.call)
        if like is None:
            places.keep_places(look.call, look.facts.title)
        elif like and like not in self._likened:
            self._likened.add(like)
            title = look.facts.title
            tell(f"{title}: lines and modules are those of {like}, whose graph is alike")

    def _names_there(self, look: Look) -> Names:
        """Return the names in the program for a call of which more is asked than before it ran."""
        with within_fence("lines and modules"):
            self._find_places(look)
        return look.names

    def _told(self, look: Look, leaves: Sequence[LeafFacts]) -> Told:
        self._note_reached_inside()
        is_troubled = look.facts.is_troubled or any(leaf.is_troubled for leaf in leaves)
        is_troubled = is_troubled or bool(look.described and look.described.trouble)
        facts = look.facts = look.facts._replace(loss=look.loss, is_troubled=is_troubled)
        line = self._of_line
        if line not in self._zero and is_nothing(facts, leaves):
            self._zero.add(line)
            if self._on_line[line] > 1:
                self._to_ask.add(line)
        for fact in self._after:
            fact.after(look)
        self._keep_leaves(look)
        return Told(facts, leaves, None)

    def _prepare(self, engine: Engine) -> None:
        """Have values described if the next call may be one to look at closely."""
        if self.facts.is_whole:
            following = self._follows.get(self._of_line, self._of_line)
            level = self._account.wanted(self._on_line[following] + 1).level
            is_wanted, tracing = level == self._schedule.full, engine.tracing
            if tracing is not None and engine.places is not None:
                tracing.note_ops(on=is_wanted, modules=False)
            self._is_traced = bool(tracing and tracing.describe_ops(on=is_wanted)) and is_wanted

    def _note_reached_inside(self) -> None:
        """Take note of leaves that the graph of the call does not lead to, and whose ``.grad`` has
        changed: a pass inside a node adds to them."""
        inside = {name for name, leaf, *before in self._missed if [*_gradient_of(leaf)] != before}
        self._missed.clear()
        if inside:
            self.facts[Learning].reached |= inside
            self.facts.seen[:] = [
                (title, reason)
                for title, reason in self.facts.seen
                if not isinstance(reason, Unreached) or not inside.issuperset(reason.leaves)
            ]

    def _carry_out(self, look: Look) -> bool | Gradients:
        try:
            with collector_slowed() if look.order else nullcontext():
                return self._ask_and_carry_out(look)
        except BaseException:
            self._keep_leaves(look)
            raise

    def _keep_leaves(self, look: Look) -> None:
        """Keep nothing alive that came out of an op of a call, which is over."""
        if look.has_names:
            with within_fence("the names of leaves"):
                look.names.keep_leaves()

    def _ask_and_carry_out(self, look: Look) -> bool | Gradients:
        """Carry out a call, which may be asked why gradients are 0, and find out what it made that
        is not finite."""
        call, line, number = look.call, self._of_line, look.facts.number
        asks = self._on_line[line] == 1 or line in self._to_ask
        self._to_ask.discard(line)
        explains = line not in self._explained
        passed: Passed | None = None
        if asks and not call.is_grad:
            session = PassSession.of_call(
                call, names=look.names, call=number, history_bytes=_HISTORY
            )
            is_finite, passed = session.host(partial(self._ask, look, session, explains=explains))
            if is_finite:
                return True
        if passed is None:
            passed = run_pass(
                call, partial(self._names_there, look), number, is_scaled=self._is_scaled,
                is_calm=look.loss is not None and abs(look.loss) < _CALM,
                explains=explains, look=partial(self._at_end, look),
            )  # fmt: skip
        if look.leaves is None and not passed.finite:
            look.facts = look.facts._replace(is_troubled=True)
        title, is_bad = look.facts.title, bool(self._skipped) and passed.scaling is None
        if passed.reasons:
            self._explained.add(line)
            option = look.facts.option
            self._take(
                title,
                [each if self._is_traced else each.of_call(option) for each in passed.reasons],
            )
            is_bad = any(Finding(reason).is_bad for reason in passed.reasons)
        if is_bad and not (passed.finite or call.is_grad):
            self.trouble = _in(title)
            leaves = running_of(call).accumulated(call)
            with running_of(call).unseen():
                self._versions = [(ref(x), _version_of(x), _is_troubled(x)) for x in leaves]
        if passed.scaling is not None:
            for fact in self._gathered:
                fact.scaled(passed.finite)
            seen = self.facts.seen
            seen[:] = [(title, passed.scaling.softened(reason, call)) for title, reason in seen]
        return passed.answer

    def _at_end(self, look: Look, session: PassSession) -> None:
        """Look at a call that a session has run to its end, and keep its graph."""
        with within_fence("a call that ran node by node"):
            for fact in self._gathered:
                fact.stepped(look, session)
        if len(session.order) > LARGEST_DRAWN or len(self.facts.graphs) == MOST_DRAWN:
            return
        with within_fence("the graph of a call"):
            self.facts.graphs[look.facts.index] = graph_of_call(
                session.backward_call, "both", session.names, session.described(), session.order,
                session.effects,
            )  # fmt: skip

    def _ask(
        self, look: Look, session: PassSession, *, explains: bool
    ) -> tuple[bool, Passed | None]:
        """Carry out the call of a session; returns whether its gradients are finite, and, where
        they are not, what ``explains`` that: None where this takes another pass, and all is put
        back, as it can be.

        Raises:
            Exception: whatever the pass raises.
        """
        ended, passed = session.finish, None
        try:
            session.jump(session.length)
            if session.cursor.error is not None:  # the pass raises it when it ends, or it is ours
                return True, None
            self._at_end(look, session)
            leaves = [
                session.leaf(index) for index, node in enumerate(session.order) if node.kind == LEAF
            ]
            now = [leaf.now for leaf in leaves if leaf is not None]
            is_finite = not any(value is not None and value.statistics.trouble for value in now)
            if is_finite:
                with within_fence("why gradients are 0"):
                    for fact in self._gathered:
                        fact.asked(look, session)
                return True, None
            passed, runs_again = passed_in(session, explains=explains)
            runs_again = runs_again and not running_of(look.call).may_run_user_code(look.call)
            rerunning = session.cursor.driver.rerunning if runs_again else None
            if rerunning is not None and not rerunning.why_not_replayable(0):
                ended, passed = session.abort, None
        finally:
            ended()
        return False, passed

    def _take(self, title: str, reasons: Sequence[Reason]) -> None:
        for reason in reasons:
            cause, place = (reason, reason.op), (reason.code, reason.op, reason.source)
            if cause in self._causes or (not self._is_traced and place in self._places):
                continue  # what was not traced is told in fewer words
            self._causes.add(cause)
            self._places.add(place)
            self.facts.seen.append((title, reason))


def _methods_of(kind: type[Fact]) -> set[str]:
    """Return the names of the methods that a kind of facts has beyond those that do nothing."""
    return {
        name for each in kind.__mro__[: kind.__mro__.index(Fact)] for name in variables_in(each)
    }


def _is_loss_troubled(look: Look) -> bool:
    """Return whether one of the roots of a call is a number that is not finite."""
    roots = look.call.roots
    losses = [look.described] if len(roots) == 1 else [
        numbers_of(root).scalar_statistics(root) for root in roots
    ]  # fmt: skip
    return any(loss.trouble for loss in losses if loss is not None)


def _in(title: str) -> str:
    return f"NaN or infinity in {title}"


def _version_of(leaf: Any) -> int:
    return int(insides_of(leaf).version(leaf))


def _is_troubled(leaf: Any) -> bool:
    statistics = numbers_of(leaf).statistics(leaf)
    return statistics is not None and bool(statistics.trouble)


def _gradient_of(leaf: Any) -> tuple[int, int]:
    """Return the identity and the version of the ``.grad`` of a leaf."""
    gradient = leaf.grad
    return id(gradient), 0 if gradient is None else insides_of(gradient).version(gradient)

"""Why a gradient is what it is: None, NaN, zero, tiny, huge, the rest of a sum, or all right."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

from gradstep.capturing.names import Names, caller_names
from gradstep.contract.lookup import is_tensor, unseen
from gradstep.debugger.breakpoints.predicate import NodeSubject
from gradstep.debugger.breakpoints.trigger import explained
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Incoming, Value
from gradstep.debugger.snapshot.wording import summary
from gradstep.findings.reports.formatting import Row, line_text, path_text
from gradstep.findings.reports.stop import stop_rows
from gradstep.findings.reports.why.absent import absent
from gradstep.findings.reports.why.afterwards import optimizer_rows
from gradstep.findings.reports.why.births import Birth, Holds, births, hook_that_made
from gradstep.findings.reports.why.explanation import Explanation, Verdict
from gradstep.findings.reports.why.inside import added_inside, nodes_that_add, rows_of
from gradstep.findings.reports.why.mechanisms import zero_reason
from gradstep.findings.reports.why.sizes import cancellations, factor_rows, main_way
from gradstep.findings.reports.why.target import Asked, find, of_tensor
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.addresses import node_text, step_number
from gradstep.graph.errors import NotInGraph
from gradstep.graph.statistics import Trouble, format_number
from gradstep.text import listed, plural, suggests

__all__ = ["Explanation", "explain", "explain_node", "why"]

TINY, HUGE = 1e-7, 1e3
"""A root mean square below or above is called tiny, or huge; so is one that is not quite so small
or large, but differs by a factor of 10,000 from the median of the leaves."""
_SMALL, _LARGE, _FAR = 1e-3, 10.0, 1e4
_CAUSES = 3  # that are described
_NAMED_ROWS = 5


def explain(session: PassSession, text: str) -> Explanation:
    """Explain the gradient that ``text`` names: of a leaf, of another tensor, or of a place.

    Raises:
        UnknownAddress: it names nothing.
    """
    subject = _subject(session)
    return _answer(session, subject, find(session, subject, text))


@suggests
def why(roots: Any, target: Any, *, names: Names | Mapping[str, Any] | None = None) -> Explanation:
    """Explain the gradient that ``roots.backward()`` would give ``target``.

    The backward pass runs, and every ``.grad`` is then what it was before; the graph stays, so
    ``backward`` can follow. ``roots`` is a scalar or several, of either library.

    >>> import gradstep
    >>> import autograd_core as torch
    >>> x = torch.tensor([-1.0, -2.0], requires_grad=True)
    >>> print(gradstep.why(x.relu().sum(), x, names={"x": x}))
    x.grad is 0 everywhere: #2 relu:1 caused it
      at       #2 relu:1
      arrived  1 everywhere
      because  all 2 inputs of relu are negative or 0, where its derivative is 0
      path     #1 sum:1 -> #2 relu:1

    Args:
        target: a tensor, or its name in the program, such as ``fc1.weight``.
        names: the program's variables, as a dictionary or :class:`Names`; by default those of the
            calling program.

    Raises:
        UnknownAddress: nothing has this name.
        NotInGraph: ``roots`` requires no gradient, an earlier pass has freed its graph, or
            ``target`` is no tensor.
        Exception: whatever the pass raises.
    """
    if not isinstance(target, str) and not is_tensor(target):
        raise NotInGraph(f"target is {type(target).__name__}, not a tensor or the name of one")
    known = caller_names() if names is None else names
    session = PassSession(roots, retain_graph=True, names=known)
    try:
        if any(node.is_freed for node in session.order):
            raise NotInGraph(
                "an earlier backward() freed the values that this graph had saved: ask why before "
                "it, or call it with retain_graph=True"
            )
        session.jump(session.length)
        if session.cursor.error is not None:
            raise session.cursor.error
        if isinstance(target, str):
            return explain(session, target)
        subject = _subject(session)
        asked = of_tensor(subject, session.names.of(target) or "the tensor", target)
        return _answer(session, subject, asked)
    finally:
        session.abort()


def _answer(session: PassSession, subject: Subject, asked: Asked) -> Explanation:
    inside = [] if asked.tensor is None else nodes_that_add(session, asked.tensor)
    if asked.index is not None:
        explanation = _explain(session, asked)
        return (
            replace(explanation, rows=(*explanation.rows, *rows_of(session, inside)))
            if inside
            else explanation
        )
    if inside:
        return added_inside(session, asked, inside)
    with unseen():
        return absent(subject, asked)


def _subject(session: PassSession) -> Subject:
    return Subject(tuple(session.roots), session.order, session.graph, session.names)


def explain_node(session: PassSession, index: int) -> Explanation:
    """Explain what arrives at plan node ``index``; of a leaf, its ``.grad``."""
    graph = session.graph
    if graph.kinds[index] == "op":
        return _explain(session, Asked("", index, None))
    leaf = _subject(session).engine.leaf(session.order[index])
    name = graph.variables.get(index) or graph.address(index)
    return _explain(session, Asked(name, index, leaf))


def _explain(session: PassSession, asked: Asked) -> Explanation:
    index = asked.index
    assert index is not None
    leaf = session.leaf(index)
    if leaf is not None and session.kind == "backward":
        label = f"{asked.name}.grad"
    elif asked.name:
        label = f"the gradient of {asked.name}"
    else:
        label = f"what arrives at {node_text(session.graph, index)}"
    incoming = _incoming(session, asked)
    if index > session.position or (index == session.position and leaf is not None):
        return _not_yet(session, asked, label, incoming)
    total = None if incoming is None else incoming.total
    now = total if leaf is None or session.kind == "grad" else leaf.now
    question = _Question(session, asked, label, total, now)
    return question.answer()


def _incoming(session: PassSession, asked: Asked) -> Incoming | None:
    assert asked.index is not None
    arrivals = session.inspector.incoming(asked.index)
    return next((arrival for arrival in arrivals if arrival.input_nr == asked.number), None)


def _not_yet(
    session: PassSession, asked: Asked, label: str, incoming: Incoming | None
) -> Explanation:
    assert asked.index is not None
    index = asked.index
    arrived = (
        "" if incoming is None else f"; {incoming.arrived} of {incoming.expected} have arrived"
    )
    return Explanation(
        asked.name,
        "unknown",
        f"{label} is not there yet: {node_text(session.graph, index)} has not run{arrived}",
        (("remedy", _way_there(session, index)),),
        index=index,
    )


def _way_there(session: PassSession, index: int) -> str:
    if session.graph.kinds[index] == "op":
        return f"until {step_number(index)} goes there"
    if index + 1 == session.length:
        return "jump end runs it"
    return f"until {step_number(index + 1)} runs it"


def is_zero(value: Value | None) -> bool:
    """Return whether a gradient is defined, and 0 everywhere."""
    return value is not None and value.statistics.is_zero


def is_undefined(value: Value | None) -> bool:
    """Return whether there is no gradient."""
    return value is None


class _Question:
    """One gradient: the sum ``total`` that arrived, and ``now`` what became of it."""

    def __init__(
        self, session: PassSession, asked: Asked, label: str, total: Value | None, now: Value | None
    ) -> None:
        assert asked.index is not None
        self.session, self.asked, self.label = session, asked, label
        self.index = asked.index
        self.total, self.now = total, now

    def answer(self) -> Explanation:
        """Explain the first thing that is wrong with it; else say what there is to know."""
        now = self.now
        if now is None:
            return self._undefined()
        if trouble := now.statistics.trouble:
            return self._not_finite(trouble)
        if is_zero(now):
            return self._zero()
        return self._size(now)

    # undefined, zero, not finite: it began somewhere

    def _undefined(self) -> Explanation:
        verdict: Verdict = "none" if self.label.endswith(".grad") else "undefined"
        word = "None" if verdict == "none" else "undefined"
        return self._born(verdict, word, is_undefined, every=True)

    def _zero(self) -> Explanation:
        return self._born("zero", "0 everywhere", is_zero, every=True)

    def _born(self, verdict: Verdict, word: str, holds: Holds, *, every: bool) -> Explanation:
        session, head = self.session, f"{self.label} is {word}"
        if not holds(self.total):
            return self._made_here(verdict, head, holds)
        born = list(births(session, self.index, holds, every=every))
        if not born:
            return self._explanation(verdict, f"{head}, as is everything that it was computed from")
        rows: list[Row] = []
        for birth in born[:_CAUSES]:
            rows += self._birth_rows(birth, verdict)
        if len(born) > _CAUSES:
            rows.append(("and", f"{plural(len(born) - _CAUSES, 'more place')} like these"))
        return self._explanation(verdict, f"{head}: {self._cause(born[0])}", rows, born[0].index)

    def _made_here(self, verdict: Verdict, head: str, holds: Holds) -> Explanation:
        """Explain a ``.grad`` that is not what arrived for it."""
        session = self.session
        rows = [("arrived", summary(self.total))]
        if text := hook_that_made(session, self.index, holds):
            return self._explanation(verdict, f"{head}: {text} caused it", rows, self.index)
        edits = [record.text for record in session.edit.records if record.index == self.index]
        if edits:
            return self._explanation(verdict, f"{head}: you changed it ({edits[-1]})", rows)
        leaf = session.leaf(self.index)
        if leaf is not None and holds(leaf.before) and verdict in ("nan", "inf"):
            text = f"{head}: it was already so before this pass, from an earlier call"
            rows.append(("remedy", "clear it before each call, or look at the earlier call"))
            return self._explanation(verdict, text, rows, self.index)
        text = f"{head}, which is not what arrived: code of the program changed it"
        return self._explanation(verdict, text, rows, self.index)

    def _cause(self, birth: Birth) -> str:
        where = node_text(self.session.graph, birth.index)
        if birth.kind == "seed":
            return "backward() was called with it"
        if birth.kind == "edit":
            return f"you changed it ({birth.text})"
        if birth.kind == "hook":
            return f"{birth.text} at {where} caused it"
        if birth.kind == "sum":
            return f"the contributions at {where} add up to it"
        return f"{where} caused it"

    def _birth_rows(self, birth: Birth, verdict: Verdict) -> Iterator[Row]:
        session, graph = self.session, self.session.graph
        if birth.kind == "seed":
            return
        yield "at", node_text(graph, birth.index)
        if birth.kind == "sum":
            for incoming in session.inspector.incoming(birth.index):
                for part in incoming.contributions[:_CAUSES]:
                    origin = (
                        "the seed" if part.producer is None else node_text(graph, part.producer)
                    )
                    yield "part", f"{summary(part.value)}, from {origin}"
        elif birth.kind == "node":
            for incoming in session.inspector.incoming(birth.index):
                yield "arrived", summary(incoming.total)
            if verdict in ("none", "undefined"):
                yield "because", "its backward returned no gradient (None) for this input"
            elif verdict == "zero" and (
                reason := zero_reason(session, birth.index, birth.output_nr)
            ):
                yield "because", reason.text()
            else:
                if formula := graph.node(birth.index).formula:
                    yield "rule", formula
                for saved in session.detail(birth.index).saved:
                    if saved.value is not None:
                        yield f"saved.{saved.name}", summary(saved.value)
        if source := graph.sources.get(birth.index):
            yield "line", line_text(source)
        yield "path", path_text(graph, session.path(birth.index))

    def _not_finite(self, trouble: Trouble) -> Explanation:
        verdict: Verdict = trouble

        def holds(value: Value | None) -> bool:
            return value is not None and bool(value.statistics.trouble)

        assert self.now is not None
        stats = self.now.statistics
        amount = f" at {stats.amount(trouble):,} of {stats.size:,} places" if stats.size > 1 else ""
        head = f"{self.label} is {verdict}{amount}"
        if not holds(self.total):
            return self._made_here(verdict, head, holds)
        born = list(births(self.session, self.index, holds, every=False))
        if not born:
            return self._explanation(verdict, head)
        first = born[0] if born[0].kind == "seed" else min(born, key=lambda birth: birth.index)
        if first.kind != "node":
            rows = list(self._birth_rows(first, verdict))
            return self._explanation(verdict, f"{head}: {self._cause(first)}", rows, first.index)
        inspector, index = self.session.inspector, first.index
        several = len(inspector.outgoing(index)) > 1
        label = f"out.{first.output_nr}" if several else "out"
        subject = NodeSubject(inspector, index, first.value, label, (index,))
        headline, more = stop_rows(
            self.session, explained(subject, lambda part: holds(part.gradient))
        )
        return self._explanation(verdict, f"{head}: {headline}", more, index)

    # the size

    def _size(self, now: Value) -> Explanation:
        session, rms = self.session, now.statistics.rms
        links = main_way(session, self.index)
        others = self._others()
        middle = median(others) if others else 0.0
        tiny = rms < TINY or (rms < _SMALL and rms * _FAR < middle)
        huge = rms > HUGE or (rms > _LARGE and middle and rms > _FAR * middle)
        cancelled = next(
            cancellations(session, [self.index, *(link.index for link in reversed(links))]), None
        )
        rows: list[Row] = [("value", summary(now))]
        if middle:
            rows.append(("others", f"the median of the leaves is rms {format_number(middle)}"))
        verdict: Verdict = "tiny" if tiny else "huge" if huge else "ordinary"
        if cancelled is not None and not huge:
            verdict = "cancels" if verdict == "ordinary" else verdict
            share = format_number(100 * cancelled.remaining)
            rows.append((
                "cancels",
                (f"the {cancelled.parts} contributions at "
                f"{node_text(session.graph, cancelled.index)} cancel: {share} % remains"),
            ))  # fmt: skip
        rows += factor_rows(session, links, down=not huge) if tiny or huge else ()
        if links:
            rows.append(
                ("path", path_text(session.graph, [*(link.index for link in links), self.index]))
            )
        head = f"{self.label} is {verdict}"
        if verdict == "ordinary":
            head = f"nothing is wrong with {self.label} itself"
        elif verdict == "cancels":
            head = f"{self.label} is the remainder of a sum whose contributions cancel"
        return self._explanation(verdict, head, [*rows, *self._zeros(now)])

    def _others(self) -> list[float]:
        names = []
        for leaf in self.session.snapshot.leaves:
            if leaf.index != self.index and leaf.now is not None:
                rms = leaf.now.statistics.rms
                if math.isfinite(rms) and rms:
                    names.append(rms)
        return names

    def _zeros(self, now: Value) -> Iterator[Row]:
        """Say so where whole rows of a gradient are 0, as those of dead units and of words that do
        not occur are."""
        if len(now.shape) < 2 or not now.statistics.zeros or not now.has_numbers:
            return
        array = now.array
        dead = [int(at) for at in (array.reshape(array.shape[0], -1) == 0).all(axis=1).nonzero()[0]]
        if not dead:
            return
        which = f"{len(dead):,} of {len(array):,} rows are"
        if len(dead) <= _NAMED_ROWS:
            row, are = ("row", "is") if len(dead) == 1 else ("rows", "are")
            which = f"{row} {listed(list(map(str, dead)))} of {len(array):,} {are}"
        yield "zeros", f"{which} 0 everywhere"
        for incoming in self.session.inspector.incoming(self.index):
            for part in incoming.contributions:
                if part.producer is not None and (padding := self._padding(part.producer)) in dead:
                    where = node_text(self.session.graph, part.producer)
                    yield "", f"row {padding} is the padding_idx of {where}, and never learns"

    def _padding(self, producer: int) -> int | None:
        """Return the row that an embedding gives no gradient, as far as it is known."""
        record = getattr(self.session.order[producer], "record", None)
        index = getattr(record, "attributes", {}).get("padding_idx", -1)
        is_one = self.session.graph.stem(producer) == "embedding" and isinstance(index, int)
        return index if is_one and index >= 0 else None

    def _explanation(
        self,
        verdict: Verdict,
        headline: str,
        rows: list[Row] | None = None,
        index: int | None = None,
    ) -> Explanation:
        more: list[Row] = list(rows or ())
        leaf = self.session.leaf(self.index)
        if leaf is not None:
            line = self.session.backward_call.line
            file = "" if line is None else line[0]
            more += optimizer_rows(self.session.names, self.asked.name, self.asked.tensor, file)
            if self.session.kind == "grad":
                more.append(
                    (
                        "note",
                        f"autograd.grad() returns it and does not change {self.asked.name}.grad",
                    )
                )
            elif leaf.before is not None and not is_zero(leaf.before):
                more.append(("note", f"it was added to the previous value: {summary(leaf.before)}"))
        return Explanation(
            self.asked.name, verdict, headline, tuple(more), index=index, tensor=self.asked.tensor
        )

"""A gradient over a whole run: what is wrong with a leaf whose gradient is right in itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from gradstep.debugger.pass_session import PassSession
from gradstep.findings.facts import Fact, Facts
from gradstep.findings.facts.history import History, histories
from gradstep.findings.finding import Finding, Program
from gradstep.findings.reports.formatting import Row, line_text
from gradstep.findings.reports.why import Explanation, explain
from gradstep.findings.whole_run.conclusions import conclusions
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look
from gradstep.text import plural

_FAR: Final = 1e-3
"""Of what other leaves move by, a leaf moves less where something is wrong."""
_ORDER: Final = ("nan", "inf", "zero", "tiny", "huge", "cancels", "undefined", "ordinary")
"""Verdicts that are of more use than others, the first ones most."""


class Answers(Fact):
    """Why the gradient that ``asked`` names is what it is, in the calls that are looked at node by
    node; ``program`` is its command line.

    The ``best`` answer is of the first call in which something is wrong with it; ``unknown`` is why
    there is none.
    """

    def __init__(self, asked: str, program: str) -> None:
        self._asked, self._program, self.title = asked, program, ""
        self.best: Explanation | None = None
        self.unknown: UnknownAddress | None = None

    def stepped(self, look: Look, session: PassSession) -> None:
        session.program = self._program
        try:
            answer = explain(session, self._asked)
        except UnknownAddress as error:
            self.unknown = self.unknown or error
            return
        if self.best is None or _rank(answer) < _rank(self.best):
            self.title, self.best = look.facts.title, answer


def _rank(answer: Explanation) -> int:
    return _ORDER.index(answer.verdict) if answer.verdict in _ORDER else len(_ORDER)


def in_run(answer: Explanation, facts: Facts, program: Program) -> Explanation:
    """Return the answer of a call with what the run shows of the leaf."""
    name = facts.names.of(answer.tensor) if answer.tensor is not None else answer.name
    every = list(histories(facts.run))
    own = next((one for one in every if one.leaf.name == (name or answer.name)), None)
    if answer.verdict in ("nan", "inf") or (own is None and answer.verdict != "ordinary"):
        return answer
    rows = list(answer.rows)
    if own is not None:
        rows += _over_calls(own)
        zero = sum(seen.is_zero for seen in own.seen)
        if answer.verdict == "zero" and zero < len(own.seen) / 2:
            others = plural(len(own.seen) - zero, "other call")
            head = f"{answer.headline}; in {others} it is not"
            answer = replace(answer, verdict="ordinary", headline=head)
    told = _told(facts, name or answer.name, program)
    if answer.is_wrong:
        return replace(answer, rows=tuple(rows))
    slow = None if own is None else _beside(own, every, facts)
    if told:
        first = told[0]
        head = f"nothing is wrong with {answer.name}.grad itself, but {first.what}"
        found = [("found", f"[{first.code}]"), *_lines(first), ("remedy", first.remedy)]
        more = [("and", f"[{each.code}] {each.what}") for each in told[1:]]
        return replace(answer, verdict="run", headline=head, rows=(*found, *more, *rows))
    if slow is not None:
        head = f"nothing is wrong with {answer.name}.grad itself, but {answer.name} hardly moves"
        return replace(answer, verdict="run", headline=head, rows=(*slow, *rows))
    return replace(answer, rows=tuple(rows))


def _told(facts: Facts, name: str, program: Program) -> Sequence[Finding]:
    """Return the errors and warnings of a run that name a leaf."""
    return [
        each.finding.for_program(program)
        for each in conclusions(facts)
        if each.finding.is_bad and name in each.finding.leaves and each.symptom_of is None
    ]


def _lines(finding: Finding) -> Iterator[Row]:
    for source in (finding.source, finding.other):
        if source is not None:
            yield "line", line_text(source)


def _over_calls(own: History) -> Iterator[Row]:
    """Say how large the gradient was, and by how much the leaf moved."""
    sizes = [(size, seen.call.number) for seen in own.seen if (size := seen.gradient) is not None]
    if len(sizes) > 1:
        largest, number = max(sizes)
        first, last, most = (format_number(size) for size in (sizes[0][0], sizes[-1][0], largest))
        yield "calls", f"{len(sizes):,}: rms {first} to {last}, {most} at most (in call {number})"
    shares = _moves(own)
    if any(shares):
        begins, ends = own.seen[0].facts.parameter_rms, own.seen[-1].facts.parameter_rms
        share = format_number(100 * median(shares))
        row = f"by {share} % of its size from call to call"
        if begins is not None and ends is not None:
            row += (
                f"; its rms is {format_number(begins)} at first and {format_number(ends)} at last"
            )
        yield "moves", row


def _moves(history: History) -> list[float]:
    return [share for seen in history.seen if (share := seen.moved) is not None]


def _beside(own: History, every: Sequence[History], facts: Facts) -> list[Row] | None:
    """Say so where the leaf moves far less than others do, with the rates of its optimizer."""
    medians = [median(shares) for one in every if one is not own and (shares := _moves(one))]
    shares = _moves(own)
    if not shares or not medians or not median(shares) < _FAR * median(medians):
        return None
    others = format_number(100 * median(medians))
    rows = [("beside", f"other leaves move by {others} % of their size")]
    for group in facts.run.training.groups:
        if own.leaf.number in group.leaves and isinstance(rate := group.options.get("lr"), float):
            rows.append(("rate", f"{format_number(rate)} in {group.optimizer}"))
    return rows

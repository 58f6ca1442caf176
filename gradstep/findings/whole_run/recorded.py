"""Goes through the calls of a recording, and gathers the facts that rules read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from gradstep.contract.lookup import engine_of_call
from gradstep.debugger.pass_session import PassSession
from gradstep.engines.recorded import RecordedCall, names_of
from gradstep.findings.facts import Facts, Given, Graphs, Happenings, Numbers
from gradstep.findings.linting import findings_of
from gradstep.findings.whole_run.watch import gathered
from gradstep.recording.look import Look
from gradstep.recording.run import Run

_MOST: Final = 20
"""Calls whose graphs are looked at."""


def given_by(run: Run) -> frozenset[type[Given]]:
    """Return what is known of a run from its recording."""
    given: set[type[Given]] = set()
    if run.full:
        given.add(Graphs)
    if any(run.call(index).level == "all" for index in run.full):
        given.add(Numbers)
    if run.events:
        given.add(Happenings)
    return frozenset(given)


def facts_of(run: Run) -> Facts:
    """Return the facts of a recording."""
    facts = Facts(run, given=given_by(run))
    facts.is_cut_short = not run.is_finished or any(call.error for call in run.calls())
    kinds = gathered(facts)
    for fact in kinds:
        fact.read(run)
    seen: dict[object, None] = {}
    for index in _chosen(run):
        call, known = RecordedCall(run, index), run.call(index)
        look = Look(
            engine_of_call(call), call, known, partial(names_of, call), order=call.order, looks=1
        )
        for fact in kinds:
            fact.closely(look)
        names = look.names
        facts.looked_at.append(index)
        given = facts.given if known.level == "all" else facts.given - {Numbers}
        for finding in findings_of(call.roots, names, given):
            if finding.cause not in seen:
                seen[finding.cause] = None
                facts.seen.append((known.title, finding.reason))
        if not (call.is_grad or known.is_troubled):
            session = PassSession.of_call(call, names=names, call=known.number)
            session.jump(session.length)
            for fact in kinds:
                fact.asked(look, session)
    return facts


def _chosen(run: Run) -> Iterator[int]:
    """Yield calls that differ: of each line, the first one in full of each graph."""
    known: set[object] = set()
    for index in run.full:
        call = run.call(index)
        key = call.line, call.structure, call.kind
        if key not in known and len(known) < _MOST:
            known.add(key)
            yield index

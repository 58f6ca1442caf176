"""The topics of ``info`` about one node."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from gradstep.console.console import Console
from gradstep.console.language import Operands, pointing_at
from gradstep.debugger.snapshot import Incoming, NodeDetail, Phase, Saved, Value
from gradstep.debugger.snapshot.wording import described, of_statistics, summary
from gradstep.findings.reports.formatting import (
    line_text,
    node_line,
    source_place,
    table_text,
    wrapped,
)
from gradstep.graph.addresses import node_text, step_number
from gradstep.graph.statistics import Statistics, format_bytes, format_number, format_shape


def _index(console: Console, operands: Operands) -> int:
    """Return the node in question: the one named, the selected one, or the current one."""
    if operands.text:
        with pointing_at(operands):
            return console.session.breakpoints.locate(operands.text)[0]
    index = console.session.selected
    if index is None:
        raise operands.error("the pass is over: name a node, as in #1")
    return index


def node(console: Console, operands: Operands) -> str:
    """Return all about a node."""
    session, index = console.session, _index(console, operands)
    detail = session.detail(index)
    lines = [node_line(session.graph, index)]
    rows = _arrivals(detail) + _departures(detail) + _kept(detail)
    rows += [(f"d/d{name}", text) for name, text in _rules(detail)]
    if detail.rule_line is not None:
        rows.append(("rule", f"the backward at {line_text(detail.rule_line)}"))
    result = _forward(session.forward_value(index))
    told = {row[-1] for row in rows}
    rows += [] if all(line in told for _, line in result) else result  # it is a saved value, too
    rows += [("hook", hook) for hook in detail.hooks]
    rows += [
        ("inside", f"{title} ran: enter {step_number(index)}{f' {number}' if number > 1 else ''}")
        for number, title in enumerate(detail.nested, 1)
    ]
    if detail.source_line:
        rows.append(("line", detail.source_line))
    lines += [f"  {line}" for line in table_text(rows).splitlines()]
    hint = session.snapshot.hint
    return "\n".join([*lines, wrapped(hint)] if hint else lines)


def _forward(result: Value | Statistics | None) -> list[tuple[str, str]]:
    """Return what the forward op made, or what a leaf holds."""
    if result is None:
        return []
    lines = described(result) if isinstance(result, Value) else [of_statistics(result)]
    return [("value" if not number else "", line) for number, line in enumerate(lines)]


def _rules(detail: NodeDetail) -> Iterator[tuple[str, str]]:
    """Yield the rule of each input, with what its names stand for where those are single
    numbers."""
    terms = {term.input: term for term in detail.terms}
    for name, text in detail.formulas:
        term = terms.get(name)
        if term is None or not term.numbers:
            yield name, text if term is None else term.rule
        else:
            result = "" if term.result is None else f" \N{RIGHTWARDS ARROW} {summary(term.result)}"
            yield name, f"{term.rule} = {term.numbers}{result}"


def _arrivals(detail: NodeDetail) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for incoming in detail.incoming:
        label = f"in.{incoming.input_nr}" if len(detail.incoming) > 1 else "in"
        rows.append((label, f"{incoming.arrived} of {incoming.expected} arrived"))
        rows += [("", line) for line in described(incoming.total, incoming.without_total)]
        if incoming.expected > 1 or incoming.edits:
            rows += [
                ("", f"+ {summary(part.value)} from {_origin(part.producer)}")
                for part in incoming.contributions
            ]
        rows += [
            ("", f"{edit.text} \N{RIGHTWARDS ARROW} {summary(edit.total)}")
            for edit in incoming.edits
        ]
    return rows


def _origin(producer: int | None) -> str:
    return "the seed" if producer is None else step_number(producer)


def _departures(detail: NodeDetail) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for outgoing in detail.outgoing:
        label = f"out.{outgoing.output_nr}" if len(detail.outgoing) > 1 else "out"
        if outgoing.target is None:
            rows.append((label, "no gradient needed"))
        else:
            where = f"to {step_number(outgoing.target)}"
            rows.append((label, where if outgoing.sent else f"{where}, not yet"))
            rows += [("", line) for line in (described(outgoing.value) if outgoing.sent else ())]
    return rows


def _kept(detail: NodeDetail) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for kept in detail.saved:
        rows.append((f"saved.{kept.name}", f"{_extent(kept)}{kept.state}"))
        rows += [("", line) for line in _state(kept)]
    return rows


def _extent(saved: Saved) -> str:
    """Return ``[3, 4] float32  48 B  ``, nothing of what is gone."""
    if not saved.dtype:
        return ""
    return f"{format_shape(saved.shape)} {saved.dtype}  {format_bytes(saved.nbytes)}  "


def _state(saved: Saved) -> list[str]:
    """Return a saved value with its numbers, and the lines that changed or freed it."""
    lines = described(saved.value) if saved.value is not None else []
    if saved.state == "changed":
        now = ": this is what it holds now" if lines else ""
        lines.insert(0, f"changed in place since it was saved{now}")
    word = "by" if saved.state == "freed" else "at"
    return [*lines, *(f"{word} {line_text(source)}" for source in saved.lines)]


def saved(console: Console, operands: Operands) -> str:
    """List what a node keeps from the forward pass."""
    rows = _kept(console.session.detail(_index(console, operands)))
    return table_text(rows) or "this node keeps no tensor"


def _has_run(console: Console, index: int) -> bool:
    return index < console.session.position


def _phases_of(console: Console, index: int) -> tuple[Phase, ...]:
    ahead = index > console.session.position or index == console.session.length
    return () if ahead else console.session.phases(index)


def hooks(console: Console, operands: Operands) -> str:
    """Return the hooks of a node, and what each made of the gradient."""
    index = _index(console, operands)
    calls = [phase for phase in _phases_of(console, index) if phase.kind == "hook"]
    rows = [(call.text, _values(call.before), "->", _values(call.after)) for call in calls]
    if rows:
        return table_text(rows)
    hooks = console.session.detail(index).hooks
    none = "no hooks here" if _has_run(console, index) else "no hooks are known before it runs"
    return "\n".join(f"{hook}  not called yet" for hook in hooks) or none


def phases(console: Console, operands: Operands) -> str:
    """List what happened inside a node, in order."""
    rows = [
        (phase.text, _values(phase.before), "->", _values(phase.after))
        for phase in _phases_of(console, _index(console, operands))
    ]
    return table_text(rows) or "this node has not run yet"


def _values(values: tuple[Value | None, ...]) -> str:
    return ", ".join(summary(value) for value in values) or "nothing"


def contributions(console: Console, operands: Operands) -> str:
    """Return every contribution to what arrives at a node, with the sum so far."""
    index = _index(console, operands)
    lines = [node_line(console.session.graph, index)]
    for incoming in console.session.detail(index).incoming:
        account = table_text(_account(console, index, incoming))
        lines += [f"  {line}" for line in account.splitlines()]
    return "\n".join(lines)


def _account(console: Console, index: int, incoming: Incoming) -> list[tuple[str, ...]]:
    """Return each contribution in order of arrival, with the sum so far."""
    graph = console.session.graph
    rows: list[tuple[str, ...]] = [("from", "value", "sum so far", "")]
    remaining = 1.0
    for entry in console.session.contributions(index, incoming.input_nr):
        origin, place = entry.edit or "the seed", ""
        if entry.producer is not None:
            origin = node_text(graph, entry.producer)
            place = source_place(graph, entry.producer)
        given = "" if entry.edit else summary(entry.value)
        rows.append((origin, given, summary(entry.total), place))
        remaining = entry.remaining
    waiting = incoming.expected - incoming.arrived
    if waiting:
        rows.append((f"{waiting} more to come", "", "", ""))
    elif len(rows) > 2:
        known = f"{format_number(100 * (1 - remaining))} % cancelled"
        rows.append(("", "", "what cancelled is unknown" if isnan(remaining) else known, ""))
    return rows

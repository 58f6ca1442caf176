"""``info TOPIC``: what the debugger knows, in tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Final, NamedTuple

from autograd_core.dag.model import Source
from autograd_core.dag.statistics import (
    Statistics,
    format_bytes,
    format_number,
    format_shape,
    format_statistics,
)
from autograd_core.debug.commands.changing import edits_text
from autograd_core.debug.commands.console import Console
from autograd_core.debug.commands.language import Command, Operands, choose, pointing_at
from autograd_core.debug.commands.looking import displays_text
from autograd_core.debug.commands.stopping import points_text
from autograd_core.debug.commands.wording import (
    node_line,
    plural,
    shown,
    source_place,
    table_text,
)
from autograd_core.debug.snapshot import Incoming, NodeDetail, Phase, Value


class Topic(NamedTuple):
    """Something that ``info`` tells about."""

    word: str
    summary: str
    tell: Callable[[Console, Operands], str]


def _info(console: Console, operands: Operands) -> str:
    word, rest = operands.first()
    if not word.text:
        raise operands.error(f"info takes one of: {', '.join(each.word for each in TOPICS)}")
    chosen = choose(word, [each.word for each in TOPICS], "topic")
    return next(each for each in TOPICS if each.word == chosen).tell(console, rest)


def _index(console: Console, operands: Operands) -> int:
    """The node in question: the one named, the selected one, or the current one."""
    if operands.text:
        with pointing_at(operands):
            return console.session.stops.locate(operands.text)[0]
    index = console.node()
    if index is None:
        raise operands.error("the pass is over: name a node, as in #0")
    return index


# a node


def _node(console: Console, operands: Operands) -> str:
    session, index = console.session, _index(console, operands)
    detail = session.detail(index)
    lines = [node_line(session.graph, index)]
    rows = _arrivals(detail) + _departures(detail) + _kept(detail)
    rows += [(f"d/d{name}", text) for name, text in detail.formulas]
    rows += [("hook", hook) for hook in detail.hooks]
    if detail.source_line:
        rows.append(("line", detail.source_line))
    return "\n".join([*lines, *(f"  {line}" for line in table_text(rows).splitlines())])


def _arrivals(detail: NodeDetail) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for each in detail.incoming:
        label = f"in.{each.input_nr}" if len(detail.incoming) > 1 else "in"
        arrived = f"{each.arrived} of {each.expected} in"
        rows.append((label, f"{shown(each.total, 'nothing yet')}, {arrived}"))
        if each.expected > 1:
            rows += [
                ("", f"+ {shown(part.value)} from {_origin(part.producer)}")
                for part in each.contributions
            ]
    return rows


def _origin(producer: int | None) -> str:
    return "the seed" if producer is None else f"#{producer}"


def _departures(detail: NodeDetail) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for each in detail.outgoing:
        label = f"out.{each.output_nr}" if len(detail.outgoing) > 1 else "out"
        if each.target is None:
            rows.append((label, "no gradient needed"))
        else:
            value = shown(each.value) if each.sent else "not yet"
            rows.append((label, f"{value}, to #{each.target}"))
    return rows


def _kept(detail: NodeDetail) -> list[tuple[str, ...]]:
    return [
        (f"saved.{each.name}", f"{format_shape(each.shape)} {each.state} {shown(each.value, '')}")
        for each in detail.saved
    ]


def _saved(console: Console, operands: Operands) -> str:
    rows = [
        (f"saved.{each.name}", f"{format_shape(each.shape)} {each.dtype}",
         format_bytes(each.nbytes), each.state, shown(each.value, ""))
        for each in console.session.detail(_index(console, operands)).saved
    ]  # fmt: skip
    return table_text(rows) or "this node keeps no tensor"


def _phases_of(console: Console, index: int) -> tuple[Phase, ...]:
    ahead = index > console.session.position or index == console.session.length
    return () if ahead else console.session.phases(index)


def _hooks(console: Console, operands: Operands) -> str:
    index = _index(console, operands)
    calls = [phase for phase in _phases_of(console, index) if phase.kind == "hook"]
    rows = [(each.text, _values(each.before), "->", _values(each.after)) for each in calls]
    if rows:
        return table_text(rows)
    hooks = console.session.detail(index).hooks
    return "\n".join(f"{hook}  not called yet" for hook in hooks) or "no hooks here"


def _phases(console: Console, operands: Operands) -> str:
    rows = [
        (each.text, _values(each.before), "->", _values(each.after))
        for each in _phases_of(console, _index(console, operands))
    ]
    return table_text(rows) or "this node has not run yet"


def _values(values: tuple[Value | None, ...]) -> str:
    return ", ".join(shown(value) for value in values) or "nothing"


def _ledger(console: Console, operands: Operands) -> str:
    index = _index(console, operands)
    lines = [node_line(console.session.graph, index)]
    for incoming in console.session.detail(index).incoming:
        account = table_text(_account(console, index, incoming))
        lines += [f"  {line}" for line in account.splitlines()]
    return "\n".join(lines)


def _account(console: Console, index: int, incoming: Incoming) -> list[tuple[str, ...]]:
    """Each contribution in order of arrival, with the sum so far."""
    graph = console.session.graph
    rows: list[tuple[str, ...]] = [("from", "value", "sum so far", "")]
    remaining = 1.0
    for entry in console.session.ledger(index, incoming.input_nr):
        origin, place = "the seed", ""
        if entry.producer is not None:
            origin = f"#{entry.producer} {graph.address(entry.producer)}"
            place = source_place(graph, entry.producer)
        rows.append((origin, shown(entry.value), shown(entry.total), place))
        remaining = entry.remaining
    waiting = incoming.expected - incoming.arrived
    if waiting:
        rows.append((f"{waiting} more to come", "", "", ""))
    elif len(rows) > 2:
        rows.append(("", "", f"{format_number(100 * (1 - remaining))} % cancelled", ""))
    return rows


# the whole pass


def _leaves(console: Console, operands: Operands) -> str:
    rows = [
        (
            f"{leaf.name}.grad",
            shown(leaf.now, "None"),
            f"{leaf.arrived} of {leaf.expected} in",
            "" if leaf.before is None else f"was {shown(leaf.before)} before this pass",
        )
        for leaf in console.session.snapshot.leaves
    ]
    return table_text(rows) or "no leaves"


def _pending(console: Console, operands: Operands) -> str:
    rows = [
        (
            f"#{each.index} {console.session.graph.address(each.index)}",
            f"{each.arrived} of {each.expected} in",
            f"sum {shown(each.total)}",
        )
        for each in console.session.snapshot.pending
    ]
    return table_text(rows) or "nothing waits"


def _plan(console: Console, operands: Operands) -> str:
    session = console.session
    snapshot = session.snapshot
    ready = [each.index for each in snapshot.pending if each.arrived == each.expected]
    places = [f"#{index} {session.graph.address(index)}" for index in dict.fromkeys(ready)]
    more = f" and {len(places) - 8} more" if len(places) > 8 else ""
    leaves = plural(len(snapshot.leaves), "leaf").replace("leafs", "leaves")
    counts = f"{plural(session.length, 'node')}, {leaves} among them"
    done = f"{snapshot.position} have run, {snapshot.recorded} are recorded"
    return f"{counts}; {done}\nready: {', '.join(places[:8]) or 'none'}{more}"


def _history(console: Console, operands: Operands) -> str:
    snapshot = console.session.snapshot
    usage = snapshot.usage
    said = f"{snapshot.recorded} of {snapshot.length} nodes recorded"
    if usage is None:
        return f"{said}, {format_bytes(snapshot.bytes_recorded)}"
    said += f", {format_bytes(usage.bytes)} of at most {format_bytes(usage.budget)}"
    if usage.dropped:
        said += f"\n{plural(usage.dropped, 'record')} dropped, to be computed again when needed"
    return said


def _breakpoints(console: Console, operands: Operands) -> str:
    return points_text(console)


def _displays(console: Console, operands: Operands) -> str:
    return displays_text(console) or "nothing is displayed"


def _edits(console: Console, operands: Operands) -> str:
    return edits_text(console)


def _frames(console: Console, operands: Operands) -> str:
    rows = [
        ("->" if frame.selected else "", frame.title,
         f"{frame.position} of {frame.length} nodes", frame.parent and f"inside {frame.parent}")
        for frame in console.session.frames
    ]  # fmt: skip
    return table_text(rows)


def _timeline(console: Console, operands: Operands) -> str:
    """One line per call, or, for a leaf, what each call did to its ``.grad``."""
    timeline = console.session.timeline
    name = operands.text.removesuffix(".grad")
    if not name:
        calls = [
            (f"call {call.number}", call.title, plural(call.nodes, "node"), _at(call.source),
             f"{kept} of {plural(len(call.leaves), 'leaf')} kept".replace("leafs", "leaves"))
            for call in timeline.calls
            for kept in [sum(leaf.kept for leaf in call.leaves)]
        ]  # fmt: skip
        return table_text(calls) or "no call is over yet"
    rows: list[tuple[str, ...]] = [("", "before", "added", "after", "")]
    for call, leaf in timeline.of_leaf(name):
        numbers = (_told(leaf.before), _told(leaf.added), _told(leaf.after))
        rows.append((f"call {call.number}", *numbers, "kept from before" if leaf.kept else ""))
    if len(rows) == 1:
        raise operands.error(f"no call that is over has a leaf '{name}'")
    return table_text(rows)


def _told(statistics: Statistics | None) -> str:
    return "None" if statistics is None else format_statistics(statistics)


def _at(source: Source | None) -> str:
    return "" if source is None else f"{PurePath(source.file).name}:{source.line}"


TOPICS: Final = (
    Topic("breakpoints", "where it stops, and how often it did", _breakpoints),
    Topic("display", "what is shown at every stop", _displays),
    Topic("edits", "what you changed", _edits),
    Topic("frames", "the passes that run inside each other (enter, leave)", _frames),
    Topic("history", "how much of the pass is recorded", _history),
    Topic("hooks", "[PLACE]: hooks of the node", _hooks),
    Topic("leaves", "the .grad of every leaf", _leaves),
    Topic("ledger", "[PLACE]: every contribution to what arrives, and the sum so far", _ledger),
    Topic("node", "[PLACE]: all about a node", _node),
    Topic("pending", "sums that wait for their node", _pending),
    Topic("phases", "[PLACE]: what happened inside the node, in order", _phases),
    Topic("plan", "how far the pass is, and which nodes are ready", _plan),
    Topic("saved", "[PLACE]: what the node keeps from the forward pass", _saved),
    Topic("timeline", "[LEAF]: the calls that are over, and what they did to it", _timeline),
)

COMMANDS: Final = (
    Command(
        "info TOPIC", "what is known; help info lists the topics",
        _info, ("i",), "topic",
        details="\n".join(f"  {each.word:<12}{each.summary}" for each in TOPICS),
    ),
)  # fmt: skip

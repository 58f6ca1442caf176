"""The topics of ``info`` about the whole pass, and about those around it and before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from gradstep.console.console import Console
from gradstep.console.language import Operands
from gradstep.debugger.snapshot.timeline import CallRecord
from gradstep.debugger.snapshot.wording import described, summary
from gradstep.findings.reports.formatting import table_text, wrapped
from gradstep.graph.addresses import node_text, step_number
from gradstep.graph.statistics import Statistics, format_bytes, format_number, format_statistics
from gradstep.text import listed, plural

if TYPE_CHECKING:
    from gradstep.recording.facts import CallFacts
    from gradstep.recording.run import Run


def leaves(console: Console, operands: Operands) -> str:
    """Return the ``.grad`` of every leaf, before this pass and now."""
    rows: list[tuple[str, ...]] = []
    for leaf in console.session.snapshot.leaves:
        name = f"{leaf.name}.grad"
        console.values[name] = leaf.now
        first, *others = described(leaf.now, "None")
        rows.append((name, f"{leaf.arrived} of {leaf.expected} in", first))
        rows += [("", "", line) for line in others]
        if leaf.before is not None:
            rows.append(("", "", f"was {summary(leaf.before)} before this pass"))
    for tensor in console.session.names.tensors():
        if holder := getattr(tensor, "gradstep_holder", ""):  # of a recording
            rows.append((f"{tensor.name}.grad", "never reached", f"{holder} has it"))
    text = table_text(rows) or "no leaves"
    return f"{text}\n{wrapped(note)}" if rows and (note := _about_program(console)) else text


def _about_program(console: Console) -> str:
    """Say so where the program's own ``.grad`` are not those that are shown."""
    cursor = console.session.cursor
    end = len(cursor.history)
    if cursor.position == end or not cursor.driver.undoing.program_stays:
        return ""
    where = step_number(end - 1)
    return f"in the program, each .grad is as it was after {where}: going back moves in the record"


def pending(console: Console, operands: Operands) -> str:
    """Return the sums whose node has not run."""
    rows = [
        (
            node_text(console.session.graph, total.index),
            f"{total.arrived} of {total.expected} in",
            f"sum {summary(total.total)}",
        )
        for total in console.session.snapshot.pending
    ]
    return table_text(rows) or "nothing waits"


def progress(console: Console, operands: Operands) -> str:
    """Say the progress of the pass, and the nodes that are ready."""
    session = console.session
    snapshot = session.snapshot
    ready = [total.index for total in snapshot.pending if total.arrived == total.expected]
    places = [node_text(session.graph, index) for index in dict.fromkeys(ready)]
    leaves = plural(len(snapshot.leaves), "leaf", "leaves")
    counts = f"{plural(session.length, 'node')}, {leaves} among them"
    done = f"{snapshot.position} have run, {snapshot.recorded} are recorded"
    lines = [f"{counts}; {done}", f"ready: {listed(places, 8, ', ') or 'none'}"]
    return "\n".join([*lines, wrapped(snapshot.hint)] if snapshot.hint else lines)


def history(console: Console, operands: Operands) -> str:
    """Say how much is recorded, and what that takes."""
    snapshot = console.session.snapshot
    usage = snapshot.usage
    text = f"{snapshot.recorded} of {snapshot.length} nodes recorded"
    if usage is None:
        return f"{text}, {format_bytes(snapshot.bytes_recorded)}"
    text += f", {format_bytes(usage.bytes)} of at most {format_bytes(usage.budget)}"
    if usage.dropped:
        text += f"\n{plural(usage.dropped, 'record')} dropped; they are computed again when needed"
    control = console.session.cursor.driver.control
    if control is not None and (graph := control.kept_bytes()):
        text += (
            f"\nthe graph is kept too, {format_bytes(graph)}, until the program drops its loss "
            "(not with --no-replay)"
        )
    return text


def frames(console: Console, operands: Operands) -> str:
    """Return the passes that run inside each other."""
    rows = [
        ("->" if frame.selected else "", frame.title,
         f"{frame.position} of {frame.length} nodes", frame.parent and f"inside {frame.parent}")
        for frame in console.session.frames
    ]  # fmt: skip
    return table_text(rows)


def calls(console: Console, operands: Operands) -> str:
    """Return one line per call, or, for a leaf, what each call did to its ``.grad``."""
    calls, gaps = console.session.timeline, _gaps(console)
    name = operands.text.removesuffix(".grad")
    if not name:
        lines = []
        for call in calls.calls:
            lines += gaps.pop((call.kind, call.number), [])
            line = call.source.place if call.source else ""
            about = plural(call.nodes, "node"), line, _kept(call)
            lines.append((call.label, call.title, *about))
        lines += chain(*gaps.values())
        return table_text(lines) or "no call has finished yet"
    rows: list[tuple[str, ...]] = [("", "before", "added", "after", "")]
    for call, leaf in calls.of_leaf(name):
        rows += gaps.pop((call.kind, call.number), [])
        numbers = (_told(leaf.before), _told(leaf.added), _told(leaf.after))
        rows.append((call.label, *numbers, "kept from before" if leaf.kept else ""))
        reach = [_reach(value) for value in (leaf.before, leaf.added, leaf.after)]
        if any(reach):
            rows.append(("", *reach, ""))
    if len(rows) == 1:
        raise operands.error(f"no finished call has a leaf '{name}'")
    current = console.session.kind, console.session.call
    return table_text([*rows, *gaps.pop(current, [])])


def _gaps(console: Console) -> dict[tuple[str, int], list[tuple[str, ...]]]:
    """Return a line about the calls that are not in full right before a call, for each that has
    such, that of the session included."""
    session = console.session
    run: Run | None = getattr(session.backward_call, "run", None)
    facts = () if run is None else tuple(run.calls())
    recorded = {(call.kind, call.number) for call in session.timeline.calls}
    known = sorted({*recorded, (session.kind, session.call)})
    lines: dict[tuple[str, int], list[tuple[str, ...]]] = {}
    for before, (kind, number) in zip([("", 0), *known], known, strict=False):
        first = before[1] + 1 if before[0] == kind else 1
        if first < number:
            numbers = f"{first}" if first + 1 == number else f"{first} to {number - 1}"
            title = f"{'call' if kind == 'backward' else kind} {numbers}"
            seen = [call for call in facts if call.kind == kind and first <= call.number < number]
            lines[kind, number] = [(title, *_seen(seen), "", "")]
    return lines


def _seen(calls: Sequence[CallFacts]) -> tuple[str, str]:
    """Say how much is known of calls that are not in full, and how their loss changed."""
    if not calls:
        return "not recorded", ""
    losses = [format_number(call.loss) for call in calls if call.loss is not None]
    ends = [losses[0], losses[-1]] if len(losses) > 1 else losses
    return "not in full", f"loss {' to '.join(ends)}" if ends else ""


def _kept(call: CallRecord) -> str:
    """Return whether nobody set a ``.grad`` to zero before the call."""
    kept = sum(leaf.kept for leaf in call.leaves)
    leaves = plural(len(call.leaves), "leaf", "leaves")
    return f"{kept} of {leaves} kept a .grad from before" if kept else ""


def _reach(statistics: Statistics | None) -> str:
    """Return what the root mean square hides: minimum and maximum, and how many are 0."""
    if statistics is None or statistics.size < 2 or math.isnan(statistics.minimum):
        return ""
    zeros = f", {statistics.zeros:,} are 0" if statistics.zeros else ""
    ends = f"{format_number(statistics.minimum)} to {format_number(statistics.maximum)}"
    return f"{ends}{zeros}"


def _told(statistics: Statistics | None) -> str:
    return "None" if statistics is None else format_statistics(statistics)

"""The gradients that arrived at a node, in order, their sum, what left it, and by which rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from textwrap import wrap
from typing import NamedTuple

from rich.cells import cell_len

from gradstep.debugger.snapshot import Incoming, NodeDetail, Outgoing, Snapshot, SumEdit, Value
from gradstep.debugger.snapshot.wording import summary
from gradstep.graph.addresses import step_number
from gradstep.text import printable
from gradstep_tui.app.sections.inside import inside_lines, is_inside, nested_lines
from gradstep_tui.app.sections.page import NodeTarget, Page, ScreenView, Target
from gradstep_tui.app.widgets.text import (
    UNDEFINED,
    Line,
    Part,
    StyleName,
    changed,
    fit,
    is_accumulate,
    node_label,
    shape_text,
    value_part,
)

MAX_NAME = 24
NARROW = 20  # cells beside a label; a value that needs more stands below it
BELOW = 6
MOST_MISSING = 32
MOST_SENT = 256  # a stack of many tensors sends to each of them
STATE_TEXT = {"done": "has run", "current": "runs next", "waiting": "has not run"}


class GradientLine(NamedTuple):
    """One line below a heading: a mark, what it is about, the value there, the node that the line
    leads to, and the rule that made the value, below it where there is no room beside it."""

    mark: str
    label: str
    shown: Line
    style: StyleName = "text"
    node: int | None = None
    rule: str = ""


def page(view: ScreenView) -> Page:
    """Return contributions, sum and outgoing gradients of the selected node, values in one
    column."""
    detail, snapshot = view.facts.detail(view.node), view.snapshot
    if is_inside(view, detail):
        lines = [title_line(detail, snapshot), *inside_lines(view, detail)]
        return Page(lines, focus=len(lines) - 1)
    entries: list[Line | GradientLine] = [title_line(detail, snapshot), *nested_lines(detail)]
    limit = max(12, min(MAX_NAME, view.width - 30))
    for incoming in detail.incoming:
        entries.append(_incoming_heading(incoming))
        entries += _contributions(incoming, view, limit)
        entries += _missing(incoming, view, limit)
        entries.append(_total(incoming, is_new=view.node in view.changed))
    if is_accumulate(snapshot.graph.names[detail.index]):
        entries += _leaf_gradient(view)
    if detail.outgoing:
        entries.append([Part("out", "backward")])
        rules = _rules(detail)
        entries += [
            _outgoing(outgoing, view, limit, rules.get(outgoing.output_nr, ""))
            for outgoing in detail.outgoing[:MOST_SENT]
        ]
        if len(detail.outgoing) > MOST_SENT:
            more = f"{len(detail.outgoing) - MOST_SENT:,} more"
            entries.append(GradientLine("·", more, [], "muted"))
        entries += _rule_lines(detail, known=bool(rules))
    entries += inside_lines(view, detail)
    labels = (cell_len(entry.label) for entry in entries if isinstance(entry, GradientLine))
    width = max(labels, default=0) + 2

    def rows_of(*, whole: bool) -> list[tuple[Line, int | None]]:
        """Return each line with the node that it leads to, values ``whole`` or cut."""
        rows: list[tuple[Line, int | None]] = []
        for entry in entries:
            if isinstance(entry, GradientLine):
                shown = aligned(entry, width, view.width, whole=whole)
                rows += [(line, entry.node) for line in shown]
            else:
                rows.append((entry, None))
        return rows

    rows = rows_of(whole=True)
    if len(rows) > view.height:
        rows = rows_of(whole=False)

    def target(line: int, column: int) -> Target | None:
        node = rows[line][1]
        return None if node is None else NodeTarget(node)

    return Page([line for line, _ in rows], target=target)


def _rule_lines(detail: NodeDetail, *, known: bool) -> list[Line]:
    """Return who wrote the rule; where those of the edges are not ``known`` one by one, how it
    reads."""
    lines: list[Line] = []
    if not known:
        lines = [[Part(f"  ∂ {printable(name)}  "), Part(printable(rule), "backward")]
                 for name, rule in detail.formulas]  # fmt: skip
    if detail.rule_line is not None:
        place = printable(detail.rule_line.place)
        lines.append([Part("  by the backward at ", "muted"), Part(place)])
    elif not known and not lines:
        lines = [[Part("  by an unknown rule", "muted")]]
    return lines


def _rules(detail: NodeDetail) -> dict[int, str]:
    """Return the rule for what is sent along each edge, with numbers where its terms are single
    ones."""
    needed = [outgoing.output_nr for outgoing in detail.outgoing if outgoing.target is not None]
    if len(detail.terms) == len(needed):
        return {
            nr: f"{term.rule} = {term.numbers}"
            if "_" not in term.numbers and term.numbers not in ("", term.rule)
            else term.rule
            for nr, term in zip(needed, detail.terms, strict=True)
        }
    if len(detail.formulas) == len(detail.outgoing):
        return {nr: rule for nr, (_, rule) in enumerate(detail.formulas)}
    return {}


def title_line(detail: NodeDetail, snapshot: Snapshot) -> Line:
    """Return the node in one line: number, name, address, and whether it has run."""
    name = snapshot.graph.names[detail.index]
    current = detail.status == "current"
    state = STATE_TEXT[detail.status]
    if current and snapshot.phase:
        state = "is being run"
    return [
        Part(f"{step_number(detail.index)} ", "muted"),
        Part(printable(name), "leaf" if is_accumulate(name) else "strong"),
        Part(f"  {printable(snapshot.graph.address(detail.index))}", "muted"),
        Part(f"  {state}", "strong" if current else "muted"),
        *([Part(f" · {marks}", "muted")] if (marks := _marks(detail, snapshot)) else []),
    ]


def _marks(detail: NodeDetail, snapshot: Snapshot) -> str:
    """Return what the letters of its row in the list mean."""
    totals = [
        incoming.total.statistics for incoming in detail.incoming if incoming.total is not None
    ]
    words = (
        ("N: nan", any(total.nans for total in totals)),
        ("I: infinite", any(total.infs for total in totals)),
        ("0: all zero", any(total.is_zero for total in totals)),
        ("H: has hooks", bool(detail.hooks)),
        ("E: changed by you", any(edit.index == detail.index for edit in snapshot.edits)),
        (">: a pass ran inside", bool(detail.nested)),
    )
    return " · ".join(word for word, so in words if so)


def aligned(entry: GradientLine, width: int, room: int, *, whole: bool) -> Iterator[Line]:
    """Yield an entry with its value in the common column or below, of a ``whole`` one all lines,
    and its rule where there is room."""
    line = [Part(f"  {entry.mark} ", "muted"), Part(fit(entry.label, width), entry.style)]
    is_narrow = room - width - 4 < NARROW
    column = BELOW if is_narrow else width + 4
    for part in entry.shown:
        used = sum(cell_len(each.text) for each in line)
        if not whole or used + cell_len(part.text) <= room:
            line.append(part)
            continue
        first, *others = wrap(part.text.strip(), max(12, room - column)) or [""]
        if used > column:  # the label is there, or a value already
            yield line
            line = [Part(" " * column)]
        line.append(part._replace(text=first))
        for text in others:
            yield line
            line = [Part(" " * column), part._replace(text=text)]
    if not entry.rule:
        yield line
    elif sum(cell_len(part.text) for part in line) + 2 + cell_len(entry.rule) <= room:
        yield [*line, Part(f"  {entry.rule}", "backward")]
    else:
        yield line
        for text in wrap(entry.rule, max(20, room - 8), subsequent_indent="   "):
            yield [Part(f"      {text}", "backward")]


def _incoming_heading(incoming: Incoming) -> Line:
    arrived = incoming.arrived
    return [
        Part("in" if not incoming.input_nr else f"in {incoming.input_nr}", "backward"),
        Part(f"  {shape_text(incoming.shape)}  {arrived} of {incoming.expected} arrived", "muted"),
    ]


def _contributions(incoming: Incoming, view: ScreenView, limit: int) -> list[GradientLine]:
    shown = [GradientLine("+", f"{incoming.skipped:,} before these", [], "muted")]
    shown = shown if incoming.skipped else []
    edits = deque(incoming.edits)
    for one in incoming.contributions:
        while edits and one.producer is not None and edits[0].position <= one.producer:
            shown.append(_edit(edits.popleft()))
        label = edge_label(view.snapshot, one.producer, one.output_nr, limit)
        values = value_parts(one.value, is_new=one.producer in view.last_move)
        shown.append(GradientLine("+", label, values, node=one.producer))
    return [*shown, *map(_edit, edits)]


def _edit(edit: SumEdit) -> GradientLine:
    """Return what the user made of the sum up to there."""
    return GradientLine("E", f"{edit.text} →", value_parts(edit.total))


def _missing(incoming: Incoming, view: ScreenView, limit: int) -> list[GradientLine]:
    """Return one entry for each producer that has not delivered yet."""
    if incoming.arrived >= incoming.expected:
        return []
    graph, snapshot = view.snapshot.graph, view.snapshot
    arriving = view.edges.producers_of(view.node, incoming.input_nr)
    waiting = arriving[len(arriving) - (incoming.expected - incoming.arrived) :]
    shown = [
        GradientLine(
            "·",
            edge_label(snapshot, graph.edge_sources[edge], graph.edge_output_nrs[edge], limit),
            [changed(Part("not yet", "muted"), graph.edge_sources[edge] in view.last_move)],
            "muted",
            graph.edge_sources[edge],
        )
        for edge in waiting[:MOST_MISSING]
    ]
    if len(waiting) > MOST_MISSING:
        more = f"{len(waiting) - MOST_MISSING:,} more"
        shown.append(GradientLine("·", more, [Part("not yet", "muted")], "muted"))
    return shown


def edge_label(
    snapshot: Snapshot, producer: int | None, output_nr: int, limit: int = MAX_NAME
) -> str:
    """Name where a contribution comes from: ``#4 mul:2 out 1``, or the seed."""
    if producer is None:
        return "seed gradient"
    return f"{node_label(snapshot, producer, limit)} out {output_nr}"


def _total(incoming: Incoming, *, is_new: bool) -> GradientLine:
    arrived = incoming.arrived
    complete = arrived >= incoming.expected
    if incoming.total is not None:
        shown = value_parts(incoming.total, is_new=is_new)
    elif arrived and complete:
        shown = value_parts(None, is_new=is_new)
    else:
        shown = [changed(Part("nothing yet", "muted"), is_new)]
    return GradientLine("=", "sum" if complete else "sum so far", shown, "strong")


def _leaf_gradient(view: ScreenView) -> list[GradientLine]:
    """Return ``.grad`` before and now, for the node that adds to it."""
    leaf = view.snapshot.leaves.of(view.node)
    if leaf is None:
        return []
    is_new = view.node in view.last_move
    return [
        GradientLine(" ", ".grad before", value_parts(leaf.before, absent="None"), "leaf"),
        GradientLine(" ", ".grad now", value_parts(leaf.now, absent="None", is_new=is_new), "leaf"),
    ]


def _outgoing(outgoing: Outgoing, view: ScreenView, limit: int, rule: str) -> GradientLine:
    is_new = view.node in view.last_move
    if outgoing.sent:
        shown = value_parts(outgoing.value, is_new=is_new)
    else:
        shown = [changed(Part("not sent yet", "muted"), is_new)]
    if rule and not (outgoing.sent and outgoing.value is None):
        single = outgoing.value is not None and outgoing.value.size == 1
        rule = f"{'=' if single else 'by'} {printable(rule)}"
    else:
        rule = ""
    if outgoing.target is None:
        return GradientLine(str(outgoing.output_nr), "→ needs no gradient", [], "muted")
    label = f"→ {node_label(view.snapshot, outgoing.target, limit)}"
    if outgoing.input_nr:
        label += f" in {outgoing.input_nr}"
    return GradientLine(str(outgoing.output_nr), label, shown, node=outgoing.target, rule=rule)


def value_parts(value: Value | None, *, absent: str = UNDEFINED, is_new: bool = False) -> Line:
    """Short description, then the first elements; undefined is a word, never a number."""
    if value is None:
        return [changed(Part(absent, "muted"), is_new)]
    short = value_part(value)
    if value.size == 1:
        return [changed(short, is_new)]
    text = short.text if value.statistics.trouble else summary(value)
    shown = changed(Part(text, short.style), is_new)
    return [shown, Part("  " + value.text(4), "muted")] if value.has_numbers else [shown]

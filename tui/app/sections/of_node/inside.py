"""The phases of a node: hooks, formula, reduction, deliveries, accumulation."""

from __future__ import annotations

from autograd_core.debug.snapshot import NodeDetail, Phase, Value
from autograd_core.text import printable
from tui.app.sections.of_node.gradient import title_line
from tui.app.sections.page import Page, View
from tui.app.widgets.text import UNDEFINED, Line, Part, StyleName, fit, value_part

TEXT_WIDTH = 34


def page(view: View) -> Page:
    """The phases of the selected node, and how far it is; of a hook, what it changed."""
    detail = view.session.detail(view.node)
    snapshot = view.snapshot
    lines: list[Line] = [title_line(detail, snapshot)]
    inside = detail.status == "current" and snapshot.phase > 0
    if detail.status != "done" and not inside:
        return Page([*lines, *_ahead(detail)])
    phases = view.session.phases(view.node)
    width = max(16, min(TEXT_WIDTH, view.width - 32))
    for number, phase in enumerate(phases, 1):
        lines += _phase_lines(phase, width, here=inside and number == len(phases))
    for title in detail.nested:
        lines.append(
            [
                Part("  "),
                Part(printable(title), "strong"),
                Part(" ran inside: > enters it", "muted"),
            ]
        )
    if inside:
        lines.append([Part("  s goes on, S goes back, n runs the rest", "muted")])
    return Page(lines, focus=len(lines) - 1 if inside else 0)


def _ahead(detail: NodeDetail) -> list[Line]:
    """Describe a node that has not run."""
    lines: list[Line] = [[Part("hooks", "title")]] if detail.hooks else []
    lines += [
        [Part("  " + printable(hook)), Part("  not called yet", "muted")] for hook in detail.hooks
    ]
    hint = "s steps inside" if detail.status == "current" else "u goes there"
    lines.append([Part(f"has not run: {hint}", "muted")])
    return lines


def _phase_lines(phase: Phase, width: int, *, here: bool) -> list[Line]:
    mark = Part("▶ " if here else "✓ ", "strong" if here else "muted")
    style: StyleName = "leaf" if phase.kind == "hook" else "strong" if here else "text"
    changed = phase.kind != "hook" or phase.before != phase.after
    verdict = "" if phase.kind != "hook" else "changed it" if changed else "changed nothing"
    first: Line = [
        mark,
        Part(fit(printable(phase.text), width), style),
        Part("  " + verdict, "muted"),
    ]
    if not changed:
        return [first]
    before = [_value(value) for value in phase.before] or [Part("nothing", "muted")]
    after = [_value(value) for value in phase.after] or [Part("nothing", "muted")]
    return [first, [Part("    "), *_listed(before), Part(" → ", "muted"), *_listed(after)]]


def _listed(values: list[Part]) -> Line:
    line: Line = []
    for value in values:
        line += [Part(", ", "muted"), value] if line else [value]
    return line


def _value(value: Value | None) -> Part:
    return Part(UNDEFINED, "muted") if value is None else value_part(value)

"""What happens inside a node: hooks, formula, reduction, deliveries, accumulation."""

from __future__ import annotations

from gradstep.debugger.snapshot import NodeDetail, Phase, Value
from gradstep.text import printable
from gradstep_tui.app.sections.page import ScreenView
from gradstep_tui.app.widgets.text import UNDEFINED, Line, Part, StyleName, fit, value_part

TEXT_WIDTH = 34
MOST_PHASES = 256  # one for each of many deliveries


def is_inside(view: ScreenView, detail: NodeDetail) -> bool:
    """Return whether the node of ``detail`` is being run, phase by phase."""
    return detail.status == "current" and view.snapshot.phase > 0


def inside_lines(view: ScreenView, detail: NodeDetail) -> list[Line]:
    """Return the phases of a node as far as it has run, and of a hook what it changed; before, its
    hooks."""
    inside = is_inside(view, detail)
    if detail.status != "done" and not inside:
        return _ahead(detail)
    lines: list[Line] = [] if inside else [[Part("inside", "title"), Part("  in order", "muted")]]
    phases = view.facts.phases(detail.index)
    width = max(16, min(TEXT_WIDTH, view.width - 32))
    skipped = max(0, len(phases) - MOST_PHASES)
    if skipped:
        lines.append([Part(f"  {skipped:,} phases before these", "muted")])
    for number, phase in enumerate(phases[skipped:], skipped + 1):
        lines += _phase_lines(phase, width, here=inside and number == len(phases))
    if inside:
        lines.append([Part("  s steps, S steps back, n runs the rest", "muted")])
    return lines


def nested_lines(detail: NodeDetail) -> list[Line]:
    """Return the backward passes that ran inside a node."""
    lines: list[Line] = []
    for title in detail.nested:
        lines.append(
            [
                Part("  "),
                Part(printable(title), "strong"),
                Part(" ran inside: > enters it", "muted"),
            ]
        )
    return lines


def _ahead(detail: NodeDetail) -> list[Line]:
    """Return the hooks of a node that has not run."""
    if not detail.hooks:
        return []
    return [
        [Part("hooks", "title"), Part("  not called yet", "muted")],
        *([Part("  " + printable(hook))] for hook in detail.hooks),
    ]


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

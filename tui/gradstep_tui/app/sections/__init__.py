"""The pages of the panes, one file each: functions from what is known to lines."""

from __future__ import annotations

from gradstep_tui.app.sections import (
    backward_calls,
    breakpoints,
    changes,
    console,
    contributions,
    explained,
    flow,
    gradient,
    graph,
    leaves,
    modules,
    other,
    run,
    source,
    value,
)
from gradstep_tui.app.sections.page import Section

SECTIONS = {
    section.name: section
    for section in (
        Section("gradient", "what arrived, its sum, what was sent, and the rule", gradient.page),
        Section("report", "why it stopped, and what check found", explained.report_page, False),
        Section("why", "why the gradient is None, 0, nan, tiny or huge", explained.why_page),
        Section("contributions", "each with the running sum", contributions.page),
        Section("values", "of the gradient, the forward op, and what was saved", value.page),
        Section("source", "the program around the forward line", source.page),
        Section("leaves", "the .grad of every leaf", leaves.page, False),
        Section("graph", "producers and consumers in boxes", graph.page),
        Section("modules", "the module tree; z folds", modules.page, False),
        Section(
            "breakpoints", "each breakpoint, and how often it was hit", breakpoints.page, False
        ),
        Section("changes", "your changes, and their effect", changes.page, False),
        Section("backward calls", "the calls so far", backward_calls.page, False),
        Section("flow", "the gradient at each node, in the order in which they run", flow.page),
        Section("run", "a leaf or a module over the recorded calls", run.page),
        Section("console", "commands and answers", console.page, False),
        Section("other run", "the same node in the other pass of diff --screen", other.page),
    )
}

"""The pages of the panes, one file each: functions from what is known to lines."""

from __future__ import annotations

from tui.app.sections import (
    calls,
    changes,
    check,
    console,
    formula,
    gradient,
    inside,
    leaves,
    ledger,
    modules,
    near,
    numbers,
    saved,
    source,
    stops,
    value,
)
from tui.app.sections.page import Section

SECTIONS = {
    section.name: section
    for section in (
        Section("gradient", "what arrived, its sum, and what was sent", gradient.page),
        Section("ledger", "every contribution with the running sum", ledger.page),
        Section("value", "statistics, elements, histogram, heat map", value.page),
        Section("saved", "what was kept from the forward pass, and its state", saved.page),
        Section("source", "the forward line", source.page),
        Section("formula", "the rule, its terms and results", formula.page),
        Section("inside", "hooks, formula, deliveries, step by step", inside.page),
        Section("numbers", "time, bytes, forward value, module", numbers.page),
        Section("check", "the numeric check of the rule", check.page),
        Section("leaves", "the .grad of every leaf", leaves.page, False),
        Section("near", "producers and consumers in boxes", near.page),
        Section("modules", "the module tree; z folds", modules.page, False),
        Section("stops", "the breakpoints", stops.page, False),
        Section("changes", "what you changed, and what it did", changes.page, False),
        Section("calls", "the backward calls of the program", calls.page, False),
        Section("console", "commands and answers", console.page, False),
    )
}

"""The message after a movement."""

from __future__ import annotations

from gradstep.debugger.commands.console import Console
from gradstep.debugger.commands.inspecting import displays_text
from gradstep.findings.reports.formatting import here
from gradstep.findings.reports.stop import stop_text
from gradstep.graph.addresses import step_number


def arrived(console: Console) -> str:
    """Tell what log points said on the way, why it stops, where it is, and the displays there.

    A stop that is about a node which has run lets inspecting commands speak of that one.
    """
    breakpoints = console.session.breakpoints
    reached = breakpoints.take_reached()
    console.follow(reached.point.commands if reached else ())
    said = breakpoints.take_messages()
    if reached is not None:
        said.append(stop_text(console.session, reached))
        if reached.trigger.subject.index != console.session.position:
            console.session.select(reached.trigger.subject.index)
    said += [f"{_at(console)}{here(console.session)}", displays_text(console)]
    return "\n".join(part for part in said if part)


def _at(console: Console) -> str:
    """Name what inspecting commands speak of, where that is not the node that runs next."""
    selected = console.session.selected
    if selected is None or selected == console.session.position:
        return ""
    return f"looking at {step_number(selected)}; next: "

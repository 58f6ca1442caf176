"""The command that explains a gradient."""

from __future__ import annotations

from typing import Final

from gradstep.debugger.commands.console import Command, Console
from gradstep.debugger.commands.language import Operands, pointing_at


def _why(console: Console, operands: Operands) -> str:
    # slow to load, and most sessions never ask
    from gradstep.findings.reports.why import explain, explain_node

    session = console.session
    if operands.text:
        with pointing_at(operands):
            found = explain(session, operands.text)
    elif session.selected is None:
        raise operands.error("the gradient of which leaf? why LEAF, as in why weight")
    else:
        found = explain_node(session, session.selected)
    if found.index is not None and found.index < session.position:
        session.select(found.index)
    return str(found)


COMMANDS: Final = (
    Command(
        "why [LEAF]", "why its gradient is None, 0, nan, tiny or huge", _why, (), "leaf",
        details="Explains the .grad of a leaf, the gradient of another tensor, or the incoming "
            "gradient at a place: where it was cut off, became zero or not finite, shrank, grew "
            "or cancelled, with the source line. It then selects that node. Guesses are marked "
            "as likely.",
    ),
)  # fmt: skip

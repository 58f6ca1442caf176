"""``check`` holds the rules of nodes to differences of their forward, ``lint`` reads the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gradstep.console.console import Command, Console
from gradstep.console.language import Operands, pointing_at
from gradstep.contract.lookup import engine_of_call
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.reports.formatting import source_place, wrapped
from gradstep.graph.addresses import step_number

# What checks is slow to load, and most sessions never ask for it: each command loads its own.
if TYPE_CHECKING:
    from gradstep.findings.finding import Finding


def _check(console: Console, operands: Operands) -> str:
    from gradstep.findings.checking import check_node  # slow to load

    session = console.session
    index = console.session.selected
    if operands.text:
        with pointing_at(operands):
            index = session.breakpoints.locate(operands.text)[0]
    if index is None:
        raise operands.error("the pass is over: name a node, as in check #1")
    check = check_node(session, index)
    place = source_place(session.graph, index)
    where = f"{step_number(index)} {check.address}" + (f" ({place})" if place else "")
    return wrapped(f"{where}: {check.sentence}")


def _certify(console: Console, operands: Operands) -> str:
    session = console.session
    return wrapped(session.certificate().text(session.graph))


_UNTRACED: Final = "gradstep check traces the forward pass and can tell"


def _lint(console: Console, operands: Operands) -> str:
    # slow to load
    from gradstep.findings.linting import lint
    from gradstep.findings.rules.graph.untraced import Untraced

    session = console.session
    lines = []
    for finding in lint(session.roots, names=session.names, fresh=_fresh(session)):
        place = f" ({finding.source.place})" if finding.source else ""
        remedy = _UNTRACED if isinstance(finding.reason, Untraced) else finding.remedy
        lines += [
            wrapped(f"{finding.severity}: {finding.what}{_times(finding)}{place}"),
            wrapped(f"  {remedy}"),
        ]
    return "\n".join(lines) or "no findings"


def _fresh(session: PassSession) -> set[int]:
    """Return the leaves, by identity, that had no ``.grad`` before the pass."""
    engine, driver = engine_of_call(session.backward_call), session.cursor.driver
    return {
        id(leaf)
        for index, leaf in enumerate(map(engine.leaf, session.order))
        if leaf is not None and driver.leaves.grad_before(index) is None
    }


def _times(finding: Finding) -> str:
    return f" ({finding.count} times)" if finding.count > 1 else ""


COMMANDS: Final = (
    Command(
        "check [PLACE]", "compare a node's rule with finite differences", _check, (), "place",
        details="Nothing moves, and no gradient changes. gradstep check --derivatives checks the "
            "nodes of a whole program.",
    ),
    Command(
        "certify", "call every node again, and compare the bits", _certify,
        details="It shows that the recorded gradients reproduce the engine's results bit by "
            "bit. Custom Functions run again; hooks do not.",
    ),
    Command("lint", "find common mistakes in the graph", _lint),
)  # fmt: skip

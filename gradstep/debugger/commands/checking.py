"""``check`` holds the rules of nodes to differences of their forward, ``lint`` reads the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from gradstep.debugger.commands.console import Command, Console
from gradstep.debugger.commands.language import Operands, pointing_at
from gradstep.debugger.pass_session import PassSession
from gradstep.engines.lookup import engine_of_call
from gradstep.findings.reports.formatting import source_place, wrapped
from gradstep.graph.addresses import step_number
from gradstep.records import LEAF
from gradstep.text import plural

# What checks is slow to load, and most sessions never ask for it: each command loads its own.
if TYPE_CHECKING:
    from gradstep.findings.checking import NodeCheck
    from gradstep.findings.linting import Finding


def _check(console: Console, operands: Operands) -> str:
    from gradstep.findings.checking import check_node  # slow to load

    session = console.session
    if operands.text == "all":
        return _all(console)
    index = console.session.selected
    if operands.text:
        with pointing_at(operands):
            index = session.breakpoints.locate(operands.text)[0]
    if index is None:
        raise operands.error("the pass is over: name a node, as in check #1, or check all")
    return _line(console, check_node(session, index))


def _all(console: Console) -> str:
    from gradstep.findings.checking import check_plan  # slow to load

    checks, end = [], ""
    console.session.take_interrupt()  # an old one
    for check in check_plan(console.session):
        checks.append(check)
        if console.session.take_interrupt():
            end = f"; interrupted after {step_number(check.index)}"
            break
    wrong = [check for check in checks if check.verdict == "wrong"]
    skipped = [check for check in checks if check.verdict == "not checkable"]
    right = len(checks) - len(wrong) - len(skipped)
    summary = f"{plural(len(checks), 'node')}: {right} right, {len(wrong)} wrong"
    if skipped:
        summary += f", {len(skipped)} not checkable"
    lines = [_line(console, check) for check in wrong]
    return "\n".join([*lines, *_not_checkable(console, skipped), summary + end])


def _not_checkable(console: Console, skipped: Sequence[NodeCheck]) -> Iterator[str]:
    """Yield each reason once, with the first node for which it holds."""
    by_reason: dict[str, list[NodeCheck]] = {}
    for check in skipped:
        by_reason.setdefault(check.why_not, []).append(check)
    for reason, (first, *others) in by_reason.items():
        more = f" and {len(others)} more" if others else ""
        text = reason if first.worst else f"not checkable: {reason}"
        yield wrapped(f"{_named(console, first)}{more}: {text}")


def _line(console: Console, check: NodeCheck) -> str:
    return wrapped(f"{_named(console, check)}: {check.sentence}")


def _named(console: Console, check: NodeCheck) -> str:
    place = source_place(console.session.graph, check.index)
    return f"{step_number(check.index)} {check.address}" + (f" ({place})" if place else "")


def _certify(console: Console, operands: Operands) -> str:
    session = console.session
    return wrapped(session.certificate().text(session.graph))


_UNTRACED: Final = "gradstep check traces the forward pass and can tell"


def _lint(console: Console, operands: Operands) -> str:
    from gradstep.findings.linting import lint  # slow to load

    session = console.session
    lines = []
    for finding in lint(session.roots, names=session.names, fresh=_fresh(session)):
        place = (
            f" ({PurePath(finding.source.file).name}:{finding.source.line})"
            if finding.source
            else ""
        )
        remedy = _UNTRACED if finding.code == "untraced" else finding.remedy
        lines += [
            wrapped(f"{finding.severity}: {finding.what}{_times(finding)}{place}"),
            wrapped(f"  {remedy}"),
        ]
    return "\n".join(lines) or "no findings"


def _fresh(session: PassSession) -> set[int]:
    """Return the leaves, by identity, that had no ``.grad`` before the pass."""
    engine, driver = engine_of_call(session.backward_call), session.cursor.driver
    nodes = ((index, node) for index, node in enumerate(session.order) if node.kind == LEAF)
    leaves = ((index, engine.leaf(node)) for index, node in nodes)
    return {
        id(engine.user_tensor(leaf))
        for index, leaf in leaves
        if leaf is not None and driver.grad_before(index) is None
    }


def _times(finding: Finding) -> str:
    return f" ({finding.count} times)" if finding.count > 1 else ""


COMMANDS: Final = (
    Command(
        "check [PLACE]", "compare a node's rule with finite differences", _check, (), "place",
        details="check all checks every node, and names those that are wrong. Nothing moves, "
            "and no gradient changes.",
    ),
    Command(
        "certify", "call every node again, and compare the bits", _certify,
        details="It shows that the recorded gradients reproduce the engine's results bit by "
            "bit. Custom Functions run again; hooks do not.",
    ),
    Command("lint", "find common mistakes in the graph", _lint),
)  # fmt: skip

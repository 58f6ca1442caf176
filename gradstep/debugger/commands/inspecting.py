"""Commands that show something and change nothing: print, display, list, order, where, up, down."""

from __future__ import annotations

from typing import Final

from gradstep.debugger.breakpoints.logtext import format_value
from gradstep.debugger.breakpoints.predicate import (
    ExpressionSubject,
    NodeSubject,
    Nowhere,
    arriving,
)
from gradstep.debugger.commands.console import Command, Console
from gradstep.debugger.commands.language import Operands, pointing_at
from gradstep.debugger.commands.printing import print_text, understood
from gradstep.debugger.errors import CommandError, Unanswerable
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot.wording import summary
from gradstep.findings.reports.formatting import file_and_line, node_line, wrapped
from gradstep.findings.reports.rows import node_text
from gradstep.findings.reports.source import forward_line, lines_around, quoted

_AROUND: Final = 5  # lines, or nodes, before and after the one in question


def subject(console: Console) -> ExpressionSubject:
    """Choose what an expression that is typed here speaks of: the gradient that arrives here."""
    index = console.session.selected
    return Nowhere(console.session.inspector) if index is None else subject_at(console, index)


def subject_at(console: Console, index: int) -> ExpressionSubject:
    """Choose what an expression about node ``index`` speaks of."""
    first = next(arriving(console.session.inspector, index), None)
    return first or NodeSubject(console.session.inspector, index, None, "in")


def _print(console: Console, operands: Operands) -> str:
    asked = operands if operands.text else Operands("in", operands.column)
    return print_text(console, asked, subject(console))


def _display(console: Console, operands: Operands) -> str:
    if not operands.text:
        return displays_text(console) or "there are no displays"
    understood(console, operands)
    displays = console.session.breakpoints.displays
    number = max(displays, default=0) + 1
    displays[number] = operands.text
    return display_line(console, number)


def displays_text(console: Console) -> str:
    """Return every display, with the value that it has here."""
    return "\n".join(
        display_line(console, number) for number in console.session.breakpoints.displays
    )


def display_line(console: Console, number: int) -> str:
    """Return one display: ``1: rms = 0.5``."""
    text = console.session.breakpoints.displays[number]
    try:
        expression = understood(console, Operands(text, 0))
        value = expression.value(subject(console))
    except (Unanswerable, CommandError) as reason:  # a tensor may have its name in one call only
        return f"{number}: {text} is unknown ({reason})"
    return f"{number}: {expression.text} = {format_value(value)}"


def _undisplay(console: Console, operands: Operands) -> str:
    displays = console.session.breakpoints.displays
    if not operands.text:
        displays.clear()
        return "all displays removed"
    for word in operands.words():
        if displays.pop(word.count(), None) is None:
            raise word.error(f"there is no display {word.text} (display lists them)")
    return ""


def _middle(console: Console, operands: Operands) -> int:
    """Return the node in question: the one named, the selected one, or the one that runs next."""
    if not console.session.length:
        raise operands.error("no node runs in this pass")
    if operands.text:
        with pointing_at(operands):
            return console.session.breakpoints.locate(operands.text)[0]
    selected = console.session.selected
    return console.session.position if selected is None else selected


def _list(console: Console, operands: Operands) -> str:
    """Return the program around the forward line of a node."""
    session = console.session
    index = min(_middle(console, operands), session.length - 1)
    found = forward_line(session, index)
    if found is None:
        said = f"the forward line of {node_text(session.graph, index)} is not known"
        hint = session.snapshot.hint
        return "\n".join([said, wrapped(hint)]) if hint else said
    owner, source = found
    head = f"{file_and_line(source)}  {node_text(session.graph, owner)}"
    if owner != index:
        head += f", which sends to {node_text(session.graph, index)}"
    around = lines_around(source, _AROUND, _AROUND)
    width = len(str(around[-1].number)) if around else 0
    rows = [f"{'->' if here else '  '} {number:>{width}}  {text}".rstrip()
            for number, text, here in around]  # fmt: skip
    return "\n".join([head, *(rows or ["the file cannot be read"])])


def _order(console: Console, operands: Operands) -> str:
    """Return the nodes around one, in the order in which they run."""
    session = console.session
    middle, selected = _middle(console, operands), session.selected
    first = max(0, min(middle - _AROUND, session.length - 2 * _AROUND - 1))
    marked = {index for point in session.breakpoints.points for index in point.indices}
    rows = []
    for index in range(first, min(session.length, first + 2 * _AROUND + 1)):
        here = "->" if index == session.position else " *" if index == selected else "  "
        rows.append(f"{here}{'b' if index in marked else ' '} {node_line(session.graph, index)}")
    return "\n".join(rows)


# the way from the loss to here


def _path(session: PassSession, index: int) -> list[int]:
    """Return the nodes between ``index`` and the loss, both included."""
    return list(reversed(session.path(index)))


def _where(console: Console, operands: Operands) -> str:
    session = console.session
    limit = operands.count(20)
    index = console.session.selected
    if index is None:
        return session.snapshot.reason
    path = _path(session, index)
    shown_path = path if len(path) <= limit else [*path[: limit - 1], path[-1]]
    lines, before = [], ""
    for depth, each in enumerate(shown_path):
        if depth and depth == limit - 1 and len(path) > limit:
            lines.append(f"   ... {len(path) - limit} more ...")
        lines.append(f"{'->' if not depth else '  '} {_frame(session, each)}")
        source = session.graph.sources.get(each)
        text = "" if source is None else quoted(source)
        if text not in ("", before):  # several nodes of one line stand below each other
            lines.append(f"      {text}")
        before = text
    return "\n".join(lines)


def _frame(session: PassSession, index: int) -> str:
    incoming = session.detail(index).incoming
    arrived = ", ".join(summary(each.total, each.without_total) for each in incoming)
    several = sum(each.arrived for each in incoming)
    note = f" (sum of {several})" if several > 1 else ""
    return f"{node_line(session.graph, index)}  in {arrived}{note}"


def _up(console: Console, operands: Operands) -> str:
    return _climb(console, operands.count())


def _down(console: Console, operands: Operands) -> str:
    return _climb(console, -operands.count())


def _climb(console: Console, steps: int) -> str:
    index = console.session.selected
    if index is None:
        raise CommandError("the pass is over: choose a node, as in frame #1")
    if not console.path or console.path[console.depth] != index:
        console.path, console.depth = _path(console.session, index), 0
    depth = console.depth + steps
    if depth < 0:
        raise CommandError("this is where you came from: down goes no further")
    if depth >= len(console.path):
        raise CommandError("this is where the gradient starts: up goes no further")
    console.depth = depth
    console.session.select(console.path[depth])
    return _frame(console.session, console.path[depth])


def _choose(console: Console, operands: Operands) -> str:
    if operands.text:
        with pointing_at(operands):
            console.session.select(console.session.breakpoints.locate(operands.text)[0])
    index = console.session.selected
    if index is None:
        raise operands.error("the pass is over: name a node, as in frame #1")
    return _frame(console.session, index)


COMMANDS: Final = (
    Command(
        "print [EXPRESSION]", "show a number, or a tensor's distribution", _print, ("p",),
        "expression",
        details="Without EXPRESSION, it shows the incoming gradient. Tensors: in, out.0, grad, "
        "saved.self, weight, weight.grad, and parts of them, as in weight.grad[0:3]. print "
        "saved.self where x == 0 and print out at nan list elements, with related values at the "
        "same indices. frame PLACE selects another node.",
    ),
    Command(
        "display [EXPRESSION]", "show it at every stop, or list the displays", _display, (),
        "expression",
    ),
    Command("undisplay [NUMBER...]", "remove a display", _undisplay),
    Command(
        "list [PLACE]", "show the program around the forward line", _list, ("l",), "place",
        details="For a leaf, the line of the node that sends to it.",
    ),
    Command("order [PLACE]", "list the nodes around here, in order", _order, (), "place"),
    Command(
        "where [COUNT]", "show the path to the loss", _where, ("bt", "backtrace"),
        details="The shortest path, with source lines. up and down move along it.",
    ),
    Command("up [COUNT]", "select the node that sent the gradient", _up),
    Command("down [COUNT]", "return along the path of up", _down, ("do",)),
    Command("frame [PLACE]", "select any node; nothing runs", _choose, ("f",), "place"),
)  # fmt: skip

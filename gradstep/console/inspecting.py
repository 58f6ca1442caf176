"""Commands that show something and change nothing: print, display, list, order, where, up, down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from gradstep.console.console import Command, Console
from gradstep.console.language import Operands, pointing_at
from gradstep.console.printing import print_text, understood, write_tensor
from gradstep.debugger.breakpoints.predicate import ExpressionSubject
from gradstep.debugger.displays import subject_at, values_of
from gradstep.debugger.errors import CommandError
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot.wording import summary
from gradstep.findings.reports.formatting import node_line, wrapped
from gradstep.findings.reports.source import forward_line, lines_around, quoted
from gradstep.graph.addresses import node_text
from gradstep.graph.errors import UnknownAddress

_AROUND: Final = 5  # lines, or nodes, before and after the one in question


def subject(console: Console) -> ExpressionSubject:
    """Choose what an expression that is typed here speaks of: the gradient that arrives here."""
    index = console.session.selected
    return subject_at(console.session.inspector, index)


def _print(console: Console, operands: Operands) -> str:
    asked = operands if operands.text else Operands("in", operands.column)
    return print_text(console, asked, subject(console))


def dump(console: Console, operands: Operands) -> str:
    """Write the tensor that an expression means, or what arrived at a place, to a file of NumPy."""
    how = "dump TENSOR FILE.npy, as in dump in g.npy"
    words = operands.required(how).words()
    if len(words) < 2 or not words[-1].text.endswith(".npy"):
        raise words[-1].error(f"write {how}")
    file = words[-1]
    tensor = Operands(operands.text[: file.column - operands.column].rstrip(), operands.column)
    places: Sequence[int] = ()
    with suppress(UnknownAddress):
        places = console.session.breakpoints.locate(tensor.text)
    is_place = len(places) == 1 and console.session.inspector.tensor(tensor.text) is None
    if not is_place:
        return write_tensor(console, tensor, subject(console), file)
    here = subject_at(console.session.inspector, places[0])
    if all(incoming.total is None for incoming in console.session.inspector.incoming(places[0])):
        raise tensor.error(f"no gradient has arrived at {tensor.text}")
    return write_tensor(console, Operands("in", tensor.column), here, file)


def _display(console: Console, operands: Operands) -> str:
    if not operands.text:
        return displays_text(console) or "there are no displays"
    understood(console, operands)
    displays = console.session.breakpoints.displays
    number = max(displays, default=0) + 1
    displays[number] = operands.text
    return displays_text(console, {number: operands.text})


def displays_text(console: Console, displays: Mapping[int, str] | None = None) -> str:
    """Return ``displays``, or every one, with the values that they have here: ``1: rms = 0.5``."""
    session = console.session
    chosen = session.breakpoints.displays if displays is None else displays
    shown = values_of(chosen, session.inspector, session.selected)
    return "\n".join(f"{number}: {text}" for number, text in shown)


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
    line = forward_line(session, index)
    if line is None:
        problem = f"the forward line of {node_text(session.graph, index)} is not known"
        hint = session.snapshot.hint
        return "\n".join([problem, wrapped(hint)]) if hint else problem
    owner, source = line
    head = f"{source.place}  {node_text(session.graph, owner)}"
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
    for depth, node in enumerate(shown_path):
        if depth and depth == limit - 1 and len(path) > limit:
            lines.append(f"   ... {len(path) - limit} more ...")
        lines.append(f"{'->' if not depth else '  '} {_frame(session, node)}")
        source = session.graph.sources.get(node)
        text = "" if source is None else quoted(source)
        if text not in ("", before):  # several nodes of one line stand below each other
            lines.append(f"      {text}")
        before = text
    return "\n".join(lines)


def _frame(session: PassSession, index: int) -> str:
    incoming = session.detail(index).incoming
    arrived = ", ".join(summary(arrival.total, arrival.without_total) for arrival in incoming)
    several = sum(arrival.arrived for arrival in incoming)
    note = f" (sum of {several})" if several > 1 else ""
    return f"{node_line(session.graph, index)}  in {arrived}{note}"


def _climb(console: Console, operands: Operands, direction: int) -> str:
    index = console.session.selected
    if index is None:
        raise CommandError("the pass is over: choose a node, as in frame #1")
    if not console.path or console.path[console.depth] != index:
        console.path, console.depth = _path(console.session, index), 0
    depth = console.depth + direction * operands.count()
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


def _why(console: Console, operands: Operands) -> str:
    # slow to load, and most sessions never ask
    from gradstep.findings.reports.why import explain, explain_node

    session = console.session
    if operands.text:
        with pointing_at(operands):
            explanation = explain(session, operands.text)
    elif session.selected is None:
        raise operands.error("the gradient of which leaf? why LEAF, as in why weight")
    else:
        explanation = explain_node(session, session.selected)
    if explanation.index is not None and explanation.index < session.position:
        session.select(explanation.index)
    return str(explanation)


COMMANDS: Final = (
    Command(
        "why [LEAF]", "why a gradient is None, 0, nan, tiny or huge", _why, (), "leaf",
        details="Explains the .grad of a leaf, the gradient of another tensor, or the incoming "
            "gradient at a place: where it was cut off, became zero or not finite, shrank, grew "
            "or cancelled, with the source line. It then selects that node. Guesses are marked "
            "as likely.",
    ),
    Command(
        "print [EXPRESSION]", "show a number, or a tensor's distribution", _print, ("p",),
        "expression",
        details="Without EXPRESSION, it shows the incoming gradient. Tensors: in, out.0, grad, "
        "saved.self, weight, weight.grad, and parts of them, as in weight.grad[0:3]. print "
        "saved.self where x == 0 and print out at nan list elements, with related values at the "
        "same indices. frame PLACE selects another node.",
    ),
    Command(
        "display [EXPRESSION]", "show a value at every stop, or list the displays", _display, (),
        "expression",
    ),
    Command(
        "dump TENSOR FILE.npy", "write a tensor to a file, exactly", dump, (), "expression",
        details="TENSOR is as print takes it (in, out.0, saved.self, weight.grad), or the place of "
        "a node, whose incoming gradient it means then: dump mul:1 g.npy. numpy.load reads the "
        "file.",
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
    Command("up [COUNT]", "select the node that sent the gradient", partial(_climb, direction=1)),
    Command("down [COUNT]", "return along the path of up", partial(_climb, direction=-1), ("do",)),
    Command("frame [PLACE]", "select any node; nothing runs", _choose, ("f",), "place"),
)  # fmt: skip

"""Commands that move through the pass, forwards and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gradstep.console.console import Command, Console
from gradstep.console.inspecting import displays_text
from gradstep.console.language import Operands, pointing_at
from gradstep.console.stopping import catch, is_condition, refuse_condition
from gradstep.debugger.errors import CommandError
from gradstep.debugger.pass_session import PassSession
from gradstep.findings.reports.formatting import here, node_line, table_text
from gradstep.findings.reports.stop import stop_text
from gradstep.graph.addresses import step_number
from gradstep.graph.errors import UnknownAddress


def arrived(console: Console) -> str:
    """Tell what log points said on the way, why it stops, where it is, and the displays there.

    A stop that is about a node which has run lets inspecting commands speak of that one.
    """
    breakpoints = console.session.breakpoints
    reached = breakpoints.take_reached()
    console.follow(reached.point.commands if reached else ())
    lines = breakpoints.take_messages()
    if reached is not None:
        lines.append(stop_text(console.session, reached))
        if reached.trigger.subject.index != console.session.position:
            console.session.select(reached.trigger.subject.index)
    lines += [f"{_at(console)}{here(console.session)}", displays_text(console)]
    return "\n".join(part for part in lines if part)


def _at(console: Console) -> str:
    """Name what inspecting commands speak of, where that is not the node that runs next."""
    selected = console.session.selected
    if selected is None or selected == console.session.position:
        return ""
    return f"looking at {step_number(selected)}; next: "


PLACE: Final = "where? A place is #12, an address, an op, a scope, a leaf's name or train.py:12"
_STOPS = "A stop on the way ends it: a breakpoint, a catch or a watch."
_COUNTED = f"COUNT is an integer; the default is 1. {_STOPS}"


def _or_difference(
    move: Callable[[Console, Operands], str], step: int
) -> Callable[[Console, Operands], str]:
    """Return ``move``, which goes to where two passes differ if the word ``difference`` follows."""

    def run(console: Console, operands: Operands) -> str:
        if len(operands.text) < 3 or not "difference".startswith(operands.text):
            return move(console, operands)
        session = console.session
        if session.beside is None:
            raise operands.error("there is no other pass: gradstep diff --screen A B opens two")
        node = next(session.beside.differences(session.position, step), None)
        if node is None:
            raise operands.error(f"no difference {'after' if step > 0 else 'before'} this")
        session.jump(node)
        return f"{session.beside.text(node)}\n{arrived(console)}"

    return run


def _counted(
    move: Callable[[PassSession, int], object], left: str, is_over: Callable[[PassSession], bool]
) -> Callable[[Console, Operands], str]:
    """Return a movement that takes a count itself, where nothing is ``left`` once it is over."""

    def run(console: Console, operands: Operands) -> str:
        session, count = console.session, _count(operands)
        was_over = is_over(session)
        move(session, count)
        note = f"nothing is left to {left}{_way_out(session)}\n" if was_over else ""
        return f"{note}{arrived(console)}"

    return run


def _ahead(move: Callable[[PassSession, int], object]) -> Callable[[Console, Operands], str]:
    return _counted(move, "run", lambda s: s.position == s.length)


def _back(move: Callable[[PassSession, int], object]) -> Callable[[Console, Operands], str]:
    return _counted(move, "undo", lambda s: s.position == 0 and s.snapshot.phase == 0)


def _count(operands: Operands) -> int:
    """Return how often to move."""
    if operands.text and not operands.text.isdecimal():
        refuse_condition(operands)
    return operands.count()


def _way_out(session: PassSession) -> str:
    """Say what to do at either end of a pass that ran inside another one."""
    return " in this pass; leave shows the one around it" if len(session.frames) > 1 else ""


def _finish(
    move: Callable[[Console, Operands], str], behind: int = 0
) -> Callable[[Console, Operands], str]:
    """Return ``move``, refused where there is no module to come to an end of."""

    def run(console: Console, operands: Operands) -> str:
        session = console.session
        if 0 <= session.position - behind < session.length and not session.module(behind):
            raise CommandError(
                f"{step_number(session.position - behind)} is in no module: there is no end to "
                "run to; use continue"
            )
        return move(console, operands)

    return run


def _reverse_step(console: Console, operands: Operands) -> str:
    answer = _back(lambda s, n: s.step_back(n))(console, operands)
    return answer if console.session.snapshot.phase else f"{answer}\n  before its first phase"


def _repeated(move: Callable[[PassSession], object]) -> Callable[[Console, Operands], str]:
    """Return a movement that is made as often as the count says, or until it stops moving."""

    def run(console: Console, operands: Operands) -> str:
        for _ in range(_count(operands)):
            before = console.session.position
            move(console.session)
            if console.session.position == before:
                break
        return arrived(console)

    return run


def _continue(console: Console, operands: Operands) -> str:
    """Go on to the next stop; at the end of the pass, or with ``--calls``, in the calls of the
    program that follow."""
    flag, condition = operands.first()
    session = console.session
    if flag.text == "--calls":
        return _run_on(console, condition, operands)
    if not operands.text and session.program and _is_over(session) and _stops(session):
        console.leaving = "calls"
        return ""
    return _repeated(lambda s: s.continue_())(console, operands)


def _run_on(console: Console, condition: Operands, operands: Operands) -> str:
    """Go on to the next stop, in this call or a later one; first catch a condition, if any."""
    session = console.session
    known = {point.condition for point in session.breakpoints.points if point.kind == "catch"}
    if condition.text and condition.text not in known:
        catch(console, condition)
    if not _is_over(session):
        session.breakpoints.last = None
        session.continue_()
        answer = arrived(console)
        if session.breakpoints.last is not None or session.position < session.length:
            return answer
    if not _stops(session):
        raise operands.error("nothing to stop at: use catch nan or break PLACE first")
    console.leaving = "calls"
    return ""


def _is_over(session: PassSession) -> bool:
    return session.position == session.length and len(session.frames) == 1


def _stops(session: PassSession) -> bool:
    """Return whether any point could stop a later call."""
    return any(point.enabled and point.kind != "log" for point in session.breakpoints.points)


def _until(console: Console, operands: Operands) -> str:
    place, count = operands.required(PLACE).first()
    try:
        console.session.breakpoints.locate(place.text)
    except UnknownAddress:
        if is_condition(operands.text):
            return _run_on(console, operands, operands)
    with pointing_at(place):
        console.session.until(place.text, count.count())
    return arrived(console)


def _jump(console: Console, operands: Operands) -> str:
    session, text = console.session, operands.required(PLACE).text
    if text == "end":
        session.jump(session.length)
        return arrived(console)
    if text in console.marks:
        session.jump(console.marks[text])
        return arrived(console)
    try:
        session.breakpoints.locate(text)
    except UnknownAddress:
        refuse_condition(operands)
    with pointing_at(operands):
        session.jump(session.breakpoints.locate(f"#{text}" if text.isdecimal() else text)[0])
    return arrived(console)


def _mark(console: Console, operands: Operands) -> str:
    marks, session = console.marks, console.session
    if not operands.text:
        rows = [(name, "end" if at == session.length else node_line(session.graph, at))
                for name, at in marks.items()]  # fmt: skip
        return table_text(rows) or "no marks: mark NAME sets one here"
    name, _ = operands.first()
    if not name.text.isidentifier():
        raise name.error(
            f"'{name.text}' is not a name: write letters and digits, as in mark before"
        )
    marks[name.text] = session.position
    return f"mark {name.text}: jump {name.text} comes back here"


def _restart(console: Console, operands: Operands) -> str:
    console.session.restart()
    return arrived(console)


def _enter(console: Console, operands: Operands) -> str:
    place, number = operands.first()
    index = console.session.selected
    if place.text:
        with pointing_at(place):
            index = console.session.breakpoints.locate(place.text)[0]
    if index is None:
        raise operands.error("the pass is over: name a node, as in enter #1")
    if not console.session.enter(index, number.count() - 1):
        raise operands.error(f"node {step_number(index)} has not started a backward pass so far")
    return arrived(console)


def _leave(console: Console, operands: Operands) -> str:
    for number in range(operands.count()):
        if not console.session.leave() and not number:
            raise operands.error("this is the outermost pass; quit closes the debugger")
    return arrived(console)


COMMANDS: Final = (
    Command(
        "next [COUNT]", "run the next node", _or_difference(_ahead(lambda s, n: s.next(n)), 1),
        ("n",),
        details=f"{_COUNTED} Where two passes are compared (gradstep diff --screen), next "
            "difference goes to the next node at which they differ.",
    ),
    Command(
        "step [COUNT]", "step inside the node, to its next phase",
        _ahead(lambda s, n: s.step(n)), ("s",),
        details="A phase is a hook, the formula, a reduction, one delivery, an accumulation. "
            f"{_STOPS}",
    ),
    Command(
        "over [COUNT]", "run the module that begins here", _ahead(lambda s, n: s.over(n)),
        ("o",), details=f"If none begins here, it runs the next node. {_STOPS}",
    ),
    Command(
        "finish [COUNT]", "run to the end of the module", _finish(_ahead(lambda s, n: s.out(n))),
        details=_STOPS,
    ),
    Command(
        "continue [COUNT]", "run to the next stop, or to the end", _continue, ("c",),
        details="COUNT chooses the stop: 3 skips two. At the end of the pass, it runs on to the "
            "next stop in a later call of backward(); continue --calls does so from anywhere.",
    ),
    Command(
        "reverse-next [COUNT]", "undo the last node",
        _or_difference(_back(lambda s, n: s.back(n)), -1), ("back", "rn", "N"),
        details=f"{_COUNTED} reverse-next difference goes to the difference before.",
    ),
    Command(
        "reverse-step [COUNT]", "go back inside the node",
        _reverse_step, ("rs", "S"), details=_STOPS,
    ),
    Command(
        "reverse-over [COUNT]", "go back before the module ending here",
        _back(lambda s, n: s.back_over(n)), ("ro", "O"), details=_STOPS,
    ),
    Command(
        "reverse-finish [COUNT]", "go back before the module around here",
        _finish(_back(lambda s, n: s.back_out(n)), behind=1), ("rf",), details=_STOPS,
    ),
    Command(
        "reverse-continue [COUNT]", "go back to the previous stop",
        _repeated(lambda s: s.reverse_continue()), ("rc", "C"),
    ),
    Command(
        "until PLACE [COUNT]", "run to just before a node", _until, ("u", "advance"), "place",
        details=f"Goes to the next such node or, if all have run, back to the first. {_STOPS} "
            "until nan, or another condition, catches it and continues, through later calls too.",
    ),
    Command(
        "jump PLACE", "go to just before a node, forward or back", _jump, ("j",), "place",
        details="7 means #7, end is the end of the pass, and a mark is a place, too. "
            "Nothing stops it on the way.",
    ),
    Command(
        "mark [NAME]", "name this position for jump, or list marks", _mark, (), "word",
        details="Marks belong to this pass.",
    ),
    Command(
        "enter [PLACE] [COUNT]", "enter a backward pass that ran inside a node", _enter, (),
        "place", details="A hook or a Function may call backward() itself; COUNT chooses which "
        "call.",
    ),
    Command("leave [COUNT]", "return to the outer pass", _leave),
    Command(
        "restart", "go back to before the first node", _restart, ("run", "r"),
        details="Nothing stops it on the way.",
    ),
)  # fmt: skip

"""Commands that say where to stop."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any, Final

from gradstep.console.console import Command, Console
from gradstep.console.language import Operands, pointing_at
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.errors import CommandError, ExpressionError
from gradstep.debugger.snapshot.breakpoint import Breakpoint
from gradstep.graph.addresses import step_number
from gradstep.graph.errors import UnknownAddress
from gradstep.text import listed, plural

_PENDING = "--pending"
_CONDITIONS = (
    "A condition is an expression, as in rms > 10 (help expressions), or several with commas "
    "between them: nan, inf, rms > 1e3."
)


def _set(console: Console, operands: Operands, **properties: Any) -> str:
    pending, operands = _pending(operands)
    place, condition = operands.cut("if")
    if place.text == "*" and condition is not None:  # anywhere, as without a place
        place = Operands("", place.column)
    if not place.text and condition is None:
        index = console.session.selected
        if index is None:
            raise operands.error("where? The pass is over, and nothing runs next")
        place = Operands(step_number(index), place.column)
    kind = "breakpoint" if place.text else "catch"
    return _add(console, place, condition, kind=kind, pending=pending, **properties)


def _pending(operands: Operands) -> tuple[bool, Operands]:
    """Read whether the place may be missing here, and what follows that word."""
    flag, rest = operands.first()
    return (True, rest) if flag.text == _PENDING else (False, operands)


def catch(console: Console, operands: Operands) -> str:
    """Stop where a gradient first meets a condition."""
    operands.required("catch what? A condition, such as nan or rms > 1e3")
    with suppress(UnknownAddress):
        if not is_condition(operands.text) and console.session.breakpoints.locate(operands.text):
            raise operands.error(
                f"'{operands.text}' is a place, not a condition; did you mean: break "
                f"{operands.text}?"
            )
    return _add(console, Operands("", 0), operands, kind="catch", born=True)


def _watch(console: Console, operands: Operands) -> str:
    pending, operands = _pending(operands)
    leaf, condition = operands.cut("if")
    leaf.required("which leaf, or which node? info leaves lists the leaves")
    place = Operands(leaf.text.removesuffix(".grad"), leaf.column)
    with suppress(UnknownAddress):  # which is told below
        indices = console.session.breakpoints.locate(place.text)
        leaves = [console.session.leaf(index) is not None for index in indices]
        if indices and not any(leaves):
            return _add(console, place, condition, kind="watch", sums=True)
        if not all(leaves):
            raise place.error(f"'{place.text}' names leaves and other nodes: watch one of them")
    return _add(console, place, condition, kind="watch", pending=pending)


def _logpoint(console: Console, operands: Operands) -> str:
    pending, operands = _pending(operands)
    operands.required("where? logpoint PLACE TEXT, as in logpoint mul rms is {rms}")
    place, comma, message = operands.partition(",")
    if not comma or " " in place.text:
        place, message = operands.first()
    if len(message.text) > 1 and message.text[0] == message.text[-1] and message.text[0] in "'\"":
        message = Operands(message.text[1:-1], message.column + 1)
    message.required("which text? It may hold expressions, as in rms is {rms}")
    with pointing_at(message):
        console.session.breakpoints.check_text(message.text)
    return _add(console, place, None, kind="log", message=message.text, pending=pending)


def _add(console: Console, place: Operands, condition: Operands | None, **properties: Any) -> str:
    breakpoints = console.session.breakpoints
    if condition is not None:
        condition.required("an expression is missing here, such as rms > 10")
        with pointing_at(condition):
            breakpoints.check_condition(condition.text)
        properties["condition"] = condition.text
    try:
        point = breakpoints.add(place.text, **properties)
    except UnknownAddress as error:
        if condition is None and (remedy := _meant(console, place.text, **properties)):
            raise place.error(f"'{place.text}' is not a place; did you mean: {remedy}?") from None
        later = f"; {_PENDING} {place.text} waits for a pass that has this place"
        raise place.error(f"{error}{later}") from None
    return f"{point.title}{_places(console, point)}"


def _meant(
    console: Console, text: str, *, kind: str = "breakpoint", temporary: bool = False, **others: Any
) -> str:
    """Return the command for ``text`` where that is a condition, or a place and a condition; ""
    where it is neither."""
    word = {"log": "break", "watch": "catch"}.get(kind, "tbreak" if temporary else "break")
    if is_condition(text):
        return f"{word} {'' if word == 'catch' else 'if '}{text}"
    place, _, behind = text.partition(" ")
    if not is_condition(behind):
        return ""
    with suppress(UnknownAddress):
        console.session.breakpoints.locate(place)
        return f"{'watch' if word == 'catch' else word} {place} if {behind}"
    return ""


def refuse_condition(operands: Operands) -> None:
    """Say what stops at a condition, where a command was given one that takes none.

    Raises:
        CommandError: it is a condition.
    """
    if is_condition(operands.text):
        text = operands.text
        raise operands.error(f"'{text}' is a condition; did you mean: until {text}?")


def is_condition(text: str) -> bool:
    """Return whether ``text`` is a condition, such as ``rms > 3``."""
    try:
        Breakpoints.check_condition(text)
    except ExpressionError:
        return False
    return True


def _places(console: Console, point: Breakpoint) -> str:
    if point.kind == "catch":
        return ""
    if not point.indices:
        return " (waits for a pass that has this place)"
    if point.text == step_number(point.indices[0]):
        return f" ({console.session.graph.address(point.indices[0])})"
    return f" ({listed([*map(step_number, point.indices)], 8, ', ')})"


# points that are there


def _delete(console: Console, operands: Operands) -> str:
    breakpoints = console.session.breakpoints
    if not operands.text:
        breakpoints.delete()
        return "all breakpoints deleted"
    points = [_point(console, word) for word in operands.words()]
    for point in points:
        breakpoints.delete(point.number)
    return "\n".join(f"{point.label} deleted" for point in points)


def _switch(console: Console, operands: Operands, *, enabled: bool) -> str:
    breakpoints = console.session.breakpoints
    chosen = [_point(console, word) for word in operands.words()] or list(breakpoints.points)
    for point in chosen:
        breakpoints.change(point.number, enabled=enabled)
    word = "enabled" if enabled else "disabled"
    return "\n".join(f"{point.label} {word}" for point in chosen) or "no breakpoints"


def _ignore(console: Console, operands: Operands) -> str:
    number, count = operands.first()
    point = _point(console, number.required("which? ignore NUMBER COUNT"))
    count.required("how often? ignore NUMBER COUNT")
    times = 0 if count.text == "0" else count.count()
    console.session.breakpoints.change(point.number, ignore=times)
    if not times:
        return f"{point.label} stops at its next hit"
    return f"{point.label} ignores its next {plural(times, 'hit')}"


def _condition(console: Console, operands: Operands) -> str:
    number, condition = operands.first()
    point = _point(console, number.required("which? condition NUMBER EXPRESSION"))
    if not condition.text and point.kind == "catch":
        raise condition.error("a point without a place needs a condition; delete deletes it")
    if condition.text:
        with pointing_at(condition):
            console.session.breakpoints.check_condition(condition.text)
    changed = console.session.breakpoints.change(point.number, condition=condition.text)
    return changed.title if condition.text else f"{changed.title} (no condition)"


def _commands(console: Console, operands: Operands) -> str:
    point = _point(console, operands if operands.text else Operands("$", operands.column))

    def done(lines: tuple[str, ...]) -> str:
        if console.session.breakpoints.point(point.number) is None:
            raise CommandError(f"{point.label} is gone")
        console.session.breakpoints.change(point.number, commands=lines)
        return f"{point.label} carries out {plural(len(lines), 'command')}"

    console.take_down(done)
    return f"commands for {point.label}, one a line, then: end"


def _point(console: Console, word: Operands) -> Breakpoint:
    """Return the point that a number, or ``$`` for the last one, means."""
    breakpoints = console.session.breakpoints
    if word.text == "$":
        if not breakpoints.points:
            raise word.error("there are no breakpoints")
        return breakpoints.points[-1]
    point = breakpoints.point(word.count())
    if point is None:
        raise word.error(f"there is no breakpoint {word.text} (info breakpoints lists them)")
    return point


def points_text(console: Console) -> str:
    """Return all points, for ``info breakpoints``."""
    lines = []
    for point in console.session.breakpoints.points:
        notes = [] if point.kind == "catch" else [plural(len(point.indices), "node")]
        if not point.indices and point.kind != "catch":
            notes = ["waits for a pass that has this place"]
        notes.append(f"hit {plural(point.hits, 'time')}")
        if point.ignore:
            notes.append(f"ignores the next {point.ignore}")
        if not point.enabled:
            notes.append("disabled")
        lines.append(f"{point.number}  {point.command}  {', '.join(notes)}")
        if point.kind == "log" and point.condition:
            lines.append(f"     if {point.condition}")
        lines += [f"     {line}" for line in point.commands]
    return "\n".join(lines) or "no breakpoints"


COMMANDS: Final = (
    Command(
        "break [PLACE] [if CONDITION]", "stop before a node, or after a gradient", _set,
        ("b",), "condition",
        details="A place is #12, an address (encoder.0/addmm:2), an op (mul), a scope, a leaf's "
        "name, or a line (train.py:12); without a place and a condition, it is the node that "
        "runs next. With a condition only, it stops after every node that produces a gradient "
        "for which the condition holds; catch stops only where that begins. "
        f"{_PENDING} before PLACE waits for a place in a later pass. " + _CONDITIONS,
    ),
    Command(
        "tbreak [PLACE] [if CONDITION]", "stop there once, as break does",
        partial(_set, temporary=True), ("tb",), "condition",
    ),
    Command(
        "catch CONDITION", "stop just after the node that makes it true", catch, (),
        "expression",
        details="Example: catch nan, inf. It does not stop at nodes whose incoming gradient "
            "already meets the condition. It also watches sums and .grad. " + _CONDITIONS,
    ),
    Command(
        "watch PLACE [if CONDITION]", "stop when a .grad or a sum changes", _watch, ("w",),
        "leaf",
    ),
    Command(
        "logpoint PLACE TEXT", "print TEXT there, without stopping", _logpoint, ("dprintf",),
        "place",
        details="TEXT may hold expressions: logpoint mul rms {rms}, {100 * zeros} % zero",
    ),
    Command("delete [NUMBER...]", "delete some or all breakpoints", _delete, ("d",), "point"),
    Command(
        "enable [NUMBER...]", "enable breakpoints again", partial(_switch, enabled=True),
        ("en",), "point",
    ),
    Command(
        "disable [NUMBER...]", "disable breakpoints for now", partial(_switch, enabled=False),
        ("dis",), "point",
    ),
    Command("ignore NUMBER COUNT", "skip the next hits of a breakpoint", _ignore, (), "point"),
    Command(
        "condition NUMBER [CONDITION]", "change the condition of a breakpoint", _condition,
        ("cond",), "point", details=_CONDITIONS,
    ),
    Command(
        "commands [NUMBER]", "run commands at each stop of a breakpoint", _commands, (), "point",
        details="The lines that follow, up to end, run whenever the breakpoint stops. A command "
            "that moves is the last one to run.",
    ),
)  # fmt: skip

"""Commands that change the gradients of a pass, and undo changes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, NamedTuple

from gradstep.console.console import Command, Console
from gradstep.console.language import Operands, pointing_at
from gradstep.console.moving import arrived
from gradstep.console.printing import understood
from gradstep.debugger.displays import subject_at
from gradstep.debugger.errors import EditError, Unanswerable
from gradstep.debugger.snapshot.wording import restore_text
from gradstep.findings.reports.formatting import table_text
from gradstep.graph.addresses import before
from gradstep.graph.statistics import format_number

_EDGE: Final = re.compile(r"(in|out|hook)(?:\.(\d+))?")


_OPERATORS: Final = ("*", "/", "+", "-", "**", "%", "//")
_OF_EXPRESSIONS: Final = re.compile(r"[()\[\]*+<>=,]")
_SPECIAL: Final = {"nan": "1e999-1e999", "inf": "1e999", "-inf": "-1e999"}


class _Target(NamedTuple):
    """The target of a change: ``in.K``, ``out.K``, ``hook.K`` or ``grad`` of a node."""

    node: int
    kind: str
    nr: int


def _target(console: Console, words: list[Operands], at: Operands, kind: str) -> _Target:
    """Return the node that ``words`` name, and what of it; the current one, and ``kind``, by
    default."""
    index, nr = console.session.selected, 0
    for word in words:
        match = _EDGE.fullmatch(word.text)
        if match is not None:
            kind, nr = match[1], int(match[2] or 0)
            continue
        place = word.text.removesuffix(".grad")
        if place != word.text:
            kind = "grad"
        with pointing_at(word):
            index = console.session.breakpoints.locate(place)[0]
    if index is None:
        raise at.error("the pass is over: name a node, or go back")
    return _Target(index, kind, nr)


def _incoming(console: Console, words: list[Operands], at: Operands) -> _Target:
    target = _target(console, words, at, "in")
    if target.kind not in ("in", "grad"):
        raise at.error(
            f"{target.kind} cannot be changed: change in of the node it goes to, or mute it"
        )
    return target


def _edited(at: Operands, change: Callable[[], Any]) -> str:
    try:
        return str(change().text)
    except EditError as error:
        raise at.error(str(error)) from None


def _split(operands: Operands) -> tuple[list[Operands], Operands]:
    """Split ``[PLACE] [in.K] [=] VALUE``: the value, which may be several words, begins behind the
    places, at the latest with the word before an operator."""
    words = operands.words()
    count = 0
    for word, behind in pairwise(words):
        if behind.text in _OPERATORS or _OF_EXPRESSIONS.search(word.text):
            break
        count += 1
        if behind.text == "=":
            words.pop(count)
            break
    value = words[count]
    return words[:count], operands.behind(value.column)


def _value(console: Console, text: Operands, target: _Target, *, tensors: bool) -> Any:
    """Return the value of a number or an expression; with ``tensors``, also an array."""
    written = Operands(_SPECIAL.get(text.text, text.text), text.column)
    expression = understood(console, written)
    if expression.kind != "number" and not (tensors and expression.kind == "tensor"):
        kind = "neither a number nor a tensor" if tensors else "not a number"
        raise text.error(f"{text.text} is {kind}")
    try:
        value = expression.value(subject_at(console.session.inspector, target.node))
    except Unanswerable as reason:
        raise text.error(str(reason)) from None
    if value is None:
        raise text.error(f"{text.text} is unknown here")
    return value.array if expression.kind == "tensor" else float(value)


def _with_value(change: str, *, tensors: bool = False) -> Callable[[Console, Operands], str]:
    """Return ``change [PLACE] [in.K] VALUE``."""

    def run(console: Console, operands: Operands) -> str:
        words, text = _split(operands.required(f"by how much? {change} [PLACE] VALUE"))
        target = _incoming(console, words, operands)
        index, kind, nr = target
        value = _value(console, text, target, tensors=tensors)
        method = getattr(console.session.edit, change)
        return _edited(operands, lambda: method(index, value, nr, grad=kind == "grad"))

    return run


def _zero(console: Console, operands: Operands) -> str:
    index, kind, nr = _incoming(console, operands.words(), operands)
    edit = console.session.edit
    return _edited(operands, lambda: edit.zero(index, nr, grad=kind == "grad"))


def _muting(muted: bool) -> Callable[[Console, Operands], str]:
    """Return ``mute`` and ``unmute``."""

    def run(console: Console, operands: Operands) -> str:
        target = _target(console, operands.words(), operands, "out")
        edit = console.session.edit
        if target.kind in ("in", "grad"):
            raise operands.error(
                f"{target.kind} cannot be muted: zero it, or mute out of the node that sends it"
            )
        mute = edit.mute_hook if target.kind == "hook" else edit.mute_edge
        return _edited(operands, lambda: mute(target.node, target.nr, muted=muted))

    return run


def _undo(console: Console, operands: Operands) -> str:
    lines: list[str] = []
    for _ in range(operands.count()):
        if lines and not console.session.edit.records:
            lines.append("nothing is left to undo")
            break
        lines.append(_edited(operands, console.session.edit.undo))
    return "\n".join([*lines, arrived(console)])


def _difference(console: Console, operands: Operands) -> str:
    try:
        differences = console.session.edit.difference()
    except EditError as error:
        raise operands.error(str(error)) from None
    if not differences:
        return "nothing was changed, or nothing that a leaf depends on"
    rows: list[tuple[str, ...]] = [("leaf", "|difference|", "largest", "relative")]
    for leaf in differences:
        if leaf.norm is None or leaf.maximum is None or leaf.relative is None:
            ran = leaf.index < console.session.position
            missing = "None in one of the two runs" if ran else "not there yet"
            rows.append((f"{leaf.name}.grad", missing, "", ""))
            continue
        relative = "new" if math.isinf(leaf.relative) else f"{format_number(100 * leaf.relative)} %"
        numbers = (format_number(leaf.norm), format_number(leaf.maximum), relative)
        rows.append((f"{leaf.name}.grad", *numbers))
    session = console.session
    called = session.edit.called_for_difference
    again = restore_text(called, "were called for this", session.cursor.driver.state.restore_note)
    note = f"\n{again}" if called else ""
    return f"{table_text(rows)}{note}"


def edits_text(console: Console) -> str:
    """Return the changes that hold, for ``info changes``."""
    rows = [
        (str(record.number), before(record.position, console.session.length), record.text)
        for record in console.session.edit.records
    ]
    return table_text(rows) or "nothing was changed"


_PLACE: Final = (
    "Without PLACE, it changes the node that runs next. PLACE in.1 is its second input, and "
    "weight.grad the gradient of a leaf that has run. Later steps of the recording run again. "
    "undo reverts the change, and difference shows its effect."
)
_NUMBER: Final = f"FACTOR and LIMIT are a number or an expression, as in 1/rms. {_PLACE}"
_VALUES: Final = (
    "VALUE is a number, or an expression of numbers and tensors, as in in * 2 or "
    f"in * saved.self; its shape is that of the gradient, or broadcasts to it. {_PLACE}"
)
COMMANDS: Final = (
    Command(
        "set [PLACE] VALUE", "replace the gradient that arrives",
        _with_value("set", tensors=True), (), "place", details=_VALUES,
    ),
    Command(
        "scale [PLACE] FACTOR", "multiply the gradient that arrives", _with_value("scale"), (),
        "place", details=_NUMBER,
    ),
    Command(
        "clip [PLACE] LIMIT", "limit each element of the gradient that arrives",
        _with_value("clip"), (), "place", details=_NUMBER,
    ),
    Command(
        "zero [PLACE]", "set the gradient that arrives to zero", _zero, (), "place", details=_PLACE
    ),
    Command(
        "mute [PLACE] [out.K|hook.K]", "send nothing along an edge, or skip a hook",
        _muting(True), (), "place",
        details="info node lists edges and hooks. unmute reverts it.",
    ),
    Command(
        "unmute [PLACE] [out.K|hook.K]", "reverse a mute", _muting(False), (),
        "place", details="Later changes remain.",
    ),
    Command("undo [COUNT]", "undo the last change", _undo),
    Command("difference", "show the effect of changes on .grad", _difference, ("diff",)),
)  # fmt: skip

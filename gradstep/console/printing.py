"""``print``: a number, a tensor, or the elements of one that are in question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from gradstep.console.console import Console
from gradstep.console.language import Operands, pointing_at
from gradstep.debugger.breakpoints.logtext import format_value
from gradstep.debugger.breakpoints.predicate import Expression, ExpressionSubject
from gradstep.debugger.displays import read_expression
from gradstep.debugger.errors import Unanswerable
from gradstep.debugger.snapshot import Value
from gradstep.debugger.snapshot.value import NOT_RECORDED
from gradstep.findings.reports.formatting import table_text, tensor_text
from gradstep.graph.statistics import format_number, format_shape

_MOST: Final = 10  # elements that are listed
_AT: Final = ("nan", "inf", "zero", "0", "min", "max")
_ELEMENTS: Final = re.compile(r"(?<![\w.])x(?![\w.(])")


def understood(console: Console, operands: Operands) -> Expression:
    """Understand an expression, in which tensors of the program may stand by their names."""
    with pointing_at(operands):
        return read_expression(console.session.inspector, operands.text)


def print_text(console: Console, operands: Operands, subject: ExpressionSubject) -> str:
    """Answer ``print EXPRESSION``, ``TENSOR where CONDITION`` or ``TENSOR at PLACE``."""
    tensor, condition = operands.cut("where")
    if condition is not None:
        return _where(console, tensor, condition, subject)
    tensor, place = operands.cut("at")
    if place is not None:
        return _at(console, tensor, place, subject)
    expression = understood(console, operands)
    value = console.values[expression.text] = _value(expression, operands, subject)
    return answer(expression, value)


def answer(expression: Expression, value: Any) -> str:
    """Return ``rms = 0.5``, or all about a tensor."""
    if expression.kind == "tensor":
        assert value is None or isinstance(value, Value)
        return tensor_text(expression.text, value)
    if expression.kind == "mask" and value is not None:
        count = int(np.count_nonzero(value.array))
        return f"{expression.text}: true at {count:,} of {value.array.size:,} places"
    return f"{expression.text} = {format_value(value)}"


def _value(expression: Expression, operands: Operands, subject: ExpressionSubject) -> Any:
    try:
        return expression.value(subject)
    except Unanswerable as reason:
        raise operands.error(str(reason)) from None


def _tensor(console: Console, operands: Operands, subject: ExpressionSubject) -> Value:
    operands.required("of which tensor? print saved.self where x == 0")
    expression = understood(console, operands)
    if expression.kind != "tensor":
        raise operands.error(f"{operands.text} is not a tensor")
    value = _value(expression, operands, subject)
    if value is None:
        raise operands.error(f"{operands.text} is undefined here")
    assert isinstance(value, Value)
    return value


def write_tensor(
    console: Console, tensor: Operands, subject: ExpressionSubject, file: Operands
) -> str:
    """Write a tensor to a file of NumPy, bit for bit."""
    value = _tensor(console, tensor, subject)
    if not value.has_numbers:
        raise tensor.error(f"{tensor.text}: {NOT_RECORDED}")
    try:
        with Path(file.text).open("wb") as out:
            np.save(out, value.array, allow_pickle=False)
    except OSError as error:
        raise file.error(f"cannot write {file.text} ({str(error.strerror).lower()})") from None
    exact = "" if value.array.dtype.name == value.dtype else f" as {value.array.dtype.name}"
    shape = format_shape(value.shape) if value.shape else "a scalar,"
    return f"wrote {tensor.text}, {shape} {value.dtype}{exact}, to {Path(file.text).resolve()}"


def _where(
    console: Console, tensor: Operands, condition: Operands, subject: ExpressionSubject
) -> str:
    value = _tensor(console, tensor, subject)
    condition.required("which elements? print saved.self where x == 0")
    short = tensor.text.rpartition(".")[2]
    text = _ELEMENTS.sub(f"({tensor.text})", condition.text)
    if short != "x" and short.isidentifier() and short != tensor.text:
        text = re.sub(rf"(?<![\w.]){short}(?![\w.(])", f"({tensor.text})", text)
    if text in ("nan", "inf"):
        text = f"is{text}({tensor.text})"
    written = Operands(text, condition.column)
    expression = understood(console, written)
    if expression.kind != "mask":
        raise condition.error("a condition on the elements is needed here, as in x == 0")
    mask = _value(expression, condition, subject)
    try:
        chosen = np.broadcast_to(mask.array, value.shape)
    except (ValueError, AttributeError):
        raise condition.error(f"it does not fit the shape {list(value.shape)}") from None
    return _listed(console, tensor.text, value, chosen)


def _at(console: Console, tensor: Operands, place: Operands, subject: ExpressionSubject) -> str:
    value = _tensor(console, tensor, subject)
    array, word = np.asarray(value.array), place.text
    if word not in _AT:
        return _one(tensor, value, place)
    stats = value.statistics
    ways: dict[str, Callable[[Any], Any]] = {
        "nan": np.isnan, "inf": np.isinf, "zero": lambda a: a == 0, "0": lambda a: a == 0,
        "min": lambda a: a == stats.minimum, "max": lambda a: a == stats.maximum,
    }  # fmt: skip
    return _listed(console, tensor.text, value, ways[word](array))


def _one(tensor: Operands, value: Value, place: Operands) -> str:
    try:
        part = value.slice(place.text)
    except ValueError as error:
        raise place.error(f"{error}; or one of {', '.join(_AT)}") from None
    inside = place.text.strip("[]")
    return tensor_text(f"{tensor.text}[{inside}]", part)


def _listed(console: Console, name: str, value: Value, chosen: Any) -> str:
    """Return the first elements in question, each with what other tensors of the node have
    there."""
    places = np.argwhere(chosen)
    head = f"{name}  {len(places):,} of {value.array.size:,} elements"
    if not len(places):
        return head
    beside = dict(_beside(console, name, value))
    rows: list[tuple[str, ...]] = [("at", name, *beside)]
    for at in places[:_MOST]:
        place = tuple(int(index) for index in at)
        numbers = (value, *beside.values())
        rows.append((str(list(place)), *(format_number(float(v.array[place])) for v in numbers)))
    lines = [head, *(f"  {line}" for line in table_text(rows).splitlines())]
    if len(places) > _MOST:
        lines.append(f"  ... {len(places) - _MOST:,} more")
    return "\n".join(lines)


def _beside(console: Console, name: str, value: Value) -> Iterator[tuple[str, Value]]:
    """Yield the other tensors of the selected node that have the same shape."""
    session, index = console.session, console.session.selected
    if index is None:
        return
    detail = session.detail(index)
    several = len(detail.incoming) > 1
    known = [(f"in.{e.input_nr}" if several else "in", e.total) for e in detail.incoming]
    known += [(f"saved.{kept.name}", kept.value) for kept in detail.saved]
    sent = [outgoing for outgoing in detail.outgoing if outgoing.sent]
    known += [(f"out.{e.output_nr}" if len(sent) > 1 else "out", e.value) for e in sent]
    for label, other in known:
        if other is not None and label != name and other.shape == value.shape:
            yield label, other

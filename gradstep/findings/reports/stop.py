"""The report of a stop: where the gradient in question began, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.contract.lookup import engine_of, is_tensor
from gradstep.debugger.breakpoints import Reached
from gradstep.debugger.breakpoints.trigger import Trigger
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Value
from gradstep.debugger.snapshot.value import value
from gradstep.debugger.snapshot.wording import summary
from gradstep.findings.reports.formatting import Row, line_text, path_text, row_lines
from gradstep.graph.statistics import first_place, format_element

if TYPE_CHECKING:
    from gradstep.findings.rules.graph.finite import Beginning


def stop_text(session: PassSession, reached: Reached) -> str:
    """Say why the session stops; of a condition without a place, all there is to say about it."""
    if reached.point.kind != "catch":
        return reached.reason
    headline, lines = stop_report(session, reached.trigger)
    title, word = reached.point.title, headline.partition(" ")[0]
    said_once = title.endswith(f": {word}")  # catch 1: nan, and that nan began somewhere
    first = title.removesuffix(word) + headline if said_once else f"{title}, {headline}"
    return "\n".join([first, *lines])


def stop_report(session: PassSession, trigger: Trigger) -> tuple[str, list[str]]:
    """Return the gradient that made the session stop, in one sentence; then, line by line, why it
    is so, what it was computed from, by which rule, and for which line of the program.

    Of a NaN or an infinity that began in the forward pass, that comes first.
    """
    headline, rows = stop_rows(session, trigger)
    return headline, row_lines(rows)


def stop_rows(session: PassSession, trigger: Trigger) -> tuple[str, list[Row]]:
    """Return the same, as rows of a label and a text."""
    place = first_element(trigger.subject.gradient)
    seen = trigger.cause + (f", first at {list(place)}" if place else "")
    began = beginning_of(session, trigger)
    if began is None:
        rows = [("why", trigger.explanation), *_of_the_loss(session, trigger)]
    else:
        rows = [*_beginning_rows(session, began), ("seen", f"first in the backward pass: {seen}")]
    rows += _ingredients(session, trigger, place)
    rows += _of_a_call_alike(session)
    start = trigger.subject.index if began is None or began.index is None else began.index
    rows.append(("path", path_text(session.graph, session.path(start))))
    rows = list(dict.fromkeys(rows))  # one line of the program may be both
    return seen if began is None else began.headline, rows


def first_element(gradient: Value | None) -> tuple[int, ...]:
    """Find the first NaN or infinity of a gradient; () for a single number, for none, and where the
    elements were not recorded."""
    if gradient is None or not gradient.has_numbers:
        return ()
    trouble = gradient.statistics.trouble
    return first_place(gradient.array, trouble) if trouble else ()


def loss_report(session: PassSession) -> tuple[str, list[str]]:
    """Return where the loss became NaN or infinite, of a pass in which no gradient did."""
    began = _beginning(session, 0)
    if began is None:
        trouble = next(filter(None, map(_trouble, session.roots)), "nan")
        headline = f"{trouble} began in the forward pass, and no gradient has it"
        rows: list[Row] = [("note", f"{_check(session)} finds where it began")]
        if source := session.graph.sources.get(0):
            rows.append(("line", line_text(source)))
        return headline, row_lines([*rows, *_of_a_call_alike(session)])
    rows = [*_beginning_rows(session, began), ("seen", "in the loss; no gradient has it")]
    rows += _of_a_call_alike(session)
    start = 0 if began.index is None else began.index
    return began.headline, row_lines(
        [*rows, ("path", path_text(session.graph, session.path(start)))]
    )


def beginning_of(session: PassSession, trigger: Trigger) -> Beginning | None:
    """Return where the NaN or the infinity of a stop began, None where no forward pass made it."""
    gradient = trigger.subject.gradient
    if not trigger.computed or gradient is None or not gradient.statistics.trouble:
        return None
    return _beginning(session, trigger.subject.index)


def _beginning(session: PassSession, index: int) -> Beginning | None:
    # slow to load, and most passes have no such stop
    from gradstep.findings.rules.graph.finite import forward_cause
    from gradstep.findings.rules.graph.subject import Subject

    subject = Subject(tuple(session.roots), session.order, session.graph, session.names)
    return forward_cause(subject, index)


def _check(session: PassSession) -> str:
    """Return the command that checks the call of the program which ``session`` is in; where no
    command runs it, what a program does itself."""
    if not session.program:
        return "trace(values=True) around the forward pass"
    number = f"grad:{session.call}" if session.kind == "grad" else str(session.call)
    call = "" if number == "1" else f"--call {number} "
    return f"gradstep check {call}{session.program}"


def _of_a_call_alike(session: PassSession) -> Iterator[Row]:
    """Say so where the lines were noted in another call."""
    places = engine_of(session.roots).places
    if places and (like := next(filter(None, map(places.taken_from, session.order)), "")):
        yield "note", f"lines and modules are those of {like}, whose graph is alike"


def _of_the_loss(session: PassSession, trigger: Trigger) -> Iterator[Row]:
    """Say so where the loss is not finite itself, and nothing is known of the forward pass."""
    if trigger.computed and (trouble := next(filter(None, map(_trouble, session.roots)), "")):
        yield (
            "note",
            (
                f"the loss itself is {trouble}: look at the forward pass first "
                f"({_check(session)} finds where it began)"
            ),
        )


def _trouble(root: Any) -> str:
    held = engine_of((root,)).reading.user_tensor(root)
    shown = value(held) if is_tensor(held) else None
    return "" if shown is None else shown.statistics.trouble


def _beginning_rows(session: PassSession, began: Beginning) -> Iterator[Row]:
    yield "there", began.place
    for operand in began.given:
        yield "given", operand.text
        if operand.source is not None:
            yield "line", line_text(operand.source)
    if not began.certain or began.older:
        yield "note", replace(began, finds=_check(session)).remedy()
    if began.source is not None:
        yield "line", line_text(began.source)


def _ingredients(session: PassSession, trigger: Trigger, place: tuple[int, ...]) -> Iterator[Row]:
    """List what a node computed the gradient from, with the elements at ``place``."""
    index = trigger.subject.index
    detail = session.detail(index)
    for incoming in detail.incoming:
        if incoming.total is not None:
            label = f"in.{incoming.input_nr}" if len(detail.incoming) > 1 else "in"
            yield label, _with_element(incoming.total, trigger, place)
    if formula := session.graph.node(index).formula:
        yield "rule", formula
    for saved in detail.saved:
        if saved.value is not None:
            yield f"saved.{saved.name}", _with_element(saved.value, trigger, place)
    if source := session.graph.sources.get(index):
        yield "line", line_text(source)


def elements_there(
    session: PassSession, trigger: Trigger, place: tuple[int, ...]
) -> list[tuple[str, np.generic]]:
    """List the elements at ``place`` of what a node computed the gradient from, as its rule names
    them."""
    gradient, detail = trigger.subject.gradient, session.detail(trigger.subject.index)
    given = [("g", incoming.total) for incoming in detail.incoming]
    given += [(saved.name, saved.value) for saved in detail.saved]
    return [
        (name, operand.array[place])
        for name, operand in given
        if operand is not None and gradient is not None and operand.shape == gradient.shape
        if operand.has_numbers
    ]


def _with_element(value: Value, trigger: Trigger, place: tuple[int, ...]) -> str:
    """Return a tensor in a few words, and its element at the first NaN or infinity of the
    gradient."""
    gradient = trigger.subject.gradient
    if not place or gradient is None or value.shape != gradient.shape or not value.has_numbers:
        return summary(value)
    return f"{summary(value)}; there {format_element(value.array[place])}"

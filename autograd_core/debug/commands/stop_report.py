"""The report of a stop: where the gradient in question began, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator

from autograd_core.dag.model import Source
from autograd_core.dag.statistics import first_place, format_number
from autograd_core.debug.breakpoints import Reached
from autograd_core.debug.breakpoints.trigger import Trigger
from autograd_core.debug.commands.formatting import file_and_line, shown
from autograd_core.debug.linting.finite import Beginning, forward_cause
from autograd_core.debug.linting.subject import Subject
from autograd_core.debug.passes.inspector import source_line
from autograd_core.debug.session import Session
from autograd_core.debug.snapshot import Value

Row = tuple[str, str]


def stop_text(session: Session, reached: Reached) -> str:
    """Say why the session stops; of a condition without a place, all there is to say about it."""
    if reached.point.kind != "catch":
        return reached.reason
    headline, lines = stop_report(session, reached.trigger)
    return "\n".join([f"{reached.point.title}, {headline}", *lines])


def stop_report(session: Session, trigger: Trigger) -> tuple[str, list[str]]:
    """The gradient that made the session stop, in one sentence; then, line by line, why it is so,
    what it was computed from, by which rule, and for which line of the program.

    Of a NaN or an infinity that began in the forward pass, that comes first.
    """
    place = _first_place(trigger.subject.gradient)
    seen = trigger.cause + (f", first at {list(place)}" if place else "")
    began = _forward_cause(session, trigger)
    if began is None:
        rows = [("why", trigger.explanation)]
    else:
        rows = [*_beginning_rows(began), ("seen", f"first in backward: {seen}")]
    rows += _ingredients(session, trigger, place)
    rows = list(dict.fromkeys(rows))  # one line of the program may be both
    width = max(len(label) for label, _ in rows)
    headline = seen if began is None else began.headline
    return headline, [f"  {label:<{width}}  {text}" for label, text in rows]


def _first_place(gradient: Value | None) -> tuple[int, ...]:
    """Find the first NaN or infinity of a gradient; () for a single number, and for none."""
    trouble = gradient.statistics.trouble if gradient is not None else ""
    return first_place(gradient.array, trouble) if gradient is not None and trouble else ()


def _forward_cause(session: Session, trigger: Trigger) -> Beginning | None:
    gradient = trigger.subject.gradient
    if not trigger.computed or gradient is None or not gradient.statistics.trouble:
        return None
    subject = Subject(tuple(session.roots), session.order, session.graph, session.names)
    return forward_cause(subject, trigger.subject.index)


def _beginning_rows(began: Beginning) -> Iterator[Row]:
    yield "there", f"{began.amount}{began.there}"
    for text, source in began.given:
        yield "given", text if source is None else f"{text}  {file_and_line(source)}"
    if not began.certain:
        yield "note", began.remedy
    if began.source is not None:
        yield "line", _line_text(began.source)


def _ingredients(session: Session, trigger: Trigger, place: tuple[int, ...]) -> Iterator[Row]:
    """List what a node computed the gradient from, with the elements at ``place``."""
    index = trigger.subject.index
    detail = session.detail(index)
    for each in detail.incoming:
        if each.total is not None:
            label = f"in.{each.input_nr}" if len(detail.incoming) > 1 else "in"
            yield label, _with_element(each.total, trigger, place)
    if formula := session.graph.node(index).formula:
        yield "rule", formula
    for saved in detail.saved:
        if saved.value is not None:
            yield f"saved.{saved.name}", _with_element(saved.value, trigger, place)
    if source := session.graph.sources.get(index):
        yield "line", _line_text(source)


def _with_element(value: Value, trigger: Trigger, place: tuple[int, ...]) -> str:
    """A tensor in a few words, and its element at the first NaN or infinity of the gradient."""
    gradient = trigger.subject.gradient
    if not place or gradient is None or value.shape != gradient.shape:
        return shown(value)
    return f"{shown(value)}, there {format_number(float(value.array[place]))}"


def _line_text(source: Source) -> str:
    return f"{file_and_line(source)}  {source_line(source)}".rstrip()

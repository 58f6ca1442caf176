"""What is said of gradients that are NaN or infinite: which ones, and what made the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of
from gradstep.contract.protocol import Engine
from gradstep.debugger.breakpoints.trigger import Trigger
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot.value import Value, value
from gradstep.findings.finding import Fix, Reason
from gradstep.findings.not_finite import Began, NotFinite
from gradstep.findings.reports.stop import elements_there, first_element
from gradstep.findings.rules.graph.away_from_zero import Advice, AwayFromZero, operand
from gradstep.findings.rules.graph.finite import Amount, amount_of
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_element
from gradstep.guest.own_files import is_own_file
from gradstep.records import BackwardCall
from gradstep.text import listed


class TooWide(Advice):
    """The numbers are too large."""

    helps = (
        "these numbers are too large for their dtype: make the loss or the weights smaller, "
        "normalize, or compute this in a wider dtype"
    )


class LookAtCode(Advice):
    """Code of the program made it."""

    helps = (
        "look at the code that made it: a hook, a custom Function, or the gradient that was "
        "passed in"
    )


@dataclass(frozen=True)
class GradientsNotFinite(NotFinite):
    """What of a pass is not finite, by its trouble: in words, and how much it is;
    ``of_gradients`` says that some of its gradients are; if not, it may be a mask."""

    what: tuple[tuple[str, tuple[str, ...]], ...]
    of_gradients: bool
    is_mask: bool = False

    def text(self) -> str:
        texts = [
            f"{listed(who)} {'is' if len(who) == 1 else 'are'} {trouble}"
            for trouble, who in self.what
        ]
        return ", and ".join(texts)

    def remedy(self) -> str:
        if self.is_mask:
            return "nothing if the loss uses these values as a mask; else look at what made them"
        return f"{self.finds} finds the first gradient that is not finite"

    @property
    def began(self) -> Began:
        return "at" if self.is_mask else "at_or_before"

    @property
    def finds(self) -> str:
        return "" if self.is_mask else self.program.command("debug --fail-on nan,inf")


@dataclass(frozen=True)
class SentNotFinite(NotFinite):
    """A node sends a gradient on that is not finite, in ``amount`` of its places.

    Attributes:
        equal: values that are equal, by whose differences it divides, in words.
        values: what the node was given there, and ``numbers`` the same as its rule names them.
        formula: that rule.
        so: what of the pass is not finite for that.
        saved_nan: whether NaN is in a value that the forward pass saved already.
        call: what ``--call`` takes, where the values of the forward pass were not described.
    """

    keeps_loss = False
    amount: Amount = field(compare=False)
    equal: EqualValues | None = field(compare=False)
    values: tuple[tuple[str, Any], ...] = field(compare=False)
    numbers: tuple[tuple[str, Any], ...] = field(compare=False)
    formula: str
    so: GradientsNotFinite | None
    advice: Reason
    saved_nan: bool = False
    call: str = field(default="", compare=False)

    @property
    def began(self) -> Began:
        return "at_or_before" if self.saved_nan else "at"

    @property
    def finds(self) -> str:
        is_known = self.began == "at" or not self.call
        return "" if is_known else self.program.command(f"check --call {self.call}")

    def of_call(self, call: str) -> SentNotFinite:
        return replace(self, call=call)

    def text(self) -> str:
        where = f", where {_equations(self.values)}" if self.values else ""
        if self.equal is not None:
            where = (
                f", as two {self.equal.what} are equal ({format_element(self.equal.number)}): it "
                "divides by their difference"
            )
        so = "" if self.so is None else f"; {self.so.text()}"
        return f"the gradient that {self.address} sends on is {self.amount}{where}{so}"

    def remedy(self) -> str:
        if self.finds:
            return f"{self.finds} finds where the nan of the forward pass began"
        return self.advice.remedy()

    def fix(self) -> tuple[Fix, ...]:
        return () if self.finds else self.advice.fix()

    def details(self) -> str:
        if not self.formula or not self.numbers:
            return ""
        return f"the rule is {self.formula}, where {_equations(self.numbers)}"


@dataclass(frozen=True)
class MadeNotFinite(NotFinite):
    """Something else than a rule made a gradient that is not finite, as the debugger says."""

    cause: str
    explanation: str
    so: GradientsNotFinite | None

    def text(self) -> str:
        so = "" if self.so is None else f"; {self.so.text()}"
        return f"{self.cause}: {self.explanation}{so}"

    def remedy(self) -> str:
        return LookAtCode().remedy()


class EqualValues(NamedTuple):
    """What is equal, and the number that it is."""

    what: str
    number: Any


def _equations(values: Sequence[tuple[str, Any]]) -> str:
    return listed([f"{name} is {format_element(number)}" for name, number in values])


def not_finite_in(
    call: BackwardCall, engine: Engine, order: Sequence[Any], names: Names, returned: Any
) -> GradientsNotFinite | None:
    """Name the gradients that a pass made which are NaN or infinite, or else such a root."""
    if call.is_grad:
        gradients = [("a gradient that it returns", gradient) for gradient in returned]
    else:
        leaves = map(engine.leaf, order)
        gradients = [
            (f"{names.of(leaf) or f'a leaf of shape {list(leaf.shape)}'}.grad", leaf.grad)
            for leaf in leaves
            if leaf is not None
        ]
    roots = [("the loss", engine.reading.user_tensor(root)) for root in call.roots]
    for among in (gradients, roots):
        troubles: dict[str, list[str]] = {}
        for name, tensor in among:
            shown = None if tensor is None else value(tensor)
            if shown is not None and shown.statistics.trouble:
                troubles.setdefault(shown.statistics.trouble, []).append(name)
        if troubles:
            what = tuple((trouble, tuple(dict.fromkeys(who))) for trouble, who in troubles.items())
            source = None if call.line is None else Source(*call.line[:2])
            return GradientsNotFinite(what, among is gradients, source=source)
    return None


def first_not_finite(session: PassSession, trouble: GradientsNotFinite) -> Reason:
    """Run the pass up to the gradient that is not finite first, and say what made it."""
    point = session.breakpoints.add(kind="catch", born=True, condition="nan or inf")
    before = None
    while before != (before := session.position) and session.breakpoints.last is None:
        session.continue_()
    reached = session.breakpoints.last
    session.breakpoints.delete(point.number)
    if reached is None:  # the roots alone are so, or what only the other run had
        return replace(trouble, is_mask=not trouble.of_gradients)
    return _of_trigger(session, reached.trigger, trouble)


def _of_trigger(session: PassSession, trigger: Trigger, trouble: GradientsNotFinite) -> Reason:
    index, gradient = trigger.subject.index, trigger.subject.gradient
    known = None if gradient is None else gradient.statistics
    so = trouble if trouble.of_gradients else None
    if not trigger.computed or gradient is None or known is None or not known.trouble:
        made = MadeNotFinite(trigger.cause, trigger.explanation, so)
        return made.at_node(session.graph, index)
    stem, source = session.graph.stem(index), session.graph.sources.get(index)
    equal = _equal_values(session, index)
    there = [] if equal else elements_there(session, trigger, first_element(gradient))
    inputs = [pair for pair in there if pair[0] not in ("g", "result")]
    results = [("its result", element) for name, element in there if name == "result"]
    advice: Reason
    if _is_rule_of_program(session, index):
        advice = LookAtCode()
    elif not equal and known.trouble == "inf" and _is_large(session, index, there, gradient):
        advice = TooWide()
    else:
        first = next((float(element) for _, element in inputs if np.isrealobj(element)), 0.0)
        is_half = gradient.dtype == "float16"
        advice = AwayFromZero(stem, is_negative=first < 0, is_half=is_half, source=source)
    saved_nan = any(kept.statistics.nans for kept in _saved_by(session, index))
    return SentNotFinite(
        amount_of(known, known.trouble, gradient.array if gradient.has_numbers else None), equal,
        tuple((operand(source, stem, name), number) for name, number in inputs or results),
        tuple(there),
        session.graph.node(index).formula, so, advice, saved_nan,
    ).at_node(session.graph, index)  # fmt: skip


def _is_rule_of_program(session: PassSession, index: int) -> bool:
    rules = engine_of(session.roots).rules
    line = None if rules is None else rules.rule_line(session.order[index])
    return line is not None and not is_own_file(line.file)


def _saved_by(session: PassSession, index: int) -> list[Value]:
    return [kept.value for kept in session.detail(index).saved if kept.value is not None]


def _is_large(
    session: PassSession, index: int, there: Sequence[tuple[str, Any]], gradient: Value
) -> bool:
    """Return whether a product of two such elements may be too large for their dtype, as those of
    a derivative that is infinite at one place are not."""
    if not gradient.has_numbers:  # a recording may describe values only
        return not any(kept.statistics.zeros for kept in _saved_by(session, index))
    limit = 256.0 if gradient.dtype == "float16" else 1e9
    return not there or any(abs(element) > limit for _, element in there)


def _equal_values(session: PassSession, index: int) -> EqualValues | None:
    """Return which values are equal by whose differences the derivative of eigenvectors divides."""
    for kept in session.detail(index).saved:
        if kept.name in ("eigenvalues", "L", "S") and kept.value and kept.value.has_numbers:
            values = np.sort(np.real(kept.value.array), axis=-1)
            same = np.argwhere(np.diff(values) == 0)
            if len(same):
                what = "singular values" if kept.name == "S" else "eigenvalues"
                return EqualValues(what, values[tuple(same[0])])
    return None

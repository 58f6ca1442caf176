"""The origin of a NaN or an infinity in the forward pass; no gradient can be right behind it.

Needs what ``trace(values=True)`` left behind; without it, saved values tell that there is one.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple

from numpy.typing import NDArray

from gradstep.capturing.forward_values import ForwardValues, inputs_of, is_computed, outputs_of
from gradstep.contract.op_records import OpRecord, Origin, Record
from gradstep.debugger.snapshot.value import Value, value
from gradstep.findings.facts import Facts, Forward, Numbers
from gradstep.findings.facts.history import is_trial
from gradstep.findings.finding import Fix, Meaning, Program, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.not_finite import Began, NotFinite
from gradstep.findings.rules.graph.away_from_zero import Advice, AwayFromZero
from gradstep.findings.rules.graph.ingredients import (
    DividesByZero,
    InRow,
    NothingToAverage,
    TooLarge,
    along_a_dimension,
    divides_by_zero,
    numbers_there,
    of_finite_inputs,
    of_negative,
)
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.zeros import called_at
from gradstep.graph.addresses import step_number
from gradstep.graph.model import Source
from gradstep.graph.statistics import (
    Statistics,
    Trouble,
    first_place,
)
from gradstep.records import LEAF, Node, resolve
from gradstep.text import listed

_CHOOSING = ("Where", "MaskedFill", "Index", "Gather", "Slice", "Select", "MaskedScatter")
_TROUBLES: tuple[Trouble, ...] = ("nan", "inf")


class Amount(NamedTuple):
    """How many ``places`` of a value are NaN, or infinite, of how many elements, and which is the
    ``first``; None where that is unknown."""

    trouble: Trouble
    places: int | None = None
    size: int | None = None
    first: tuple[int, ...] | None = None

    def __str__(self) -> str:
        if self.places is None or self.size == 1:
            return self.trouble
        text = f"{self.trouble} at {self.places:,} of {self.size:,} places"
        return text if self.first is None else f"{text}, first at {list(self.first)}"


@dataclass(frozen=True)
class Given:
    """An input that is not finite: a tensor of the program, or the result of the op ``name``, which
    is so since ``began_at``; ``learns`` says that the tensor is a leaf with a gradient."""

    name: str
    amount: Amount = field(compare=False)
    is_result: bool = False
    began_at: str = ""
    source: Source | None = None
    learns: bool = False

    @property
    def text(self) -> str:
        """The same in words."""
        if not self.is_result:
            return f"{self.name} with {self.amount}"
        began = f", which began at {self.began_at}" if self.began_at else ""
        return f"the result of {self.name} with {self.amount}{began}"


@dataclass(frozen=True)
class Beginning(NotFinite):
    """The first value of the forward pass that is not finite: op ``name`` "produces" it, a leaf of
    that name "has" it, or the node "saved" it and nothing is known of where it came from.

    ``given`` are the inputs of the op that are not finite themselves.  Of an infinity of which
    another op made NaN, ``became`` says of which trouble, and where.  ``certain`` says that all
    inputs are known, ``there`` what is known of them, and ``advice`` is for the op itself.
    ``is_traced`` says that values of the forward pass were described. Where they were not,
    ``finds`` is the command that finds out more, and ``call`` what its ``--call`` is given.
    """

    keeps_loss = False
    trouble: Trouble
    name: str
    verb: Literal["produces", "has", "saved"]
    amount: Amount = field(compare=False)
    saved: str = ""
    there: Reason | None = None
    given: tuple[Given, ...] = ()
    became: tuple[str, str] = ("", "")
    certain: bool = True
    advice: Reason | None = None
    is_traced: bool = field(default=True, compare=False)
    call: str = field(default="", compare=False)
    finds: str = field(default="", compare=False)

    @property
    def began(self) -> Began:
        return "at" if (self.certain or self.given) and not self._was_given else "at_or_before"

    @property
    def _was_given(self) -> bool:
        """Whether the op was given it in a tensor of which it is not known who made it."""
        return bool(self.call) and any(
            not value.is_result and not value.learns for value in self.given
        )

    @property
    def headline(self) -> str:
        """The place where it began: ``nan began in the forward pass, at #4 log:1``."""
        if self.verb == "has":
            return f"{self.name} contained {self.trouble} before the forward pass"
        where = self.name if self.index is None else f"{step_number(self.index)} {self.name}"
        if self.older:
            before = f"{self.trouble} before the forward pass"
            return f"{listed(self.older)} contained {before}, used by {where}"
        if not self.certain:
            where = f"at {where} or earlier"
        elif self.verb == "saved":
            where = f"inside {where}"
        else:
            where = f"at {where}"
        return f"{self.trouble} began in the forward pass, {where}{self._became}"

    @property
    def _became(self) -> str:
        trouble, place = self.became
        return trouble and f"; the {self.trouble} became {trouble} at {place}"

    @property
    def place(self) -> str:
        """How much of what is not finite, first where, and what is known of the inputs there."""
        amount = f"{self.saved} with {self.amount}" if self.saved else self.amount
        return f"{amount}{self.there.text() if self.there else ''}"

    @property
    def older(self) -> list[str]:
        """The leaves that learn and had it before the forward pass, where they alone had."""
        is_older = all(value.learns for value in self.given)
        return [value.name for value in self.given] if is_older else []

    def text(self) -> str:
        given = ""
        if self.given:
            are = "its input is" if len(self.given) == 1 else "its inputs are"
            given = f"; {are} {listed([value.text for value in self.given])}"
        if self._was_given:
            tensors = listed([value.text for value in self.given])
            return f"{self.trouble} began before {self.name}, which was given {tensors}"
        if self.began == "at":
            return f"{self.name} {self.verb} {self.place}{given}{self._became}"
        has = f"which saved {self.saved} with" if self.saved else "whose result has"
        amount = f", {has} {self.amount}" if (self.amount.size or 1) > 1 else ""
        return f"{self.trouble} began at or before {self.name}{amount}{self._became}"

    def remedy(self) -> str:
        if self.finds and self.began != "at":
            found = "what made it" if self._was_given else "where it began"
            return f"{self.finds} finds {found}"
        if self.advice is not None:
            return self.advice.remedy()
        if not self.certain:
            if self.is_traced:
                return LookAtInputs(name=self.name).remedy()
            return "trace(values=True) around the forward pass finds where it began"
        if self.older:
            return (
                "look at what wrote it there: its initialization, the step() after an earlier "
                "call, or code of your own"
            )
        return "check how these values are computed"

    def of_call(self, call: str) -> Beginning:
        return replace(self, call=call)

    def for_program(self, program: Program) -> Beginning:
        finds = program.command(f"check --call {self.call}") if self.call else ""
        return replace(self, finds=finds if self.began != "at" else "")

    def fix(self) -> tuple[Fix, ...]:
        return () if self.advice is None else self.advice.fix()

    def parts(self) -> tuple[Reason, ...]:
        return () if self.there is None else (self.there,)

    def calls(self) -> tuple[str, ...]:
        names = [self.name, *(value.name for value in self.given if value.is_result)]
        return tuple(map(called_at, [*names, self.became[1]]))


@dataclass(frozen=True)
class Unmasked(Advice):
    """Leaves a row of a softmax that is masked everywhere finite."""

    keeps_loss = False
    helps = "mask with a large negative number, which leaves such a row finite"

    def fix(self) -> tuple[Fix, ...]:
        return Line(self.source).rewritten(_finite)


@dataclass(frozen=True)
class LookAtInputs(Advice):
    """Nothing is known of what the op ``name`` was given; "" of data, which no leaf made."""

    name: str

    def remedy(self) -> str:
        if self.name:
            return f"look at the inputs of {self.name} there: they were not recorded"
        return (
            "look at how these data are made: values may be missing, or a column that is the same "
            "everywhere may be divided by its standard deviation"
        )


def _finite(node: ast.expr) -> str | None:
    """Return a large number for minus infinity."""
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value="-inf")]):
            return "-1e9"
        case ast.UnaryOp(op=ast.USub(), operand=ast.Attribute(attr="inf")):
            return "-1e9"
    return None


def find_not_finite(subject: Subject) -> Iterator[Reason]:
    """Find where what makes the loss NaN or infinite began; otherwise, where any NaN did: masks are
    infinite on purpose, and leave the loss finite.  A NaN in values without a gradient that leaves
    the loss finite is a note: other elements were picked.  Of a forward pass that was not traced,
    what the graph itself tells of the loss."""
    values = ForwardValues(subject.engine.reading, subject.origins)
    roots = list(subject.origins)
    ops = [record for record in subject.records if isinstance(record, OpRecord)]
    results = [result for op in ops for result in outputs_of(op) if is_computed(result)]
    places: tuple[tuple[Trouble, list[Origin]], ...]
    places = (("nan", roots), ("nan", results), ("inf", roots))
    for trouble, starts in places:
        origin = values.first(starts, trouble)
        if origin is not None:
            is_left_out = starts is results and not origin[0].requires_grad
            yield replace(_beginning(subject, values, origin, trouble), is_note=is_left_out)
            return
    for root in () if subject.origins else subject.engine.reading.tensors(subject.roots):
        known = subject.numbers.statistics(subject.user_tensor(root))
        if known is not None and known.trouble:
            index = subject.order.index(resolve(root.edge)[0])
            if (began := forward_cause(subject, index)) is not None:
                yield began
                return


def forward_cause(subject: Subject, index: int) -> Beginning | None:
    """Find where that began in the forward pass which makes the gradient that node ``index``
    computes NaN or infinite; None where all that the node computes with is finite.

    A result of the op that no rule uses is a cause too, if it makes the loss what it is.
    """
    node = subject.order[index]
    saved = dict(_saved_values(subject, node))
    values, record, roots = _forward_of(subject, node)
    for trouble in _TROUBLES:
        used = any(kept.statistics.amount(trouble) for kept in saved.values())
        if isinstance(record, OpRecord) and (used or _spoils(values, record, roots, trouble)):
            results, inputs = outputs_of(record), inputs_of((record, 0))
            ops = [origin for origin in (*results, *inputs) if isinstance(origin[0], OpRecord)]
            origin = values.first(ops, trouble) or values.first(inputs, trouble)
            if origin is not None:
                began = _beginning(subject, values, origin, trouble)
                if began.certain or isinstance(node.record, OpRecord):
                    return began
                earlier = _earliest(subject, index, trouble)
                return max(began, earlier or began, key=lambda start: start.index or 0)
    for name, kept in saved.items():
        if kind := kept.statistics.trouble:
            if isinstance(record, OpRecord) and _all_known(values, (record, 0)):
                return _saved(subject, index, name, kept, certain=True)
            return _earliest(subject, index, kind) or _saved(subject, index, name, kept)
    return None


def _forward_of(subject: Subject, node: Node) -> tuple[ForwardValues, Any, Iterable[Origin]]:
    """Return the values of the forward pass, the record of the op of ``node``, and where the roots
    came from: of what was traced, or else of what the graph itself tells."""
    kept = None if isinstance(node.record, OpRecord) else subject.kept_forward
    if kept is None:
        return ForwardValues(subject.engine.reading, subject.origins), node.record, subject.origins
    ends = [resolve(root.edge) for root in subject.engine.reading.tensors(subject.roots)]
    roots = [(kept.records[end], nr) for end, nr in ends if end in kept.records]
    return ForwardValues(subject.engine.reading, kept), kept.records.get(node), roots


def _saved(
    subject: Subject,
    index: int,
    name: str,
    kept: Value,
    *,
    certain: bool = False,
) -> Beginning:
    known = kept.statistics
    trouble = known.trouble or "nan"
    array = kept.array if kept.has_numbers else None
    began = Beginning(
        trouble, subject.graph.address(index), "saved", amount_of(known, trouble, array), name,
        certain=certain, is_traced=bool(subject.origins),
    )  # fmt: skip
    return began.at_node(subject.graph, index)


def _earliest(subject: Subject, index: int, trouble: Trouble) -> Beginning | None:
    """Return what ran first in the forward pass, of all that node ``index`` comes from, and has
    ``trouble`` in a leaf or in what it saved; None where that is only the node itself."""
    for place in sorted(_ways_back(subject, index), reverse=True):
        node = subject.order[place]
        if node.kind == LEAF:
            leaf = subject.engine.leaf(node)
            known = None if leaf is None else subject.numbers.statistics(leaf)
            if known is not None and known.amount(trouble):
                name = subject.names.of(leaf) or "a leaf"
                return Beginning(
                    trouble, name, "has", amount_of(known, trouble), address=name, index=place
                )
            continue
        for name, kept in _saved_values(subject, node):
            if kept.statistics.amount(trouble):
                return _saved(subject, place, name, kept)
    return None


def _ways_back(subject: Subject, index: int) -> set[int]:
    """Return the nodes behind ``index``, up to those that may have chosen other elements than
    those in question."""
    stack, seen = [index], {index}
    while stack:
        at = stack.pop()
        if not subject.order[at].name().startswith(_CHOOSING):
            stack += (fresh := {*subject.behind[at]} - seen)
            seen |= fresh
    return seen - {index}


def _spoils(
    values: ForwardValues, record: OpRecord, roots: Iterable[Origin], trouble: Trouble
) -> bool:
    """Return whether an op has ``trouble`` in its result, and the loss too."""
    return any(values.has(result, trouble) for result in outputs_of(record)) and any(
        values.has(root, kind) for root in roots for kind in _TROUBLES
    )


def _saved_values(subject: Subject, node: Node) -> Iterator[tuple[str, Value]]:
    for name, kept, _ in node.saved():
        if (shown := value(subject.numbers.kept_tensor(node, name, kept))) is not None:
            yield name, shown


def _beginning(
    subject: Subject, values: ForwardValues, origin: Origin, trouble: Trouble
) -> Beginning:
    """Return the beginning of a NaN or an infinity at ``origin``; of a NaN that an op made of an
    infinity which another op made of finite values, that other one is."""
    record = origin[0]
    amount = amount_of(values.statistics(origin), trouble, values.array(origin))
    if not isinstance(record, OpRecord):
        return Beginning(trouble, _named(subject, origin), "has", amount)
    given = [
        (operand, known.trouble) for operand, known in _described(values, origin) if known.trouble
    ]
    spoiled = [operand for operand in inputs_of(origin) if values.is_spoiled(operand, "inf")]
    first = values.first(spoiled, "inf") if trouble == "nan" else None
    if first is not None and _made_of_finite(values, first):
        became = trouble, _named(subject, origin)
        return replace(_beginning(subject, values, first, "inf"), became=became)
    certain = _all_known(values, origin)
    there: Reason | None = None
    if certain and not given:
        there = of_finite_inputs(values, origin, trouble)
    elif not given and divides_by_zero(values, origin, trouble):
        certain, there = True, DividesByZero()
    elif given:
        there = along_a_dimension(values, origin, trouble)
    given_there = tuple(_given(subject, values, *pair) for pair in given)
    index = subject.index_of(record)
    began = Beginning(
        trouble, _named(subject, origin), "produces", amount, there=there, given=given_there,
        certain=certain, is_traced=bool(subject.origins), source=_source(subject, record),
        other=given_there[0].source if given_there else None,
        address="" if index is None else _named(subject, origin), index=index,
    )  # fmt: skip
    return replace(began, advice=_advice(subject, values, origin, began, given))


def _advice(
    subject: Subject,
    values: ForwardValues,
    origin: Origin,
    began: Beginning,
    given: list[tuple[Origin, Trouble]],
) -> Reason | None:
    """Return what helps; None where what the op was given has to be looked at first."""
    record, there = origin[0], began.there
    assert isinstance(record, OpRecord)
    if isinstance(there, InRow) and there.is_masked:
        return Unmasked(source=_source(subject, given[0][0][0]))
    if given:
        return None
    if not began.certain:
        is_data = not any(is_computed(operand) for operand in inputs_of(origin))
        return LookAtInputs(record.name if record.requires_grad else "") if is_data else None
    is_wide = record.dtype == "float16" or record.name in _LIMITS
    if isinstance(there, NothingToAverage) or (isinstance(there, TooLarge) and not is_wide):
        return there
    numbers = numbers_there(values, origin, began.trouble)
    is_number = len(record.inputs) > 1 and not isinstance(record.inputs[1], tuple)
    return AwayFromZero(
        record.name,
        is_negative=of_negative(record, began.trouble) or (bool(numbers) and float(numbers[0]) < 0),
        by_number=record.name == "div" and is_number, is_half=record.dtype == "float16",
        source=began.source,
    )  # fmt: skip


_LIMITS: Final = {"exp", "exp2", "expm1", "sinh", "cosh", "div", "reciprocal", "rsqrt"}
"""Ops that make a large result of no large inputs."""


def _made_of_finite(values: ForwardValues, origin: Origin) -> bool:
    """Return whether an op made what is not finite of what is; a mask was told to be infinite."""
    record = origin[0]
    if not isinstance(record, OpRecord) or not _all_known(values, origin):
        return False
    numbers = (*record.inputs, *record.attributes.values())
    return not any(known.trouble for _, known in _described(values, origin)) and all(
        math.isfinite(number) for number in numbers if isinstance(number, int | float)
    )


def _described(values: ForwardValues, origin: Origin) -> Iterator[tuple[Origin, Statistics]]:
    for operand in dict.fromkeys(inputs_of(origin)):
        known = values.statistics(operand)
        if known is not None:
            yield operand, known


def _all_known(values: ForwardValues, origin: Origin) -> bool:
    return all(values.statistics(operand) is not None for operand in inputs_of(origin))


def _given(subject: Subject, values: ForwardValues, origin: Origin, trouble: Trouble) -> Given:
    """Return an input that is not finite; of what comes from further back, from where."""
    name = _named(subject, origin)
    if not isinstance(origin[0], OpRecord):
        amount = amount_of(values.statistics(origin), trouble, values.array(origin))
        return Given(name, amount, learns=origin[0].requires_grad)
    first = values.first([origin], trouble) or origin
    return Given(
        name, amount_of(values.statistics(origin), trouble), is_result=True,
        began_at=_named(subject, first) if first[0] is not origin[0] else "",
        source=_source(subject, first[0]),
    )  # fmt: skip


def _source(subject: Subject, record: Record) -> Source | None:
    """Return the line of an op; of one that was not traced, that of its node."""
    index = None if record.source is not None else subject.index_of(record)
    return record.source if index is None else subject.source(index)


def _named(subject: Subject, origin: Origin) -> str:
    """Return an op by its address, if it is in the plan, and a leaf by its name."""
    record = origin[0]
    if isinstance(record, OpRecord):
        index = subject.index_of(record)
        if index is not None:
            return subject.graph.address(index)
        scope = subject.names.scope(record.scope)
        return f"{scope}/{record.name}" if scope else record.name
    return subject.names.of(record.tensor()) or "a tensor"


def amount_of(
    known: Statistics | None, trouble: Trouble, array: NDArray[Any] | None = None
) -> Amount:
    """Return how much of a value is NaN, or infinite, and where first."""
    if known is None:
        return Amount(trouble)
    first = None if array is None or known.size == 1 else first_place(array, trouble)
    return Amount(trouble, known.amount(trouble), known.size, first)


def of_trial(reason: NotFinite, facts: Facts) -> NotFinite:
    """Return what a run makes of a reason: of a call of autograd.grad(), which changes no leaf, it
    is a note where that line gave finite numbers again."""
    title = next((title for title, known in facts.seen if known is reason), "")
    return replace(reason, is_note=True) if is_trial(facts.run, title) else reason


RULES: Final = (
    Rule(find_not_finite, Meaning(
        "not-finite", "warning", "a value or a gradient is NaN or infinite",
        "The finding names where it began. Everything computed from it is wrong.",
        "torch.where(q != 0, p / q, 0.0)", "p / torch.where(q != 0, q, 1.0)",
        "A gradient scaler skips such a step now and then: that is only a note. The same holds "
        "for a trial of a sampler or a search that went too far, if later ones on its line are "
        "finite, and for a NaN in values without a gradient, if the loss does not use it.",
    ), needs=(Forward, Numbers), in_run=of_trial),
)  # fmt: skip

"""Terms of a loss that have no derivative although they are computed from what learns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gradstep.contract.op_records import OpRecord, Record, reachable
from gradstep.findings.facts import Forward
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.copied import Copied
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.rules.graph.terms import terms_of
from gradstep.findings.source_lines import copies_of_numbers


@dataclass(frozen=True)
class CopiedTerm(Copied):
    """A term is made of numbers that were copied out of tensors."""

    code = "constant-term"
    blames_line = True
    so = "the loss has a term that learns nothing"


@dataclass(frozen=True)
class ConstantTerm(Reason):
    """The op ``name`` has no derivative, and ``user`` adds what comes of it to the loss."""

    code = "constant-term"
    blames_line = True
    helps = (
        "use the probabilities themselves, as in softmax(h, dim) @ cost; or take the term out "
        "of the loss, and only print it"
    )
    name: str
    user: str

    def text(self) -> str:
        return (
            f"the loss has a term that learns nothing: {self.name}() has no derivative, so the "
            f"term that {self.user} adds is a constant"
        )

    def calls(self) -> tuple[str, ...]:
        return (self.name,)


def find_constant_terms(subject: Subject) -> Iterator[Reason]:
    """Yield the numbers in the sum of a loss that an op without a derivative, such as argmax, made
    of values that have a graph; not what detach() or no_grad() took out on purpose."""
    terms = terms_of(record for record, _ in subject.origins).constant
    first = _first_cuts(terms)
    for term in terms:
        if term.statistics is not None and term.statistics.is_zero:
            continue  # so far, it changes not even the number
        record = first[term]
        if record is not None and _copies(record):
            yield CopiedTerm(source=record.source, other=term.source)
        elif isinstance(record, OpRecord):
            yield ConstantTerm(record.name, term.name, source=record.source, other=term.source)


def _first_cuts(terms: Sequence[Record]) -> dict[Record, Record | None]:
    """Return, for each record that terms were computed from, the first one behind it that left
    graphs behind; in one pass, as a loop may add a term in each round."""
    first: dict[Record, Record | None] = {}
    for record in reachable(terms):  # in the order in which they were made
        given = record.inputs if isinstance(record, OpRecord) else ()
        behind = [known for one in given if isinstance(one, tuple) and (known := first[one[0]])]
        if _copies(record) or _cuts(record):
            behind.append(record)
        first[record] = min(behind, key=lambda record: record.number, default=None)
    return first


def _copies(record: Record) -> bool:
    at = record.source
    return at is not None and at in copies_of_numbers(at.file)


def _cuts(record: Record) -> bool:
    return (
        isinstance(record, OpRecord)
        and not record.requires_grad
        and record.grad_mode
        and not record.dtype.startswith(("float", "bfloat", "complex"))
        and any(isinstance(origin, tuple) and origin[0].requires_grad for origin in record.inputs)
    )


RULES: Final = (
    Rule(find_constant_terms, Meaning(
        "constant-term", "warning", "a term of the loss has no derivative",
        "argmax(), a comparison or a cast to integers made it, so it changes the value of the "
        "loss, but no gradient.",
        "loss = ce + (h.argmax(1) != y).float().mean()",
        "loss = ce + (1 - h.softmax(1).gather(1, y[:, None])).mean()",
        "When you only print it.",
    ), needs=(Forward,)),
)  # fmt: skip

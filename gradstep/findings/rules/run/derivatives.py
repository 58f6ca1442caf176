"""Derivatives that are not those of their functions, as finite differences tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from gradstep.findings.checking import InputCheck, NodeCheck, Progress, check_derivatives
from gradstep.findings.facts import Fact, Facts
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import arguments_of, returned
from gradstep.graph.model import Source
from gradstep.guest.own_files import is_own_file
from gradstep.recording.look import Look

_CHECKED: Final = 2
"""Calls of a line in which derivatives are compared with finite differences."""
_CLOSE: Final = 0.01
"""How far an approximation may be off, as a part of the derivative."""


class Checks(Fact):
    """The rules that were compared with finite differences: of the program's own Functions, or
    ``all``; in the first calls of a line."""

    def __init__(self) -> None:
        self.nodes: list[NodeCheck] = []
        self.all = False
        self.progress: Progress | None = None
        self._known: set[Any] = set()

    def closely(self, look: Look) -> None:
        if not look.is_traced or look.looks > _CHECKED:
            return
        roots, own = tuple(look.call.roots), not self.all
        for node in check_derivatives(roots, names=look.names, own=own, progress=self.progress):
            if node.is_identity:
                continue  # it changes the gradient on purpose, as a gradient reversal does
            key = (node.op, node.rule) if node.rule is not None else (node.op, node.source)
            if key not in self._known or node.verdict == "wrong":
                self._known.add(key)
                self.nodes.append(node)


@dataclass(frozen=True)
class WrongDerivative(Reason):
    """What finite differences say of an op's ``rule``, which is None where that is not the
    program's: the ``checks`` of the inputs where it is wrong. One that ``is_close`` may be an
    approximation.
    """

    code = "derivative"
    blames_line = True
    keeps_loss = True
    other_is = "its backward at"
    severity = "error"
    after = ()
    name: str
    checks: tuple[InputCheck, ...]
    rule: Source | None
    is_close: bool

    def text(self) -> str:
        if self.is_close:
            return f"the backward of {self.name} is within {_CLOSE:.0%} of finite differences"
        causes = dict.fromkeys("; ".join(check.causes) for check in self.checks if check.causes)
        why = f"; {', '.join(causes)}" if causes else ""
        claims = "; ".join(check.claim for check in self.checks)
        return f"the backward of {self.name} is wrong: {claims}{why}"

    def remedy(self) -> str:
        if self.is_close:
            return "nothing to do if it is meant as an approximation"
        if self.rule is None:
            return "you did not write this function: please report it"
        return "return the derivative of forward, times the gradient that backward was given"

    def fix(self) -> tuple[Fix, ...]:
        ignores = any(check.cause and check.cause.kind == "ignores" for check in self.checks)
        return _times_given(self.rule) if ignores else ()


def derivatives(facts: Facts) -> Iterator[Reason]:
    """Yield the rules that are wrong in a run; see :func:`wrong_among`."""
    return wrong_among(facts[Checks].nodes)


def wrong_among(nodes: Iterable[NodeCheck]) -> Iterator[Reason]:
    """Yield the rules that are wrong, each once, with what one of its nodes shows; not those that
    differ on purpose, as where the result does not depend on the input at all."""
    by_rule: dict[Any, list[NodeCheck]] = {}
    for node in nodes:
        if node.verdict == "wrong":
            wrong = tuple(nr for nr, one in enumerate(node.inputs) if one.verdict == "wrong")
            known = node.rule is not None and not is_own_file(node.rule.file)
            by_rule.setdefault((node.op, node.rule, wrong) if known else id(node), []).append(node)
    for first, *others in by_rule.values():
        bad = tuple(part for part in first.inputs if part.verdict == "wrong")
        if all(part.numerical == 0 for part in bad):
            continue  # forward is flat, as round() is: a straight-through estimator
        rule = None if first.rule is None or is_own_file(first.rule.file) else first.rule
        errors = [part.relative_error for part in bad]
        is_close = all(error is not None and error < _CLOSE for error in errors)
        yield WrongDerivative(
            first.op.removesuffix("Backward"), bad, rule, is_close, is_note=is_close,
            address=first.address, index=first.index, source=first.source,
            other=None if rule is None else returned(rule) or rule, found=1 + len(others),
        )  # fmt: skip


def _times_given(rule: Source | None) -> tuple[Fix, ...]:
    """Return the line with what ``backward`` returns, times the one gradient that it is given."""
    given = arguments_of(rule)
    at = None if rule is None else returned(rule)
    line = Line(at)
    text = line.replaced("{line}")[0].text if at is not None else ""
    if len(given) != 2 or not text.startswith("return ") or "," in text:
        return ()
    return line.replaced(f"return {given[1]} * ({text.removeprefix('return ')})")


RULES: Final = (
    Rule(derivatives, Meaning(
        "derivative", "error", "a custom Function has a wrong backward",
        "Its rule and finite differences of its forward differ. A rule whose forward returns its "
        "input is not reported: it changes the gradient on purpose.",
        "return 3 * x", "return grad_output * 3 * x**2",
        "When you want a different gradient, as with a straight-through estimator.",
    ), needs=(Checks,)),
)  # fmt: skip

"""Results of a numeric check: frozen records, and their descriptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gradstep.findings.checking.cause import Guess
from gradstep.graph.model import Source

Verdict = Literal["right", "wrong", "not checkable"]


@dataclass(frozen=True, slots=True)
class InputCheck:
    """The gradient for one input of a node, compared with finite differences.

    ``analytical`` and ``numerical`` are the derivatives, by the rule and by finite differences, of
    the sum of all outputs (each times its weight, if ``weighted``). They are taken with respect to
    the element at ``position``, where they differ most. If everything is right, they are taken
    along a random direction, and ``position`` is None. ``cause`` is a guess at what is wrong;
    ``beside`` is why the check is of other values, next to those given, "" where it is not.
    ``goes_in_steps`` where it is not checkable because the forward is a step function.
    """

    input: str
    verdict: Verdict
    reason: str = ""
    position: tuple[int, ...] | None = None
    analytical: float | None = None
    numerical: float | None = None
    weighted: bool = False
    cause: Guess | None = None
    beside: str = ""
    goes_in_steps: bool = False

    @property
    def relative_error(self) -> float | None:
        """The difference of the two, relative to the larger one; None if either is missing."""
        if self.analytical is None or self.numerical is None:
            return None
        larger = max(abs(self.analytical), abs(self.numerical))
        return abs(self.analytical - self.numerical) / larger if larger else 0.0

    @property
    def sentence(self) -> str:
        """A description of this result, with the cause if it is known."""
        return "; ".join([self.claim, *self.causes])

    @property
    def causes(self) -> list[str]:
        """The cause, and where it was seen, in words."""
        guessed = [] if self.cause is None else [self.cause.text]
        where = f"checked near the given values, because {self.beside}"
        return [*guessed, where] if self.beside else guessed

    @property
    def claim(self) -> str:
        """The sentence without the cause: "gradient for x is wrong at [2]: rule ..."."""
        if self.verdict == "right":
            return f"gradient for {self.input} is right"
        if self.verdict == "not checkable":
            return f"gradient for {self.input} is not checkable here: {self.reason}"
        place = "" if not self.position else f" at {list(self.position)}"
        return f"gradient for {self.input} is wrong{place}: {self.reason or self._numbers()}"

    def _numbers(self) -> str:
        assert self.analytical is not None
        assert self.numerical is not None
        ratio = ""
        if self.numerical and self.analytical:
            ratio = f" (ratio {self.analytical / self.numerical:.3g})"
        given = " for random gradients of the outputs" if self.weighted else ""
        return (
            f"rule {plain(self.analytical)}, finite differences {plain(self.numerical)}"
            f"{ratio}{given}"
        )


@dataclass(frozen=True, slots=True)
class NodeCheck:
    """A node's rule, compared with finite differences; ``index`` is its position in the plan.

    ``source`` is the forward line, ``rule`` the line where the rule is defined. The verdict is that
    of the worst of ``inputs``; if there are none, ``reason`` says why. ``note`` says what was left
    out of the comparison. Of a wrong one, ``is_identity`` says whether the result is an input as it
    was given: such a node is there to change the gradient, as a gradient reversal is.
    """

    index: int
    address: str
    op: str
    source: Source | None
    rule: Source | None = None
    inputs: tuple[InputCheck, ...] = ()
    reason: str = ""
    note: str = ""
    is_identity: bool = False

    @property
    def worst(self) -> InputCheck | None:
        """The input with the largest error; otherwise one that is not checkable; otherwise any."""
        return max(self.inputs, key=_badness, default=None)

    @property
    def verdict(self) -> Verdict:
        worst = self.worst
        return "not checkable" if worst is None else worst.verdict

    @property
    def sentence(self) -> str:
        """A description of this result."""
        worst = self.worst
        if worst is None:
            return f"{self.op} is not checkable here: {self.reason}"
        if worst.verdict == "right":
            left_out = f", with {self.note}" if self.note else ""
            names = ", ".join(check.input for check in self.inputs)
            return f"{self.op}: right ({names}){left_out}"
        bad = [check.sentence for check in self.inputs if check.verdict == worst.verdict]
        return f"{self.op}: {'; '.join(bad)}"

    @property
    def cells(self) -> tuple[str, ...]:
        """The node, what was found of it, and its forward line."""
        return self.address, self.sentence, self.source.place if self.source else ""

    @property
    def why_not(self) -> str:
        """The reason why it is not checkable, without the name of the node."""
        return self.reason if self.worst is None else self.sentence.partition(": ")[2]


def _badness(check: InputCheck) -> tuple[int, float]:
    order = ("right", "not checkable", "wrong")
    error = check.relative_error
    return order.index(check.verdict), 2.0 if error is None or error != error else error


def plain(value: float) -> str:
    """Return a derivative with three significant digits, or two decimals where it is small.

    >>> plain(12.0), plain(-0.25), plain(1234.5), plain(0.000123)
    ('12.00', '-0.25', '1234.50', '0.000123')
    """
    size = abs(value)
    value += 0.0  # no minus before a zero
    if size == 0 or 0.1 <= size < 10_000:
        return f"{value:.2f}"
    return f"{value:.3g}"

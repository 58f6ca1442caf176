"""What keeps an optimizer from changing a leaf that has a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import frexp, isfinite, ldexp
from typing import Any, ClassVar, Final

from gradstep.findings.finding import Reason
from gradstep.graph.statistics import format_number

_DIGITS: Final = {"bfloat16": (2, 7), "float16": (3, 10), "float32": (7, 23), "float64": (16, 52)}
"""Of each dtype, about how many decimal digits it keeps, and the bits of a mantissa."""


class Hindrance(Reason):
    """Why a leaf does not change; ``is_known`` unless it is only what remains."""

    is_known: ClassVar[bool] = True

    @property
    def is_cause(self) -> bool:
        return self.is_known


@dataclass(frozen=True)
class Unknown(Hindrance):
    """The program names no optimizer."""

    is_known = False
    helps = (
        "call zero_grad() before backward() and step() after it; make sure that an optimizer "
        "has these leaves, that its learning rate is not 0, and that the gradient is not tiny"
    )
    says = "no step ran, or it was too small to change a bit"


@dataclass(frozen=True)
class NotInOptimizer(Hindrance):
    """No optimizer has it."""

    helps = (
        "pass all parameters to the optimizer, or set requires_grad=False on those that "
        "should not learn"
    )

    def text(self) -> str:
        return f"no optimizer of the program has {self.of('it', 'them')}"


@dataclass(frozen=True)
class NoStep(Hindrance):
    """No step used the gradient."""

    is_known = False
    marks = "step", "zero_grad"
    helps = "call zero_grad() before backward() and step() after it"
    says = "step() did not run, or only after zero_grad(), or something undid it"


@dataclass(frozen=True)
class ZeroRate(Hindrance):
    """The learning rate of an optimizer is 0."""

    optimizer: str

    def text(self) -> str:
        return f"the learning rate of {self.optimizer} is 0"

    def remedy(self) -> str:
        return f"look at how the learning rate of {self.optimizer} is set, and at its schedule"


@dataclass(frozen=True)
class LostInRounding(Hindrance):
    """A step is smaller than half of the way to the next number."""

    helps = "use a larger learning rate, or keep the weights in a dtype with more digits"
    dtype: str
    digits: int
    optimizer: str
    rate: float

    def text(self) -> str:
        return (
            f"a step is lost in rounding, as {self.dtype} keeps about {self.digits} digits and the "
            f"learning rate of {self.optimizer} is {format_number(self.rate)}"
        )


Held = Sequence[tuple[str, Mapping[str, Any]]]
"""The groups of optimizers that have a leaf: the name of the optimizer, and the options."""


def hindrance(held: Held | None, dtype: str, usual: float | None, size: float) -> Hindrance:
    """Return what keeps a leaf as it is whose elements are of a ``usual`` size, and whose gradient
    has a root mean square of ``size``; ``held`` is None where no optimizer is known."""
    if held is None:
        return Unknown()
    if not held:
        return NotInOptimizer()
    rates = {title: group["lr"] for title, group in held if "lr" in group}
    if rates and not any(map(float, rates.values())):
        return ZeroRate(next(iter(rates)))
    return _lost_in_rounding(held, dtype, usual, size) or NoStep()


def _lost_in_rounding(
    groups: Held, dtype: str, usual: float | None, size: float
) -> Hindrance | None:
    # those that divide by the size of the gradient move by about the learning rate
    steps = [
        (float(group.get("lr", 0)) * (1 if "eps" in group else size), title, group)
        for title, group in groups
    ]
    step, title, group = max(steps, key=lambda step: step[0])
    if dtype not in _DIGITS:
        return None
    digits, bits = _DIGITS[dtype]
    if usual is None or not isfinite(usual):
        return None
    if not 0 < step <= ldexp(0.5, frexp(usual)[1] - bits) / 2:
        return None  # half of the way to the next number
    return LostInRounding(dtype, digits, title, float(group["lr"]))

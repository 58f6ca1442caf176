"""What keeps an optimizer from changing a leaf that has a gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from gradstep.capturing.names import Names
from gradstep.debugger.snapshot.value import array_of
from gradstep.findings.finding import Reason
from gradstep.graph.statistics import format_number

_DIGITS: Final = {"bfloat16": (2, 7), "float16": (3, 10), "float32": (7, 23), "float64": (16, 52)}
"""Of each dtype, about how many decimal digits it keeps, and the bits of a mantissa."""


class Hindrance(Reason):
    """Why a leaf does not change; ``is_known`` unless it is only what remains."""

    is_known: ClassVar[bool] = True


@dataclass(frozen=True)
class Unknown(Hindrance):
    """The program names no optimizer."""

    is_known = False

    def text(self) -> str:
        return "no step ran, or it was too small to change a bit"

    def remedy(self) -> str:
        return (
            "call zero_grad() before backward() and step() after it; make sure that an optimizer "
            "has these leaves, that its learning rate is not 0, and that the gradient is not tiny"
        )


@dataclass(frozen=True)
class NotInOptimizer(Hindrance):
    """No optimizer has it."""

    def text(self) -> str:
        return f"no optimizer of the program has {self.of('it', 'them')}"

    def remedy(self) -> str:
        return (
            "pass all parameters to the optimizer, or set requires_grad=False on those that are "
            "not to learn"
        )


@dataclass(frozen=True)
class NoStep(Hindrance):
    """No step used the gradient."""

    is_known = False

    def text(self) -> str:
        return "step() did not run, or only after zero_grad()"

    def remedy(self) -> str:
        return "call zero_grad() before backward() and step() after it"

    def calls(self) -> tuple[str, ...]:
        return "step", "zero_grad"


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

    dtype: str
    digits: int
    optimizer: str
    rate: float

    def text(self) -> str:
        return (
            f"a step is lost in rounding, as {self.dtype} keeps about {self.digits} digits and the "
            f"learning rate of {self.optimizer} is {format_number(self.rate)}"
        )

    def remedy(self) -> str:
        return "use a larger learning rate, or keep the weights in a dtype with more digits"


def hindrance(names: Names, leaf: Any, size: float) -> Hindrance:
    """Return what keeps ``leaf``, whose gradient has a root mean square of ``size``, as it is."""
    if not names.optimizers:
        return Unknown()
    groups = [(title, group) for title, group, ids in names.trained() if id(leaf) in ids]
    if not groups:
        return NotInOptimizer()
    rates = {title: group["lr"] for title, group in groups if "lr" in group}
    if rates and not any(map(float, rates.values())):
        return ZeroRate(next(iter(rates)))
    return _lost_in_rounding(leaf, groups, size) or NoStep()


def _lost_in_rounding(leaf: Any, groups: list[tuple[str, Any]], size: float) -> Hindrance | None:
    dtype = str(leaf.dtype).rpartition(".")[2]
    # those that divide by the size of the gradient move by about the learning rate
    steps = [
        (float(group.get("lr", 0)) * (1 if "eps" in group else size), title, group)
        for title, group in groups
    ]
    step, title, group = max(steps, key=lambda step: step[0])
    if dtype not in _DIGITS:
        return None
    digits, bits = _DIGITS[dtype]
    array = array_of(leaf)
    if array is None or not array.size:
        return None
    _, exponents = np.frexp(np.abs(array).astype(np.float64))
    if not 0 < step <= float(np.median(np.ldexp(0.5, exponents - bits))) / 2:
        return None  # half of the way to the next number
    return LostInRounding(dtype, digits, title, float(group["lr"]))

"""What keeps an optimizer from changing a leaf that has a gradient."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from gradstep.capturing.names import Names
from gradstep.debugger.snapshot.value import array_of
from gradstep.graph.statistics import format_number

_DIGITS: Final = {"bfloat16": (2, 7), "float16": (3, 10), "float32": (7, 23), "float64": (16, 52)}
"""Of each dtype, about how many decimal digits it keeps, and the bits of a mantissa."""


class Hindrance(NamedTuple):
    """Why a leaf does not change, and what helps; ``known`` unless it is only what remains."""

    what: str
    remedy: str
    known: bool = True

    def of(self, count: int) -> str:
        """Say it of so many leaves."""
        return self.what.format(them="it" if count == 1 else "them")


_UNKNOWN: Final = Hindrance(
    "no step ran, or it was too small to change a bit",
    "call zero_grad() before backward() and step() after it; make sure that an optimizer has "
    "these leaves, that its learning rate is not 0, and that the gradient is not tiny",
    known=False,
)
_NOT_ITS: Final = Hindrance(
    "no optimizer of the program has {them}",
    "pass all parameters to the optimizer, or set requires_grad=False on those that are not to "
    "learn",
)
_NO_STEP: Final = Hindrance(
    "step() did not run, or only after zero_grad()",
    "call zero_grad() before backward() and step() after it",
    known=False,
)


def hindrance(names: Names, leaf: Any, size: float) -> Hindrance:
    """Say what keeps ``leaf``, whose gradient has a root mean square of ``size``, as it is."""
    if not names.optimizers:
        return _UNKNOWN
    groups = [(title, group) for title, group, ids in names.trained() if id(leaf) in ids]
    if not groups:
        return _NOT_ITS
    rates = {title: group["lr"] for title, group in groups if "lr" in group}
    if rates and not any(map(float, rates.values())):
        title = next(iter(rates))
        return Hindrance(
            f"the learning rate of {title} is 0",
            f"look at how the learning rate of {title} is set, and at its schedule",
        )
    return _lost_in_rounding(leaf, groups, size) or _NO_STEP


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
    rate = format_number(float(group["lr"]))
    return Hindrance(
        f"a step is lost in rounding, as {dtype} keeps about {digits} digits and the "
        f"learning rate of {title} is {rate}",
        "use a larger learning rate, or keep the weights in a dtype with more digits",
    )

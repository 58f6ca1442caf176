"""What keeps an op away from the place where its result, or its gradient, is not finite."""

from __future__ import annotations

from dataclasses import dataclass
from linecache import getline
from typing import Final, NamedTuple

from gradstep.capturing.statement import operation_at
from gradstep.findings.finding import Fix, Reason
from gradstep.findings.fixes import with_argument, with_operand
from gradstep.graph.model import Source

_LONGEST: Final = 30
_QUOTIENTS: Final = ("div", "reciprocal")
_ROOTS: Final = ("sqrt", "rsqrt", "log", "log2", "log10")
_NORMS: Final = ("norm", "linalg_vector_norm", "hypot")
_LIMITED: Final = ("acos", "asin", "atanh", "erfinv")
_SPREADS: Final = ("std", "var")
_EIGEN: Final = ("eigh", "linalg_eigh", "eig", "linalg_eig", "svd", "linalg_svd")


class Advice(Reason):
    """What helps against something that another reason tells of."""


class Way(NamedTuple):
    """How to keep an op away: in words, which of its inputs is replaced, -1 none, and by what."""

    words: str
    place: int
    new: str


@dataclass(frozen=True)
class AwayFromZero(Advice):
    """Keeps an op away from 0, or from another number at which it is not finite.

    Attributes:
        name: the op.
        is_negative: what it was given there is less than 0.
        by_number: it divides by a number of Python.
        is_half: it computes in float16, in which 1e-12 is 0.
    """

    keeps_loss = False
    name: str
    is_negative: bool = False
    by_number: bool = False
    is_half: bool = False

    def remedy(self) -> str:
        way = self._way
        if way is None:
            if self.name == "ctc_loss":
                return "leave such samples out with zero_infinity=True, or give it longer inputs"
            return f"keep the inputs of {self.name} away from there"
        line = "" if self.source is None else getline(*self.source)
        hint = ""
        if "where(" in line:
            hint = (
                "; torch.where() on the result does not help, as it multiplies the gradient by 0, "
                "and 0 times inf is nan"
            )
        if self.fix():
            return f"{way.words}{hint}"
        name = "d" if self.name in _QUOTIENTS else "x"
        code = way.new.replace("{0}", "{}").replace("{}", name) or "x.std(correction=0)"
        return f"{way.words}: {code}, where {name} is what {self.name} is given{hint}"

    def fix(self) -> tuple[Fix, ...]:
        way = self._way
        if way is None:
            return ()
        if way.place < 0:
            return with_argument(self.source, self.name, "correction", "0", without="unbiased")
        name, new = self.name.removeprefix("linalg_"), way.new.replace("{0}", "{}")
        return with_operand(self.source, name, way.place, new)

    @property
    def _way(self) -> Way | None:
        name, small = self.name, "1e-4" if self.is_half else "1e-12"
        if name in _QUOTIENTS:
            new = "max({}, 1e-3)" if self.by_number else "torch.where({} != 0, {}, 1.0)"
            return Way("never divide by 0", int(name == "div"), new)
        above = f"{{}}.clamp(min={small})" if self.is_negative else f"{{}} + {small}"
        kept = "keep its input above 0" if self.is_negative else "add a small number"
        edge = "1e-3" if self.is_half else "1e-6"
        ways = {
            _ROOTS: Way(kept, 0, above),
            _NORMS: Way("add a small number", 0, above),
            ("pow",): Way("keep the base above 0", 0, f"{{}}.clamp(min={max(small, '1e-6')})"),
            _LIMITED: Way("stay inside the limits", 0, f"{{}}.clamp(-1 + {edge}, 1 - {edge})"),
            ("exp",): Way("limit its input", 0, "{}.clamp(max=20)"),
            _SPREADS: Way("divide by n, not by n - 1", -1, ""),
            _EIGEN: Way(
                "keep them apart: add small, different numbers to its diagonal", 0,
                "{0} + torch.diag(1e-3 * torch.arange({0}.shape[-1]))",
            ),
        }  # fmt: skip
        return next((way for names, way in ways.items() if name in names), None)


def operand(source: Source | None, op: str, name: str) -> str:
    """Return what the program calls the input ``name`` of an op, or what it computes there. Where
    that is unknown, the name itself, but for ``self``, which means another thing in Python."""
    unknown = "its input" if name == "self" else name
    operation = operation_at(source, op)
    place = _PLACES.get(name)
    if operation is None or place is None or place >= len(operation.operands):
        return unknown
    text = operation.operands[place]
    return text if len(text) <= _LONGEST else unknown


_PLACES: Final = {
    "self": 0, "input": 0, "mat1": 0, "other": 1, "mat2": 1, "exponent": 1, "target": 1,
}  # fmt: skip

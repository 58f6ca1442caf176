"""What keeps an op away from the place where its result, or its gradient, is not finite."""

from __future__ import annotations

from linecache import getline
from typing import Final, NamedTuple

from gradstep.capturing.statement import operation_at
from gradstep.findings.finding import Fix
from gradstep.findings.fixes import with_argument, with_operand
from gradstep.graph.model import Source

_LONGEST: Final = 30
_ROOTS: Final = ("sqrt", "rsqrt", "log", "log2", "log10")
_NORMS: Final = ("norm", "linalg_vector_norm", "hypot")
_LIMITED: Final = ("acos", "asin", "atanh", "erfinv")
_SPREADS: Final = ("std", "var")
_EIGEN: Final = ("eigh", "linalg_eigh", "eig", "linalg_eig", "svd", "linalg_svd")
_WHERE: Final = (
    "; torch.where() on the result does not help, as it multiplies the gradient by 0, and 0 times "
    "inf is nan"
)


class Advice(NamedTuple):
    """A remedy in words, and as lines of the program."""

    text: str
    fix: tuple[Fix, ...] = ()


def away_from_zero(
    source: Source | None,
    op: str,
    *,
    is_negative: bool = False,
    by_number: bool = False,
    is_half: bool = False,
) -> Advice:
    """Return what takes the place of an op that was given 0, or another number at which it is not
    finite.

    Args:
        is_negative: what it was given there is less than 0.
        by_number: it divides by a number of Python.
        is_half: it computes in float16, in which 1e-12 is 0.
    """
    small = "1e-4" if is_half else "1e-12"
    plus = f"{{}}.clamp(min={small})" if is_negative else f"{{}} + {small}"
    if op in ("div", "reciprocal"):
        over = "max({}, 1e-3)" if by_number else "torch.where({} != 0, {}, 1.0)"
        text, place, new = "never divide by 0", int(op == "div"), over
    elif op in _ROOTS:
        text = "keep what it is given above 0" if is_negative else "add a small number"
        place, new = 0, plus
    elif op in _NORMS:
        text, place, new = "add a small number", 0, plus
    elif op == "pow":
        text, place, new = "keep the base above 0", 0, f"{{}}.clamp(min={max(small, '1e-6')})"
    elif op in _LIMITED:
        edge = "1e-3" if is_half else "1e-6"
        text, place, new = "stay inside the limits", 0, f"{{}}.clamp(-1 + {edge}, 1 - {edge})"
    elif op == "exp":
        text, place, new = "limit what it is given", 0, "{}.clamp(max=20)"
    elif op in _SPREADS:
        text, place, new = "divide by n, not by n - 1", -1, ""
    elif op in _EIGEN:
        text, place, new = (
            "keep them apart: add small, different numbers to its diagonal", 0,
            "{0} + torch.diag(1e-3 * torch.arange({0}.shape[-1]))",
        )  # fmt: skip
    elif op == "ctc_loss":
        return Advice("leave such samples out with zero_infinity=True, or give it longer inputs")
    else:
        return Advice(f"keep the inputs of {op} away from there")
    if place < 0:
        fix = with_argument(source, op, "correction", "0", without="unbiased")
    else:
        fix = with_operand(source, op.removeprefix("linalg_"), place, new.replace("{0}", "{}"))
    line = "" if source is None else getline(source.file, source.line)
    hint = _WHERE if "where(" in line else ""
    if fix:
        return Advice(f"{text}{hint}", fix)
    name = "d" if op in ("div", "reciprocal") else "x"
    code = "x.std(correction=0)" if place < 0 else new.replace("{0}", "{}").replace("{}", name)
    return Advice(f"{text}: {code}, where {name} is what {op} is given{hint}")


def operand(source: Source | None, op: str, name: str) -> str:
    """Return what the program calls the input ``name`` of an op, or what it computes there; the
    name itself where that is unknown."""
    operation = operation_at(source, op)
    place = _PLACES.get(name)
    if operation is None or place is None or place >= len(operation.operands):
        return name
    text = operation.operands[place]
    return text if len(text) <= _LONGEST else name


_PLACES: Final = {
    "self": 0, "input": 0, "mat1": 0, "other": 1, "mat2": 1, "exponent": 1, "target": 1,
}  # fmt: skip

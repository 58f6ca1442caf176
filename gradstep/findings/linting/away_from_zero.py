"""What keeps an op away from the place where its result, or its gradient, is not finite."""

from __future__ import annotations

from linecache import getline
from typing import Final

from gradstep.capturing.statement import operation_at
from gradstep.graph.model import Source

_LONGEST: Final = 30
_ROOTS: Final = ("sqrt", "rsqrt", "log", "log2", "log10")
_NORMS: Final = ("norm", "linalg_vector_norm", "cdist", "hypot")
_WHERE: Final = (
    "; torch.where() on the result does not help, as it multiplies the gradient by 0, and 0 times "
    "inf is nan"
)


def away_from_zero(source: Source | None, op: str) -> str:
    """Return the code that takes the place of an op that was given 0, with the names of the line
    where the program calls it."""
    line = "" if source is None else getline(source.file, source.line)
    hint = _WHERE if "where(" in line else ""
    found = operation_at(source, op)
    given = found.operands if found is not None else ()
    first = given[0] if given and len(given[0]) <= _LONGEST else ""
    if op in ("div", "reciprocal"):
        by = given[-1] if given else ""
        short = len(by) <= _LONGEST and by
        over = f"{_factor(first)} / " if first and len(given) > 1 else "... / "
        text = f"{over}torch.where({by} != 0, {by}, 1.0)" if short else (
            f"{over}torch.where(d != 0, d, 1.0), where d is what it divides by"
        )  # fmt: skip
        return f"never divide by 0: {text}{hint}"
    if op in _ROOTS:
        return f"add a small number: torch.{op}({first or 'x'} + 1e-12){hint}"
    if op == "pow":
        return f"add a small number: ({first or 'x'} + 1e-12) ** ...{hint}"
    if op == "hypot" and len(given) == 2 and max(map(len, given)) <= _LONGEST:
        return f"write torch.sqrt({given[0]} ** 2 + {given[1]} ** 2 + 1e-12){hint}"
    if op in _NORMS:
        return f"add a small number under the root: torch.sqrt((x * x).sum() + 1e-12){hint}"
    if op in ("acos", "asin", "atanh"):
        return (
            f"stay inside the limits: torch.{op}({first or 'x'}.clamp(-1 + 1e-6, 1 - 1e-6)){hint}"
        )
    return f"keep the inputs of {op} away from there{hint}"


def _factor(text: str) -> str:
    return f"({text})" if any(sign in text for sign in (" + ", " - ")) else text


def operand(source: Source | None, op: str, name: str) -> str:
    """Return what the program calls the input ``name`` of an op, or what it computes there; the
    name itself where that is unknown."""
    found = operation_at(source, op)
    place = _PLACES.get(name)
    if found is None or place is None or place >= len(found.operands):
        return name
    text = found.operands[place]
    return text if len(text) <= _LONGEST else name


_PLACES: Final = {
    "self": 0, "input": 0, "mat1": 0, "other": 1, "mat2": 1, "exponent": 1, "target": 1,
}  # fmt: skip

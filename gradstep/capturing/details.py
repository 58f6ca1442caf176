"""The arguments of an op besides tensors, in few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gradstep.capturing.names import Names
from gradstep.contract.op_records import LeafRecord, OpRecord
from gradstep.graph.statistics import format_constant, plus


def detail(record: OpRecord, names: Names) -> str:
    """Return ``3 · x``, ``exponent 2``, ``dim 1``."""
    numbers = [value for value in record.inputs if not isinstance(value, tuple)]
    if not numbers and not record.attributes and record.grad_mode:
        return ""
    operand = _operand(record, names) if numbers else ""
    parts = [_with_number(record.name, operand, value) for value in numbers]
    if not record.grad_mode:
        parts.append("no_grad")
    for name, value in record.attributes.items():
        if name in _NEUTRAL and _is_all(value, _NEUTRAL[name]):
            continue
        if isinstance(value, bool):
            if value:
                parts.append(name)
        elif isinstance(value, (int, float, complex)):
            parts.append(f"{name} {format_constant(value)}")
        elif isinstance(value, (str, tuple, list)) and len(str(value)) <= 24 and _is_plain(value):
            parts.append(f"{name} {value}")
    return ", ".join(parts)


_NEUTRAL: Final[Mapping[str, float]] = {
    "alpha": 1, "beta": 1, "step": 1, "stride": 1, "dilation": 1, "groups": 1, "padding": 0,
    "output_padding": 0, "ignore_index": -100, "padding_idx": -1,
}  # fmt: skip
"""Attributes that go without saying, where they have this value in all dimensions."""


def _is_plain(values: Iterable[object]) -> bool:
    return all(isinstance(value, (bool, int, float, str)) for value in values)


def _is_all(value: object, number: float) -> bool:
    values = value if isinstance(value, (tuple, list)) else (value,)
    return bool(values) and all(value == number for value in values)


def _operand(record: OpRecord, names: Names) -> str:
    """Name the tensor in the arithmetic with a number."""
    maker = next((value[0] for value in record.inputs if isinstance(value, tuple)), None)
    name = names.of(maker.tensor()) if isinstance(maker, LeafRecord) else ""
    return name or names.placeholder("x")


def number_detail(op: str, kept: Iterable[tuple[str, Any, Any]]) -> str:
    """Write the arithmetic with a number that a node keeps, of which nothing else was traced."""
    if op not in ("mul", "div"):
        return ""
    numbers = [getattr(value, "number", None) for _, value, _ in kept]
    number = next((number for number in numbers if isinstance(number, int | float)), None)
    return _with_number(op, "x", number) if number is not None else ""


def _with_number(op: str, tensor: str, value: float) -> str:
    """Return the arithmetic with a number: ``3 · x``, ``x − 1``."""
    number = format_constant(value)
    if op == "mul":
        return f"{number} · {tensor}"
    if op in ("add", "sub"):
        return plus(tensor, number if op == "add" else format_constant(-value))
    if op == "rsub":
        return f"{number} − {tensor}"
    return f"{tensor} / {number}" if op == "div" else number

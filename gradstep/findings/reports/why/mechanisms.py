"""What makes a node send zeros although what it was given is not zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from gradstep.contract.lookup import engine_of
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import NodeDetail, Value
from gradstep.debugger.snapshot.value import value
from gradstep.findings.finding import Reason
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.zeros import (
    AllNegative,
    AtEnds,
    BeyondLimits,
    FlatOp,
    OneElement,
    OtherSelected,
    Overwritten,
    TimesZero,
    ZeroFactor,
    ZeroLeaves,
)
from gradstep.graph.statistics import Range, format_number
from gradstep.records import LEAF, resolve

_RECTIFIERS: Final = ("relu", "threshold", "leaky_relu", "elu", "relu6", "hardtanh")
_CLAMPS: Final = ("clamp", "clip", "clamp_min", "clamp_max", "hardtanh", "relu6", "hardsigmoid")
_STEPS: Final = ("round", "floor", "ceil", "trunc", "sign", "fix", "heaviside")
_SATURATING: Final = ("sigmoid", "tanh", "softmax", "log_softmax")
_CHOOSING: Final = ("maximum", "minimum", "fmax", "fmin", "where", "masked_fill")
_OVERWRITING: Final = ("fill", "zero", "copy", "copy_slices")
_PRODUCTS: Final = (
    "mm", "bmm", "mv", "addmm", "mul", "linear", "t", "transpose", "permute", "view", "reshape",
    "expand", "relu", "unsqueeze", "squeeze",
)  # fmt: skip
"""Ops whose result is 0 where an input is, as far as such a leaf is looked for behind them."""
_RESULT: Final = ("result", "output")
_INPUT: Final = ("self", "input")


def zero_reason(session: PassSession, index: int, output_nr: int) -> Reason | None:
    """Return why node ``index`` sends zeros along an edge, None where that is unknown."""
    detail = session.detail(index)
    stem = session.graph.stem(index).rstrip("_")
    kept = {saved.name: saved.value for saved in detail.saved if saved.value is not None}
    known = _first(kept, (*_RESULT, *_INPUT))
    if stem in _STEPS:
        return FlatOp(stem)
    if stem in _RECTIFIERS and known is not None and known.statistics.maximum <= 0:
        size = known.statistics.size
        if known.statistics.is_zero and (name := _zero_leaf(session, index, "self")):
            return ZeroLeaves(stem, size, leaves=(name,))
        return AllNegative(stem, size)
    if reason := _of_a_curve(stem, kept):
        if isinstance(reason, AtEnds):
            subject = Subject(tuple(session.roots), session.order, session.graph, session.names)
            return replace(reason, inputs=subject.range_given(index))
        return reason
    if stem in _OVERWRITING:
        return Overwritten()
    zeros = _zero_factors(detail, output_nr)
    if zeros is None:
        zeros = [name for name, value in kept.items() if value.statistics.is_zero]
    if zeros:
        name = zeros[0].removeprefix("saved.")
        if leaf := _zero_leaf(session, index, name):
            return ZeroLeaves(stem, leaves=(leaf,))
        return ZeroFactor(stem)
    if stem in _CHOOSING:
        return OtherSelected(stem)
    return TimesZero() if _multiplies_by_zero(detail) else None


def _of_a_curve(stem: str, kept: Mapping[str, Value]) -> Reason | None:
    """Return why an op whose curve is flat beyond its limits sends zeros."""
    result, given = _first(kept, _RESULT), _first(kept, _INPUT)
    if stem in _CLAMPS and given is not None:
        return BeyondLimits(stem, Range.of(given.statistics))
    if stem in _SATURATING and result is not None and _is_saturated(result):
        if "softmax" in stem and not np.unique(result.array).size > 1:
            is_single = all(size == 1 for size in result.array.shape[1:])
            return OneElement(stem, _ends(result), is_single)
        return AtEnds(stem, _ends(result))
    return None


def _zero_factors(detail: NodeDetail, output_nr: int) -> list[str] | None:
    """Return what the rule of one edge multiplies by that is 0 everywhere; None where its values
    are not known."""
    asked = [name for name, _ in detail.formulas][output_nr : output_nr + 1]
    for term in detail.terms:
        if [term.input] == asked and term.values:
            return [
                name
                for name, factor in term.values
                if name != "g" and factor is not None and factor.statistics.is_zero
            ]
    return None


def _zero_leaf(session: PassSession, index: int, name: str) -> str:
    """Return the name of the leaf that is 0 everywhere, and makes the input ``name`` of a node so;
    "" where there is none."""
    engine = engine_of(session.roots)
    names = [given for given, _ in session.detail(index).formulas]
    edges = session.order[index].edges
    at = names.index(name) if name in names else 0
    stack = [resolve(edge)[0] for edge in edges[at : at + 1]]
    seen = set(map(id, stack))
    while stack:
        node = stack.pop(0)
        if node is None:
            continue
        leaf = engine.leaf(node)
        if leaf is not None and (held := value(leaf)) is not None and held.statistics.is_zero:
            return session.names.of(leaf)
        if node.kind != LEAF and engine.reading.stem(node) in _PRODUCTS:
            after = [resolve(edge)[0] for edge in node.edges]
            stack += [target for target in after if target is not None and id(target) not in seen]
            seen.update(map(id, after))
    return ""


def _first(kept: Mapping[str, Value], names: tuple[str, ...]) -> Value | None:
    return next((kept[name] for name in names if name in kept), None)


def _is_saturated(result: Value) -> bool:
    array: Any = np.abs(result.array) if result.has_numbers else math.nan
    return bool(np.isin(array, (0, 1)).all())


def _ends(result: Value) -> str:
    ends = sorted({format_number(float(number)) for number in np.unique(result.array)})
    return " or ".join(ends)


def _multiplies_by_zero(detail: NodeDetail) -> bool:
    """Return whether a rule multiplies by the number 0."""
    return any(term.rule.endswith("· 0") or term.rule.startswith("0 ·") for term in detail.terms)

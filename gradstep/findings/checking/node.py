"""The numeric check of one node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import CannotRerun, Rerun, Rules
from gradstep.findings.checking.differences import scales
from gradstep.findings.checking.finite_part import FinitePart
from gradstep.findings.checking.result import InputCheck, NodeCheck
from gradstep.findings.checking.rule import RuleChecker
from gradstep.graph.model import Source
from gradstep.records import LEAF

Array = NDArray[Any]
_BESIDE = 1e-2  # how far, relative to its size, an element is moved away from a kink


def check_rule(rules: Rules, node: Any, index: int, address: str) -> NodeCheck:
    """Hold the rule of ``node`` to differences of its own forward.

    Never raises for what the function or its rule do: that is a finding.
    """
    name = node.name().removeprefix("torch::autograd::")
    inner = getattr(node, "inner", node)  # of a change through a view: the op that changed
    if inner is not node:
        name = f"{name} ({inner.name()})"
    record = inner.record
    source: Source | None = None if record is None else record.source
    inputs, reason, note = rules.isolated(lambda: _check(rules, inner))
    check = NodeCheck(index, address, name, source, rules.rule_line(inner), inputs, reason, note)
    if check.verdict != "wrong":
        return check
    return replace(check, is_identity=rules.isolated(lambda: _is_identity(rules, inner)))


def _is_identity(rules: Rules, node: Any) -> bool:
    """Return whether the result of ``node`` is what it was given, as far as that is known."""
    rerun = _rerun(rules, node)
    if isinstance(rerun, str):
        return False
    try:
        result = rerun.values(rerun.points)
    except Exception:  # whatever user code may raise
        return False
    return any(np.array_equal(point.reshape(-1), result.reshape(-1)) for point in rerun.points)


def _check(rules: Rules, node: Any) -> tuple[tuple[InputCheck, ...], str, str]:
    """Check each input, or return the reason why nothing can be found; and what was left out."""
    if node.kind == LEAF:
        return (), "a leaf only accumulates its gradient; it has no rule", ""
    rerun, note = _rerun(rules, node), ""
    if isinstance(rerun, str):
        return (), rerun, ""
    if reason := _unfit(rerun):
        return (), reason, ""
    try:
        with np.errstate(all="ignore"):  # that a gradient is not finite is the answer
            values = rerun.values(rerun.points)
            if not all(np.isfinite(point).all() for point in (values, *rerun.points)):
                rerun = FinitePart(rerun, values)
                note = rerun.note
            checker = RuleChecker(rerun, rerun.points)
            checks = [checker.input(number) for number in range(len(rerun.points))]
        return tuple(_beside(rerun, number, check) for number, check in enumerate(checks)), "", note
    except CannotRerun as error:
        return (), str(error), ""
    except Exception as error:  # whatever user code may raise
        reason = f"its backward raised {type(error).__name__}: {error}"
        # something is not installed, or is the program's and not the copy of it: both may be right
        if isinstance(error, ImportError) or _reads_more(rerun):
            return (), f"when run again, {reason}", note
        return (InputCheck(", ".join(rerun.names), "wrong", reason),), "", note


def _rerun(rules: Rules, node: Any) -> Rerun | str:
    """Return the function of ``node``, in float64 if it can, else as it was called; or why it
    cannot be run at all."""
    try:
        return rules.rerun(node, wide=True)
    except CannotRerun as error:
        return str(error)
    except Exception:  # it may insist on the dtype that it was made for
        try:
            return rules.rerun(node, wide=False)
        except Exception as error:
            return f"when run again, its forward raised {type(error).__name__}: {error}"


def _unfit(rerun: Rerun) -> str:
    """Say why differences of this function say nothing, or ""."""
    for name, point in zip(rerun.names, rerun.points, strict=True):
        if np.isnan(point).any() or (point.size and not np.isfinite(point).any()):
            return f"{name} is {_first_bad(point)}"
    values = rerun.values(rerun.points)
    if rerun.custom and not np.array_equal(values, rerun.values(rerun.points), equal_nan=True):
        return "its forward gives a different result each time"
    if np.isnan(values).any() or (values.size and not np.isfinite(values).any()):
        return "its result is not finite"
    return ""


def _reads_more(rerun: Rerun) -> bool:
    """Return whether the result does not depend on some input, as where the function is given the
    parameters of a module that it calls."""
    points, moved = list(rerun.points), _shifted(rerun, 1)
    here = rerun.values(points)
    try:
        return any(
            np.array_equal(rerun.values([*points[:nr], x, *points[nr + 1 :]]), here)
            for nr, x in enumerate(moved)
        )
    except Exception:  # the function may not be defined there
        return False


def _first_bad(array: Array) -> str:
    at = np.unravel_index(int(np.argmax(~np.isfinite(array))), array.shape)
    place = f" at {[int(i) for i in at]}" if at else ""
    return f"{'nan' if np.isnan(array[at]) else 'inf'}{place}"


def _beside(rerun: Rerun, number: int, check: InputCheck) -> InputCheck:
    """Look a little beside a point at which nothing can be said, where a kink is left behind:
    a rule that is wrong there is wrong."""
    if check.verdict != "not checkable" or check.goes_in_steps:
        return check
    for sign in (1, -1):
        try:
            other = RuleChecker(rerun, _shifted(rerun, sign)).input(number)
        except Exception:  # the function may not be defined there
            continue
        note = f"{check.reason}; near these values the rule is"
        if other.verdict == "right":
            return replace(check, reason=f"{note} right")
        if other.verdict == "wrong":
            return replace(other, beside=check.reason)
    return check


def _shifted(rerun: Rerun, sign: int) -> Sequence[Array]:
    rng = np.random.default_rng(1)
    return [
        (x + sign * rerun.direction(_BESIDE * scales(x) * rng.uniform(0.5, 1, x.shape))).astype(
            x.dtype
        )
        for x in rerun.points
    ]

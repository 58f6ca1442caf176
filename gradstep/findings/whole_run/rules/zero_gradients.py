"""Leaves whose gradient is exactly 0 in every call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gradstep.findings.linting.finding import Finding, listed
from gradstep.findings.linting.rule import Meaning, Rule
from gradstep.findings.whole_run.history import History, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.findings.whole_run.zero_causes import ZeroCause

_STEP = re.compile(r"the derivative of (\w+) is 0")
_ZERO = re.compile(r"product with (\S+), which is 0|^(\S+) is 0 everywhere")
_UNKNOWN = ZeroCause("", None)


def zero_gradients(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves to which no call of the run sent anything but zeros, by their cause."""
    learn = {each.name for each in evidence.trained.values()}
    zero = [
        each
        for each in histories(evidence.run)
        if all(seen.is_zero for seen in each.seen)
        and (each.leaf.is_parameter or each.leaf.name in learn or not learn)
    ]
    by_cause: dict[ZeroCause, list[History]] = {}
    for each in zero:
        cause = _first_cause(evidence.zero.get(each.leaf.name, _UNKNOWN))
        by_cause.setdefault(cause, []).append(each)
    for cause, alike in by_cause.items():
        names = [each.leaf.name for each in alike]
        calls = len(alike[0].seen)
        when = "in the only call" if calls == 1 else f"in all {calls:,} calls"
        because = f": {cause.what}" if cause.what else ""
        # a bias before a difference, as the last one of a critic, cancels on purpose
        is_bias = all(len(each.leaf.shape or ()) < 2 for each in alike)
        is_meant = is_bias and "cancel" in cause.what
        yield Finding(
            "info" if is_meant else "warning", "zero-grad",
            f"the gradient of {listed(names)} is exactly 0 {when}{because}",
            f"gradstep why TARGET {names[0]} shows the way of the gradient"
            if not cause.what else _remedy(cause.what),
            source=cause.source or alike[0].seen[0].call.line, leaves=tuple(names),
        )  # fmt: skip


def _first_cause(cause: ZeroCause) -> ZeroCause:
    """Return the same for all that is 0 because one leaf is."""
    zero = _ZERO.search(cause.what)
    return (
        cause if zero is None else ZeroCause(f"{zero[1] or zero[2]} is 0 everywhere", cause.source)
    )


def _remedy(reason: str) -> str:
    if "softmax" in reason:
        return "check the dim of softmax: it is to be the one of the classes"
    if step := _STEP.match(reason):
        return (
            "nothing learns through it; a straight-through estimator passes the gradient on: "
            f"h + (h.{step[1]}() - h).detach()"
        )
    if zero := _ZERO.search(reason):
        return f"begin {zero[2]} with random numbers: nn.init.normal_({zero[2]}, std=0.02)"
    if "limits" in reason:
        return "scale the inputs down, into the limits"
    if "number 0" in reason:
        return "leave this term out, or multiply it by another number than 0"
    if "negative or 0" in reason:
        return "use leaky_relu, another initialization, or a smaller learning rate"
    if "cancel" in reason:
        return "check the loss: a mean or a sum takes out what depends on these leaves"
    return "look at that line: what it multiplies by is not to be 0"


RULES: Final = (
    Rule(zero_gradients, Meaning(
        "zero-grad", "warning", "a gradient is exactly 0 in every call",
        "The finding names the operation that multiplies by 0. Zeros in some calls only are not "
        "reported.",
        "code = encoder(x).round()", "h = encoder(x)\ncode = h + (h.round() - h).detach()",
        "When the sum of the gradients is 0 by construction: that is only a note.",
    )),
)  # fmt: skip

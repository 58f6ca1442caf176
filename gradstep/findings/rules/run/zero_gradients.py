"""Leaves whose gradient is exactly 0 in every call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import initialized_at_random, with_operand, with_operation
from gradstep.findings.rules.graph.away_from_zero import Advice
from gradstep.findings.whole_run.history import History, histories, is_nothing
from gradstep.findings.whole_run.watch import Evidence, lines_of
from gradstep.findings.whole_run.zero_causes import ZeroCause
from gradstep.graph.model import Source
from gradstep.recording.facts import CallFacts
from gradstep.recording.run import Run
from gradstep.text import listed

_STEP = re.compile(r"the derivative of (\w+) is 0")
_ZERO = re.compile(r"product with (\S+), which is 0|^(\S+) is 0 everywhere")
_UNKNOWN = ZeroCause("", None)
_CALLS = 5
"""Calls, the last ones, in which all gradients are 0."""
_LEARNED = 1e-6
"""A loss so small has nothing left to teach."""


def zero_gradients(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves to which no call of the run sent anything but zeros, or none of a line from
    one of its calls on, by their cause."""
    learn = {trained.name for trained in evidence.trained.values()}
    since = _zero_since(evidence.run)
    zero = [
        history
        for history in histories(evidence.run)
        if (history.lines[0] in since and len(history.lines) == 1)
        or all(seen.is_zero for seen in history.seen)
        if not history.leaf.is_part  # that may be 0 where the whole is not
        if history.leaf.is_parameter or history.leaf.name in learn or not learn
    ]
    by_cause: dict[ZeroCause, list[History]] = {}
    causes = {
        history.leaf.name: _first_cause(evidence.zero.get(history.leaf.name, _UNKNOWN))
        for history in zero
    }
    leaves = list(
        dict.fromkeys(cause.what for cause in causes.values() if _ZERO.search(cause.what))
    )
    for history in zero:
        cause = causes[history.leaf.name]
        if cause.what in leaves[1:]:  # leaves that are 0 are one cause
            cause = next(one for one in causes.values() if one.what == leaves[0])
        by_cause.setdefault(cause, []).append(history)
    for cause, alike in by_cause.items():
        names = [history.leaf.name for history in alike]
        calls = len(alike[0].seen)
        when = "in the only call" if calls == 1 else f"in all {calls:,} calls"
        if (call := since.get(alike[0].lines[0])) is not None:
            when = f"from {call.title} on"
        what = cause.what
        if what in leaves[:1] and len(leaves) > 1:
            held = [match[2] for text in leaves if (match := _ZERO.search(text))]
            what = f"{listed(held)} are 0 everywhere"
        because = f": {what}" if what else ""
        line = cause.source or alike[0].seen[0].call.line
        advice = _advice(cause)
        # a bias before a difference, as the last one of a critic, cancels on purpose
        is_bias = all(len(history.leaf.shape or ()) < 2 for history in alike)
        is_meant = is_bias and "cancel" in cause.what
        yield Finding(
            "info" if is_meant else "warning", "zero-grad",
            f"the gradient of {listed(names)} is exactly 0 {when}{because}",
            advice.text or f"gradstep why TARGET {names[0]} shows the way of the gradient",
            source=line, leaves=tuple(names), fix=advice.fix,
        )  # fmt: skip


def _zero_since(run: Run) -> dict[Source | None, CallFacts]:
    """Return, of each line whose last calls sent nothing but zeros, the first one of these; not
    where the loss is 0, too, and all is learned."""
    since = {}
    for line, calls in lines_of(run):
        zero = takewhile(lambda call: is_nothing(call, run.of_leaves(call.index)), reversed(calls))
        last = list(zero)
        loss = calls[-1].loss
        if _CALLS <= len(last) < len(calls) and loss is not None and abs(loss) > _LEARNED:
            since[line] = last[-1]
    return since


def _first_cause(cause: ZeroCause) -> ZeroCause:
    """Return the same for all that is 0 because one leaf is."""
    zero = _ZERO.search(cause.what)
    return (
        cause if zero is None else ZeroCause(f"{zero[1] or zero[2]} is 0 everywhere", cause.source)
    )


def _advice(cause: ZeroCause) -> Advice:
    reason, at = cause.what, cause.source
    if not reason:
        return Advice("")
    if "one element" in reason:
        return Advice(
            "use sigmoid() for a single output, or another dim",
            with_operation(at, "softmax", "torch.sigmoid({0})"),
        )
    if "saturated" in reason:
        return Advice("its inputs are too large: scale them down, or normalize the data")
    if step := _STEP.match(reason):
        return Advice(
            "nothing learns through it; a straight-through estimator passes the gradient on",
            with_operation(at, step[1], "{0} + ({} - {0}).detach()"),
        )
    if zero := _ZERO.search(reason):
        fix = initialized_at_random(at.file) if at is not None else ()
        name = zero[1] or zero[2]
        return Advice(
            "begin with random numbers, as nn.init.xavier_uniform_() gives: zeros are for biases"
            if name.endswith("bias") or fix or not name.isidentifier() else
            f"begin {name} with random numbers: nn.init.normal_({name}, std=0.02)",
            fix,
        )  # fmt: skip
    if "limits" in reason:
        return Advice("begin inside the limits, or scale the inputs so that they are there")
    if "number 0" in reason:
        return Advice("leave this term out, or multiply it by another number than 0")
    if "negative" in reason:
        return Advice("use leaky_relu, another initialization, or a smaller learning rate")
    if "from itself" in reason:
        return Advice(
            "detach() the one of the two that is to be a constant",
            with_operand(at, "sub", 1, "{}.detach()"),
        )
    if "cancel" in reason:
        return Advice("check the loss: a mean or a sum takes out what depends on these leaves")
    return Advice("look at that line: what it multiplies by is not to be 0")


RULES: Final = (
    Rule(zero_gradients, Meaning(
        "zero-grad", "warning", "a gradient is exactly 0 in every call",
        "The finding names the operation that multiplies by 0. Zeros in some calls only are not "
        "reported, unless all gradients are 0 in the last five calls or more, and the loss is not.",
        "code = encoder(x).round()", "h = encoder(x)\ncode = h + (h.round() - h).detach()",
        "When the sum of the gradients is 0 by construction: that is only a note.",
    )),
)  # fmt: skip

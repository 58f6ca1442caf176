"""Leaves that an optimizer is to train and to which no call of the run came, or none for long."""

from __future__ import annotations

from collections.abc import Iterator
from linecache import getline
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import renamed, with_argument
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.findings.whole_run.history import histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.text import listed


def never_reached(evidence: Evidence) -> Iterator[Finding]:
    """Yield what an optimizer has and never gets a gradient."""
    if not evidence.is_whole:
        return
    calls = list(evidence.run.calls())
    line = evidence.line
    for optimizer, leaves in evidence.lost().items():
        names = [leaf.name for leaf in leaves]
        what, remedy, at = _likely(evidence, line)
        lines = (
            [at] if at is not None else assigned(optimizer, line.file) if line is not None else []
        )
        has = sum(leaf.optimizer == optimizer for leaf in evidence.trained.values()) or sum(
            len(group.leaves)
            for group in evidence.run.training.groups
            if group.optimizer == optimizer
        )
        # a part that is not used may be one for later
        is_certain = (bool(what) or len(names) == has) and not evidence.has_waiting_optimizers
        yield Finding(
            "warning" if is_certain else "info", "unreached",
            f"{listed(names)} never {'gets' if len(names) == 1 else 'get'} a gradient: "
            f"{optimizer} is to train {'it' if len(names) == 1 else 'them'}, and none of the "
            f"{len(calls):,} calls came to {'it' if len(names) == 1 else 'them'}{what}",
            remedy
            or f"use {'it' if len(names) == 1 else 'them'} in the loss after which "
            f"{optimizer}.step() runs, without detach() or no_grad() on the way",
            source=lines[0] if lines else line, leaves=tuple(names),
            fix=renamed(at, "sample", "rsample")
            or with_argument(at, "checkpoint", "use_reentrant", "False"),
        )  # fmt: skip


def _likely(evidence: Evidence, line: Source | None) -> tuple[str, str, Source | None]:
    """Return what may be the cause, its remedy, and its line."""
    for _, finding in evidence.seen:
        if finding.code == "create-graph":
            return (
                ", likely because autograd.grad() without create_graph=True returned constants",
                "pass create_graph=True to autograd.grad()",
                finding.source,
            )
    sampled = calls_of("sample", line.file) if line is not None else []
    if sampled:
        return (
            ", likely because sample() passes no gradient to the parameters of a distribution",
            "use rsample() instead of sample()",
            sampled[0],
        )
    for at in calls_of("checkpoint", line.file) if line is not None else []:
        if "use_reentrant=True" in getline(*at):
            return (
                ", likely because checkpoint() keeps no graph where no input requires a gradient",
                "pass use_reentrant=False to checkpoint()",
                at,
            )
    return "", "", None


def frozen(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves of an optimizer that got a gradient in one call, or two, and have required
    none since, for ten calls or more."""
    off: dict[tuple[str, int], list[str]] = {}
    seen = {history.leaf.name: history.seen for history in histories(evidence.run)}
    calls = [call for call in evidence.run.calls() if call.kind == "backward"]
    for trained in evidence.trained.values():
        got = [seen.call for seen in seen.get(trained.name, ())]
        is_late = 0 < len(got) <= _FEW and calls[-1].index - got[-1].index >= _LONG
        if is_late and not trained.leaf.requires_grad:
            off.setdefault((trained.optimizer, got[-1].number), []).append(trained.name)
    for (optimizer, when), names in off.items():
        line = calls[0].line
        file = "" if line is None else line.file
        lines = [*assigned("requires_grad", file), *calls_of("requires_grad_", file)]
        gets, them = ("gets", "it") if len(names) == 1 else ("get", "them")
        yield Finding(
            "warning", "unreached",
            f"{listed(names)} {gets} no gradient after call {when}, though {optimizer} has "
            f"{them}: requires_grad was set to False, and never to True again",
            f"call requires_grad_(True) on {them} before the loss that {optimizer} is to lower",
            source=lines[0] if lines else line, leaves=tuple(names),
        )  # fmt: skip


_FEW: Final = 2
_LONG: Final = 10
RULES: Final = (
    Rule(never_reached, Meaning(
        "unreached", "warning", "an optimizer has leaves that no call reaches",
        "No backward() of the run came to these leaves, or none after the first two: they never "
        "change.",
        "action = Normal(mean, 1).sample()", "action = Normal(mean, 1).rsample()",
        "When they are for later: of a part of what an optimizer has, it is only a note.",
    )),
    Rule(frozen),
)  # fmt: skip

"""Leaves that an optimizer is to train and to which no call of the run came."""

from __future__ import annotations

from collections.abc import Iterator
from linecache import getline
from typing import Final

from gradstep.findings.fixes import renamed, with_argument
from gradstep.findings.linting.finding import Finding, Meaning, Rule
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.text import listed


def never_reached(evidence: Evidence) -> Iterator[Finding]:
    """Yield what an optimizer has and never gets a gradient."""
    if not evidence.is_whole:
        return
    calls = list(evidence.run.calls())
    line = next((call.line for call in calls if call.line is not None), None)
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


RULES: Final = (
    Rule(never_reached, Meaning(
        "unreached", "warning", "an optimizer has leaves that no call reaches",
        "No backward() of the run came to these leaves, so they never change.",
        "action = Normal(mean, 1).sample()", "action = Normal(mean, 1).rsample()",
        "When they are for later: of a part of what an optimizer has, it is only a note.",
    )),
)  # fmt: skip

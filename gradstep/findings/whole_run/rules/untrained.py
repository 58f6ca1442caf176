"""Leaves that get gradients and that no optimizer has, while it has others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.linting.finding import Finding, listed
from gradstep.findings.linting.rule import Meaning, Rule
from gradstep.findings.whole_run.history import histories
from gradstep.findings.whole_run.source_lines import assigned
from gradstep.findings.whole_run.watch import Evidence

_CALLS = 2


def untrained(evidence: Evidence) -> Iterator[Finding]:
    """Yield the parameters that two calls or more came to, which never changed, and which no
    optimizer has although some have others of these calls."""
    names = evidence.names
    plain = {names.of(each) for each in names.tensors() if id(each) in names.in_plain_lists}
    left = [
        each
        for each in histories(evidence.run)
        if each.leaf.is_parameter
        and len(each.seen) >= _CALLS
        and all(seen.facts.optimizer == "" and not seen.facts.update_rms for seen in each.seen)
        and not all(seen.is_fresh for seen in each.seen)
    ]
    if not left:
        return
    found = [each.leaf.name for each in left]
    one = len(found) == 1
    line = left[0].seen[0].call.line
    optimizers = list(names.optimizers)
    if not evidence.looked_at:  # a recording
        groups = evidence.run.training.groups
        optimizers = list(dict.fromkeys(each.optimizer for each in groups))
    if not optimizers:
        return
    doubled = _have_the_same(evidence)
    chosen = optimizers[-1:] if doubled else optimizers[:1]
    made = [at for each in chosen if line for at in assigned(each, line.file)]
    whose = f"{listed(optimizers)} {'lacks' if len(optimizers) == 1 else 'lack'}"
    where = (
        "they are in a plain list, which parameters() does not see" if set(found) <= plain else ""
    )
    yield Finding(
        "warning", "untrained",
        f"{listed(found)} never {'learns' if one else 'learn'}: {whose} {'it' if one else 'them'}"
        f"{f', as {where}' if where else ''}",
        "keep these modules in an nn.ModuleList or nn.ModuleDict instead of a plain list"
        if where else
        f"give {optimizers[-1]} their parameters instead of those that {optimizers[0]} has"
        if doubled else
        f"make {optimizers[0]} after all layers are there, with all parameters; or, if these are "
        "not to learn, detach() their result, or compute it under no_grad()",
        source=evidence.uses.get(found[0]) or line, other=made[-1] if made else None,
        leaves=tuple(found),
    )  # fmt: skip


def _have_the_same(evidence: Evidence) -> bool:
    """Return whether two optimizers have the same leaves."""
    held = [frozenset(ids) for _, _, ids in evidence.names.trained()]
    return len(held) > len(set(held))


RULES: Final = (
    Rule(untrained, Meaning(
        "untrained", "warning", "leaves get gradients, and no optimizer has them",
        "The leaves never change, and their gradients pile up.",
        "self.blocks = [nn.Linear(8, 8)]", "self.blocks = nn.ModuleList([nn.Linear(8, 8)])",
        "When they are not to learn: set requires_grad=False.",
    )),
)  # fmt: skip

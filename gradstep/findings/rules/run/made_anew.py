"""Parameters and optimizers that the program makes anew for each call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from linecache import getline
from math import prod
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import with_operation
from gradstep.findings.source_lines import assigned, modules_made_around
from gradstep.findings.whole_run.history import histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.recording.leaves import COPIED
from gradstep.text import plural

_OF_A_VALUE: Final = re.compile(r"Parameter\((?!torch\.(zeros|ones|rand|empty|full|tensor))")
_CALLS: Final = 3
_OPTIMIZERS: Final = 5


def new_parameters(evidence: Evidence) -> Iterator[Finding]:
    """Yield parameters that are another object in each of three calls or more, and that no
    optimizer has, while it has others of these calls: what they learn is lost."""
    every = list(histories(evidence.run))
    if 8 * sum(prod(leaf.shape or ()) for leaf in evidence.run.leaves) > COPIED:
        return  # of so many, some are not followed
    kept = {seen.call.index for one in every if one.seen[-1].facts.optimizer for seen in one.seen}
    new = [
        history
        for history in every
        if history.leaf.is_parameter
        and len(history.seen) >= _CALLS
        and {seen.call.index for seen in history.seen} <= kept
        and all(
            seen.facts.optimizer == ""
            and seen.facts.update_rms is None
            and seen.facts.before is None
            for seen in history.seen
        )
    ]
    if not new:
        return
    uses = evidence.uses
    used = uses.get(new[0].leaf.name) or uses.get("") or new[0].seen[0].call.line
    made = [] if used is None else modules_made_around(used)
    shapes = ", ".join(dict.fromkeys(str(list(history.leaf.shape or ())) for history in new))
    is_copy = bool(made) and _OF_A_VALUE.search(getline(*made[0])) is not None
    fix = with_operation(made[0], "Parameter", "{0}") if is_copy else ()
    yield Finding(
        "warning", "made-anew",
        f"{plural(len(new), 'parameter')} of shape {shapes} {'is' if len(new) == 1 else 'are'} "
        f"made anew for each of {len(new[0].seen):,} calls: what is learned there is lost, and no "
        "optimizer knows of it",
        "use the value itself: nn.Parameter() makes a new leaf, through which no gradient flows "
        "back" if fix else
        "make them once, in __init__, as attributes of the module; then parameters() has them",
        source=made[0] if made else used,
        other=used if made and used != made[0] else None, fix=fix,
    )  # fmt: skip


def new_optimizers(evidence: Evidence) -> Iterator[Finding]:
    """Yield optimizers that are another object in two of three calls, or more, though their leaves
    stay: what they know of earlier gradients is lost."""
    followed = {
        history.seen[-1].facts.optimizer
        for history in histories(evidence.run)
        if any(before.facts.update_rms and after.facts.update_rms
               for before, after in pairwise(history.seen))
    }  # fmt: skip
    line = evidence.line
    calls = len(list(evidence.run.calls()))
    for name, count in evidence.optimizers.items():
        groups = [group for held, group, _ in evidence.names.trained() if held == name]
        learns = any(group.get("momentum") or "betas" in group for group in groups)
        is_often = count >= _OPTIMIZERS and 3 * count >= 2 * calls
        if not (is_often and learns and name in followed):
            continue
        made = [at for at in (assigned(name, line.file) if line else []) if "(" in getline(*at)]
        yield Finding(
            "warning", "made-anew",
            f"{name} is made anew for each call: its averages of earlier gradients, and its "
            "count of steps, begin at 0 each time",
            f"make {name} once, before the loop", source=made[0] if made else line,
        )  # fmt: skip


RULES: Final = (
    Rule(new_parameters, Meaning(
        "made-anew", "warning", "parameters, or an optimizer, are made anew for each call",
        "The same line makes another object each time. What the parameters learned, or the "
        "optimizer kept of earlier gradients, is lost.",
        "def forward(self, x):\n    return nn.Linear(8, 2)(x)",
        "def forward(self, x):\n    return self.head(x)",
        "When each call is to begin from nothing.",
    )),
    Rule(new_optimizers),
)  # fmt: skip

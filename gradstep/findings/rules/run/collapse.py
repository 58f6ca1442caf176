"""Weights that all become small: something pulls them to 0 harder than the loss moves them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from linecache import getlines
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import with_argument
from gradstep.findings.rules.run.step_sizes import by_optimizer
from gradstep.findings.source_lines import assigned
from gradstep.findings.whole_run.history import History
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.statistics import format_number

_CALLS: Final = 20
_LEFT: Final = 0.1
_USUAL: Final = 1e-2
"""A weight decay that is not the reason."""
_PENALTY: Final = re.compile(r"\bfor [\w, ]+ in [\w.]*parameters\(\)")


def collapse(evidence: Evidence) -> Iterator[Finding]:
    """Yield optimizers whose every weight has become ten times smaller, or more."""
    for name, weights in by_optimizer(evidence).items():
        left = max(map(_left, weights))
        if left > _LEFT:
            continue
        line = weights[0].seen[0].call.line
        groups = [group for group in evidence.run.training.groups if group.optimizer == name]
        decay = max((group.options.get("weight_decay", 0.0) for group in groups), default=0.0)
        pulls = decay > _USUAL
        if not (pulls or (line is not None and _PENALTY.search("".join(getlines(line.file))))):
            continue  # nothing but the data may ask for small weights
        at = assigned(name if pulls else "loss", line.file) if line is not None else []
        yield Finding(
            "warning", "collapse",
            f"all weights of {name} have shrunk to {format_number(left)} of their size or less: "
            + (f"its weight decay of {format_number(decay)}" if pulls else
               "a term of the loss, as a penalty for large weights,")
            + " is stronger than what else moves them",
            "use less weight decay: 1e-4 is usual" if pulls else
            "multiply that term by a small number, such as 1e-4",
            source=at[0] if at else line, leaves=tuple(weight.leaf.name for weight in weights),
            fix=with_argument(at[0], groups[0].kind, "weight_decay", "1e-4") if pulls and at
            else (),
        )  # fmt: skip


def _left(history: History) -> float:
    """Return the size of a weight at the end, as a share of that at the start."""
    first, last = history.seen[0].facts.parameter_rms, history.seen[-1].facts.parameter_rms
    return last / first if first and last is not None and len(history.seen) >= _CALLS else 1.0


RULES: Final = (
    Rule(collapse, Meaning(
        "collapse", "warning", "all weights become ten times smaller",
        "So it is of every weight of an optimizer, over 20 calls or more.",
        "torch.optim.Adam(net.parameters(), weight_decay=1.0)",
        "torch.optim.Adam(net.parameters(), weight_decay=1e-4)",
    )),
)  # fmt: skip

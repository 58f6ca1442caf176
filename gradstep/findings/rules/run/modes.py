"""Modules that leave training mode and do not come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from linecache import getline
from typing import Final

from gradstep.contract.parameters import named_parameters
from gradstep.findings.facts import Facts, Objects
from gradstep.findings.facts.history import histories
from gradstep.findings.facts.learning import Uses
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import calls_of
from gradstep.graph.model import Source
from gradstep.text import listed

_CALLS = 2


@dataclass(frozen=True)
class EvalMode(Reason):
    """Modules are in evaluation mode ``since`` a call; the first one is used at a line."""

    keeps_loss = False
    code = "eval-mode"
    marks = "eval", "train"
    modules: tuple[str, ...]
    since: int
    used: Source | None

    def text(self) -> str:
        return (
            f"{listed(self.modules)} {'is' if len(self.modules) == 1 else 'are'} in evaluation "
            f"mode from call {self.since} on: eval() was called, and train() was not, so dropout "
            "is off and batch norm keeps its statistics"
        )

    def remedy(self) -> str:
        return f"call {self.modules[0]}.train() after the evaluation"

    def fix(self) -> tuple[Fix, ...]:
        used, first = self.used, self.modules[0]
        if used is None or f"{first}(" not in getline(*used):
            return ()
        return Line(used).replaced(f"{first}.train()\n{{line}}")


def modes(facts: Facts) -> Iterator[Reason]:
    """Yield the modules that were in training mode in the first call, and in evaluation mode in the
    last two or more of the same line, without a change back."""
    left: list[str] = []
    line = since = None
    for history in histories(facts.run):
        flags = [seen.facts.training for seen in history.seen]
        if True in flags and not any(flags[-_CALLS:]) and None not in flags:
            first = flags.index(False)
            if flags[0] and not any(flags[first:]) and len(flags) - first >= _CALLS:
                left.append(history.leaf.name)
                line, since = history.seen[first].call.line, history.seen[first].call.number
    if not left:
        return
    switches = calls_of("eval", line.file) if line is not None else []
    yield EvalMode(
        tuple(_modules(facts, list(dict.fromkeys(left)))), since or 0,
        facts[Uses].lines.get(left[0]), source=switches[0] if switches else line,
        other=line if switches else None,
    )  # fmt: skip


def _modules(facts: Facts, leaves: list[str]) -> list[str]:
    """Return the variables whose modules have only such leaves, and the paths of other modules."""
    paths: dict[str, None] = {}
    rest = set(leaves)
    names = facts.names
    for name, module in names.modules.items():
        own = {names.of(tensor) for _, tensor in named_parameters(module)}
        if own and own <= rest:
            paths[name] = None
            rest -= own
    paths.update((leaf.rpartition(".")[0] or leaf, None) for leaf in leaves if leaf in rest)
    return list(paths)


RULES: Final = (
    Rule(modes, Meaning(
        "eval-mode", "warning", "modules stay in evaluation mode",
        "They were in training mode in the first call, and never again since eval().",
        "net.eval()\nvalidate(net)", "net.eval()\nvalidate(net)\nnet.train()",
        "When batch norm is frozen on purpose for the rest of the training.",
    ), uses=(Objects, Uses)),
)  # fmt: skip

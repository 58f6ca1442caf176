"""Modules that leave training mode and do not come back."""

from __future__ import annotations

from collections.abc import Iterator
from linecache import getline
from typing import Final

from gradstep.contract.parameters import named_parameters
from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import calls_of
from gradstep.findings.whole_run.history import histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.text import listed

_CALLS = 2


def modes(evidence: Evidence) -> Iterator[Finding]:
    """Yield the modules that were in training mode in the first call, and in evaluation mode in the
    last two or more of the same line, without a change back."""
    left: list[str] = []
    line = since = None
    for history in histories(evidence.run):
        flags = [seen.facts.training for seen in history.seen]
        if True in flags and not any(flags[-_CALLS:]) and None not in flags:
            first = flags.index(False)
            if flags[0] and not any(flags[first:]) and len(flags) - first >= _CALLS:
                left.append(history.leaf.name)
                line, since = history.seen[first].call.line, history.seen[first].call.number
    if not left:
        return
    switches = calls_of("eval", line.file) if line is not None else []
    modules = _modules(evidence, list(dict.fromkeys(left)))
    used = evidence.uses.get(left[0])
    is_called = used is not None and f"{modules[0]}(" in getline(*used)
    yield Finding(
        "warning", "eval-mode",
        f"{listed(modules)} {'is' if len(modules) == 1 else 'are'} in evaluation mode from call "
        f"{since} on: eval() was called, and train() was not, so dropout is off and batch norm "
        "keeps its statistics",
        f"call {modules[0]}.train() after the evaluation",
        source=switches[0] if switches else line, other=line if switches else None,
        fix=Line(used).replaced(f"{modules[0]}.train()\n{{line}}") if is_called else (),
    )  # fmt: skip


def _modules(evidence: Evidence, leaves: list[str]) -> list[str]:
    """Return the variables whose modules have only such leaves, and the paths of other modules."""
    paths: dict[str, None] = {}
    rest = set(leaves)
    names = evidence.names
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
    )),
)  # fmt: skip

"""Leaves that get gradients and that no optimizer has, while it has others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from linecache import getline
from typing import Final

from gradstep.capturing.statement import tree_of
from gradstep.contract.lookup import is_tensor
from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import Line, called
from gradstep.findings.source_lines import assigned
from gradstep.findings.whole_run.history import histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.text import listed

_CALLS = 2


def untrained(evidence: Evidence) -> Iterator[Finding]:
    """Yield the parameters that two calls or more came to, which never changed, and which no
    optimizer has although some have others of these calls."""
    names, doubled = evidence.names, _have_the_same(evidence)
    attributes = _attributes(evidence)
    plain = {names.of(tensor) for tensor in names.tensors() if id(tensor) in names.in_plain_lists}
    left = [
        history
        for history in histories(evidence.run)
        if (history.leaf.is_parameter or history.leaf.name in attributes)
        and len(history.seen) >= _CALLS
        and all(seen.facts.optimizer == "" and not seen.facts.update_rms for seen in history.seen)
        # a program that clears them, and whose optimizers are right, does not train them
        and (doubled or not all(seen.is_fresh for seen in history.seen))
    ]
    if evidence.results:  # a leaf without a name is told by its result
        known = set(map(names.of, names.tensors()))
        left = [history for history in left if history.leaf.name in known]
    if not left:
        return
    leaves = [history.leaf.name for history in left]
    one, attribute = len(leaves) == 1, leaves[0].rpartition(".")[2]
    line = left[0].seen[0].call.line
    optimizers = list(names.optimizers)
    if not evidence.looked_at:  # a recording
        groups = evidence.run.training.groups
        optimizers = list(dict.fromkeys(group.optimizer for group in groups))
    if not optimizers:
        return
    module = leaves[0].partition(".")[0]
    # of optD and optG, that of netG
    chosen = [max(reversed(optimizers), key=partial(_alike, module))] if doubled else optimizers[:1]
    others = [optimizer for optimizer in optimizers if optimizer not in chosen]
    lines = [at for optimizer in chosen if line for at in assigned(optimizer, line.file)]
    whose = f"{listed(optimizers)} {'lacks' if len(optimizers) == 1 else 'lack'}"
    where = (
        "they are in a plain list, which parameters() does not see" if set(leaves) <= plain else
        "a tensor of its module is no parameter until nn.Parameter() makes it one"
        if set(leaves) <= attributes else ""
    )  # fmt: skip
    yield Finding(
        "warning", "untrained",
        f"{listed(leaves)} never {'learns' if one else 'learn'}: {whose} {'it' if one else 'them'}"
        f"{f', as {where}' if where else ''}",
        "keep these modules in an nn.ModuleList or nn.ModuleDict instead of a plain list"
        if where and set(leaves) <= plain else
        f"self.{attribute} = nn.Parameter(...), without requires_grad"
        if where else
        f"give {chosen[0]} their parameters instead of those that {others[0]} has"
        if doubled else
        f"make {optimizers[0]} after all layers are there, with all parameters; or, if these are "
        "not to learn, detach() their result, or compute it under no_grad()",
        source=evidence.uses.get(leaves[0]) or line, other=lines[-1] if lines else None,
        leaves=tuple(leaves),
        fix=_fix(evidence, leaves[0], lines[-1:], is_plain=set(leaves) <= plain),
    )  # fmt: skip


def _fix(evidence: Evidence, leaf: str, lines: list[Source], *, is_plain: bool) -> tuple[Fix, ...]:
    """Return the line that makes the list of the leaf's module as an ``nn.ModuleList``; or the one
    that makes the optimizer with its module, too, or that uses it without a graph."""
    used = evidence.uses.get(leaf)
    file = lines[0].file if lines else used.file if used is not None else ""
    if is_plain:
        return _in_a_module_list(leaf, file)
    if used is not None and _CONSTANT.search(getline(*used)) and " = " in getline(*used):
        return Line(used).replaced("with torch.no_grad():\n    {line}")
    module = leaf.partition(".")[0]
    if not lines or module not in evidence.names.modules:
        return _after_assignment(leaf, lines)
    line = Line(lines[0])

    def with_module(node: ast.expr) -> str | None:
        if called(node) != "parameters" or line.text(node).startswith(f"{module}."):
            return None
        own = f"{module}.parameters()"
        return own if _have_the_same(evidence) else f"[*{line.text(node)}, *{own}]"

    return line.rewritten(with_module)


_CONSTANT: Final = re.compile(r"\b(teacher|target|frozen|reference)\w*\(")


def _in_a_module_list(leaf: str, file: str) -> tuple[Fix, ...]:
    held = leaf.partition("[")[0].rpartition(".")[2]
    values = [
        node.value
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.ListComp)
    ]
    for at in assigned(held, file):
        line = Line(at)
        fix = line.rewritten(
            lambda node, line=line: f"nn.ModuleList({line.text(node)})" if node in values else None  # type: ignore[misc]
        )
        if fix:
            return fix
    return ()


def _after_assignment(leaf: str, lines: list[Source]) -> tuple[Fix, ...]:
    """Return the lines with the optimizer made after its module is assigned, not before."""
    layer = leaf.rpartition(".")[0].rpartition(".")[2]
    late = [at for at in assigned(layer, lines[0].file) if at > lines[0]] if lines and layer else []
    if not late:
        return ()
    optimizer = getline(*lines[0]).strip()
    return Fix(lines[0], ""), *Line(late[0]).replaced(f"{{line}}\n{optimizer}")


def _attributes(evidence: Evidence) -> set[str]:
    """Name the leaves that are attributes of modules, and no parameters of these; none where the
    program differentiates by its inputs, which a module may keep."""
    if evidence.by_inputs:
        return set()
    names = evidence.names
    return {
        names.of(value)
        for module in names.modules.values()
        for value in vars(module).values()
        if is_tensor(value) and value.requires_grad and value.is_leaf
    }


def _alike(module: str, optimizer: str) -> int:
    """Count the letters that two names end with alike."""
    pairs = zip(reversed(module.lower()), reversed(optimizer.lower()), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


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

"""Leaves that get gradients and that no optimizer has, while it has others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from linecache import getline
from typing import Final, Literal

from gradstep.capturing.statement import tree_of
from gradstep.contract.lookup import is_tensor
from gradstep.findings.facts import Facts, Objects
from gradstep.findings.facts.history import History, histories
from gradstep.findings.facts.learning import ByInputs, Uses
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line, called
from gradstep.findings.rules.run.no_leaf import Results
from gradstep.findings.source_lines import assigned
from gradstep.graph.model import Source
from gradstep.guest.fence import variables_in
from gradstep.text import listed

Held = Literal["list", "attribute", ""]
_CALLS = 2


@dataclass(frozen=True)
class Untrained(Reason):
    """Leaves that none of the ``optimizers`` has.

    Attributes:
        chosen: the optimizer that should have them; ``second`` has those of another one, "" where
            no two have the same.
        held: by what their module holds them: a plain "list", a plain "attribute", or "".
        doubled: two optimizers have the same leaves.
        has_module: the name of the first leaf begins with that of a module.
        used: the line that uses the first leaf, and ``made`` that which makes the optimizer.
    """

    code = "untrained"
    keeps_loss = True
    frees_leaves = True
    after = ("unreached",)
    optimizers: tuple[str, ...]
    chosen: str
    second: str
    held: Held
    doubled: bool
    has_module: bool
    used: Source | None
    made: Source | None

    def text(self) -> str:
        whose = f"{listed(self.optimizers)} {'lacks' if len(self.optimizers) == 1 else 'lack'}"
        where = {
            "list": ", as they are in a plain list, which parameters() does not see",
            "attribute": ", as a tensor of its module is not a parameter until nn.Parameter() "
            "makes it one",
        }.get(self.held, "")
        return (
            f"{self.named} never {self.of('learns', 'learn')}: {whose} {self.of('it', 'them')}"
            f"{where}"
        )

    def remedy(self) -> str:
        if self.held == "list":
            return "keep these modules in an nn.ModuleList or nn.ModuleDict instead of a plain list"
        if self.held == "attribute":
            attribute = self.leaves[0].rpartition(".")[2]
            return f"self.{attribute} = nn.Parameter(...), without requires_grad"
        if self.doubled:
            return f"give {self.chosen} their parameters instead of those that {self.second} has"
        return (
            f"create {self.optimizers[0]} after all layers, with all parameters; if these should "
            "not learn, detach() their result, or compute it under no_grad()"
        )

    def fix(self) -> tuple[Fix, ...]:
        used, made, leaf = self.used, self.made, self.leaves[0]
        if self.held == "list":
            return _in_a_module_list(leaf, made.file if made else used.file if used else "")
        if used is not None and _CONSTANT.search(getline(*used)) and " = " in getline(*used):
            return Line(used).replaced("with torch.no_grad():\n    {line}")
        if made is None or not self.has_module:
            return _after_assignment(leaf, made)
        line, module = Line(made), leaf.partition(".")[0]

        def with_module(node: ast.expr) -> str | None:
            if called(node) != "parameters" or line.text(node).startswith(f"{module}."):
                return None
            own = f"{module}.parameters()"
            return own if self.doubled else f"[*{line.text(node)}, *{own}]"

        return line.rewritten(with_module)

    def calls(self) -> tuple[str, ...]:
        return {"list": ("parameters",), "attribute": ("Parameter",)}.get(self.held, ())


def untrained(facts: Facts) -> Iterator[Reason]:
    """Yield the parameters that two calls or more came to, which never changed, and which no
    optimizer has although some have others of these calls."""
    doubled, attributes = _have_the_same(facts), _attributes(facts)
    left = list(_left(facts, attributes, doubled))
    optimizers = _optimizers(facts)
    if not left or not optimizers:
        return
    leaves = tuple(history.leaf.name for history in left)
    line, module = left[0].seen[0].call.line, leaves[0].partition(".")[0]
    # of optD and optG, that of netG
    chosen = max(reversed(optimizers), key=partial(_alike, module)) if doubled else optimizers[0]
    second = next((name for name in optimizers if doubled and name != chosen), "")
    made = next(reversed(assigned(chosen, line.file) if line else []), None)
    names = facts.names
    plain = {names.of(tensor) for tensor in names.tensors() if id(tensor) in names.in_plain_lists}
    held: Held = "attribute" if attributes.issuperset(leaves) else ""
    used = facts[Uses].lines.get(leaves[0])
    yield Untrained(
        optimizers, chosen, second, "list" if plain.issuperset(leaves) else held, doubled,
        module in names.modules, used, made, leaves=leaves, source=used or line, other=made,
    )  # fmt: skip


def _left(facts: Facts, attributes: set[str], doubled: bool) -> Iterator[History]:
    """Yield the parameters that two calls or more came to, and that no optimizer has."""
    # a leaf without a name is told by its result
    known = set(map(facts.names.of, facts.names.tensors())) if facts[Results].made else None
    for history in histories(facts.run):
        name, seen = history.leaf.name, history.seen
        if (
            (history.leaf.is_parameter or name in attributes)
            and len(seen) >= _CALLS
            and all(one.facts.optimizer == "" and not one.facts.update_rms for one in seen)
            # a program that clears them, and whose optimizers are right, does not train them
            and (doubled or not all(one.is_fresh for one in seen))
            and (known is None or name in known)
        ):
            yield history


def _optimizers(facts: Facts) -> tuple[str, ...]:
    """Return the names of the optimizers."""
    return tuple(dict.fromkeys(group.optimizer for group in facts.run.training.groups))


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


def _after_assignment(leaf: str, made: Source | None) -> tuple[Fix, ...]:
    """Return the lines with the optimizer made after its module is assigned, not before."""
    layer = leaf.rpartition(".")[0].rpartition(".")[2]
    late = [at for at in assigned(layer, made.file) if at > made] if made and layer else []
    if not late or made is None:
        return ()
    optimizer = getline(*made).strip()
    return Fix(made, ""), *Line(late[0]).replaced(f"{{line}}\n{optimizer}")


def _attributes(facts: Facts) -> set[str]:
    """Name the leaves that are attributes of modules, and no parameters of these; none where the
    program differentiates by its inputs, which a module may keep."""
    if facts[ByInputs].lines:
        return set()
    names = facts.names
    return {
        names.of(value)
        for module in names.modules.values()
        for value in variables_in(module).values()
        if is_tensor(value) and value.requires_grad and value.is_leaf
    }


def _alike(module: str, optimizer: str) -> int:
    """Count the letters that two names end with alike."""
    pairs = zip(reversed(module.lower()), reversed(optimizer.lower()), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _have_the_same(facts: Facts) -> bool:
    """Return whether two optimizers have the same leaves."""
    held = [frozenset(group.leaves) for group in facts.run.training.groups]
    return len(held) > len(set(held))


RULES: Final = (
    Rule(untrained, Meaning(
        "untrained", "warning", "leaves get gradients, but no optimizer has them",
        "The leaves never change, and their gradients add up.",
        "self.blocks = [nn.Linear(8, 8)]", "self.blocks = nn.ModuleList([nn.Linear(8, 8)])",
        "When they should not learn: set requires_grad=False.",
    ), uses=(Objects, Results, ByInputs, Uses)),
)  # fmt: skip

"""Attributes of leaves and modules whose name is nearly one that autograd reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from gradstep.contract.module_paths import named_modules
from gradstep.findings.facts import Facts, Objects
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import assigned
from gradstep.guest.fence import attribute_of, variables_in
from gradstep.text import listed

_READ: Final = ("requires_grad", "grad", "training", "grad_fn")
_LIKE: Final = 0.85
"""Of the letters are to be the same."""


@dataclass(frozen=True)
class Misspelt(Reason):
    """Tensors or modules have an attribute where another one is meant; ``is_set`` in its line."""

    keeps_loss = False
    code = "misspelt"
    holders: tuple[str, ...]
    attribute: str
    meant: str
    is_set: bool

    def text(self) -> str:
        has = "has" if len(self.holders) == 1 else "have"
        return (
            f"{listed(self.holders)} {has} an attribute {self.attribute}, which nothing reads: "
            f"{self.meant} is meant"
        )

    def remedy(self) -> str:
        return f"write {self.meant}"

    def fix(self) -> tuple[Fix, ...]:
        line = Line(self.source)
        return line.rewritten(
            lambda node: line.spelled(f"{{0}}.{self.meant}", {"0": node.value})
            if self.is_set and isinstance(node, ast.Attribute) and node.attr == self.attribute
            else None
        )  # fmt: skip


def misspelt(facts: Facts) -> Iterator[Reason]:
    """Yield attributes such as ``require_grad``, which autograd does not read."""
    names = facts.names
    things = [(names.of(tensor), tensor) for tensor in names.tensors()]
    for name, module in names.modules.items():
        things += [(f"{name}.{path}".rstrip("."), part) for path, part in named_modules(module)]
    by_name: dict[tuple[str, str], list[str]] = {}
    for holder, thing in things:
        for attribute in variables_in(thing):
            if isinstance(attribute, str) and not attribute.startswith("_"):
                meant = get_close_matches(attribute, _READ, 1, _LIKE)
                is_own = attribute_of(type(thing), attribute) is not None
                if meant and attribute not in _READ and not is_own:
                    by_name.setdefault((attribute, meant[0]), []).append(holder)
    line = facts.line
    for (attribute, wanted), holders in by_name.items():
        unique = list(dict.fromkeys(holders))
        set_at = assigned(attribute, line.file) if line is not None else []
        yield Misspelt(
            tuple(unique), attribute, wanted, bool(set_at), source=set_at[0] if set_at else line
        )


RULES: Final = (
    Rule(misspelt, Meaning(
        "misspelt", "warning", "an attribute is probably misspelled: autograd reads a similar name",
        "Python makes a new attribute, which nothing reads.",
        "p.require_grad = False", "p.requires_grad = False",
        "When the attribute is the program's own.",
    ), needs=(Objects,)),
)  # fmt: skip

"""Attributes of leaves and modules whose name is nearly one that autograd reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from gradstep.contract.module_paths import named_modules
from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import assigned
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.guest.fence import attribute_of, variables_in
from gradstep.text import listed

_READ: Final = ("requires_grad", "grad", "training", "grad_fn")
_LIKE: Final = 0.85
"""Of the letters are to be the same."""


def misspelt(evidence: Evidence) -> Iterator[Finding]:
    """Yield attributes such as ``require_grad``, which autograd does not read."""
    names = evidence.names
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
    line = evidence.line
    for (attribute, wanted), holders in by_name.items():
        unique = list(dict.fromkeys(holders))
        set_at = assigned(attribute, line.file) if line is not None else []
        yield Finding(
            "warning", "misspelt",
            f"{listed(unique)} {'has' if len(unique) == 1 else 'have'} an attribute {attribute}, "
            f"which nothing reads: {wanted} is meant",
            f"write {wanted}", source=set_at[0] if set_at else line,
            fix=_respelled(set_at[0], attribute, wanted) if set_at else (),
        )  # fmt: skip


def _respelled(at: Source, attribute: str, wanted: str) -> tuple[Fix, ...]:
    line = Line(at)
    return line.rewritten(
        lambda node: line.spelled(f"{{0}}.{wanted}", {"0": node.value})
        if isinstance(node, ast.Attribute) and node.attr == attribute else None
    )  # fmt: skip


RULES: Final = (
    Rule(misspelt, Meaning(
        "misspelt", "warning", "an attribute has nearly the name of one that autograd reads",
        "Python makes a new attribute, which nothing reads.",
        "p.require_grad = False", "p.requires_grad = False",
    )),
)  # fmt: skip

"""Calls whose result nobody takes, of what does nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.parts import Parts
from gradstep.findings.facts.program import Files, name_of
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.graph.model import Source
from gradstep.guest.fence import attribute_of

_PURE: Final = (
    "relu", "gelu", "silu", "elu", "leaky_relu", "tanh", "sigmoid", "softmax", "log_softmax",
    "normalize", "layer_norm", "batch_norm", "group_norm", "dropout", "dropout2d", "pad",
    "interpolate", "max_pool2d", "avg_pool2d",
)  # fmt: skip
"""Functions of ``nn.functional`` that only return something."""


@dataclass(frozen=True)
class ResultUnused(Reason):
    """A line calls ``called`` on ``given``, and does not keep what it returns."""

    code = "result-unused"
    keeps_loss = False
    called: str
    given: str

    def text(self) -> str:
        return (
            f"{self.called}({self.given}) returns a new tensor, and this line does not keep it: "
            f"the next lines use {self.given or 'its input'} as it was"
        )

    def remedy(self) -> str:
        return f"{self.given or '...'} = {self.called}({self.given})"

    def fix(self) -> tuple[Fix, ...]:
        if not self.given:
            return ()
        return Line(self.source).replaced(f"{self.given} = {{line}}")


def result_unused(facts: Facts) -> Iterator[Reason]:
    """Yield statements of methods that call a module of the library, which changes nothing of its
    input, or a function of ``nn.functional``, and nothing else."""
    own = {
        part.path.rpartition(".")[2]
        for part in facts[Parts]
        if part.is_of_library and not attribute_of(part.module(), "inplace")
    }
    for file, node in facts[Files].in_methods():
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call, function = node.value, node.value.func
        if not isinstance(function, ast.Attribute) or not call.args or _is_in_place(call):
            continue
        owner = name_of(function.value)
        is_module = owner == "self" and function.attr in own
        is_function = owner in ("F", "functional") and function.attr in _PURE
        if is_module or is_function:
            first = call.args[0] if len(call.args) == 1 else None
            given = first.id if isinstance(first, ast.Name) else ""
            at = Source(file, node.lineno)
            yield ResultUnused(ast.unparse(function), given, source=at)


def _is_in_place(call: ast.Call) -> bool:
    return any(each.arg in (None, "inplace") for each in call.keywords)


RULES: Final = (
    Rule(result_unused, Meaning(
        "result-unused", "warning", "the result of a layer is not used",
        "A statement only calls it, and it does not change its input.",
        "self.norm(x)", "x = self.norm(x)",
        "When you call it for its hooks, or to show data to a batch norm.",
    ), needs=(Parts, Files)),
)  # fmt: skip

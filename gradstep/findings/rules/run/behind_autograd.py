"""Results of a graph that are written through ``.data``: their gradients are those of other
numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Fact, Facts, Objects
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.recording.look import Look


class Results(Fact):
    """The names of variables that have a graph when a call begins."""

    needs = (Objects,)

    def __init__(self) -> None:
        self.names: set[str] = set()

    def closely(self, look: Look) -> None:
        for tensor in look.names.tensors():
            if tensor.requires_grad and not tensor.is_leaf:
                self.names.add(look.names.of(tensor))


@dataclass(frozen=True)
class WrittenData(Reason):
    """The result ``name`` is changed through ``name.data``."""

    code = "data-written"
    blames_line = True
    name: str

    def text(self) -> str:
        return (
            f"{self.name} has a graph, and {self.name}.data writes other numbers into it, unknown "
            "to autograd: the gradient lacks what this line does"
        )

    def remedy(self) -> str:
        return f"compute it as a new tensor, without .data: {self.name} = ..."


def data_written(facts: Facts) -> Iterator[Reason]:
    """Yield what is written to ``.data`` of a result, as ``y.data /= 2`` and
    ``y.data.clamp_(0)`` do, in the function that makes it, or outside all functions."""
    names = facts[Results].names
    for file, tree in facts[Files].trees():
        bodies: list[ast.AST] = [each.node for each in functions_of(tree)]
        outside = ast.Module([each for each in tree.body if not isinstance(each, _DEFINITIONS)], [])
        for body in (outside, *bodies):
            for node in ast.walk(body):
                name = _written(node)
                if name and name in names and _makes(body, name):
                    yield WrittenData(name, source=Source(file, node.lineno))  # type: ignore[attr-defined]


_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _written(node: ast.AST) -> str:
    """Return the name whose ``.data`` a statement or a call writes, "" of others."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        method = node.func.attr
        targets = [node.func.value] if method.endswith("_") and method[-2:] != "__" else []
    for target in targets:
        at = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(at, ast.Attribute) and at.attr == "data":
            return name_of(at.value) if isinstance(at.value, ast.Name) else ""
    return ""


def _makes(body: ast.AST, name: str) -> bool:
    """Return whether a name is assigned what a call or an operation gives."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call | ast.BinOp)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
        for node in ast.walk(body)
    )


RULES: Final = (
    Rule(data_written, Meaning(
        "data-written", "warning", "a result is changed through .data",
        "It has a graph, and the line that writes it is not part of that graph.",
        "y = net(x)\ny.data /= y.data.norm()", "y = net(x)\ny = y / y.norm()",
        "When the gradient should ignore it, as in a straight-through estimator.",
    ), needs=(Results, Files)),
)  # fmt: skip
